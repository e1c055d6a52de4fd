// SPDX-License-Identifier: Apache-2.0
#pragma once
// /metrics?names=node_exporter: the families of prometheus-node-exporter's collector infiniband.

#include <span>
#include <string>

#include "api/metrics/negotiate.hpp"
#include "collectors/rdma/kernel_files.hpp"
#include "fabric/metric_groups.hpp"

namespace weft::collector {

/// The whole page: node_infiniband_* of `devices`, with the names, labels (device, port) and units of node_exporter
/// 1.12 (collector/infiniband_linux.go), whose families of hw_counters are there since 1.11. Families of other groups
/// are left out; so is lifespan_seconds, a setting that node_exporter rounds to whole seconds.
std::string node_exporter_page(std::span<const rdma::DeviceFiles> devices, api::MetricsFormat format,
                               MetricGroups groups);

}  // namespace weft::collector
