// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/data_guard.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "analyzer/remedy/guards.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

Verdict no_data(std::string why) {
  return {GuardResult::kRefused, std::move(why)};
}

/// "1 node is", "2 nodes are".
std::string missing_nodes(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " node is" : " nodes are");
}

/// Which end has another cable now, and to where; empty: neither has.
std::string moved_cable(const Entity& link, const Topology& topology) {
  for (const auto& [end, other] : {std::pair{link.port, link.peer}, std::pair{link.peer, link.port}}) {
    const PortIndex port = topology.find_port(end);
    const PortIndex peer = port == kNoIndex ? kNoIndex : topology.port(port).peer;
    if (peer != kNoIndex && topology.key_of(peer) != other)
      return port_label(topology, port) + " is now cabled to " + port_label(topology, peer);
  }
  return {};
}

/// The state of an end of the link was told lately.
bool is_read(PortIndex port, const FabricView& fabric, Duration limit, TimePoint now) {
  const Sweep& sweep = *fabric.sweep;
  const Topology& topology = *sweep.topology;
  limit = std::max(fabric.stale_after, limit);
  for (const PortIndex end : {port, topology.port(port).peer})
    if (end != kNoIndex && end < sweep.state_read_at.size() && sweep.state_read_at[end] != kNever &&
        topology.port(end).state != PortState::kUnknown && now >= sweep.state_read_at[end] &&
        now - sweep.state_read_at[end] <= limit)
      return true;
  return false;
}

/// The node whose port a return sets, as far as that is known, and which the sweep did not reach; empty: it did.
std::string unreached_end(const Plan& plan, const Topology& topology) {
  std::string unreached;
  for (const PortKey end : {plan.target.port, plan.target.peer}) {
    if (plan.end && *plan.end != end) continue;
    const PortIndex port = topology.find_port(end);
    if (port == kNoIndex) continue;
    const Node& node = topology.node_of(topology.port(port));
    if (node.reachable) return {};
    unreached = node.name;
  }
  return unreached;
}

}  // namespace

std::string keep_name_text(const std::string& name, const FabricView& other) {
  if (other.through.empty()) return {};
  return ": if " + name + " stays away, give its name to the other port in infiniband.ports: \"" + name + '=' +
         other.through + '"';
}

namespace {

/// Where another port of ours sees both ends of the plan's link, how to have it watched by the name that the plan
/// knows, from "; " on; empty: none does.
std::string other_way(const Plan& plan, const RemedyView& view) {
  for (const FabricView& other : view.fabrics) {
    if (other.name == plan.target.fabric || !other.watching || !other.sweep || other.through.empty()) continue;
    const Topology& topology = *other.sweep->topology;
    const bool sees_link = std::ranges::all_of(std::array{plan.target.port, plan.target.peer}, [&](PortKey end) {
      const PortIndex port = topology.find_port(end);
      return port != kNoIndex && topology.node_of(topology.port(port)).reachable;
    });
    if (sees_link) return "; " + other.name + " is on the same subnet" + keep_name_text(plan.target.fabric, other);
  }
  return {};
}

/// The incident is open and says that what is seen of its fabric is in doubt; of links, also that many are not
/// activated. The last few of them may wait for a reason of their own.
bool is_of_monitoring(const Incident& incident, bool of_link = false) {
  const Finding& finding = incident.finding;
  return incident.is_open() && finding.cause.kind == EntityKind::kFabric &&
         (finding.kind == IncidentKind::kTelemetryLost || finding.kind == IncidentKind::kCounterStuck ||
          (of_link && finding.kind == IncidentKind::kLinksNotActivated &&
           finding.affected.size() >= kManyNotActivated));
}

/// An incident names no more than 1,024 nodes: of so many there may be more.
constexpr std::size_t kMostFew = 1000;

/// All that the incident tells of is adapters that answer, but whose counters cannot be read, of which so many may be
/// missing in a sweep: the rest is seen. A large fabric always has a few of them.
bool is_of_few_adapters(const Incident& incident, const RemedyView& view, double missing_share) {
  const Finding& finding = incident.finding;
  const FabricView* fabric = view.fabric(finding.cause.fabric);
  if (finding.kind != IncidentKind::kTelemetryLost || finding.affected.empty() || !fabric || !fabric->sweep)
    return false;
  const Topology& topology = *fabric->sweep->topology;
  const std::size_t count = finding.affected.size();
  if (count > kMostFew || static_cast<double>(count) > missing_share * static_cast<double>(topology.nodes().size()))
    return false;
  return std::ranges::all_of(finding.affected, [&](const Entity& each) {
    const NodeIndex node = each.kind == EntityKind::kNode ? topology.find_node(each.port.node) : kNoIndex;
    return node != kNoIndex && topology.node(node).type == NodeType::kChannelAdapter && topology.node(node).reachable;
  });
}

/// A fabric that is watched, and in which nothing is in doubt, reaches the adapter.
bool is_reached(NodeGuid adapter, const RemedyView& view) {
  return std::ranges::any_of(view.fabrics, [&](const FabricView& fabric) {
    const NodeIndex node = fabric.watching && fabric.sweep ? fabric.sweep->topology->find_node(adapter) : kNoIndex;
    return node != kNoIndex && fabric.sweep->topology->node(node).reachable &&
           std::ranges::none_of(view.incidents, [&](const auto& incident) {
             return is_of_monitoring(*incident) && incident->finding.cause.fabric == fabric.name;
           });
  });
}

/// The host has an adapter in the fabric that is seen well in no other one.
bool relies_on(const std::string& host, const FabricView* fabric, const HostIdentities& hosts, const RemedyView& view) {
  if (!fabric || !fabric->sweep) return false;
  const Topology& topology = *fabric->sweep->topology;
  if (topology.is_ethernet())
    return std::ranges::any_of(topology.nodes(), [&](const Node& node) { return same_host(host_name(node), host); });
  return std::ranges::any_of(hosts.adapters_of(host), [&](NodeGuid adapter) {
    return topology.find_node(adapter) != kNoIndex && !is_reached(adapter, view);
  });
}

}  // namespace

Verdict judge_sensor(const Plan& plan, const HostIdentities& hosts, const RemedyView& view,
                     const RemedyLimits& limits) {
  if (plan.requested_by != kOurselves && !takes_out(plan.action))
    return {GuardResult::kNotNeeded, "a person takes a remedy back"};
  const bool is_link = plan.target.kind == EntityKind::kLink;
  const Incident* reason = view.incident(plan.incident);
  for (const auto& incident : view.incidents) {
    if (!is_of_monitoring(*incident, is_link)) continue;
    if (is_link && is_of_few_adapters(*incident, view, limits.missing_share)) continue;
    const std::string& fabric = incident->finding.cause.fabric;
    if (is_link ? fabric == plan.target.fabric
                : fabric.empty() || (reason && reason->finding.cause.fabric == fabric) ||
                      relies_on(plan.target.host, view.fabric(fabric), hosts, view))
      return no_data(incident_name(incident->id) + " makes the monitoring unreliable: " + incident->finding.summary);
  }
  return {GuardResult::kPassed, "no incident about the monitoring of the target"};
}

Verdict judge_fresh_data(const Plan& plan, const FabricView* fabric, const MissingNodes& missing, Duration known_for,
                         const RemedyView& view, const RemedyLimits& limits) {
  const bool is_link = plan.target.kind == EntityKind::kLink;
  const bool by_person = plan.requested_by != kOurselves;
  if (!is_link && plan.target.fabric.empty()) return {GuardResult::kNotNeeded, "the scheduler is queried directly"};
  if (!fabric && !view.fabric(plan.target.fabric))
    if (const std::string other = other_way(plan, view); !other.empty())
      return no_data(plan.target.fabric + " is not watched" + other);
  if (!fabric) return no_data("its fabric has no complete sweep yet" + other_way(plan, view));
  if (!fabric->watching) return no_data("its fabric is not monitored now" + other_way(plan, view));
  const Sweep& sweep = *fabric->sweep;
  const Topology& topology = *sweep.topology;
  if (view.now < sweep.started)
    return no_data("the last complete sweep was before the clock was set back (remedy.limits.stale_intervals)");
  const Duration age = std::max(view.now - sweep.started, known_for);
  const Duration limit = sweep.interval * limits.stale_intervals + sweep.statistics.duration;
  if (age > limit)
    return no_data("the last complete sweep is " + std::to_string(static_cast<int>(seconds(age))) +
                   " s old (remedy.limits.stale_intervals)");
  const bool is_own_return = by_person && !takes_out(plan.action);
  const auto most =
      static_cast<std::size_t>(std::max(1.0, limits.missing_share * static_cast<double>(topology.nodes().size())));
  if (missing.lately > most && !is_own_return)
    return no_data(missing_nodes(missing.lately) + " missing in the last sweep, at most " + std::to_string(most) +
                   " may be missing (remedy.limits.missing_share)");
  const PortIndex port = is_link ? topology.find_port(plan.target.port) : kNoIndex;
  if (is_link && port == kNoIndex) return no_data("the link is not in the last sweep");
  if (is_link)
    if (const std::string moved = moved_cable(plan.target, topology); !moved.empty())
      return no_data("the cabling has changed: " + moved);
  if (is_link && is_own_return)
    if (const std::string unreached = unreached_end(plan, topology); !unreached.empty())
      return no_data(unreached + ", an end of the link, is missing in the last sweep" + other_way(plan, view));
  // A moved cable that is just training looks the same. A link that is down carries nothing, so automation waits.
  const std::string down = "the link is down, so nobody can be asked who is at its ends";
  const bool unseen = plan.action == RemedyAction::kIsolateLink && view.is_link_down(plan.target);
  if (unseen && !by_person) return no_data(down + "; wait until it is up, or: weftctl isolate");
  // Pictures of Ethernet are put together all the time: how old they are is told by each port.
  if (view.is_ethernet_link(plan.target) && !is_read(port, *fabric, limit, view.now))
    return no_data("the link's ends are not read now");
  std::string says = "the last sweep is fresh, " + missing_nodes(missing.lately) + " missing in it";
  if (missing.gone > 0)
    says += "; " + std::to_string(missing.gone) + " more, gone for longer, do not count (remedy.limits.missing_for)";
  if (missing.lately > most)
    says += is_link ? "; none of them is at the end that is set" : "; a return does not depend on them";
  return {GuardResult::kPassed, std::move(says) + (unseen ? "; " + down : "")};
}

}  // namespace weft::analyzer
