// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/log_texts.hpp"

#include <algorithm>

namespace weft::daemon {
namespace {

/// Was its last change to a higher severity? What is shown may lag behind, its own timeline does not.
bool is_graver(const Incident& incident) {
  const std::vector<TimelineEntry>& timeline = incident.timeline;
  if (timeline.size() < 2) return false;
  const TimelineEntry& last = timeline.back();
  return last.change == IncidentChange::kSeverityChanged && last.at == incident.updated &&
         last.severity > timeline[timeline.size() - 2].severity;
}

}  // namespace

std::string watching_status(const Sweep& sweep) {
  const Topology& topology = *sweep.topology;
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
    const auto tell = [&text](std::size_t count, const char* one, const char* many) {
      if (count > 0) text += "; " + std::to_string(count) + (count == 1 ? one : many);
    };
    if (sweep.found) {
      tell(sweep.found->old.size(), " cable is not reported by LLDP now", " cables are not reported by LLDP now");
      tell(sweep.found->unclear.size(), " LLDP neighbour is not clear", " LLDP neighbours are not clear");
    }
    return text;
  }
  text += " adapters";
  if (unreachable > 0) text += ", " + std::to_string(unreachable) + " of them unreachable";
  if (const std::string silence = no_answer(sweep.statistics); !silence.empty()) text += "; " + silence;
  return text;
}

std::string no_answer(const SweepStatistics& statistics) {
  if (statistics.nodes_with_other_key > 0)
    return std::to_string(statistics.nodes_with_other_key) +
           (statistics.nodes_with_other_key == 1 ? " node has" : " nodes have") +
           " another M_Key than the one in infiniband.management_key_file";
  if (statistics.silent_neighbors == 1)
    return "1 link is up and leads to a node that never answered: it hangs, or infiniband.management_key_file lacks "
           "its M_Key";
  if (statistics.silent_neighbors > 0)
    return std::to_string(statistics.silent_neighbors) +
           " links are up and lead to nodes that never answered: they hang, or infiniband.management_key_file lacks "
           "their M_Key";
  return {};
}

std::string instead_text(const Sweep& last, std::span<const FabricView> fabrics) {
  const Topology& topology = *last.topology;
  const PortIndex own = topology.find_port(last.local_port);
  const PortIndex peer = own == kNoIndex ? kNoIndex : topology.port(own).peer;
  if (peer == kNoIndex) return {};
  for (const FabricView& other : fabrics) {
    if (other.name == last.fabric || !other.watching || !other.sweep) continue;
    const NodeIndex node = other.sweep->topology->find_node(topology.node_of(topology.port(peer)).guid);
    if (node != kNoIndex && other.sweep->topology->node(node).reachable)
      return "; " + other.name + ", on the same subnet, is watched instead";
  }
  return {};
}

std::string differences_text(const CablingDifferences& differences) {
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + ' ' + (count == 1 ? one : many);
  };
  std::string found;
  const auto add = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) found += (found.empty() ? "" : ", ") + counted(count, one, many);
  };
  add(differences.missing.size(), "planned link is not there", "planned links are not there");
  add(differences.down.size(), "planned link is down", "planned links are down");
  add(differences.misled.size(), "cable leads elsewhere", "cables lead elsewhere");
  add(differences.unplanned.size(), "link is not planned", "links are not planned");
  add(differences.absent_nodes.size(), "planned node is not in the fabric", "planned nodes are not in the fabric");
  add(differences.ignored.size(), "cable of the plan is not used", "cables of the plan are not used");
  return counted(differences.planned_links, "link is planned", "links are planned") + "; " +
         (found.empty() ? "no differences" : found);
}

std::vector<std::string> ignored_texts(const CablingDifferences& differences) {
  constexpr std::size_t kMostTold = 5;
  const std::vector<IgnoredCable>& ignored = differences.ignored;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kMostTold, ignored.size()); ++i) {
    const std::string where = ignored[i].line == 0 ? "a cable" : "line " + std::to_string(ignored[i].line);
    texts.push_back(where + " of the expected topology is not used: " + ignored[i].cable + ": " + ignored[i].why);
  }
  if (ignored.size() > kMostTold)
    texts.push_back(std::to_string(ignored.size() - kMostTold) +
                    " more cables of the expected topology are not used; see weftctl topology --differences");
  return texts;
}

const char* what_happened(const Incident& incident, const analyzer::IncidentList& shown) {
  if (incident.state == IncidentState::kResolved) return "resolved";
  if (incident.revision <= 1) return "opened";
  const auto before = std::ranges::lower_bound(shown, incident.id, {}, [](const auto& one) { return one->id; });
  const bool was_over = before != shown.end() && (*before)->id == incident.id && !(*before)->is_open();
  if (was_over) return "reopened";
  return is_graver(incident) ? "severity raised" : "updated";
}

tl::unexpected<Error> stopping() {
  return fail(ErrorCode::kUnavailable, "weftd is stopping");
}

}  // namespace weft::daemon
