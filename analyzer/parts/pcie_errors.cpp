// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/pcie_errors.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

struct PcieErrorKind {
  std::string_view series;  ///< in the catalogue
  const char* signal;
  const char* words;
  const char* past;
};
/// The first one is judged by its rate, of the others one is enough.
constexpr PcieErrorKind kPcieErrorKinds[] = {
    {"pcie_correctable_errors", "aer_correctable", "PCIe link makes more errors than the standard allows",
     "errors of the PCIe link were corrected"},
    {"pcie_nonfatal_errors", "aer_nonfatal", "PCIe transactions fail", "PCIe transactions failed (non-fatal errors)"},
    {"pcie_fatal_errors", "aer_fatal", "PCIe link fails", "times the PCIe link failed (fatal errors)"}};

constexpr Duration kBucket = PcieErrors::kWindow / 6;

std::int64_t bucket_of(TimePoint at) {
  return at.time_since_epoch() / kBucket;
}

}  // namespace

void PcieErrors::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  static_assert(std::size(kPcieErrorKinds) == kKinds);
  for (const PortWatch& port : host.ports) errors_[port.slot].followed.clear();
  const auto kind_of_series = [](const HostSeries& series) -> std::optional<std::uint8_t> {
    const auto found = std::ranges::find(kPcieErrorKinds, std::string_view(series.name), &PcieErrorKind::series);
    if (found == std::end(kPcieErrorKinds)) return std::nullopt;
    return static_cast<std::uint8_t>(found - std::begin(kPcieErrorKinds));
  };
  follow_series(host, followed, kind_of_series,
                [&](const PortWatch& port, const auto& kind) { errors_[port.slot].followed.push_back(kind); });
}

void PcieErrors::take(const HostWatch& host, const HostMovement& movement) {
  for (const PortWatch& port : host.ports) {
    Errors& errors = errors_[port.slot];
    for (const auto& [series, kind] : errors.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present || !row.successive || row.delta.was_reset || row.delta.moved == 0) continue;
      errors.counts.resize(kKinds);
      Count& count = errors.counts[kind];
      const std::int64_t bucket = bucket_of(movement.taken);
      if (bucket != count.newest) {
        // Also when a clock was set: what is older than a window, or of another time, is nothing.
        const bool is_old = bucket < count.newest || bucket - count.newest >= static_cast<std::int64_t>(kBuckets);
        if (is_old) count.buckets.fill(0);
        for (std::int64_t empty = count.newest + 1; !is_old && empty <= bucket; ++empty)
          count.buckets[static_cast<std::size_t>(empty) % kBuckets] = 0;
        count.newest = bucket;
      }
      if (count.moved == kNever || movement.taken - count.moved > kWindow) count.since = movement.taken;
      count.buckets[static_cast<std::size_t>(bucket) % kBuckets] += row.delta.moved;
      count.moved = movement.taken;
    }
  }
}

std::uint64_t PcieErrors::sum(const Count& count, TimePoint now) {
  const std::int64_t present = bucket_of(now);
  std::uint64_t all = 0;
  for (std::int64_t bucket = count.newest; bucket > count.newest - static_cast<std::int64_t>(kBuckets); --bucket)
    if (bucket >= 0 && bucket > present - static_cast<std::int64_t>(kBuckets))
      all += count.buckets[static_cast<std::size_t>(bucket) % kBuckets];
  return all;
}

void PcieErrors::report(const HostWatch& host, const PortWatch& port, const PcieLink* link, TimePoint now,
                        std::vector<PartTrouble>& troubles) const {
  const Errors& errors = errors_[port.slot];
  for (std::size_t kind = 0; kind < errors.counts.size(); ++kind) {
    const Count& count = errors.counts[kind];
    const std::uint64_t seen = sum(count, now);
    if (seen == 0) continue;
    double limit = 0;
    if (kind == 0) {
      if (!link) continue;
      // Bits in both directions; 1e8 bit/s are a tenth of a GT/s.
      const double bits = 2 * 1e8 * link->now.speed * link->now.lanes * 3600;
      limit = bits * limits_.pcie_bit_error_rate;
      if (static_cast<double>(seen) <= limit) continue;
    }
    PartTrouble trouble;
    trouble.sign = PartSign::kPcieErrors;
    trouble.since = count.since;
    trouble.words = kPcieErrorKinds[kind].words;
    trouble.evidence.push_back({.signal = kPcieErrorKinds[kind].signal,
                                .description = count_text(seen) + ' ' + kPcieErrorKinds[kind].past +
                                               " within an hour, by the adapter and the port above, since " +
                                               minute_text(count.since),
                                .value = static_cast<double>(seen),
                                .threshold = limit,
                                .unit = "events",
                                .observed = count.moved,
                                .where = entity_of(host, port),
                                .window = kWindow});
    troubles.push_back(std::move(trouble));
  }
}

}  // namespace weft::analyzer
