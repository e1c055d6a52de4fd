// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cables of a small fabric, and how a sweep shows them.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/places.hpp"
#include "fabric/plan.hpp"
#include "fabric/snapshot.hpp"

namespace weft::remedies {

inline constexpr const char* kFabric = "f";

/// What a host's adapter calls itself, where that is not its host's name: any root can write it.
struct Misnamed {
  unsigned host = 0;
  std::string name;
  bool operator==(const Misnamed&) const = default;
};

/// What a sweep shows otherwise than the cabling has it.
struct Oddities {
  std::optional<Misnamed> misnamed;
  std::uint32_t silent = 0;  ///< nodes that it does not reach: a bit for each, in the order of their indices
  bool any() const { return misnamed || silent != 0; }
  bool operator==(const Oddities&) const = default;
};

/// Cabling: `spines` switches over `leaves` switches, each with `hosts` hosts of one adapter. Made once, used by many
/// worlds.
class Shape {
 public:
  Shape(unsigned spines, unsigned leaves, unsigned hosts);

  unsigned links() const { return spines_ * leaves_; }
  unsigned hosts() const { return leaves_ * hosts_; }
  unsigned leaves() const { return leaves_; }
  unsigned spines() const { return spines_; }
  /// Switches and adapters.
  unsigned nodes() const { return static_cast<unsigned>(nodes_.size()); }
  const std::string& node(unsigned node) const { return nodes_[node].name; }
  /// Every other leaf is of the same of two rails.
  static unsigned rail_of_leaf(unsigned leaf) { return leaf % 2; }
  /// With the rails of rail_of_leaf().
  const std::shared_ptr<const Places>& places() const { return places_; }
  /// Link between leaf `link` / spines() and spine `link` % spines(), as an incident names it.
  const Entity& link(unsigned link) const { return link_entities_[link]; }
  /// The last host's adapter: the subnet manager sits there.
  PortKey manager() const { return {nodes_.back().guid, {1}}; }
  const std::string& host(unsigned host) const { return host_names_[host]; }
  /// GUID of the host's adapter.
  NodeGuid adapter(unsigned host) const { return nodes_[spines_ + leaves_ + host].guid; }
  /// The fabric with the links of `up` up (bit by link), routed over those of `ways` alone.
  struct Picture {
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Routes> routes;
  };
  Picture picture(std::uint32_t up, std::uint32_t ways) const;
  /// The topology of picture() with what is odd. Drawn anew with each call.
  std::shared_ptr<const Topology> topology(std::uint32_t up, const Oddities& odd) const;

 private:
  Picture draw(std::uint32_t up) const;
  std::vector<Port> ports_with(std::uint32_t up) const;

  unsigned spines_, leaves_, hosts_;
  std::vector<Entity> link_entities_;
  std::vector<std::string> host_names_;
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<PortIndex> leaf_ends_;  ///< by link
  std::shared_ptr<const Places> places_;
  mutable std::map<std::uint32_t, Picture> pictures_;
};

}  // namespace weft::remedies
