// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DEGRADED, early: a link whose forward error correction has more and more to put right. Nothing is lost yet.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/links/link_trend.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/rates.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// Follows the errors before correction of each receiving port (symbols that Reed-Solomon correction repaired, of all
/// lanes, by bits received) from one reading of the detail counters to the next.
class FecTrends {
 public:
  explicit FecTrends(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// `line_rates`: bits per second by port, 0 while down. `errors`: of this sweep, by port; a link that went down and
  /// came up again has cleared its counters, and what they counted since the last reading is not known.
  void update(const Sweep& sweep, std::span<const float> line_rates, std::span<const ErrorDelta> errors);
  /// The baselines of all ports that have one, to be kept across a restart.
  std::vector<FecBaseline> baselines() const;
  /// Takes baselines over; each waits until its port is seen.
  void restore(std::span<const FecBaseline> baselines);
  /// Adds to a LINK_DEGRADED that the link has already, or makes one.
  void report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
              std::vector<Finding>& findings) const;

 private:
  struct Receiver {
    TimePoint read_at = kNever;
    std::optional<std::uint64_t> corrected;  ///< symbols, at the last reading that told them
    LinkTrend trend;
  };
  void remember();
  void take_up(const Sweep& sweep, std::size_t ports);
  void read(Receiver& receiver, PortIndex port, const SampleTable& details, float line_rate);

  const Thresholds& thresholds_;
  std::uint64_t epoch_ = 0;
  std::vector<SampleTable::Column> columns_;
  std::vector<Receiver> receivers_;                   ///< by port; empty while nobody counts corrected symbols
  std::vector<PortKey> keys_;                         ///< of these ports
  std::unordered_map<PortKey, FecBaseline> waiting_;  ///< of ports that are not seen, from before a restart or an epoch
  std::vector<PortIndex> worse_;                      ///< ascending
};

}  // namespace weft::analyzer
