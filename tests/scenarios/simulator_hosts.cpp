// SPDX-License-Identifier: Apache-2.0
// What losses and stalls on the simulated fabric mean for its hosts.
#include <algorithm>

#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

constexpr double kBitsOfPacket = 8 * kBytesOfPacket;
/// A link is full from this share of what it can carry on.
constexpr double kFull = 0.97;
/// Share of the packets that a switch marks which leave by a full port, and which leave by one that is merely busy:
/// DCQCN holds a queue between the two thresholds of its marking (SIGCOMM 2015, Figure 10: some per cent).
constexpr double kMarkedWhereFull = 0.03;
constexpr double kMarkedWhereBusy = 1e-4;
constexpr double kBusy = 0.7;
/// Below this share of the time a host that takes in less than the line brings is not said to stall: nothing waits.
constexpr float kStalls = 0.02F;

}  // namespace

void Simulator::let_flow(const Loads& loads) {
  collectors_.calm();
  sent_ = loads.sent;
  arrived_ = loads.sent;
  const Assumptions& assumed = scenario_.assumptions;
  const auto used = [&](PortIndex port) {
    const double capacity = capacity_->resources[port];
    return capacity > 0 ? loads.sent[port] / capacity : 0;
  };
  if (assumed.full_link_loss > 0) std::ranges::fill(drop_rates_, 0);
  if (assumed.marks_only) {
    for (const FlowRate& flow : loads.flows) {
      double unmarked = 1;
      for (const PortIndex port : flow.path)
        unmarked *= 1 - (used(port) >= kFull ? kMarkedWhereFull : used(port) >= kBusy ? kMarkedWhereBusy : 0);
      collectors_.mark(flow.from, flow.to, (1 - unmarked) * flow.rate / kBitsOfPacket);
    }
  }
  if (lossy_ || assumed.full_link_loss > 0) {
    std::ranges::fill(sent_, 0);
    std::ranges::fill(arrived_, 0);
    for (const FlowRate& flow : loads.flows) {
      double rate = flow.rate;
      for (const PortIndex port : flow.path) {
        rate *= 1 - static_cast<double>(lost_in_switch_[ports_[port].node]);
        if (assumed.full_link_loss > 0 && used(port) >= kFull) {
          drop_rates_[port] += rate * assumed.full_link_loss / kBitsOfPacket;
          rate *= 1 - assumed.full_link_loss;
        }
        sent_[port] += rate;
        rate *= 1 - static_cast<double>(lost_on_cable_[port]);
        arrived_[port] += rate;
      }
      if (rate < flow.rate)
        collectors_.lose(flow.from, flow.to, (flow.rate - rate) / kBitsOfPacket, late_packets(flow.rate));
    }
  }
  std::vector<std::uint8_t> slow(plan_.adapters.size(), 0);
  for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint) {
    const double takes = capacity_->resources[ports_.size() + endpoint];
    const float waits = loads.waiting[plan_.access_port(endpoint)];
    if (takes >= rate_of(plan_.access_port(endpoint)) || waits < kStalls) continue;
    const double reads = 1 - capacity_->sources[endpoint];
    collectors_.stall(endpoint, static_cast<double>(waits), reads);
    slow[endpoint] = reads <= 0;  // its bus is well: its software does not keep up
  }
  for (const FlowRate& flow : loads.flows)
    if (slow[flow.to]) collectors_.refuse(flow.from, flow.to, scenario_.constants.unposted);
}

double Simulator::late_packets(double rate) const {
  const double line = link_bits_per_second(2, plan_.spec.speed);
  return std::max(1.0, scenario_.assumptions.late_packets * std::min(1.0, rate / line));
}

void Simulator::make_drops(double seconds) {
  if (scenario_.assumptions.full_link_loss <= 0) return;
  for (PortIndex port = 0; port < ports_.size(); ++port)
    if (drop_rates_[port] > 0)
      registers_.add(port, CounterId::kTransmitDiscards, losses_.poisson(drop_rates_[port] * seconds));
}

void Simulator::lose_packets(PortIndex sender, std::uint64_t packets) {
  if (packets == 0) return;
  const std::vector<FlowRate>& flows = traffic_.loads().flows;
  std::vector<const FlowRate*> through;
  double sum = 0;
  for (const FlowRate& flow : flows) {
    if (std::ranges::find(flow.path, sender) == flow.path.end()) continue;
    through.push_back(&flow);
    sum += flow.rate;
  }
  double at = losses_.uniform(0, sum);
  for (const FlowRate* flow : through) {
    at -= flow->rate;
    if (at >= 0) continue;
    collectors_.add_lost(flow->from, flow->to, packets, late_packets(flow->rate));
    return;
  }
}

void Simulator::read_hosts(double until) {
  if (!collectors_.is_due(until)) return;
  collectors_.read(
      until, registers_, ports_, [this](NodeIndex node) { return powered_[node] != 0; },
      [this](double at) {
        begin_sends(at);
        return wall(at);
      });
}

unsigned Simulator::visible_delays(std::uint32_t endpoint, double from, double to) const {
  std::vector<std::vector<double>> readings = swept_at_;  // of a collector and of sweeps
  for (std::uint32_t at = 0; at < readings.size(); ++at) {
    const std::vector<double>& told = collectors_.reading_times()[at / plan_.spec.rails];
    readings[at].insert(readings[at].end(), told.begin(), told.end());
    std::ranges::sort(readings[at]);
  }
  // Nobody is told what an endpoint sends besides; where that may have a first in it, it must have shown.
  double besides = 0;  // bytes from one reading to the next
  for (const Job& job : traffic_.jobs()) {
    if (job.kind != JobKind::kSteady) continue;
    for (std::size_t member = 0; member < job.members.size(); ++member)
      if (job.members[member] == endpoint)
        besides += job.load * (job.shares.empty() ? 1 : job.shares[member]) *
                   link_bits_per_second(2, plan_.spec.speed) / 8 * scenario_.interval;
  }
  const CollectiveStarts& beginnings = traffic_.beginnings();
  if (besides >= scenario_.constants.first_send &&
      beginnings.telling(traffic_.jobs(), endpoint, readings[endpoint], from, to) < kReadingsToKnow)
    return 0;
  return beginnings.visible(traffic_.jobs(), endpoint, readings, from, to);
}

void Simulator::begin_sends(double until) {
  if (!traffic_.begins(until)) return;
  std::vector<PortIndex> path;
  for (const FirstSend& send : traffic_.begun(until)) {
    if (!traffic_.path(send.from, send.to, path)) continue;
    for (const PortIndex port : path) {
      registers_.add_bytes(port, scenario_.constants.first_send, 0);
      registers_.add_bytes(ports_[port].peer, 0, scenario_.constants.first_send);
    }
  }
}

}  // namespace weft::scenarios
