// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/routing_engine.hpp"

#include <algorithm>
#include <array>

namespace weft::analyzer {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(RoutingEngine::kCount)> kEngines{
    "unknown", "minhop", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp"};

}  // namespace

const char* to_string(RoutingEngine engine) {
  return kEngines[static_cast<std::size_t>(engine)];
}

std::optional<RoutingEngine> parse_routing_engine(std::string_view text) {
  const auto found = std::ranges::find(kEngines, text);
  if (found == kEngines.end()) return std::nullopt;
  return static_cast<RoutingEngine>(found - kEngines.begin());
}

bool follows_hop_weights(RoutingEngine engine) {
  return engine == RoutingEngine::kMinHop || engine == RoutingEngine::kDor;
}

bool routes_any_fabric(RoutingEngine engine) {
  return engine == RoutingEngine::kLash || engine == RoutingEngine::kDfsssp || engine == RoutingEngine::kNue;
}

}  // namespace weft::analyzer
