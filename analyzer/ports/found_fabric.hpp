// SPDX-License-Identifier: Apache-2.0
#pragma once
// An Ethernet fabric as it is found: systems, their ports and cables, kept while they are told of and beyond.

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ports/neighbour_cables.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/found_cabling.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Who reads a port of an Ethernet fabric, where anybody does.
struct PortBinding {
  PortIndex port = kNoIndex;
  std::string collector;  ///< "gpu-01", "leaf01"
  std::string interface;  ///< of it
};

/// What a fabric is found with. Both are regular expressions, searched in names of ports.
struct FoundFabricOptions {
  /// A system with such a port is a switch, and no other port of it counts.
  std::string switch_port_pattern;
  /// Ports that do not count; empty: all do.
  std::string ignored_interfaces;
};

/// Grows with what neighbours tell, and takes a cable away only when an end of it is told to lead elsewhere: who tells
/// nothing has pulled nothing. Nodes are known by chassis ids and keep their ports' numbers; names are for people. A
/// collector's name is its system's; a name that a system only claims is not given to a second one. An interface that
/// only hears, and whose neighbour changes again and again, is not believed. Not thread-safe.
class FoundFabric {
 public:
  /// Throws std::regex_error.
  explicit FoundFabric(const FoundFabricOptions& options);

  /// What was found before weftd was started, and nothing else: links of an earlier topology(). Before any teller told
  /// anything.
  void restore(std::span<const KnownLink> links);
  /// Takes what all tellers say at `now`; of one without a table nothing but its name is known. True when topology() is
  /// another one.
  bool update(std::span<const NeighbourTeller> tellers, TimePoint now);

  /// Everything that has a cable. States are unknown. Never null.
  const std::shared_ptr<const Topology>& topology() const { return topology_; }
  /// Ports of it that collectors read.
  const std::vector<PortBinding>& bindings() const { return bindings_; }
  /// What a person should know of it as of the last update().
  const std::shared_ptr<const FoundCabling>& cabling() const { return cabling_; }

 private:
  struct Place {
    NodeGuid node;
    std::size_t port = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct FoundPort {
    std::string name;
    std::string collector{}, interface {};  ///< that read it; empty: nobody does
    std::optional<Place> peer{};
    bool had_cable = false;   ///< its number is in use
    TimePoint told = kNever;  ///< of the cable there
    std::size_t changes = 0;  ///< of what is heard there, since `changes_since`
    TimePoint changes_since = kNever;
  };
  struct FoundNode {
    std::string name;
    std::optional<ChassisId> chassis{};  ///< none: from before weftd was started, and not told of again
    bool is_switch = false;
    std::vector<FoundPort> ports{};
  };
  struct System {
    std::string name;
    std::string teller{};  ///< empty: it is only heard
    bool is_switch = false;
  };
  /// A claim whose ends are ports here.
  struct Told {
    const CableClaim* claim = nullptr;
    Place a, b;
    TimePoint since = kNever;
  };
  using Unclear = std::vector<UnclearNeighbour>;

  void learn_systems(const NeighbourCables& told, std::span<const NeighbourTeller> tellers, Unclear& unclear);
  void name_system(const ChassisId& chassis, const std::string& claimed, const std::string& teller, Unclear& unclear);
  void rename(const ChassisId& chassis);
  std::optional<Place> place_of(const CableClaimEnd& end);
  void bind(std::span<const NeighbourTeller> tellers);
  std::vector<Told> places_of(const NeighbourCables& told, TimePoint now);
  void settle(const std::vector<Told>& told, TimePoint now, Unclear& unclear);
  bool is_restless(FoundPort& port, TimePoint now);
  void connect(const Told& told, TimePoint now);
  void disconnect(const Place& at);
  void drop_loose_nodes();
  FoundPort& port(const Place& at) { return nodes_.at(at.node).ports[at.port]; }
  const FoundPort& port(const Place& at) const { return nodes_.at(at.node).ports[at.port]; }
  std::string label(const Place& at) const;
  void describe(TimePoint now, Unclear unclear);
  void build();

  std::regex switch_port_;
  std::optional<std::regex> ignored_;
  std::map<NodeGuid, FoundNode> nodes_;
  std::map<ChassisId, System> systems_;
  std::map<std::string, ChassisId> owners_;  ///< who has a name
  std::set<std::string> collectors_;         ///< their names
  std::map<std::string, Place> by_id_;       ///< chassis and port id: how a port is known that is only heard
  std::map<std::pair<Place, Place>, TimePoint> first_told_;
  bool changed_ = false;
  std::shared_ptr<const Topology> topology_;
  std::vector<PortBinding> bindings_;
  std::shared_ptr<const FoundCabling> cabling_;
};

}  // namespace weft::analyzer
