// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inventory and what the analyzer remembers, as rows. Failures stay in the Database (see sql.hpp); the caller
// has the transaction.

#include <span>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// Replaces the links stored of the fabric; only differences are written.
void write_links(Database& database, std::string_view fabric, std::span<const KnownLink> links);
/// Replaces the flap penalties and error states stored of the fabric.
void write_conditions(Database& database, std::string_view fabric, std::span<const FlapState> flaps,
                      std::span<const ErrorState> errors);
/// Adds the nodes that are reachable to the inventory, or notes that they were seen at `now`.
void write_nodes(Database& database, std::string_view fabric, const Topology& topology, TimePoint now);
/// As Store::keep_apart().
void write_apart(Database& database, std::string_view fabric, const FabricMemory& kept);

/// The links, flap penalties and error states of each fabric.
std::vector<FabricMemory> read_memories(Database& database);
/// Replaces all baselines of the fabric.
void write_fec_baselines(Database& history, std::string_view fabric, std::span<const FecBaseline> baselines);
/// Adds the baselines to the memories of their fabrics.
void read_fec_baselines(Database& history, std::vector<FabricMemory>& memories);
/// The inventory of one fabric.
std::vector<KnownNode> read_nodes(Database& database, std::string_view fabric);

}  // namespace weft::store
