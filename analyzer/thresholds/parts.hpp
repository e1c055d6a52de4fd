// SPDX-License-Identifier: Apache-2.0
#pragma once
// When parts around a port are called degraded (analyzer/parts).

#include <chrono>

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// Limits of HOST_DEGRADED and MODULE_DEGRADED.
struct PartsLimits {
  bool enabled = true;
  /// A PCIe link is told when it is below what both ends can for so long: some devices slow their link down while they
  /// are idle, and a link that trains again is slow for moments.
  Duration pcie_hold = std::chrono::minutes(5);
  /// More corrected errors of a PCIe link than that, per bit in both directions over an hour, are told. It is what the
  /// PCI Express Base Specification allows (chapter 8, bit error ratio): 3,686 an hour at 32 GT/s x16.
  double pcie_bit_error_rate = 1e-12;
  /// What a module or adapter measures is told when it is beyond a limit that it names itself for so long, and is over
  /// when it is within for so long.
  Duration gauge_hold = std::chrono::minutes(1);
};

}  // namespace weft::analyzer
