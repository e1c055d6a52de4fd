// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/link_trend.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Fewer than this say little about their rate (their spread is more than a tenth).
constexpr std::uint64_t kFewestRepaired = 100;
/// Spread of log10(ratio) below which a link's own steadiness is not believed: temperature alone moves it so far.
constexpr double kLeastSpread = 0.1;
/// The same of light: a module tells it in steps, and temperature moves it.
constexpr double kLeastDecibels = 0.2;
constexpr double kTrendConfidence = 0.8;

double decibel_milliwatts(std::uint64_t nanowatts) {
  return 10 * std::log10(static_cast<double>(nanowatts) / 1e6);
}

}  // namespace

void LinkTrend::add_repaired(std::optional<std::uint64_t> count) {
  if (count)
    repaired_ += *count;
  else
    is_unknown_ = true;
}

void LinkTrend::take(TimePoint at, double rate, Duration spacing, std::uint64_t nanowatts,
                     const Thresholds& thresholds) {
  const bool other_rate = rate != rate_;
  const bool anew = taken_ == kNever || is_unknown_ || other_rate || at < taken_;
  if (!anew && at - taken_ < spacing) return;
  // Another rate is another modulation, and has errors of its own; and whoever had the link down for minutes may have
  // put in another cable.
  if (other_rate || (was_down_ && at - taken_ > kTimeForRepair)) drift_ = {};
  if (figure_ == Figure::kReceivePower) {
    if (nanowatts > 0)
      drift_.add(-decibel_milliwatts(nanowatts), kLeastDecibels, thresholds.drift);  // 0: no light, and no link
  } else if (!anew && rate > 0) {
    const auto counted = static_cast<double>(std::max(repaired_, kFewestRepaired));
    drift_.add(std::log10(counted / (rate * seconds(at - taken_))), kLeastSpread, thresholds.drift);
  }
  taken_ = at;
  rate_ = rate;
  repaired_ = 0;
  was_down_ = is_unknown_ = false;
}

std::optional<FecBaseline> LinkTrend::baseline() const {
  if (taken_ == kNever || drift_.state().readings == 0) return std::nullopt;
  return FecBaseline{.port = {}, .rate = rate_, .taken = taken_, .drift = drift_.state()};
}

void LinkTrend::restore(const FecBaseline& baseline) {
  drift_ = Drift(baseline.drift);
  rate_ = baseline.rate;
  taken_ = baseline.taken;
  repaired_ = 0;
  is_unknown_ = true;
  was_down_ = false;
}

bool LinkTrend::is_worse(const Thresholds& thresholds) const {
  if (!drift_.drifting()) return false;
  if (figure_ == Figure::kReceivePower) return drift_.last() - drift_.usual() >= thresholds.receive_power_drop;
  return drift_.recent() >= std::log10(thresholds.fec_ratio_minimum) &&
         drift_.recent() - drift_.usual() >= thresholds.fec_ratio_rise;
}

/// kWarning within a decade of what correction can bear, else kInfo.
Severity LinkTrend::severity(const Thresholds& thresholds) const {
  const bool is_near = figure_ == Figure::kRepaired && drift_.last() >= std::log10(thresholds.fec_ratio_limit) - 1;
  return is_near ? Severity::kWarning : Severity::kInfo;
}

Evidence LinkTrend::evidence(const Words& words, const Thresholds& thresholds, TimePoint now) const {
  if (figure_ == Figure::kReceivePower)
    return {.signal = "module_receive_power",
            .description = words.label + " received " + short_number(-drift_.last()) + " dBm" + words.lane + "; " +
                           short_number(-drift_.usual()) + " dBm was the baseline",
            .value = -drift_.last(),
            .threshold = -drift_.usual() - thresholds.receive_power_drop,
            .unit = "dBm",
            .observed = now,
            .where = words.where};
  const double ratio = std::pow(10, drift_.last());
  return {.signal = "fec_corrected_ratio",
          .description = words.label + " received " + short_number(ratio) + " corrected " + std::string(words.unit) +
                         " per bit; " + short_number(std::pow(10, drift_.usual())) + " was the baseline",
          .value = ratio,
          .threshold = std::pow(10, drift_.usual() + thresholds.fec_ratio_rise),
          .unit = "",
          .observed = now,
          .where = words.where};
}

void LinkTrend::report(const ReportedLink& link, const Words& words, const Thresholds& thresholds, TimePoint now,
                       std::vector<Finding>& findings) const {
  const char* const why =
      figure_ == Figure::kRepaired
          ? "is degrading: error correction (FEC) corrects more and more, without packet loss so far"
          : "is degrading, without packet loss so far";
  Finding finding = link_degraded(link, severity(thresholds), kTrendConfidence, why);
  finding.evidence.push_back(evidence(words, thresholds, now));
  add_degraded(std::move(finding), findings);
}

}  // namespace weft::analyzer
