// SPDX-License-Identifier: Apache-2.0
#pragma once
// HOST_DEGRADED of an adapter whose PCIe link makes errors, as the kernel's AER driver counts them.

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/parts/part_trouble.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/parts.hpp"
#include "fabric/pcie_links.hpp"

namespace weft::analyzer {

/// Counts the errors of each adapter over the last hour, at the port that the host's series are of.
class PcieErrors {
 public:
  static constexpr Duration kWindow = std::chrono::hours(1);

  /// Keeps a copy of its limits.
  explicit PcieErrors(const PartsLimits& limits) : limits_(limits) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// A reading that is no history. What moved since a reading that had no such value counts for nothing: it may have
  /// been there for weeks.
  void take(const HostWatch& host, const HostMovement& movement);
  /// Adds what is wrong. `link`: the adapter's own; null: not known, then corrected errors are not judged.
  void report(const HostWatch& host, const PortWatch& port, const PcieLink* link, TimePoint now,
              std::vector<PartTrouble>& troubles) const;

 private:
  static constexpr std::size_t kKinds = 3;
  static constexpr std::size_t kBuckets = 6;

  struct Count {
    std::array<std::uint64_t, kBuckets> buckets{};  ///< by number of the bucket, modulo
    std::int64_t newest = 0;                        ///< number of the newest
    TimePoint moved = kNever;
    TimePoint since = kNever;  ///< when it began to move, and was not still for a whole window
  };
  struct Errors {
    std::vector<FollowedSeries<std::uint8_t>> followed;
    std::vector<Count> counts;  ///< kKinds of them once one moved
  };

  static std::uint64_t sum(const Count& count, TimePoint now);

  PartsLimits limits_;
  PerPort<Errors> errors_;
};

}  // namespace weft::analyzer
