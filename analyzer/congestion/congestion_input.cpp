// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_input.hpp"

#include <algorithm>
#include <cmath>

namespace weft::analyzer {

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
