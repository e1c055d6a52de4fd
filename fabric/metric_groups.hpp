// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of metric families: what a scrape may ask for by ?collect[]=, and what metrics.groups allows.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/counters.hpp"
#include "fabric/result.hpp"

namespace weft {

/// A group of families. Those before kPorts are of weftd alone.
enum class MetricGroup : std::uint8_t {
  kFabrics,    ///< "fabrics": subnets and their sweeps
  kIncidents,  ///< "incidents": incidents, maintenance windows
  kPlans,      ///< "plans"
  kHealth,     ///< "health": of nodes
  kHosts,      ///< "hosts": collectors, and jobs on hosts
  kPorts,      ///< "ports": state, rate, peer, utilization and stall of ports
  kTraffic,    ///< "traffic": bytes, packets and waits of whole ports
  kErrors,     ///< "errors": of whole ports
  kDetails,    ///< "details": events that are no errors; what is counted for each lane, priority or direction
  kRdma,       ///< "rdma": weft_rdma_errors_total
  kGauges,     ///< "gauges": optics, PCIe, signal quality
  kRaw,        ///< "raw": counters under the driver's name
  kSelf,       ///< "self": weftd or weft-collector itself
  kCount,
};

/// One name for each, in that order.
std::span<const std::string_view> metric_group_names();
/// Those of weft-collector's own page: from kPorts on.
std::span<const std::string_view> collector_metric_group_names();
/// The group under whose name the counter's family is found.
MetricGroup group_of(const CounterInfo& info);

/// A set of groups.
class MetricGroups {
 public:
  /// Every group.
  static constexpr MetricGroups all() { return MetricGroups((1U << static_cast<unsigned>(MetricGroup::kCount)) - 1); }
  /// The groups of weft-collector's own page: from kPorts on.
  static constexpr MetricGroups of_collector() {
    return MetricGroups(all().bits_ & ~((1U << static_cast<unsigned>(MetricGroup::kPorts)) - 1));
  }
  /// No group.
  constexpr MetricGroups() = default;

  /// Whether the group is in the set.
  constexpr bool has(MetricGroup group) const { return (bits_ >> static_cast<unsigned>(group)) & 1U; }
  /// Puts the group into the set.
  constexpr void add(MetricGroup group) { bits_ |= 1U << static_cast<unsigned>(group); }
  bool operator==(const MetricGroups&) const = default;

 private:
  constexpr explicit MetricGroups(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

/// The groups of these names; none: `allowed`. kInvalidArgument for a name that is none, with those that there are, and
/// for a group that is not among `allowed`. `existing` are those that the program's page can have: all() or
/// of_collector().
Result<MetricGroups> metric_groups(std::span<const std::string> names, MetricGroups allowed = MetricGroups::all(),
                                   MetricGroups existing = MetricGroups::all());

}  // namespace weft
