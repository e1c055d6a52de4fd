// SPDX-License-Identifier: Apache-2.0
#include "analyzer/rdma/rdma_errors.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

struct ErrorKind {
  std::string_view name;  ///< in the catalogue
  bool at_once;           ///< one is trouble enough: a queue pair whose retries are used up is in error
};
constexpr ErrorKind kErrorKinds[] = {{"retries_exhausted", true},
                                     {"rnr_retries_exhausted", true},
                                     {"request_completion_error", false},
                                     {"response_completion_error", false}};
/// Kinds that count flushes, too, and the counter of these: what is flushed when its queue pair ends is no failed
/// transfer. On a published host of a training cluster 97 % of 3.3 million response errors were flushes of ended jobs.
struct Flushed {
  std::uint8_t kind;
  std::string_view name;
};
constexpr Flushed kFlushed[] = {{2, "request_flush"}, {3, "response_flush"}};

}  // namespace

void RdmaErrors::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  static_assert(std::size(kErrorKinds) == kKinds);
  // A kind, or behind the kinds the flushes of one.
  const auto kind_of = [](const HostSeries& series) -> std::optional<std::uint8_t> {
    const auto found = std::ranges::find(kErrorKinds, series.name, &ErrorKind::name);
    if (found != std::end(kErrorKinds)) return static_cast<std::uint8_t>(found - std::begin(kErrorKinds));
    const auto flushed = std::ranges::find(kFlushed, series.name, &Flushed::name);
    if (flushed != std::end(kFlushed)) return static_cast<std::uint8_t>(kKinds + flushed->kind);
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) errors_[port.slot].followed.clear();
  follow_series(host, followed, kind_of,
                [&](const PortWatch& port, const auto& kind) { errors_[port.slot].followed.push_back(kind); });
}

void RdmaErrors::count(Count& count, std::uint64_t moved, bool at_once, TimePoint at) const {
  if (!count.confirmed && at - count.began > thresholds_.rdma_error_window) count = {0, 0, at, count.moved, false};
  if (moved == 0) return;
  if (count.total == 0) count.began = at;
  count.total += moved;
  ++count.readings;
  count.moved = at;
  count.confirmed = count.confirmed || at_once || count.readings >= 2 || count.total >= thresholds_.rdma_error_count;
}

void RdmaErrors::take(const HostWatch& host, const HostMovement& movement) {
  for (const PortWatch& port : host.ports) {
    Errors& errors = errors_[port.slot];
    std::array<std::uint64_t, kKinds * 2> moved{};
    std::array<bool, kKinds> present{};
    for (const auto& [series, kind] : errors.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present) continue;
      moved[kind] += row.delta.moved;
      if (kind < kKinds) present[kind] = true;
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      if (!present[kind]) continue;
      // One counter may be read a moment before the other: what was flushed then is an error in the next reading.
      std::uint64_t& flushed = errors.flushed[kind];
      flushed += moved[kKinds + kind];
      const std::uint64_t explained = std::min(moved[kind], flushed);
      flushed -= explained;
      count(errors.counts[kind], moved[kind] - explained, kErrorKinds[kind].at_once, movement.taken);
      if (moved[kind] == 0) flushed = 0;
    }
  }
}

void RdmaErrors::report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) {
  std::vector<Evidence> evidence;
  std::string names;
  Errors& errors = errors_[port.slot];
  for (std::size_t i = 0; i < kKinds; ++i) {
    Count& count = errors.counts[i];
    if (count.confirmed && now - count.moved > thresholds_.rdma_error_quiet) count = {};
    if (!count.confirmed) continue;
    const std::string name(kErrorKinds[i].name);
    evidence.push_back({.signal = name,
                        .description = count_text(count.total) + " " + name + " on " + port.label,
                        .value = static_cast<double>(count.total),
                        .threshold = 0,
                        .unit = "events",
                        .observed = count.moved,
                        .where = entity_of(host, port)});
    names += (names.empty() ? "" : ", ") + name;
  }
  if (evidence.empty()) return;
  Finding finding = make_finding(IncidentKind::kRdmaErrors, Severity::kWarning, told_by(host, place_of(host, port)));
  finding.jobs = host.jobs;
  finding.evidence = std::move(evidence);
  finding.summary = "RDMA errors on " + port.label + ": " + names;
  finding.confidence = 0.9;
  findings.push_back(std::move(finding));
}

}  // namespace weft::analyzer
