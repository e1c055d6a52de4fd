// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// parts.*: every number of analyzer/thresholds/parts.hpp as a key of its own name.

namespace weft::config {

std::vector<Key> parts_schema() {
  return {
      {"parts.enabled",
       [](WeftdConfig& c) -> Field { return &c.analyzer.parts.enabled; },
       {},
       "",
       "Judge the parts around hosts' ports that collectors tell of: the adapter with its PCIe links is HOST_DEGRADED, "
       "the module MODULE_DEGRADED."},
      {"parts.pcie_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.parts.pcie_hold; },
       {0, kDay},
       "",
       "A PCIe link that runs at fewer lanes, or slower, than both of its ends can for so long is HOST_DEGRADED. Some "
       "devices slow their link down while they are idle."},
      {"parts.pcie_bit_error_rate",
       [](WeftdConfig& c) -> Field { return &c.analyzer.parts.pcie_bit_error_rate; },
       {0, 1e-6},
       "errors/bit",
       "Corrected errors of a PCIe link (AER) per bit, in both directions over an hour, above which the link is told. "
       "The default is what the standard allows: 3,686 errors an hour at 32 GT/s with 16 lanes."},
      {"parts.gauge_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.parts.gauge_hold; },
       {0, kDay},
       "",
       "What a module or adapter measures (temperature, laser bias, transmit power) is told when it is beyond a limit "
       "that it names itself for so long, and is over when it is within for so long."},
  };
}

}  // namespace weft::config
