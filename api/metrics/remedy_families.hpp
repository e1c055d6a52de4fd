// SPDX-License-Identifier: Apache-2.0
#pragma once
// The families that speak of plans and of automation as a whole.

#include <string>

#include "api/metrics/family.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Appends what the snapshot says of remedies: a few kilobytes, whatever the number of plans.
void append_remedy_families(std::string& out, const Snapshot& snapshot, MetricsFormat format);

}  // namespace weft::api
