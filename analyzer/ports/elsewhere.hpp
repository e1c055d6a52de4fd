// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ends of cables that were put into another subnet, of which another sweep tells.

#include <functional>
#include <span>
#include <string_view>

#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// Whether `end` is cabled in another subnet, as a sweep of that has seen since then: the port of an adapter, with
/// another one than `other`, or any port of a switch.
using Elsewhere = std::function<bool(PortKey end, NodeType type, PortKey other, TimePoint since)>;

/// The same of one sweep of that subnet. Of an adapter the port at the other end is asked: it answers better.
bool is_cabled_in(const Sweep& sweep, PortKey end, NodeType type, PortKey other, TimePoint since);

/// A port of that adapter which has a cable in `here` has it in another subnet of `views` now, that is read.
bool has_moved_from(const FabricView& here, NodeIndex adapter, std::span<const FabricView> views);

}  // namespace weft::analyzer
