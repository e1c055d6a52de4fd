// SPDX-License-Identifier: Apache-2.0
// What the faults of a scenario ought to be called, by whom they are caused and who suffers.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tests/scenarios/actions.hpp"
#include "tests/scenarios/forwarding.hpp"
#include "tests/scenarios/scenario.hpp"
#include "tests/scenarios/traffic.hpp"

namespace weft::scenarios {
namespace {

/// Errors per bit around the specification's limit of 1e-12 (vol. 2, 6.4). Between the two nobody can be blamed for
/// saying that they are too many, nor for saying nothing.
constexpr double kSurelyWithinLimit = 0.8e-12;
constexpr double kSurelyBeyondLimit = 1.25e-12;

class Witness {
 public:
  Witness(const Scenario& scenario, const Plan& plan) : scenario_(scenario), plan_(plan) {}

  void tell(const Fault& fault, std::vector<Truth>& truths);

 private:
  Place link(PortIndex port) const {
    const LinkKey key = plan_.link_of(port);
    return {EntityKind::kLink, key.low, key.high};
  }
  Place end(PortIndex port) const { return {EntityKind::kPort, plan_.key_of(port), {}}; }
  Place node(NodeIndex index) const { return {EntityKind::kNode, {plan_.nodes[index].guid, {}}, {}}; }
  /// A port, its peer, or the cable between them: congestion at a port may be told as any of these.
  std::vector<Place> around(PortIndex port) const { return {end(port), end(plan_.ports[port].peer), link(port)}; }
  /// The link, and the host at its end where there is one.
  std::vector<Place> host_side(PortIndex port) const {
    std::vector<Place> places = around(port);
    for (const PortIndex side : {port, plan_.ports[port].peer})
      if (plan_.tier_of(side) == Tier::kAdapter) places.push_back(node(plan_.ports[side].node));
    return places;
  }
  std::vector<Place> crossed(const Fault& fault) const;
  /// The sending ports that all flows of a collision pass: each of them is full.
  std::vector<PortIndex> shared_way(const Fault& fault) const;
  /// On Ethernet, where nobody reads switches, this is what hosts can tell of it.
  bool is_ambiguous(const Fault& fault) const;
  void seen_by_hosts_alone(const Fault& fault, Truth& truth) const;

  const Scenario& scenario_;
  const Plan& plan_;
};

std::vector<Place> Witness::crossed(const Fault& fault) const {
  std::vector<Place> places;
  const auto far = [&](PortIndex port) { return plan_.ports[port].peer; };
  for (const auto& [a, b] : {std::pair{fault.port, far(fault.other)}, std::pair{fault.other, far(fault.port)}}) {
    const LinkKey key = make_link_key(plan_.key_of(a), plan_.key_of(b));
    places.push_back({EntityKind::kLink, key.low, key.high});
  }
  return places;
}

std::vector<PortIndex> Witness::shared_way(const Fault& fault) const {
  const auto [peers, usable] = cabling_of(plan_);
  const ForwardingTables tables(plan_, peers, usable);
  std::vector<PortIndex> shared{fault.port};
  std::vector<PortIndex> path;
  for (std::size_t i = 0; i + 1 < fault.endpoints.size(); i += 2) {
    if (!tables.path(plan_, peers, fault.endpoints[i], fault.endpoints[i + 1], path)) continue;
    if (i == 0) shared.insert(shared.end(), path.begin(), path.end());
    std::erase_if(shared,
                  [&](PortIndex port) { return port != fault.port && std::ranges::find(path, port) == path.end(); });
  }
  return shared;
}

/// Is there another leaf that all flows cross which lose packets? Then it, or a cable of it, explains the same. Above
/// the leaves all ways look alike anyway.
bool Witness::is_ambiguous(const Fault& fault) const {
  std::set<NodeIndex> ends{fault.node};
  if (fault.port != kNoIndex) ends = {plan_.ports[fault.port].node, plan_.ports[plan_.ports[fault.port].peer].node};
  if (std::ranges::none_of(ends, [&](NodeIndex end) { return plan_.tiers[end] == Tier::kLeaf; })) return true;
  const Cabling cabling = cabling_of(plan_);
  const ForwardingTables tables(plan_, cabling.peers, cabling.usable);
  std::optional<std::set<NodeIndex>> common;
  std::vector<PortIndex> path;
  for (const auto& [from, to] : Traffic(plan_, scenario_.jobs, 1).collective_pairs()) {
    if (!tables.path(plan_, cabling.peers, from, to, path)) continue;
    const bool loses = std::ranges::any_of(path, [&](PortIndex port) {
      return fault.port == kNoIndex ? plan_.ports[port].node == fault.node : port == fault.port;
    });
    if (!loses) continue;
    std::set<NodeIndex> leaves;
    for (const PortIndex port : path)
      if (plan_.tier_of(port) == Tier::kLeaf && !ends.contains(plan_.ports[port].node))
        leaves.insert(plan_.ports[port].node);
    if (common) std::erase_if(leaves, [&](NodeIndex leaf) { return !common->contains(leaf); });
    common = std::move(leaves);
  }
  return !common || !common->empty();
}

void Witness::seen_by_hosts_alone(const Fault& fault, Truth& truth) const {
  const bool inner = fault.port != kNoIndex && plan_.endpoint_at(fault.port) == kNoIndex;
  switch (fault.kind) {
    case FaultKind::kLossOnLink:
      // Which of a switch's cables it is hosts with a flow or two cannot know: that it is one of them is all.
      for (const PortIndex side : {fault.port, plan_.ports[fault.port].peer})
        if (plan_.tier_of(side) != Tier::kAdapter) truth.culprits.push_back(node(plan_.ports[side].node));
      truth.hidden = is_ambiguous(fault);
      return;
      // Above a spine all ways look alike from the hosts.
      truth.hidden =
          plan_.tier_of(fault.port) != Tier::kLeaf && plan_.tier_of(plan_.ports[fault.port].peer) != Tier::kLeaf;
      return;
    case FaultKind::kLossInSwitch:
      truth.hidden = is_ambiguous(fault);
      return;
    case FaultKind::kLinkDown:
    case FaultKind::kCollision:
      truth.hidden = inner;
      return;
    case FaultKind::kHostDown:
      truth.kind = IncidentKind::kTelemetryLost;
      truth.also = {IncidentKind::kNodeDown, IncidentKind::kLinkDown};
      return;
    default:
      return;
  }
}

void Witness::tell(const Fault& fault, std::vector<Truth>& truths) {
  Truth truth{.fault = fault.kind, .start = fault.start, .end = std::min(fault.end, scenario_.duration)};
  truth.amount = fault.amount;
  // A link that is well again is not active before the subnet manager has looked at it.
  if (fault.end < scenario_.duration)
    truth.end = std::min(truth.end + scenario_.assumptions.manager.settling(), scenario_.duration);
  const auto link_fault = [&](IncidentKind kind, std::vector<IncidentKind> also, bool hard) {
    truth.kind = kind;
    truth.also = std::move(also);
    truth.culprits = {link(fault.port)};
    for (const PortIndex side : {fault.port, plan_.ports[fault.port].peer})
      if (plan_.tier_of(side) == Tier::kAdapter) truth.victims.push_back(node(plan_.ports[side].node));
    truth.hard = hard;
  };
  const auto congestion = [&](IncidentKind kind, std::vector<IncidentKind> also, std::vector<Place> culprits) {
    truth.kind = kind;
    truth.also = std::move(also);
    truth.culprits = std::move(culprits);
  };
  switch (fault.kind) {
    case FaultKind::kLinkDown:
      link_fault(IncidentKind::kLinkDown, {}, true);
      break;
    case FaultKind::kSwitchDown:
      truth.kind = IncidentKind::kSwitchDown;
      truth.culprits = {node(fault.node)};
      for (PortIndex port = plan_.nodes[fault.node].first_port;
           port < plan_.nodes[fault.node].first_port + plan_.nodes[fault.node].port_entries(); ++port)
        if (plan_.ports[port].peer != kNoIndex) {
          truth.victims.push_back(link(port));
          truth.victims.push_back(node(plan_.ports[plan_.ports[port].peer].node));
        }
      truth.hard = true;
      break;
    case FaultKind::kHostDown: {
      const std::uint32_t rails = plan_.spec.rails;
      const std::uint32_t first = plan_.endpoint_of[fault.node] / rails * rails;
      truth.kind = IncidentKind::kNodeDown;
      for (std::uint32_t i = first; i < first + rails; ++i)
        (rails > 1 ? truth.victims : truth.culprits).push_back(link(plan_.endpoint_port(i)));
      truth.culprits.push_back(node(plan_.adapters[first]));
      // On Ethernet each interface is a node: any of them stands for its host.
      for (std::uint32_t i = first + 1; plan_.is_ethernet() && i < first + rails; ++i)
        truth.culprits.push_back(node(plan_.adapters[i]));
      truth.also = {IncidentKind::kTelemetryLost};                    // its collector falls silent with it
      if (rails == 1) truth.also.push_back(IncidentKind::kLinkDown);  // nobody can know before it has been silent
      truth.first = {IncidentKind::kNodeDown, IncidentKind::kLinkDown, IncidentKind::kTelemetryLost};
      truth.host = host_name(plan_.nodes[fault.node]);
      truth.culprits.push_back({EntityKind::kCollector, {}, {}});
      truth.hard = true;
      break;
    }
    case FaultKind::kFlapFast:
    case FaultKind::kFlapSlow:
    case FaultKind::kFlapSubSample:
      link_fault(IncidentKind::kLinkFlap, {IncidentKind::kLinkDown}, false);
      truth.first = {IncidentKind::kLinkDown};  // that is what it is when it is down for the first time
      break;
    case FaultKind::kWidthLoss:
    case FaultKind::kSpeedLoss:
      link_fault(IncidentKind::kLinkDegraded, {IncidentKind::kLinkDown},
                 true);  // it goes down for a moment to train anew
      break;
    case FaultKind::kErrors:
    case FaultKind::kErrorBursts:
      link_fault(IncidentKind::kLinkErrors, {}, false);
      if (fault.kind == FaultKind::kErrorBursts) break;
      if (fault.amount < kSurelyWithinLimit) return;
      truth.counts = fault.amount > kSurelyBeyondLimit;
      break;
    case FaultKind::kOpticsDrift:
      link_fault(IncidentKind::kLinkErrors, {IncidentKind::kLinkDegraded}, false);
      truth.first = {IncidentKind::kLinkDegraded};  // correction repairs more before anything is lost
      break;
    case FaultKind::kOpticsFading:
      link_fault(IncidentKind::kLinkDegraded, {}, false);
      break;
    case FaultKind::kIncast:
      congestion(IncidentKind::kCongestionIncast, {}, host_side(fault.port));
      for (const std::uint32_t from : fault.endpoints) truth.victims.push_back(node(plan_.adapters[from]));
      break;
    case FaultKind::kCollision:
      congestion(IncidentKind::kCongestionUnevenLoad, {}, {});
      for (const PortIndex port : shared_way(fault))
        for (const Place& place : around(port)) truth.culprits.push_back(place);
      break;
    case FaultKind::kOversubscription: {
      truth.kind = IncidentKind::kCongestionOversubscribed;
      truth.also = {IncidentKind::kCongestionUnevenLoad};
      truth.culprits = {node(fault.node)};
      const unsigned keep = std::max(1U, static_cast<unsigned>(fault.amount * plan_.spec.uplinks));
      for (unsigned i = 0; i < plan_.spec.uplinks; ++i) {
        const PortIndex port = plan_.port(fault.node, plan_.spec.hosts_per_leaf + 1 + i);
        if (i < keep) {
          for (const Place& place : around(port)) truth.culprits.push_back(place);
          continue;
        }
        truths.push_back({.fault = fault.kind,
                          .kind = IncidentKind::kLinkDown,
                          .culprits = {link(port), node(fault.node)},  // one by one, or together at their switch
                          .start = truth.start,
                          .end = truth.end,
                          .counts = false});
      }
      break;
    }
    case FaultKind::kSlowReceiver:
    case FaultKind::kPcieStall:
      congestion(IncidentKind::kSlowReceiver, {}, host_side(fault.port));
      break;
    case FaultKind::kPfcStorm:
      congestion(IncidentKind::kPfcStorm, {IncidentKind::kSlowReceiver}, host_side(fault.port));
      truth.hard = true;
      break;
    case FaultKind::kDeadlock: {
      congestion(IncidentKind::kDeadlock, {}, around(fault.port));
      for (const Place& place : around(fault.other)) truth.culprits.push_back(place);
      for (const PortIndex port : {fault.port, fault.other})
        for (const PortIndex side : {port, plan_.ports[port].peer})
          truth.culprits.push_back(node(plan_.ports[side].node));
      truth.hard = true;
      break;
    }
    case FaultKind::kLossOnLink:
      link_fault(IncidentKind::kSilentLoss, {}, false);
      break;
    case FaultKind::kLossInSwitch:
      truth.kind = IncidentKind::kSilentLoss;
      truth.culprits = {node(fault.node)};
      break;
    case FaultKind::kStraggler:
      truth.kind = IncidentKind::kStraggler;
      truth.culprits = host_side(fault.port);
      break;
    case FaultKind::kCrossedCables:
      truth.kind = IncidentKind::kMiscabled;
      truth.culprits = crossed(fault);
      truth.also = truth.first = {IncidentKind::kLinkDown};  // while they are pulled
      truth.culprits.push_back(link(fault.port));
      truth.culprits.push_back(link(fault.other));
      truth.hard = true;
      break;
    case FaultKind::kFrozenCounters:
    case FaultKind::kSaturatedCounter:
      truth.kind = IncidentKind::kCounterStuck;
      truth.culprits = {end(fault.port)};
      break;
    case FaultKind::kNodeSilent:
      truth.kind = IncidentKind::kTelemetryLost;
      truth.culprits = {node(fault.node)};
      truth.hard = true;
      break;
    case FaultKind::kCollectorDeath:
      truth.kind = IncidentKind::kTelemetryLost;
      truth.culprits = {{EntityKind::kFabric, {}, {}}};
      truth.hard = true;
      break;
    case FaultKind::kMadSensor:
      truth.kind = IncidentKind::kCounterStuck;  // their movement can no longer be seen
      truth.also = truth.first = {IncidentKind::kTelemetryLost};
      truth.culprits = {end(fault.port), node(plan_.ports[fault.port].node)};
      break;
    case FaultKind::kFailedTransfers:
      truth.kind = IncidentKind::kRdmaErrors;
      truth.culprits = {end(plan_.ports[fault.port].peer)};
      break;
    case FaultKind::kNodeReboot:
    case FaultKind::kDriverReload:
      // Somebody does it on purpose, to a host without a job: that the host is down may be said, and need not.
      truth.kind = IncidentKind::kNodeDown;
      truth.also = truth.first = {IncidentKind::kLinkDown, IncidentKind::kLinkFlap, IncidentKind::kTelemetryLost};
      truth.host = host_name(plan_.nodes[fault.node]);
      for (const NodeIndex adapter : adapters_of_host(plan_, fault.node)) {
        truth.culprits.push_back(node(adapter));
        truth.culprits.push_back(link(plan_.nodes[adapter].first_port));
      }
      truth.counts = false;
      if (fault.kind == FaultKind::kDriverReload) truth.most = Severity::kInfo;
      break;
    case FaultKind::kRetraining:
      link_fault(IncidentKind::kLinkFlap, {IncidentKind::kLinkDown}, false);
      truth.counts = false;
      // While it waits for the subnet manager it carries nothing.
      truth.most = scenario_.assumptions.manager.sweep > 0 ? Severity::kWarning : Severity::kInfo;
      break;
    case FaultKind::kJobHang:
      truth.kind = IncidentKind::kJobHang;
      truth.culprits = host_side(fault.port);
      truth.counts = fault.amount > 0;
      break;
    case FaultKind::kCounterReset:
    case FaultKind::kClockJump:
    case FaultKind::kErrorsBelowLimit:
    case FaultKind::kManagerRestart:
    case FaultKind::kManagerFailover:
    case FaultKind::kCount:
      return;  // nothing that anyone should be told
  }
  if (plan_.is_ethernet() && !scenario_.switch_collectors) seen_by_hosts_alone(fault, truth);
  truths.push_back(std::move(truth));
}

/// The times, in their order, in which faults give the subnet manager work.
std::vector<std::pair<double, double>> times_of_work(const Scenario& scenario) {
  std::vector<std::pair<double, double>> times;
  for (const Fault& fault : scenario.faults)
    times.emplace_back(fault.start, std::min(scenario.duration, fault.end + scenario.assumptions.manager.settling()));
  std::ranges::sort(times);
  std::vector<std::pair<double, double>> merged;
  for (const auto& [from, to] : times)
    if (!merged.empty() && from <= merged.back().second)
      merged.back().second = std::max(merged.back().second, to);
    else
      merged.emplace_back(from, to);
  return merged;
}

/// That the subnet manager is at work may be said once, of the fabric or of the manager itself, by whatever name.
Truth manager_at_work(const Scenario& scenario, const Plan& plan) {
  Truth truth{.fault = FaultKind::kManagerRestart, .kind = IncidentKind::kTelemetryLost};
  // Mass alarms are of a fabric too, and no news of the subnet manager.
  for (std::size_t i = 0; i < static_cast<std::size_t>(IncidentKind::kCount); ++i)
    if (const auto kind = static_cast<IncidentKind>(i); kind != IncidentKind::kCounterStuck) truth.also.push_back(kind);
  truth.culprits = {{EntityKind::kFabric, {}, {}}};
  std::vector<PortIndex> masters{plan.endpoint_port(0)};
  for (const Fault& fault : scenario.faults)
    if (fault.kind == FaultKind::kManagerFailover) masters.push_back(fault.port);
  for (const PortIndex master : masters) {
    truth.culprits.push_back({EntityKind::kPort, plan.key_of(master), {}});
    truth.culprits.push_back({EntityKind::kNode, {plan.key_of(master).node, {}}, {}});
  }
  truth.counts = false;
  truth.most = Severity::kWarning;
  return truth;
}

}  // namespace

std::vector<Truth> truths_of(const Scenario& scenario, const Plan& plan) {
  std::vector<Truth> truths;
  Witness witness(scenario, plan);
  for (const Fault& fault : scenario.faults) witness.tell(fault, truths);
  if (scenario.assumptions.manager.sweep > 0)
    for (const auto& [from, to] : times_of_work(scenario)) {
      Truth& truth = truths.emplace_back(manager_at_work(scenario, plan));
      truth.start = from;
      truth.end = to;
    }
  return truths;
}

}  // namespace weft::scenarios
