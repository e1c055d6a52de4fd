// SPDX-License-Identifier: Apache-2.0
// What the watcher sees of the simulated fabric: errors that occur meanwhile, readings node after node, sweeps.
#include <algorithm>
#include <cmath>

#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

constexpr TimePoint kBegin{std::chrono::seconds(1'790'000'000)};

}  // namespace

TimePoint Simulator::wall(double at) const {
  return kBegin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at + clock_));
}

void Simulator::look_for_ways() {
  const auto not_down = [](const Port& port) { return port.state != PortState::kDown; };
  std::vector<std::uint8_t> reached(seen_nodes_.size(), 0);
  std::vector<NodeIndex> queue{seen_[local_].node};
  reached[queue[0]] = 1;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const Node& node = seen_nodes_[queue[head]];
    for (PortIndex at = node.first_port; at < node.first_port + node.port_entries(); ++at) {
      const Port& port = seen_[at];
      if (port.peer == kNoIndex || !not_down(port)) continue;
      Port& far = seen_[port.peer];
      if (!not_down(far) && seen_nodes_[far.node].reachable) continue;
      if (reached[far.node]) continue;
      reached[far.node] = 1;
      if (!not_down(far)) far.state = PortState::kUnknown;
      queue.push_back(far.node);
    }
  }
  for (NodeIndex node = 0; node < seen_nodes_.size(); ++node) seen_nodes_[node].reachable = reached[node] != 0;
}

void Simulator::hurt(PortIndex port, std::uint64_t symbols) {
  if (symbols == 0 || !carries(port)) return;
  registers_.add(port, CounterId::kSymbolErrors, symbols);
  const double used = std::min(1.0, traffic_.loads().sent[ports_[port].peer] / rate_of(port));
  const std::uint64_t packets = random_.poisson(static_cast<double>(symbols) * used * 0.3);
  lose_packets(ports_[port].peer, packets);
  registers_.add(port, CounterId::kReceiveErrors, packets);
  registers_.add(port, CounterId::kLinkErrorRecovery, symbols / 50000);
  // What a switch had already begun to forward arrives at the next node, marked bad.
  const Node& node = plan_.nodes[ports_[port].node];
  if (packets == 0 || node.type != NodeType::kSwitch) return;
  const PortIndex out = node.first_port + 1 + random_.below(node.port_count);
  if (carries(out)) registers_.add(ports_[out].peer, CounterId::kReceiveRemotePhysicalErrors, packets);
}

void Simulator::make_errors(double now) {
  for (const ErrorSource& source : error_sources_) {
    const double rate = source.rate * std::pow(10, source.growth * (now - source.since) / 60);
    hurt(source.port, random_.poisson(std::min(rate, 1e-6) * rate_of(source.port) * (now - errors_made_)));
  }
  errors_made_ = now;
}

void Simulator::make_noise(double now) {
  const double passed = now - noise_made_;
  noise_made_ = now;
  if (!scenario_.noisy) return;
  const Noise& noise = scenario_.noise;
  for (std::uint64_t n = random_.poisson(healthy_errors_.back() * passed); n > 0; --n) {
    const double at = random_.uniform(0, healthy_errors_.back());
    hurt(static_cast<PortIndex>(std::ranges::upper_bound(healthy_errors_, at) - healthy_errors_.begin()), 1);
  }
  const double port_days = static_cast<double>(cabled_) * passed / kSecondsOfDay;
  const auto now_and_then = [&](double rate, const auto& act) {
    for (std::uint64_t n = random_.poisson(rate * port_days); n > 0; --n) {
      const PortIndex port = random_.below(ports_.size());
      if (ports_[port].peer != kNoIndex) act(port);
    }
  };
  now_and_then(noise.discards, [&](PortIndex port) {
    const std::uint64_t packets = 1 + random_.below(20);
    registers_.add(port, CounterId::kTransmitDiscards, packets);
    lose_packets(port, packets);
  });
  now_and_then(noise.remote_errors,
               [&](PortIndex port) { registers_.add(port, CounterId::kReceiveRemotePhysicalErrors, 1); });
  now_and_then(noise.management_drops, [&](PortIndex port) { registers_.add(port, CounterId::kVl15Dropped, 1); });
  now_and_then(noise.symbol_bursts, [&](PortIndex port) { hurt(port, 5 + random_.below(496)); });
  now_and_then(noise.resets, [&](PortIndex port) { registers_.clear(port); });
}

SpeedMask Simulator::speed_read(SpeedMask active) const {
  const auto known = wire_speeds_.find(active);
  return known == wire_speeds_.end() ? active : known->second.active;
}

void Simulator::read_node(NodeIndex index, double now) {
  if (!powered_[index] || !reachable_[index] || muted_[index]) return;
  const bool noisy = scenario_.noisy;
  if (noisy && random_.chance(scenario_.noise.lost_node)) return;
  const bool counters = !(noisy && random_.chance(scenario_.noise.lost_counters)) && is_routed(index);
  const Node& node = plan_.nodes[index];
  const TimePoint when = wall(now);
  if (counters && !swept_at_.empty() && plan_.endpoint_of[index] != kNoIndex)
    swept_at_[plan_.endpoint_of[index]].push_back(now);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const Port& is = ports_[port];
    Port& seen = seen_[port];
    const bool trained = is.state != PortState::kDown;
    const WidthMask width = trained ? is.width_active : WidthMask{0};
    const SpeedMask speed = trained ? speed_read(is.speed_active) : SpeedMask{0};
    const float tick = trained ? is.wait_tick_seconds : 0;
    if (seen.state != is.state || seen.physical_state != is.physical_state || seen.width_active != width ||
        seen.speed_active != speed) {
      seen.state = is.state;
      seen.physical_state = is.physical_state;
      seen.width_active = width;
      seen.speed_active = speed;
      seen.wait_tick_seconds = tick;
      seen_changed_ = true;
    }
    state_read_at_[port] = when;
    if (!counters || is.peer == kNoIndex) continue;
    if (mad_[port]) {
      registers_.read_garbage(port, random_, readings_);
      changes_read_[port] = 0;
    } else if (!frozen_[port] || readings_.read_at(port) == kNever) {
      registers_.read_on(port, now, readings_, changes_read_[port]);
    }
    readings_.set_read_at(port, when);
    if (reads_corrections_) corrections_.read(port, now, carries(port) ? rate_of(port) : 0, when);
  }
}

Sweep Simulator::read(double start) {
  const double duration = scenario_.interval * random_.uniform(0.05, 0.3);
  Sweep sweep;
  sweep.fabric = kFabricName;
  sweep.number = ++sweeps_;
  sweep.started = wall(start);
  const auto nodes = static_cast<NodeIndex>(plan_.nodes.size());
  make_errors(start);
  make_noise(start);
  reads_corrections_ = corrections_.is_due(start);
  if (reads_corrections_) corrections_.begin_reading(start);
  for (NodeIndex node = 0; node < nodes; ++node) {
    const double at = start + duration * node / nodes;
    if (at >= next_change_ || at >= manager_.next() || (!actions_.empty() && at >= actions_.top().at)) advance(at);
    read_hosts(at);
    begin_sends(at);
    read_node(node, at);
  }
  for (const auto& [a, b] : new_cables_) {
    for (const PortIndex end : {a, b})
      if (seen_[end].peer != kNoIndex) seen_[seen_[end].peer].peer = kNoIndex;
    seen_[a].peer = b;
    seen_[b].peer = a;
    seen_changed_ = true;
  }
  new_cables_.clear();
  if (seen_changed_) look_for_ways();
  if (seen_changed_) topology_ = std::make_shared<const Topology>(1, seen_nodes_, seen_, std::vector<DuplicateGuid>{});
  seen_changed_ = false;
  advance(start + duration);
  sweep.finished = wall(start + duration);
  sweep.interval = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(scenario_.interval));
  sweep.local_port = plan_.key_of(local_);
  sweep.subnet_manager = plan_.key_of(master_);
  sweep.topology = topology_;
  sweep.counters = std::make_shared<const SampleTable>(readings_);
  sweep.details = corrections_.table();
  sweep.state_read_at = state_read_at_;
  sweep.routes = routes_;
  return sweep;
}

bool Simulator::next(Tick& tick) {
  if (next_sweep_ >= scenario_.duration) return false;
  const double start = next_sweep_;
  advance(start);
  harm_.pass(traffic_.loads(), start);
  harm_.close(start);
  tick.sweep.reset();
  if (ethernet_) {
    make_errors(start);
    make_noise(start);
    collectors_.hear(now_, tick.heard);
    Sweep sweep = put_together(tick.heard);
    if (!stopped_) tick.sweep = std::move(sweep);
  } else {
    if (!stopped_) tick.sweep = read(start);
    collectors_.hear(now_, tick.heard);
  }
  tick.at = now_;
  tick.now = wall(now_);
  next_sweep_ = start + scenario_.interval * random_.uniform(0.97, 1.03);
  if (scenario_.noisy && random_.chance(scenario_.noise.late_sweep))
    next_sweep_ += scenario_.interval * random_.uniform(0.2, 2);
  next_sweep_ = std::max(next_sweep_, now_ + 0.01 * scenario_.interval);
  return true;
}

}  // namespace weft::scenarios
