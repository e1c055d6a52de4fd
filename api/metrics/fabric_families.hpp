// SPDX-License-Identifier: Apache-2.0
#pragma once
// The families that speak of subnets, nodes, incidents and sweeps rather than of ports.

#include <string>

#include "api/metrics/family.hpp"
#include "fabric/metric_groups.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Appends everything of the snapshot that has no port label, node health excepted: a few kilobytes for each subnet.
/// `now` tells which silences are over. Of `groups` fabrics, incidents and self concern it.
void append_fabric_families(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format,
                            MetricGroups groups = MetricGroups::all());

/// Appends the series of weft_node_health from entry `position` on, about 64 KiB at a time, and moves `position`. A
/// name that several nodes share gets one series, with the worst verdict. False when there are no more.
bool append_node_health(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position);

}  // namespace weft::api
