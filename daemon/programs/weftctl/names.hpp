// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports and rates of links are called in a terminal.

#include <algorithm>
#include <string>

#include "weft/v1/fabric.pb.h"

namespace weft::ctl {

/// "leaf-1 port 12"; on Ethernet "leaf01 swp12", and a host's interface by its node's name, "gpu-01 eth2".
std::string end_text(const v1::PortReference& end);
/// "12", on Ethernet "swp12": of the node that is named beside it.
std::string port_text(const v1::Port& port);
/// "4X NDR", on Ethernet "400 Gb/s"; "-" where nothing is known.
std::string link_text(const std::string& width, const std::string& speed, double bits_per_second);

/// What is held is given back right now.
bool is_rolling_back(const v1::PlanHold& hold);
/// "PLAN-7", "PLAN-7, VERIFYING"; "-" where nothing is held. `stopped`: hands-off keeps what is undone.
std::string hold_text(const v1::PlanHold& hold, bool stopped = false);

/// "north, south".
template <typename List>
std::string joined(const List& names) {
  std::string text;
  for (const std::string& each : names) text += (text.empty() ? "" : ", ") + each;
  return text;
}

/// Behind "No links": nothing, or " in the shards that answer" where some do not.
template <typename Answer>
const char* where_asked(const Answer& answer) {
  return answer.missing_shards().empty() ? "" : " in the shards that answer";
}

/// Whether any entry of a list says of which shard of a site it is: then its table has a column for that.
template <typename List>
bool has_shards(const List& list) {
  return std::ranges::any_of(list, [](const auto& entry) { return !entry.shard().empty(); });
}

}  // namespace weft::ctl
