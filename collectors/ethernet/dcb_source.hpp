// SPDX-License-Identifier: Apache-2.0
#pragma once
// dcbnl: priority flow control, the same way for every driver that has it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethernet/kernel_answers.hpp"
#include "fabric/config_facts.hpp"

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
  /// Adds PFC, ETS and DSCP settings of an interface to `facts`; nothing where the driver has none.
  void read_facts(const Interface& interface, std::vector<FactValue>& facts);
  /// Whether somebody changed such a setting of any interface since the last call, as the kernel told (RTNLGRP_DCB).
  bool take_changes();
  /// What went wrong last; ok when nothing did.
  SourceStatus status() const { return {"dcb", trouble_.empty(), trouble_}; }

 private:
  std::optional<netlink::Socket> socket_;
  std::optional<netlink::Socket> events_;
  std::string trouble_;
  KernelAnswers answers_;
};

}  // namespace weft::ethernet
