// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/actions.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace weft::scenarios {
namespace {

using enum ActionKind;

/// From a cable's signal to an Active port, when the subnet manager hears of it by a trap.
constexpr double kSlowestActivation = 1.2;
constexpr double kFastestActivation = 0.3;

class Script {
 public:
  Script(const Scenario& scenario, const Plan& plan, Random& random)
      : scenario_(scenario), plan_(plan), random_(random) {}

  std::vector<Action> write() {
    for (const Fault& fault : scenario_.faults) write(fault);
    if (scenario_.assumptions.flushes)
      for (const Job& job : scenario_.jobs) flush(job);
    actions_.insert(actions_.end(), scenario_.actions.begin(), scenario_.actions.end());
    std::ranges::stable_sort(actions_, {}, &Action::at);
    return std::move(actions_);
  }

 private:
  void add(double at, ActionKind kind, std::uint32_t a, double value = 0, std::uint32_t b = kNoIndex) {
    actions_.push_back({.at = at, .kind = kind, .a = a, .b = b, .value = value});
  }
  /// From `start` to `end` it is so, then it is as before.
  void span(const Fault& fault, ActionKind kind, std::uint32_t a, double value, double before) {
    add(fault.start, kind, a, value);
    if (ends(fault)) add(fault.end, kind, a, before);
  }
  bool ends(const Fault& fault) const { return fault.end < scenario_.duration; }
  double activation() { return random_.uniform(kFastestActivation, kSlowestActivation); }

  void flap(const Fault& fault, double shortest_period, double longest_period, double shortest, double longest,
            bool unseen) {
    double at = fault.start;
    while (at < std::min(fault.end, scenario_.duration)) {
      const double down = random_.uniform(shortest, longest);
      add(at, kCut, fault.port);
      add(at + down, kJoin, fault.port, unseen ? random_.uniform(0.02, 0.08) : activation());
      at += down + random_.uniform(shortest_period, longest_period);
    }
  }

  /// A job that ends takes its queue pairs with it, and what was posted on them.
  void flush(const Job& job) {
    if (job.end >= scenario_.duration || job.kind == JobKind::kStorage || job.kind == JobKind::kSteady) return;
    for (const std::uint32_t member : job.members)
      add(job.end + random_.uniform(0, 1), kFlush, member, std::round(random_.log_uniform(20, 2000)));
  }

  void write(const Fault& fault);

  const Scenario& scenario_;
  const Plan& plan_;
  Random& random_;
  std::vector<Action> actions_;
};

void Script::write(const Fault& fault) {
  const std::uint32_t endpoint = fault.port == kNoIndex ? kNoIndex : plan_.endpoint_at(fault.port);
  switch (fault.kind) {
    case FaultKind::kLinkDown:
      add(fault.start, kCut, fault.port);
      if (ends(fault)) add(fault.end, kJoin, fault.port, activation());
      break;
    case FaultKind::kSwitchDown:
    case FaultKind::kHostDown: {
      std::vector<NodeIndex> nodes{fault.node};
      if (fault.kind == FaultKind::kHostDown) nodes = adapters_of_host(plan_, fault.node);
      for (const NodeIndex node : nodes) span(fault, kPower, node, 0, 1);
      break;
    }
    case FaultKind::kFlapFast:
      flap(fault, 4, 8, 1.2, 3, false);
      break;
    case FaultKind::kFlapSlow:
      flap(fault, 50, 110, 3, 8, false);
      break;
    case FaultKind::kFlapSubSample:
      flap(fault, 8, 25, 0.03, 0.15, true);
      break;
    case FaultKind::kWidthLoss:
    case FaultKind::kSpeedLoss: {
      // A link trains anew to become narrower or slower.
      const bool width = fault.kind == FaultKind::kWidthLoss;
      const Port& port = plan_.ports[fault.port];
      add(fault.start, kCut, fault.port);
      add(fault.start + 0.01, width ? kSetWidth : kSetSpeed, fault.port, width ? 1 : port.speed_active / 2);
      add(fault.start + 0.05, kJoin, fault.port, random_.uniform(0.1, 0.4));
      if (!ends(fault)) break;
      add(fault.end, kCut, fault.port);
      add(fault.end + 0.01, width ? kSetWidth : kSetSpeed, fault.port, width ? port.width_active : port.speed_active);
      add(fault.end + 0.05, kJoin, fault.port, random_.uniform(0.1, 0.4));
      break;
    }
    case FaultKind::kErrors:
    case FaultKind::kErrorsBelowLimit:
      span(fault, kErrorRate, fault.port, fault.amount, 0);
      break;
    case FaultKind::kErrorBursts:
      for (double at = fault.start; at < std::min(fault.end, scenario_.duration); at += random_.uniform(3, 12))
        add(at, kBurst, fault.port, std::round(random_.log_uniform(200, 20000)));
      break;
    case FaultKind::kIncast:
    case FaultKind::kCollision:
      break;  // jobs_of() has its traffic
    case FaultKind::kOversubscription: {
      // All uplinks of the leaf but as many as `amount` leaves go down.
      const unsigned keep = std::max(1U, static_cast<unsigned>(fault.amount * plan_.spec.uplinks));
      for (unsigned i = keep; i < plan_.spec.uplinks; ++i) {
        const PortIndex port = plan_.port(fault.node, plan_.spec.hosts_per_leaf + 1 + i);
        add(fault.start, kCut, port);
        if (ends(fault)) add(fault.end, kJoin, port, activation());
      }
      break;
    }
    case FaultKind::kSlowReceiver:
      span(fault, kSink, endpoint, fault.amount, 1);
      break;
    case FaultKind::kPcieStall:
      for (double at = fault.start; at < std::min(fault.end, scenario_.duration);) {
        const double stalled = random_.uniform(0.2, 0.8);
        add(at, kSink, endpoint, 0.02);
        add(at, kSource, endpoint, 0.1);
        add(at + stalled, kSink, endpoint, 1);
        add(at + stalled, kSource, endpoint, 1);
        at += stalled + random_.uniform(0.2, 0.8);
      }
      break;
    case FaultKind::kPfcStorm:
      span(fault, kSink, endpoint, 0, 1);
      break;
    case FaultKind::kDeadlock: {
      // leaf A → spine → leaf B → other spine → leaf A: what a turn from down to up makes possible.
      const PortIndex up = fault.port;
      const PortIndex back = fault.other;
      const NodeIndex spine = plan_.ports[plan_.ports[up].peer].node;
      const NodeIndex other_spine = plan_.ports[plan_.ports[back].peer].node;
      const auto towards = [&](NodeIndex from, NodeIndex to) {
        for (PortIndex port = plan_.nodes[from].first_port;
             port < plan_.nodes[from].first_port + plan_.nodes[from].port_entries(); ++port)
          if (plan_.ports[port].peer != kNoIndex && plan_.ports[plan_.ports[port].peer].node == to) return port;
        return up;
      };
      for (const PortIndex port :
           {up, towards(spine, plan_.ports[back].node), back, towards(other_spine, plan_.ports[up].node)})
        span(fault, kDeadlock, port, 1, 0);
      break;
    }
    case FaultKind::kLossOnLink:
      span(fault, kLoss, fault.port, fault.amount, 0);
      break;
    case FaultKind::kLossInSwitch:
      span(fault, kSwitchLoss, fault.node, fault.amount, 0);
      break;
    case FaultKind::kStraggler:
      span(fault, kSlowCompute, endpoint, fault.amount, 1);  // what it sends then goes as fast as ever
      break;
    case FaultKind::kOpticsDrift:
      span(fault, kDrift, fault.port, fault.amount, 0);
      span(fault, kFade, fault.port, fault.amount, 0);
      break;
    case FaultKind::kOpticsFading: {
      const double minutes = (std::min(fault.end, scenario_.duration) - fault.start) / 60;
      span(fault, kFade, fault.port, fault.amount / std::max(1.0, minutes), 0);
      break;
    }
    case FaultKind::kCrossedCables:
      for (const PortIndex port : {fault.port, fault.other}) {
        add(fault.start, kCut, port);
        add(fault.start + 6, kJoin, port, activation());
      }
      add(fault.start + 3, kSwap, fault.port, 0, fault.other);
      break;
    case FaultKind::kCounterReset:
      add(fault.start, kClear, fault.port);
      break;
    case FaultKind::kFrozenCounters:
      span(fault, kFreeze, fault.port, 1, 0);
      break;
    case FaultKind::kSaturatedCounter:
      add(fault.start, kSaturate, fault.port);
      if (ends(fault)) add(fault.end, kClear, fault.port);
      break;
    case FaultKind::kNodeSilent:
      span(fault, kMute, fault.node, 1, 0);
      break;
    case FaultKind::kCollectorDeath:
      span(fault, kStopSweeps, 0, 1, 0);
      break;
    case FaultKind::kClockJump:
      add(fault.start, kClock, 0, fault.amount);
      break;
    case FaultKind::kMadSensor:
      span(fault, kMad, fault.port, 1, 0);
      break;
    case FaultKind::kFailedTransfers:
      span(fault, kFail, endpoint, fault.amount, 0);
      break;
    case FaultKind::kNodeReboot:
      for (const NodeIndex node : adapters_of_host(plan_, fault.node)) span(fault, kPower, node, 0, 1);
      break;
    case FaultKind::kDriverReload:
      for (const NodeIndex node : adapters_of_host(plan_, fault.node)) {
        add(fault.start, kCut, plan_.nodes[node].first_port);
        add(fault.end, kJoin, plan_.nodes[node].first_port, activation());
      }
      break;
    case FaultKind::kRetraining:
      add(fault.start, kCut, fault.port);
      add(fault.start + random_.uniform(0.05, 0.5), kJoin, fault.port, activation());
      break;
    case FaultKind::kJobHang: {
      // The retries of its queue pairs, each after the same time (NCCL_IB_TIMEOUT 20 to 22), and those of its peers.
      if (fault.amount <= 0) break;
      static constexpr double kQueuePairTimeouts[] = {4.3, 8.6, 17.2};
      const double timeout = random_.pick(kQueuePairTimeouts);
      for (int i = 1; i <= 8; ++i) {
        add(fault.start + i * timeout + random_.uniform(0, 0.5), ActionKind::kTimeouts, endpoint, fault.amount);
        for (const std::uint32_t peer : fault.endpoints)
          add(fault.start + i * timeout + random_.uniform(0, 0.5), ActionKind::kTimeouts, peer, 1);
      }
      break;
    }
    case FaultKind::kManagerRestart:
    case FaultKind::kManagerFailover:
      add(fault.start, kManager, kNoIndex, 0);
      if (ends(fault)) add(fault.end, kManager, fault.port, 1);
      break;
    case FaultKind::kCount:
      break;
  }
}

/// The job of that host, with all its rails, stands still; nor do its hosts read or write any more.
void stop_job(const Fault& fault, const Plan& plan, std::vector<Job>& jobs) {
  const std::uint32_t rails = plan.spec.rails;
  const std::uint32_t host = plan.endpoint_at(fault.port) / rails;
  std::set<std::uint32_t> hosts;
  for (Job& job : jobs) {
    if (!is_collective(job)) continue;
    if (std::ranges::none_of(job.members, [&](std::uint32_t member) { return member / rails == host; })) continue;
    job.pauses.push_back({fault.start, fault.end});
    for (const std::uint32_t member : job.members) hosts.insert(member / rails);
  }
  for (Job& job : jobs)
    if (job.kind == JobKind::kStorage)
      std::erase_if(job.members, [&](std::uint32_t member) { return hosts.contains(member / rails); });
}

}  // namespace

std::vector<NodeIndex> adapters_of_host(const Plan& plan, NodeIndex adapter) {
  const std::uint32_t first = plan.endpoint_of[adapter] / plan.spec.rails * plan.spec.rails;
  return {plan.adapters.begin() + first, plan.adapters.begin() + first + plan.spec.rails};
}

std::vector<Action> actions_of(const Scenario& scenario, const Plan& plan, Random& random) {
  return Script(scenario, plan, random).write();
}

std::vector<Job> jobs_of(const Scenario& scenario, const Plan& plan) {
  std::vector<Job> jobs = scenario.jobs;
  for (const Fault& fault : scenario.faults)
    if (fault.kind == FaultKind::kJobHang) stop_job(fault, plan, jobs);
  for (const Fault& fault : scenario.faults) {
    Job job{.kind = JobKind::kSteady, .load = 0.9, .start = fault.start, .end = fault.end};
    if (fault.kind == FaultKind::kIncast) {
      job.members = fault.endpoints;
      job.targets = {plan.endpoint_at(fault.port)};
    } else if (fault.kind == FaultKind::kCollision) {
      for (std::size_t i = 0; i + 1 < fault.endpoints.size(); i += 2) {
        job.members.push_back(fault.endpoints[i]);
        job.targets.push_back(fault.endpoints[i + 1]);
      }
    } else {
      continue;
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace weft::scenarios
