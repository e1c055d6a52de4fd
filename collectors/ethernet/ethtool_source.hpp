#pragma once
// ethtool netlink: why a link is down, FEC, pause and standard statistics.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethernet/kernel_answers.hpp"

namespace weft::ethernet {

class EthtoolSource {
 public:
  /// Opens its socket and looks up the family; when that fails the source stays silent and status() says why.
  EthtoolSource();

  void watch(std::span<const Interface> interfaces);
  void enter(SeriesBook& book);
  void read(ValueSink& sink);
  bool has_new() const { return answers_.has_new(); }

  /// Why the link of an interface is down, in ethtool(8)'s words; empty when it is up or nobody knows.
  std::string down_reason(const Interface& interface);

  /// To ask more of ethtool; null when it cannot be asked.
  netlink::Socket* socket() { return socket_ ? &*socket_ : nullptr; }
  std::uint16_t family() const { return family_; }
  SourceStatus status() const { return {"ethtool", trouble_.empty(), trouble_}; }

 private:
  std::optional<netlink::Socket> socket_;
  std::uint16_t family_ = 0;
  std::string trouble_;
  KernelAnswers answers_;
};

}  // namespace weft::ethernet
