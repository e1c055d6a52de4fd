// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/fec_ratio.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Fewer than this say little about their rate (their spread is more than a tenth).
constexpr std::uint64_t kFewestRepaired = 100;
/// Spread of log10(ratio) below which a link's own steadiness is not believed: temperature alone moves it so far.
constexpr double kLeastSpread = 0.1;

}  // namespace

void add_fec_ratio(Drift& drift, std::uint64_t repaired, double bits, const Thresholds& thresholds) {
  const auto counted = static_cast<double>(std::max(repaired, kFewestRepaired));
  drift.add(std::log10(counted / bits), kLeastSpread, thresholds.drift);
}

bool is_fec_worse(const Drift& drift, const Thresholds& thresholds) {
  return drift.drifting() && drift.recent() >= std::log10(thresholds.fec_ratio_minimum) &&
         drift.recent() - drift.usual() >= thresholds.fec_ratio_rise;
}

Severity fec_severity(const Drift& drift, const Thresholds& thresholds) {
  return drift.last() >= std::log10(thresholds.fec_ratio_limit) - 1 ? Severity::kWarning : Severity::kInfo;
}

Evidence fec_evidence(const Drift& drift, const Thresholds& thresholds, const std::string& label,
                      std::string_view symbols, const Entity& where, TimePoint now) {
  const double ratio = std::pow(10, drift.last());
  return {.signal = "fec_corrected_ratio",
          .description = label + " receives " + short_number(ratio) + " corrected " + std::string(symbols) +
                         " per bit; " + short_number(std::pow(10, drift.usual())) + " is the baseline",
          .value = ratio,
          .threshold = std::pow(10, drift.usual() + thresholds.fec_ratio_rise),
          .unit = "",
          .observed = now,
          .where = where};
}

}  // namespace weft::analyzer
