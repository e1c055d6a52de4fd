// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/simulator.hpp"

#include <algorithm>
#include <cmath>

namespace weft::scenarios {
namespace {

/// How long the subnet manager takes to compute and set new tables.
constexpr double kRerouteTime = 1.5;
/// Management and keep-alive traffic of an idle link, bits per second: some hundred packets.
constexpr double kTrickle = 8e6;
constexpr double kAnyRate = 1e18;
constexpr double kDown = -1;

}  // namespace

Simulator::Simulator(const Scenario& scenario, const Plan& plan)
    : scenario_(scenario),
      plan_(plan),
      random_(scenario.seed),
      ports_(plan.ports),
      powered_(plan.nodes.size(), 1),
      muted_(plan.nodes.size(), 0),
      reachable_(plan.nodes.size(), 1),
      frozen_(plan.ports.size(), 0),
      mad_(plan.ports.size(), 0),
      blocked_(plan.ports.size(), 0),
      lost_on_cable_(plan.ports.size(), 0),
      lost_in_switch_(plan.nodes.size(), 0),
      drop_rates_(plan.ports.size(), 0),
      tick_bytes_(plan.nodes.size()),
      healthy_errors_(plan.ports.size(), 0),
      registers_(plan.ports.size()),
      harm_(plan.ports.size(), scenario.constants.harm),
      traffic_(plan, jobs_of(scenario, plan), link_bits_per_second(2, plan.spec.speed),
               scenario.noisy ? std::optional(scenario.seed + 2'000'000'011) : std::nullopt,
               {.ways = plan.is_ethernet() ? 1 : scenario.assumptions.ways,
                .back_pressure = !scenario.assumptions.marks_only,
                .restless = scenario.constants.restless,
                .pace = scenario.constants.pace}),
      collectors_(scenario, plan),
      corrections_(scenario, plan),
      losses_(scenario.seed + 1'000'000'007),
      capacity_(std::make_shared<Capacity>()),
      seen_nodes_(plan.nodes),
      changes_read_(plan.ports.size(), 0),
      state_read_at_(plan.ports.size(), kNever),
      manager_(plan.is_ethernet() ? SubnetManagerModel{} : scenario.assumptions.manager, scenario.seed + 3'000'000'019,
               plan.nodes.size()),
      routed_(plan.nodes.size(), 1) {
  for (NodeIndex node = 0; node < plan.nodes.size(); ++node)
    tick_bytes_[node] = random_.chance(0.7) ? 8 : 128;  // Quantum and later; Switch-IB and older
  double healthy = 0;
  for (PortIndex port = 0; port < ports_.size(); ++port) {
    healthy_errors_[port] = healthy;
    if (ports_[port].peer == kNoIndex) continue;
    ++cabled_;
    ports_[port].wait_tick_seconds = tick_of(port);
    healthy += rate_of(port) * random_.log_uniform(scenario.noise.error_rate_low, scenario.noise.error_rate_high);
    healthy_errors_[port] = healthy;
    const double before = random_.log_uniform(1e9, 1e15);
    registers_.preset(port, before, before * random_.uniform(0.9, 1.1), before * 1e-3);
    if (random_.chance(0.3)) registers_.add(port, CounterId::kSymbolErrors, random_.below(2000));
    if (random_.chance(0.5)) registers_.add(port, CounterId::kLinkDowned, random_.below(6));
  }
  if (scenario.noisy)
    for (NodeIndex node = 0; node < plan.nodes.size(); ++node) {
      const CounterWidths widths = random_.chance(0.2) ? CounterWidths::kNarrowErrors : CounterWidths::kWide;
      for (unsigned i = 0; i < plan.nodes[node].port_entries(); ++i)
        registers_.set_widths(plan.nodes[node].first_port + i, widths);
    }
  if (has_straggler(scenario)) {
    traffic_.keep_beginnings();
    swept_at_.resize(plan.adapters.size());
  }
  capacity_->resources.assign(ports_.size() + plan.adapters.size(), 0);
  capacity_->sources.assign(plan.adapters.size(), 1);
  capacity_->slowness.assign(plan.adapters.size(), 1);
  capacity_->deadlocked.assign(ports_.size(), 0);
  std::fill_n(capacity_->resources.begin() + static_cast<std::ptrdiff_t>(ports_.size()), plan.adapters.size(),
              kAnyRate);
  for (const Action& action : actions_of(scenario, plan, random_)) actions_.push(action);
  local_ = master_ = plan.endpoint_port(0);
  if (scenario.assumptions.wire_speeds) read_speeds_from_wire();
  seen_ = ports_;
  readings_.grow(ports_.size());
  if (plan.is_ethernet())
    watch_ethernet();
  else
    expected_ = std::make_shared<const Topology>(1, seen_nodes_, seen_, std::vector<DuplicateGuid>{});
  reroute();
  next_sweep_ += random_.uniform(0, scenario.interval);
}

void Simulator::read_speeds_from_wire() {
  for (Port& port : ports_) {
    if (port.peer == kNoIndex) continue;
    for (const SpeedMask active : {port.speed_active, static_cast<SpeedMask>(port.speed_active / 2)})
      wire_speeds_.try_emplace(active, read_from_wire({active, port.speed_enabled, port.speed_supported}));
    const WireSpeeds& read = wire_speeds_.at(port.speed_active);
    port.speed_enabled = read.enabled;
    port.speed_supported = read.supported;
  }
}

double Simulator::rate_of(PortIndex port) const {
  return link_bits_per_second(ports_[port].width_active, ports_[port].speed_active);
}

bool Simulator::carries(PortIndex port) const {
  const PortIndex peer = ports_[port].peer;
  return peer != kNoIndex && ports_[port].is_up() && ports_[peer].is_up();
}

void Simulator::schedule(double at, ActionKind kind, std::uint32_t a, double value) {
  actions_.push({.at = at, .kind = kind, .a = a, .b = kNoIndex, .value = value});
}

void Simulator::advance(double to) {
  while (true) {
    const double action = actions_.empty() ? to + 1 : actions_.top().at;
    const double next = std::min({action, next_change_, manager_.next()});
    if (next > to) break;
    read_hosts(next);
    harm_.pass(traffic_.loads(), std::max(now_, next));
    make_drops(std::max(now_, next) - now_);
    registers_.settle(std::max(now_, next));
    collectors_.settle(std::max(now_, next));
    now_ = std::max(now_, next);
    traffic_.advance(now_);
    while (!actions_.empty() && actions_.top().at <= now_) {
      const Action due = actions_.top();
      actions_.pop();
      apply(due);
    }
    if (states_moved_) {
      update_capacity();
      update_reachable();
      if (manager_.is_slow()) {
        manager_.notice(now_);
      } else {
        if (!reroute_planned_) schedule(now_ + kRerouteTime, ActionKind::kReroute, 0);
        reroute_planned_ = true;
      }
      states_moved_ = false;
    }
    if (manager_.next() <= now_) manage();
    update_rates();
  }
  read_hosts(to);
  make_drops(std::max(now_, to) - now_);
  now_ = std::max(now_, to);
}

void Simulator::apply(const Action& action) {
  const auto endpoint_rate = [&](double share) {
    return share >= 1 ? kAnyRate : share * scenario_.constants.efficiency * link_bits_per_second(2, plan_.spec.speed);
  };
  switch (action.kind) {
    case ActionKind::kCut:
      return cut(action.a);
    case ActionKind::kJoin:
      return join(action.a, action.value);
    case ActionKind::kActivate:
      return activate(action.a);
    case ActionKind::kSetWidth:
    case ActionKind::kSetSpeed:
      for (const PortIndex end : {action.a, ports_[action.a].peer}) {
        Port& port = ports_[end];
        if (action.kind == ActionKind::kSetWidth)
          port.width_active = static_cast<WidthMask>(action.value);
        else
          port.speed_active = static_cast<SpeedMask>(action.value);
      }
      return;
    case ActionKind::kErrorRate:
    case ActionKind::kDrift:
      make_errors(now_);
      std::erase_if(error_sources_, [&](const ErrorSource& source) { return source.port == action.a; });
      if (action.value <= 0) return;
      if (action.kind == ActionKind::kErrorRate)
        error_sources_.push_back({action.a, action.value, 0, now_});
      else
        error_sources_.push_back({action.a, scenario_.noise.error_rate_high, action.value, now_});
      return;
    case ActionKind::kFade:
      return corrections_.fade(action.a, action.value, now_);
    case ActionKind::kBurst:
      return hurt(action.a, static_cast<std::uint64_t>(action.value));
    case ActionKind::kSink:
      capacity_->resources[ports_.size() + action.a] = endpoint_rate(action.value);
      blocked_[plan_.access_port(action.a)] = action.value <= 0;
      return update_capacity();
    case ActionKind::kSource:
      capacity_->sources[action.a] = action.value;
      return update_capacity();
    case ActionKind::kSlowCompute:
      capacity_->slowness[action.a] = action.value;
      return update_capacity();
    case ActionKind::kDeadlock:
      capacity_->deadlocked[action.a] = action.value > 0;
      return reroute();
    case ActionKind::kLoss:
      lost_on_cable_[action.a] = static_cast<float>(action.value);
      lossy_ = true;
      return;
    case ActionKind::kSwitchLoss:
      lost_in_switch_[action.a] = static_cast<float>(action.value);
      lossy_ = true;
      return;
    case ActionKind::kSwap:
      return swap_cables(action.a, action.b);
    case ActionKind::kClear:
      return registers_.clear(action.a);
    case ActionKind::kFreeze:
      frozen_[action.a] = action.value > 0;
      return;
    case ActionKind::kSaturate:
      registers_.set_widths(action.a, CounterWidths::kNarrowErrors);
      return registers_.add(action.a, CounterId::kSymbolErrors, 0xFFFF);
    case ActionKind::kMute:
      muted_[action.a] = action.value > 0;
      return;
    case ActionKind::kPower:
      return power(action.a, action.value > 0);
    case ActionKind::kMad:
      mad_[action.a] = action.value > 0;
      return;
    case ActionKind::kStopSweeps:
      stopped_ = action.value > 0;
      return;
    case ActionKind::kClock:
      clock_ += action.value;
      return;
    case ActionKind::kFail:
      return collectors_.fail(action.a, action.value);
    case ActionKind::kManager:
      if (action.value <= 0) return manager_.stop();
      if (action.a != kNoIndex) master_ = action.a;
      return manager_.start(now_);
    case ActionKind::kFlush:
      return collectors_.flush(action.a, static_cast<std::uint64_t>(action.value));
    case ActionKind::kModule:
      return collectors_.plug(action.a, static_cast<unsigned>(action.value), action.b == 1);
    case ActionKind::kTimeouts:
      return collectors_.time_out(action.a, static_cast<std::uint64_t>(action.value));
    case ActionKind::kRefuse:
      return collectors_.starve(action.a, action.value);
    case ActionKind::kReroute:
      return reroute();
  }
}

void Simulator::update_capacity() {
  auto capacity = std::make_shared<Capacity>(*capacity_);
  capacity->peers.resize(ports_.size());
  for (PortIndex port = 0; port < ports_.size(); ++port) {
    capacity->peers[port] = ports_[port].peer;
    capacity->resources[port] = !carries(port)               ? kDown
                                : capacity->deadlocked[port] ? 0
                                                             : rate_of(port) * scenario_.constants.efficiency;
  }
  capacity_ = capacity;
  traffic_.set_fabric(nullptr, std::move(capacity));
}

void Simulator::reroute() {
  reroute_planned_ = false;
  std::vector<PortIndex> peers(ports_.size());
  std::vector<std::uint8_t> usable(ports_.size());
  for (PortIndex port = 0; port < ports_.size(); ++port) {
    peers[port] = ports_[port].peer;
    usable[port] = carries(port);
  }
  update_capacity();
  const bool first = next_change_ == 0;
  auto tables = std::make_shared<ForwardingTables>(plan_, peers, usable);
  bend_into_circle(*tables);
  if (!plan_.is_ethernet()) publish_routes(*tables);
  traffic_.set_fabric(std::move(tables), capacity_);
  if (first) traffic_.calm(0.85);
  update_rates();
}

void Simulator::bend_into_circle(ForwardingTables& tables) const {
  // The port of the circle behind `port`; kNoIndex while it is not closed.
  const auto next = [&](PortIndex port) {
    const Node& node = plan_.nodes[ports_[ports_[port].peer].node];
    for (PortIndex at = node.first_port; at < node.first_port + node.port_entries(); ++at)
      if (capacity_->deadlocked[at]) return at;
    return kNoIndex;
  };
  // Each half has a destination of its own: with one for all of it packets would run round and round.
  std::uint32_t destination = 0;
  for (PortIndex up = 0; up < ports_.size(); ++up) {
    if (!capacity_->deadlocked[up] || plan_.tier_of(up) != Tier::kLeaf) continue;
    const PortIndex down = next(up);
    const PortIndex back = down == kNoIndex ? kNoIndex : next(down);
    if (back == kNoIndex || next(back) == kNoIndex) return;
    const auto inside = [&] {
      const NodeIndex leaf = plan_.ports[plan_.access_port(destination)].node;
      return leaf == ports_[up].node || leaf == ports_[back].node;
    };
    while (destination < plan_.adapters.size() && inside()) ++destination;
    if (destination == plan_.adapters.size()) return;
    for (const PortIndex port : {up, down, back}) tables.send(ports_[port].node, destination, ports_[port].number);
    ++destination;
  }
}

void Simulator::publish_routes(const ForwardingTables& tables) {
  const auto top = static_cast<std::uint16_t>(plan_.nodes.size());
  RouteBlock block;
  for (NodeIndex node = 0; node < plan_.nodes.size(); ++node) {
    if (plan_.tiers[node] == Tier::kAdapter) continue;
    route_book_.set_top(node, Lid{top});
    for (std::uint16_t number = 0; number * kRouteBlockSize <= top; ++number) {
      block.fill(kNoEgress.value);
      for (std::size_t i = 0; i < kRouteBlockSize; ++i) {
        const std::size_t lid = number * kRouteBlockSize + i;  // of node lid - 1, see lay_out()
        if (lid == 0 || lid > top) continue;
        const std::uint32_t endpoint = plan_.endpoint_of[lid - 1];
        if (lid - 1 == node) block[i] = 0;
        if (endpoint == kNoIndex) continue;
        if (const std::uint8_t port = tables.port(node, endpoint)) block[i] = port;
      }
      route_book_.set_block(node, number, block);
    }
  }
  routes_ = route_book_.publish();
}

void Simulator::update_rates() {
  const Loads& loads = traffic_.loads();
  let_flow(loads);
  for (PortIndex port = 0; port < ports_.size(); ++port) {
    const PortIndex peer = ports_[port].peer;
    if (peer == kNoIndex) continue;
    // What has come for a host that takes nothing stays before its door, even when its senders have given up.
    if (blocked_[port] && loads.waiting[port] >= 1) blocked_[port] = 2;
    const float waiting = scenario_.assumptions.marks_only ? 0 : blocked_[port] == 2 ? 1 : loads.waiting[port];
    if (!carries(port)) {
      registers_.set_rates(port, 0, 0, 0);
      continue;
    }
    registers_.set_rates(port, (kTrickle + sent_[port]) / 8, (kTrickle + arrived_[peer]) / 8,
                         static_cast<double>(waiting) / static_cast<double>(ports_[port].wait_tick_seconds));
  }
  next_change_ = std::max(traffic_.next_change(), now_ + 1e-9);
}

}  // namespace weft::scenarios
