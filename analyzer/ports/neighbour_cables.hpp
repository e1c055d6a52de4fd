// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what neighbours say of each other to the cables between them. A name is what somebody claims; who a system is,
// its chassis id says, and which port it is, the port id.

#include <memory>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "fabric/found_cabling.hpp"
#include "fabric/neighbours.hpp"

namespace weft::analyzer {

/// A system whose neighbours were read: by the collector on it, or by whoever else gives this table.
struct NeighbourTeller {
  std::string name;  ///< of the collector: nobody else has it
  std::shared_ptr<const NeighbourTable> table;
  bool is_fresh = true;  ///< false: so it was, and since then nobody could read it
};

/// One end of a cable.
struct CableClaimEnd {
  ChassisId chassis;
  LldpPortId port;
  std::string teller;       ///< the system is that of this teller; empty: it is only heard
  std::string interface;    ///< with a teller: its interface
  std::string system_name;  ///< as the system claims; of one with a teller: the teller's
  std::string description;  ///< of the port, as the system claims
  std::uint16_t capabilities = 0;

  /// What people call the port: the interface; of one that is only heard the id where that is an interface's name, else
  /// the description where it looks like one, else the id.
  std::string port_name() const;
  /// Its port_name() is an interface's name.
  bool has_name() const;
  /// The same for the same port, whoever speaks of it.
  std::string key() const;
};

/// A cable as at least one of its ends tells it.
struct CableClaim {
  CableClaimEnd a, b;
  bool is_mutual = false;  ///< both ends tell it
  bool is_fresh = false;   ///< by one of them now
};

/// What all tellers say together.
struct NeighbourCables {
  std::vector<CableClaim> cables;  ///< an end may have more than one: they contradict each other
  std::vector<UnclearNeighbour> unclear;
};

/// Brings both ends together. A neighbour with a teller of its chassis id is that teller's port of the same port id; of
/// several with that id the one that hears this end; where there is none nothing is guessed, but for a teller that does
/// not know the ids of its ports: there the port's description counts. Of several neighbours at one interface the one
/// counts that hears it, else the only one that has a teller, else none. Interfaces whose names `ignored` matches do
/// not count; null: all do.
NeighbourCables match_neighbours(std::span<const NeighbourTeller> tellers, const std::regex* ignored);

/// "leaf01 (mac 02:00:00:00:00:01), port interface name swp1 (uplink)".
std::string neighbour_text(const Neighbour& neighbour);

}  // namespace weft::analyzer
