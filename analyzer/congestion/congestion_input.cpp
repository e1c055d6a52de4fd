// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_input.hpp"

#include <algorithm>
#include <cmath>

namespace weft::analyzer {
namespace {

/// Seconds for which one notification slows its flow down: the period over which DCQCN asks whether there was one
/// (SIGCOMM 2015, 3.1: 55 us). Its cuts converge to the share of such periods.
constexpr float kSlowedByOne = 55e-6F;

}  // namespace

bool is_suspect(const CongestionInput& input, PortIndex port, Suspect what) {
  return port < input.suspects.size() && (input.suspects[port] & what) != 0;
}

float utilization_of(const CongestionInput& input, PortIndex egress) {
  double sent = input.rates[egress].transmit_bits_per_second;
  if (!std::isfinite(sent) || is_suspect(input, egress, kBrokenCounters))
    sent = input.rates[input.topology->port(egress).peer].receive_bits_per_second;
  if (!std::isfinite(sent)) return -1;
  return std::min(1.0F, static_cast<float>(sent) / input.line_rates[egress]);
}

float slowed_share(const CongestionInput& input, PortIndex egress, float utilization) {
  if (input.marks.empty() || utilization < 0) return 0;
  const float slowed = std::min(1.0F, std::max(0.0F, input.marks[egress].notified) * kSlowedByOne);
  return slowed * (1 - utilization);
}

bool below_design(const Topology& topology, PortIndex port) {
  const Port& a = topology.port(port);
  const Port& b = topology.port(a.peer);
  const auto width = static_cast<WidthMask>(a.width_supported & a.width_enabled & b.width_supported & b.width_enabled);
  const auto speed = static_cast<SpeedMask>(a.speed_supported & a.speed_enabled & b.speed_supported & b.speed_enabled);
  return lanes(a.width_active) < widest_lanes(width) || a.speed_active < fastest(speed);
}

bool is_lost(const CongestionInput& input, PortIndex port) {
  if (is_unread(*input.topology, port)) return false;
  return input.line_rates[port] <= 0 || input.line_rates[input.topology->port(port).peer] <= 0 ||
         is_suspect(input, port, kUnsteady) || below_design(*input.topology, port);
}

}  // namespace weft::analyzer
