// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fabrics that are no fat trees: dragonflies, tori, rails.

#include <array>
#include <string>
#include <vector>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::fakes {

/// Lays cables from the next free port of one switch to that of another.
class ShapeBuilder {
 public:
  /// A switch of 40 ports; with one host "<name>-host mlx5_0" if wanted.
  NodeIndex add(const std::string& name, bool with_host) {
    const NodeIndex node = fabric_.add_switch(name, 40);
    used_.resize(fabric_.nodes().size(), 0);
    if (with_host) host(name + "-host mlx5_0", node);
    return node;
  }
  void host(const std::string& adapter, NodeIndex at) {
    const NodeIndex node = fabric_.add_adapter(adapter);
    used_.resize(fabric_.nodes().size(), 0);
    fabric_.connect(fabric_.nodes()[node].first_port, free_port(at));
  }
  void join(NodeIndex a, NodeIndex b, unsigned cables = 1) {
    for (unsigned i = 0; i < cables; ++i) fabric_.connect(free_port(a), free_port(b));
  }
  /// The cable is gone, as if it had never been.
  void cut(PortIndex end) {
    const PortIndex peer = fabric_.ports()[end].peer;
    fabric_.port(end).peer = fabric_.port(peer).peer = kNoIndex;
  }
  FabricBuilder& fabric() { return fabric_; }

 private:
  PortIndex free_port(NodeIndex node) { return fabric_.nodes()[node].first_port + ++used_[node]; }
  FabricBuilder fabric_;
  std::vector<PortIndex> used_;
};

/// Groups of `size` switches "s-<group>-<n>", each with a host and cabled to all others of its group; each pair of
/// groups is joined by `cables` cables, which go round the switches of either, from another one for each pair.
inline ShapeBuilder dragonfly(unsigned groups, unsigned size, unsigned cables) {
  ShapeBuilder b;
  std::vector<std::vector<NodeIndex>> all(groups);
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned at = 0; at < size; ++at) {
      all[group].push_back(b.add("s-" + std::to_string(group) + '-' + std::to_string(at), true));
      for (unsigned other = 0; other < at; ++other) b.join(all[group][at], all[group][other]);
    }
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned other = 0; other < group; ++other)
      for (unsigned cable = 0; cable < cables; ++cable)
        b.join(all[group][(other + cable) % size], all[other][(group + cable) % size]);
  return b;
}

/// Groups of `size` leaves "leaf-<group>-<n>", each with a host, and as many spines "spine-<group>-<n>", each of which
/// is cabled to all leaves of its group; each pair of groups is joined by `cables` cables between spines.
inline ShapeBuilder dragonfly_plus(unsigned groups, unsigned size, unsigned cables) {
  ShapeBuilder b;
  std::vector<std::vector<NodeIndex>> spines(groups);
  for (unsigned group = 0; group < groups; ++group) {
    const std::string text = std::to_string(group) + '-';
    for (unsigned at = 0; at < size; ++at) spines[group].push_back(b.add("spine-" + text + std::to_string(at), false));
    for (unsigned at = 0; at < size; ++at) {
      const NodeIndex leaf = b.add("leaf-" + text + std::to_string(at), true);
      for (const NodeIndex spine : spines[group]) b.join(leaf, spine);
    }
  }
  std::vector<unsigned> used(groups, 0);
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned other = 0; other < group; ++other)
      for (unsigned cable = 0; cable < cables; ++cable)
        b.join(spines[group][used[group]++ % size], spines[other][used[other]++ % size]);
  return b;
}

/// Switches "s-<x>-<y>-<z>", each with a host, in rings of `x`, `y` and `z`; a dimension of one has no cables, one of
/// two a single cable for each pair.
inline ShapeBuilder torus(unsigned x, unsigned y, unsigned z, unsigned cables = 1) {
  ShapeBuilder b;
  std::vector<NodeIndex> all;
  const auto at = [&](unsigned i, unsigned j, unsigned k) { return all[(k * y + j) * x + i]; };
  for (unsigned k = 0; k < z; ++k)
    for (unsigned j = 0; j < y; ++j)
      for (unsigned i = 0; i < x; ++i)
        all.push_back(b.add("s-" + std::to_string(i) + '-' + std::to_string(j) + '-' + std::to_string(k), true));
  const auto step = [&](unsigned from, unsigned radix, NodeIndex a, NodeIndex to) {
    if (radix > 2 || from + 1 < radix) b.join(a, to, cables);
  };
  for (unsigned k = 0; k < z; ++k)
    for (unsigned j = 0; j < y; ++j)
      for (unsigned i = 0; i < x; ++i) {
        step(i, x, at(i, j, k), at((i + 1) % x, j, k));
        step(j, y, at(i, j, k), at(i, (j + 1) % y, k));
        step(k, z, at(i, j, k), at(i, j, (k + 1) % z));
      }
  return b;
}

/// `rails` trees of `leaves` leaves "leaf-<rail>-<n>" below `spines` spines "spine-<rail>-<n>", and two hosts
/// "gpu-<leaf>-<h>" at each leaf number, with an adapter "mlx5_<rail>" in each rail.
inline ShapeBuilder rail_only(unsigned rails, unsigned leaves, unsigned spines) {
  ShapeBuilder b;
  for (unsigned rail = 0; rail < rails; ++rail) {
    const std::string text = std::to_string(rail) + '-';
    std::vector<NodeIndex> tops;
    for (unsigned at = 0; at < spines; ++at) tops.push_back(b.add("spine-" + text + std::to_string(at), false));
    for (unsigned at = 0; at < leaves; ++at) {
      const NodeIndex leaf = b.add("leaf-" + text + std::to_string(at), false);
      for (const NodeIndex top : tops) b.join(leaf, top);
      for (unsigned host = 0; host < 2; ++host)
        b.host("gpu-" + std::to_string(at) + '-' + std::to_string(host) + " mlx5_" + std::to_string(rail), leaf);
    }
  }
  return b;
}

}  // namespace weft::fakes
