// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ports of the snapshot's subnets have series.

#include <cstdint>
#include <vector>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// For each fabric of the snapshot a mark for each port of its topology, 1 where the port has series: it was seen, and
/// no fabric before has it too (one adapter's two ports in one subnet, watched through both). Empty for a fabric that
/// was not swept.
std::vector<std::vector<std::uint8_t>> shown_ports(const Snapshot& snapshot);

}  // namespace weft::api
