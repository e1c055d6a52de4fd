// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/log_texts.hpp"

#include <algorithm>

namespace weft::daemon {

std::string watching_status(const Topology& topology) {
  std::size_t switches = 0, adapters = 0, unreachable = 0, unread = 0;
  for (const Node& node : topology.nodes()) {
    switches += node.type == NodeType::kSwitch;
    adapters += node.type == NodeType::kChannelAdapter;
    unreachable += !node.reachable;
    if (node.type == NodeType::kChannelAdapter)
      unread += std::ranges::all_of(topology.ports_of(node),
                                    [](const Port& port) { return port.state == PortState::kUnknown; });
  }
  std::string text = "monitoring " + std::to_string(switches) + " switches, " + std::to_string(adapters);
  if (topology.is_ethernet()) {
    text += " interfaces";
    if (unread > 0) text += ", " + std::to_string(unread) + " of them without data yet";
    return text;
  }
  text += " adapters";
  if (unreachable > 0) text += ", " + std::to_string(unreachable) + " of them unreachable";
  return text;
}

const char* what_happened(const Incident& incident, const analyzer::IncidentList& shown) {
  if (incident.state == IncidentState::kResolved) return "resolved";
  if (incident.revision <= 1) return "opened";
  const auto before = std::ranges::lower_bound(shown, incident.id, {}, [](const auto& one) { return one->id; });
  const bool was_over = before != shown.end() && (*before)->id == incident.id && !(*before)->is_open();
  return was_over ? "reopened" : "updated";
}

tl::unexpected<Error> stopping() {
  return fail(ErrorCode::kUnavailable, "weftd is stopping");
}

}  // namespace weft::daemon
