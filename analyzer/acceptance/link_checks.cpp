// SPDX-License-Identifier: Apache-2.0
// What sweeps show of links: whether they are up, where they lead, and how fast they are.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/acceptance/checks.hpp"
#include "analyzer/ports/customs.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/host_names.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// Fewer links of one kind at a switch make no custom.
constexpr unsigned kFewestAlike = 3;

std::string name_of_port(const NamedPort& port) {
  if (!port.name.empty()) return port.node.ends_with(' ' + port.name) ? port.node : port.node + ' ' + port.name;
  return port.node + " port " + std::to_string(port.key.port.value);
}

/// The host that an adapter of this name would be in.
std::string host_of_name(const std::string& node) {
  Node adapter;
  adapter.type = NodeType::kChannelAdapter;
  adapter.name = node;
  return std::string(host_name(adapter));
}

/// The port is, or would be, of what was selected.
bool is_selected(const AcceptanceRun& run, const NamedPort& port) {
  const auto is_it = [&port](const AcceptanceTarget& target) {
    switch (target.kind) {
      case AcceptanceTargetKind::kHost:
        return same_host(host_of_name(port.node), target.name);
      case AcceptanceTargetKind::kSwitch:
        return target.port.node == port.key.node;
      case AcceptanceTargetKind::kLink:
        return target.port == port.key;
    }
    return false;
  };
  return run.targets.empty() || std::ranges::any_of(run.targets, is_it);
}

/// The host of the link of which the two ends are known by name; empty: it is of none that is judged.
std::string host_of_link(const AcceptanceScope& scope, const NamedLink& link) {
  for (const NamedPort* end : {&link.a, &link.b})
    if (const std::string host = host_of_name(end->node); std::ranges::binary_search(scope.hosts, host)) return host;
  return {};
}

/// Why nothing is known of a fabric now; empty: it is watched.
std::string why_blind(const FabricView& fabric) {
  if (!fabric.sweep || !fabric.sweep->topology) return "the fabric was not swept yet: " + fabric.status;
  return is_blind(fabric) ? "the fabric is not watched now: " + fabric.status : "";
}

/// Nothing was read of the state of the port lately.
bool is_state_stale(const FabricView& fabric, PortIndex port) {
  const Sweep& sweep = *fabric.sweep;
  if (port >= sweep.state_read_at.size() || sweep.state_read_at[port] == kNever) return true;
  return sweep.finished - sweep.state_read_at[port] > fabric.stale_after;
}

std::string times_text(std::uint32_t count) {
  return count == 1 ? "once" : count_text(count) + " times";
}

void judge_port(const AcceptanceFacts& facts, const AcceptanceView& view, PortIndex index, Tally& tally) {
  const Topology& topology = *view.topology();
  const Port& port = topology.port(index);
  const std::string label = port_label(topology, index);
  const std::string_view host = host_at(topology, index);
  if (port.peer == kNoIndex && !port.is_up()) return;  // nothing is cabled there; the plan says whether there should
  if (is_unread(topology, index) || port.state == PortState::kUnknown || is_state_stale(*view.fabric, index))
    return tally.not_measured(label, host, "its state was not read of late");
  if (!port.is_up())
    return tally.fail(label, host, std::string("is ") + to_string(port.state) + ", " + to_string(port.physical_state));
  const WatchedPort* const watched = view.watch ? view.watch->find(topology.key_of(index)) : nullptr;
  if (facts.has_window() && watched != nullptr && watched->downs > 0)
    return tally.fail(label, host, "went down " + times_text(watched->downs) + " while it was watched");
  tally.pass();
}

std::string rate_name(int lane_count, SpeedMask speed) {
  return std::to_string(lane_count) + "X " + speed_name(speed);
}

/// On Ethernet: for each switch, and whether a host is at the other end, how many links have which rate.
using Customs = std::map<std::pair<NodeIndex, bool>, std::map<std::uint64_t, unsigned>>;

Customs customs_of(const Topology& topology) {
  Customs customs;
  for (const Port& port : topology.ports())
    if (port.peer != kNoIndex && port.ethernet_rate != 0 && topology.node_of(port).type == NodeType::kSwitch) {
      const bool to_host = topology.node_of(topology.port(port.peer)).type == NodeType::kChannelAdapter;
      ++customs[{port.node, to_host}][port.ethernet_rate];
    }
  return customs;
}

void judge_ethernet_rate(const Topology& topology, const Customs& customs, PortIndex index, Tally& tally) {
  const Port& port = topology.port(index);
  const std::string label = port_label(topology, index);
  const std::string_view host = host_at(topology, index);
  const Port& at_switch = topology.node_of(port).type == NodeType::kSwitch ? port : topology.port(port.peer);
  const bool to_host = !host.empty();
  const auto custom = customs.find({at_switch.node, to_host});
  unsigned all = 0, most = 0;
  std::uint64_t usual = 0;
  if (custom != customs.end())
    for (const auto& [rate, count] : custom->second) {
      all += count;
      if (count > most) usual = rate, most = count;
    }
  if (port.ethernet_rate == 0 || most < kFewestAlike || most * 2 <= all)
    return tally.not_measured(label, host,
                              "runs at " + rate_text(static_cast<double>(port.ethernet_rate)) +
                                  "; too few links of its switch are alike to say what it should run at");
  if (port.ethernet_rate < usual)
    return tally.fail(label, host,
                      "runs at " + rate_text(static_cast<double>(port.ethernet_rate)) + " of " +
                          rate_text(static_cast<double>(usual)));
  tally.pass();
}

/// What most links of each switch run at.
struct UsualRates {
  explicit UsualRates(const Topology& topology)
      : lanes(customary_lanes(topology)), speeds(customary_speeds(topology)) {}
  std::vector<int> lanes;
  std::vector<SpeedMask> speeds;
};

/// The least that is usual at the switches of the two ends; nothing where neither has a custom.
template <typename Value>
Value usual_of(const std::vector<Value>& usual, NodeIndex a, NodeIndex b) {
  if (usual[a] == Value{} || usual[b] == Value{}) return std::max(usual[a], usual[b]);
  return std::min(usual[a], usual[b]);
}

void judge_rate(const Topology& topology, const UsualRates& usual, PortIndex index, Tally& tally) {
  const Port& a = topology.port(index);
  const Port& b = topology.port(a.peer);
  const std::string label = port_label(topology, index);
  const std::string_view host = host_at(topology, index);
  const auto both_widths = static_cast<WidthMask>(a.width_supported & b.width_supported);
  const auto both_speeds = static_cast<SpeedMask>(a.speed_supported & b.speed_supported);
  const int best_lanes = widest_lanes(static_cast<WidthMask>(both_widths & a.width_enabled & b.width_enabled));
  const SpeedMask best_speed = fastest(static_cast<SpeedMask>(both_speeds & a.speed_enabled & b.speed_enabled));
  // The ends are read at different moments: the better reading is the one that must be bad.
  const int lane_count = std::max(lanes(a.width_active), lanes(b.width_active));
  const SpeedMask speed = std::max(a.speed_active, b.speed_active);
  if (lane_count == 0 || speed == 0 || both_widths == 0 || both_speeds == 0)
    return tally.not_measured(label, host, "does not tell its width and speed, or those that it supports");
  // Held back by what is enabled: others of its switch show what it could be.
  const int usual_lanes = std::min(usual_of(usual.lanes, a.node, b.node), widest_lanes(both_widths));
  const SpeedMask usual_speed = std::min(usual_of(usual.speeds, a.node, b.node), fastest(both_speeds));
  const int wanted_lanes = std::max(best_lanes, usual_lanes);
  const SpeedMask wanted_speed = std::max(best_speed, usual_speed);
  if (lane_count >= wanted_lanes && speed >= wanted_speed) return tally.pass();
  const bool is_set =
      (lane_count < wanted_lanes && lane_count >= best_lanes) || (speed < wanted_speed && speed >= best_speed);
  tally.fail(label, host,
             "runs at " + rate_name(lane_count, speed) + " of " +
                 rate_name(std::max(wanted_lanes, lane_count), std::max(wanted_speed, speed)) +
                 (is_set ? ", held back by its enabled widths or speeds: most links of its switch run so" : ""));
}

}  // namespace

AcceptanceCheck check_presence(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kPresence, "every link Active, and every host and switch that was selected in the fabric",
              "InfiniBand vol. 1, 14.2.5.6 (PortState); on Ethernet the carrier", hosts);
  std::string blind;
  std::set<std::string> found;
  for (const AcceptanceView& view : facts.views) {
    for (const AcceptanceTarget& target : view.scope.found) found.insert(target.name);
    if (const std::string why = why_blind(*view.fabric); !why.empty()) {
      blind = why;
      tally.not_measured("fabric " + view.fabric->name, {}, why);
      for (const std::string& host : view.scope.hosts)
        hosts.note(host, AcceptanceKind::kPresence, AcceptanceVerdict::kNotMeasured);
      continue;
    }
    for (const PortIndex port : view.scope.ports) judge_port(facts, view, port, tally);
    if (!view.fabric->absent_links) continue;
    for (const AbsentLink& link : *view.fabric->absent_links)
      if (is_selected(facts.run, link.ends.a) || is_selected(facts.run, link.ends.b))
        tally.fail(name_of_port(link.ends.a), host_of_link(view.scope, link.ends),
                   "its link to " + name_of_port(link.ends.b) + " is known and not in the fabric now");
  }
  for (const AcceptanceTarget& target : facts.run.targets) {
    if (found.contains(target.name)) continue;
    const std::string& host = target.kind == AcceptanceTargetKind::kHost ? target.name : std::string();
    if (blind.empty())
      tally.fail(target.name, host, std::string("this ") + to_string(target.kind) + " is in no fabric that is watched");
    else
      tally.not_measured(target.name, host, blind);
  }
  return std::move(tally).finish("no link was selected");
}

AcceptanceCheck check_cabling(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kCabling, "each cable leads where the plan has it",
              "the plan of the cables (infiniband.expected_topology, ethernet.cabling)", hosts);
  for (const AcceptanceView& view : facts.views) {
    if (!why_blind(*view.fabric).empty() || !view.fabric->cabling) continue;
    const CablingDifferences& cabling = *view.fabric->cabling;
    const auto host_of = [&view](const NamedLink& link) { return host_of_link(view.scope, link); };
    const auto is_about = [&facts](const NamedLink& link) {
      return is_selected(facts.run, link.a) || is_selected(facts.run, link.b);
    };
    std::set<PortKey> differs;
    for (const MisledLink& link : cabling.misled) {
      differs.insert({link.found.a.key, link.found.b.key});
      if (!is_about(link.found)) continue;
      const bool at_a = link.a_expects.has_value();
      const auto& wanted = at_a ? link.a_expects : link.b_expects;
      tally.fail(name_of_port(at_a ? link.found.a : link.found.b), host_of(link.found),
                 "leads to " + name_of_port(at_a ? link.found.b : link.found.a) + "; the plan has " +
                     (wanted ? name_of_port(*wanted) : std::string("nothing")));
    }
    for (const NamedLink& link : cabling.unplanned) {
      differs.insert({link.a.key, link.b.key});
      if (is_about(link))
        tally.fail(name_of_port(link.a), host_of(link), "leads to " + name_of_port(link.b) + "; the plan has no cable");
    }
    for (const NamedLink& link : cabling.missing)
      if (is_about(link))
        tally.fail(name_of_port(link.a), host_of(link), "the planned cable to " + name_of_port(link.b) + " is missing");
    for (const NamedLink& link : cabling.down)
      if (is_about(link))
        tally.fail(name_of_port(link.a), host_of(link), "the planned link to " + name_of_port(link.b) + " is down");
    for (const std::string& node : cabling.absent_nodes)
      if (is_selected(facts.run, {{}, node})) tally.fail(node, host_of_name(node), "is planned, and not in the fabric");
    for (const IgnoredCable& cable : cabling.ignored)
      if (facts.run.targets.empty()) tally.not_measured(cable.cable, {}, "not compared: " + cable.why);
    for (const PortIndex port : view.scope.ports) {
      const Topology& topology = *view.topology();
      const PortKey key = topology.key_of(port);
      if (!topology.port(port).is_up() || topology.port(port).peer == kNoIndex || differs.contains(key)) continue;
      if (std::ranges::binary_search(cabling.agreed, key))
        tally.pass();
      else
        tally.not_measured(port_label(topology, port), host_at(topology, port), "the plan does not have this port");
    }
  }
  return std::move(tally).finish("there is no plan of the cables to compare with");
}

AcceptanceCheck check_link_rate(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(
      AcceptanceKind::kLinkRate,
      "the most lanes and the highest speed that both ends support and have enabled, and no less than most links "
      "of the same switch, as far as both ends support that; on Ethernet the latter alone",
      "PortInfo of both ends (InfiniBand vol. 1, 14.2.5.6)", hosts);
  for (const AcceptanceView& view : facts.views) {
    if (!why_blind(*view.fabric).empty()) continue;
    const Topology& topology = *view.topology();
    const Customs customs = topology.is_ethernet() ? customs_of(topology) : Customs();
    const UsualRates usual(topology);
    for (const PortIndex index : view.scope.ports) {
      const Port& port = topology.port(index);
      if (port.peer == kNoIndex || !port.is_up()) continue;
      if (topology.is_ethernet())
        judge_ethernet_rate(topology, customs, index, tally);
      else
        judge_rate(topology, usual, index, tally);
    }
  }
  return std::move(tally).finish("no link is up");
}

}  // namespace weft::analyzer
