// SPDX-License-Identifier: Apache-2.0
#pragma once
// A picture of a fabric that exposes as many series as one wants: leaf switches full of hosts.

#include <cstddef>
#include <memory>

#include "fabric/snapshot.hpp"

namespace weft::bench {

/// At least `series` lines of exposition; all readings are of `now`.
std::shared_ptr<const Snapshot> snapshot_with_series(std::size_t series, TimePoint now);

}  // namespace weft::bench
