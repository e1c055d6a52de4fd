// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-collector tells of itself.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/spool/writer.hpp"
#include "daemon/programs/uplink/report.hpp"

namespace weft::collector {

/// Figures since the start of weft-collector, unless a comment says otherwise.
struct OwnFigures {
  std::uint64_t readings = 0;
  std::uint64_t missed_readings = 0;  ///< beats that passed while a reading took too long
  std::uint64_t link_events = 0;
  double reading_seconds = 0;  ///< all readings together
  double last_reading_seconds = 0;
  double processor_seconds = 0;                ///< of this process
  std::uint64_t resident_bytes = 0;            ///< of this process
  std::optional<spool::SpoolStats> spool;      ///< without an analyzer there is none
  std::optional<uplink::UplinkReport> uplink;  ///<
  std::vector<std::string> analyzers;          ///< addresses, as `uplink->analyzer` counts them
  std::uint64_t uplink_starts = 0;
};

}  // namespace weft::collector
