// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adaptive routing as its traffic shows it: the published tables name one way, and flows take all equal ones.

#include <functional>
#include <optional>

#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Packets that a port has sent in some time; nullopt: not known.
using SentPackets = std::function<std::optional<double>(PortIndex port)>;

/// May the switches spread each flow over equal ways? True when on nearly all leaves (switches with hosts) that send
/// enough, all cables to other switches carried the same. Forwarding tables do that only for traffic that suits them:
/// then what hosts lost must say which of both it is. Which switches route adaptively no standard attribute tells; the
/// vendor's are SMPs 0xFF20 (ARInfo) to 0xFF23. Pure; O(ports).
bool may_be_spread(const Topology& topology, const SentPackets& sent);

}  // namespace weft::analyzer
