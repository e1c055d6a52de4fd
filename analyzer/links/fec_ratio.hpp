// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much error correction repairs, as a figure that drifts: log10 of what was repaired per bit received. The same for
// the sweep's symbols and a host's bits.

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/ports/drift.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// So much was repaired while so many bits (more than none) were received.
void add_fec_ratio(Drift& drift, std::uint64_t repaired, double bits, const Thresholds& thresholds);
/// It drifts, has risen far enough, and to where it is of interest.
bool is_fec_worse(const Drift& drift, const Thresholds& thresholds);
/// kWarning within a decade of what correction can bear, else kInfo.
Severity fec_severity(const Drift& drift, const Thresholds& thresholds);
/// "LABEL receives 1.2e-06 wrong SYMBOLS a bit before correction; 1.0e-08 is usual here"
Evidence fec_evidence(const Drift& drift, const Thresholds& thresholds, const std::string& label,
                      std::string_view symbols, const Entity& where, TimePoint now);

}  // namespace weft::analyzer
