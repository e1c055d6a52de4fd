// SPDX-License-Identifier: Apache-2.0
#pragma once
// The guards of a link whose fabric has no tiers: a dragonfly or a torus.

#include <span>
#include <string>
#include <utility>

#include "analyzer/remedy/cross_sections.hpp"
#include "analyzer/remedy/limits.hpp"
#include "analyzer/remedy/routing_engine.hpp"
#include "fabric/plan.hpp"

namespace weft::analyzer {

/// What a guard decided, and one sentence with its reason.
using Verdict = std::pair<GuardResult, std::string>;

/// Guard::kReachability: without the cable at `port`, which has a peer, its ends still reach each other.
Verdict judge_connection(const Topology& topology, PortIndex port);

/// Guard::kRouting of a link that is one of the shape's own: what `engine` does when it is out. Only what torus-2QoS(8)
/// and opensm(8) promise passes: torus-2QoS where no ring is in pieces, in a dragonfly what keeps any fabric free of
/// credit loops. On Ethernet no engine is known.
Verdict judge_routing(const CabledShape& fabric, PortIndex port, RoutingEngine engine);

/// Guard::kBisection: each of the cross-sections, of which the link is in service and a part, keeps its share, as
/// leaves do. Those with a detour need a person where they do not.
Verdict judge_bisection(std::span<const CrossSection> sections, const CapacityLimits& limits);

}  // namespace weft::analyzer
