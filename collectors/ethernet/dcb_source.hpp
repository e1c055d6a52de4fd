// SPDX-License-Identifier: Apache-2.0
#pragma once
// dcbnl: priority flow control, the same way for every driver that has it.

#include <optional>
#include <span>
#include <string>

#include "collectors/ethernet/kernel_answers.hpp"

namespace weft::ethernet {

/// Reads PFC statistics of interfaces through dcbnl.
class DcbSource {
 public:
  /// Opens its socket; when that fails the source stays silent and status() says why.
  DcbSource();

  /// From now on these interfaces are asked.
  void watch(std::span<const Interface> interfaces);
  /// Enters the series that the interfaces have.
  void enter(SeriesRegistry& book);
  /// Asks the kernel and writes the values.
  void read(ValueSink& sink);
  /// True when answers had values that are not entered yet: enter() must be called again.
  bool has_new() const { return answers_.has_new(); }
  /// What went wrong last; ok when nothing did.
  SourceStatus status() const { return {"dcb", trouble_.empty(), trouble_}; }

 private:
  std::optional<netlink::Socket> socket_;
  std::string trouble_;
  KernelAnswers answers_;
};

}  // namespace weft::ethernet
