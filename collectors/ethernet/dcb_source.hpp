#pragma once
// dcbnl: priority flow control, the same way for every driver that has it.

#include <optional>
#include <span>
#include <string>

#include "collectors/ethernet/kernel_answers.hpp"

namespace weft::ethernet {

class DcbSource {
 public:
  /// Opens its socket; when that fails the source stays silent and status() says why.
  DcbSource();

  void watch(std::span<const Interface> interfaces);
  void enter(SeriesBook& book);
  void read(ValueSink& sink);
  bool has_new() const { return answers_.has_new(); }
  SourceStatus status() const { return {"dcb", trouble_.empty(), trouble_}; }

 private:
  std::optional<netlink::Socket> socket_;
  std::string trouble_;
  KernelAnswers answers_;
};

}  // namespace weft::ethernet
