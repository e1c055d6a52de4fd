// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with a part around a port, and the finding that is made of it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// What tells of a trouble.
enum class PartSign : std::uint8_t {
  kPcieLink,
  kModuleTemperature,
  kLaserBias,
  kTransmitPower,
  kAdapterTemperature,
  kPcieErrors,
  kAdapterLog,
  kModuleLog,
  kCount
};
/// The kind of incident that tells of it.
IncidentKind kind_of(PartSign sign);
/// How the signals of its evidence begin: "pcie_"; the incident of a process before is known by them.
const char* signal_prefix(PartSign sign);

/// One thing that is wrong.
struct PartTrouble {
  PartSign sign = PartSign::kCount;
  Severity severity = Severity::kWarning;
  /// What the part does: "PCIe link 0000:17:00.0 runs at x8 of x16". No number that moves by itself.
  std::string words;
  TimePoint since = kNever;  ///< for so long at least
  std::vector<Evidence> evidence;
};

/// HOST_DEGRADED or MODULE_DEGRADED of the part at `port`, with all that is wrong there, the gravest first; `troubles`
/// is not empty. `others`: further ports of the same part.
Finding part_finding(IncidentKind kind, const HostWatch& host, const PortWatch& port,
                     std::span<const PartTrouble> troubles, std::vector<Entity> others);

}  // namespace weft::analyzer
