// SPDX-License-Identifier: Apache-2.0
#pragma once
// Families with one sample for each collector, or for each state of collectors.

#include <cstddef>
#include <string>

#include "api/metrics/negotiate.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Appends weft_collectors{state}.
void append_collector_states(std::string& out, const Snapshot& snapshot, MetricsFormat format);
/// How many hosts report each source of their collector as failing.
void append_failing_sources(std::string& out, const Snapshot& snapshot, MetricsFormat format);
/// Appends how many ports and adapters differ in each setting from most of their make, and how many comparisons are
/// undecided: nothing before configurations were compared.
void append_config_drift(std::string& out, const Snapshot& snapshot, MetricsFormat format);
/// Appends a piece of the families with one sample for each collector; false when there is nothing more. `position`
/// starts at 0 and is the caller's to keep.
bool append_collectors(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position);

}  // namespace weft::api
