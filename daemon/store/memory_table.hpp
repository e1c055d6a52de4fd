#pragma once
// The inventory and what the analyzer remembers, as rows. Failures stay in the Database (see sqlite.hpp); the caller
// has the transaction.

#include <span>
#include <string_view>
#include <vector>

#include "daemon/store/sqlite.hpp"
#include "daemon/store/store.hpp"

namespace weft::store {

void write_links(Database& database, std::string_view fabric, std::span<const KnownLink> links);
void write_conditions(Database& database, std::string_view fabric, std::span<const FlapState> flaps,
                      std::span<const ErrorState> errors);
void write_nodes(Database& database, std::string_view fabric, const Topology& topology, TimePoint now);

std::vector<FabricMemory> read_memories(Database& database);
std::vector<KnownNode> read_nodes(Database& database, std::string_view fabric);

}  // namespace weft::store
