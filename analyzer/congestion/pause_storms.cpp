// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/pause_storms.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// A device counts again as long as its host stands still: mlx5 after 8 s (its default time-out), others at times of
/// their own.
constexpr Duration kStormQuiet = std::chrono::seconds(60);

}  // namespace

void PauseStorms::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto what_of = [](const HostSeries& series) -> std::optional<What> {
    if (series.name == "pause_storm_warnings") return kWarnings;
    if (series.name == "pause_storm_errors") return kEnded;
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) storms_[port.slot].followed.clear();
  follow_series(host, followed, what_of,
                [&](const PortWatch& port, const auto& what) { storms_[port.slot].followed.push_back(what); });
}

void PauseStorms::take(const HostWatch& host, const HostMovement& movement) {
  // What happened somewhere in a long gap is no news.
  if (movement.elapsed > kStormQuiet) return;
  for (const PortWatch& port : host.ports) {
    Storms& storms = storms_[port.slot];
    for (const auto& [series, what] : storms.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present || row.delta.moved == 0) continue;
      Count& count = storms.counts[what];
      if (std::chrono::abs(movement.taken - count.moved) > kStormQuiet) count.total = 0;
      count.total += row.delta.moved;
      count.moved = movement.taken;
      any_ = true;
    }
  }
}

void PauseStorms::report(const HostWatch& host, const PortWatch& port, TimePoint now,
                         std::vector<Finding>& findings) const {
  if (port.is_virtual) return;
  static constexpr const char* kSignals[] = {"pause_storm_warnings", "pause_storm_errors"};
  static constexpr const char* kTexts[] = {" times its device warned of a storm of pauses",
                                           " times its device ended a storm of pauses and let packets be dropped"};
  const Storms& storms = storms_[port.slot];
  // The clock may have been set back since.
  const auto is_new = [&](const Count& count) {
    return count.moved != kNever && std::chrono::abs(now - count.moved) <= kStormQuiet;
  };
  if (std::ranges::none_of(storms.counts, is_new)) return;
  const bool ended = is_new(storms.counts[kEnded]);
  Finding finding =
      make_finding(IncidentKind::kPfcStorm, ended ? Severity::kCritical : Severity::kWarning, place_of(host, port));
  finding.confidence = ended ? 0.95 : 0.8;
  finding.jobs = host.jobs;
  finding.summary =
      ended ? port.label + " paused its switch until its device ended the storm of pauses: its host stands still"
            : port.label + " pauses its switch for so long that its device warns of a storm";
  for (std::size_t what = 0; what < kWhatCount; ++what)
    if (const Count& count = storms.counts[what]; is_new(count))
      finding.evidence.push_back({.signal = kSignals[what],
                                  .description = port.label + ": " + count_text(count.total) + kTexts[what],
                                  .value = static_cast<double>(count.total),
                                  .threshold = 0,
                                  .unit = "events",
                                  .observed = count.moved,
                                  .where = finding.cause,
                                  .window = kStormQuiet});
  const auto known = std::ranges::find_if(findings, [&](const Finding& other) {
    return other.kind == IncidentKind::kPfcStorm && other.cause.same_as(finding.cause);
  });
  if (known == findings.end()) {
    findings.push_back(std::move(finding));
    return;
  }
  known->severity = std::max(known->severity, finding.severity);
  std::ranges::move(finding.evidence, std::back_inserter(known->evidence));
}

}  // namespace weft::analyzer
