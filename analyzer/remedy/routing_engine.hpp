// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the subnet manager's routing does when a link is missing. No attribute of the SA tells its name: the operator
// does.

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::analyzer {

/// Routing engines of OpenSM (opensm(8), --routing_engine). Where the one that is named fails, OpenSM routes with the
/// next in its list and at last with minhop, unless no_fallback is in the list.
enum class RoutingEngine : std::uint8_t {
  kUnknown,    ///< nobody said
  kMinHop,     ///< shortest ways; credit loops are not avoided
  kUpDn,       ///< no credit loops, counted from roots; minhop where no roots are found
  kDnUp,       ///< the same, counted from the adapters
  kFile,       ///< tables from a file: changes of the fabric are ignored
  kFatTree,    ///< fat trees alone; else minhop
  kLash,       ///< any fabric without credit loops, as far as the virtual lanes suffice
  kDor,        ///< one dimension after the other: no credit loops in whole meshes and hypercubes
  kTorus2Qos,  ///< tori, also with links missing; see torus-2QoS(8)
  kNue,        ///< any fabric without credit loops, with any number of virtual lanes
  kDfsssp,     ///< as lash
  kSssp,       ///< as minhop
  kCount,
};
const char* to_string(RoutingEngine engine);  ///< OpenSM's own name, "torus-2QoS"; "unknown"
/// The reverse of to_string(); nullopt for any other text.
std::optional<RoutingEngine> parse_routing_engine(std::string_view text);

/// It leads where hops weigh less (hop_weights_file): minhop and dor; the others count hops by themselves (OpenSM's
/// osm_ucast_mgr.c).
bool follows_hop_weights(RoutingEngine engine);

/// It keeps any fabric free of credit loops, whichever link is missing: lash, dfsssp, nue (opensm(8), ROUTING).
bool routes_any_fabric(RoutingEngine engine);

}  // namespace weft::analyzer
