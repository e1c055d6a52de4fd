// SPDX-License-Identifier: Apache-2.0
#pragma once
// Acceptances as rows. Failures stay in the Database (see sql.hpp); the caller has the transaction.

#include <cstdint>
#include <span>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/acceptance.hpp"

namespace weft::store {

/// Adds the run with its report, or replaces the one of its id.
void write_acceptance(Database& database, const AcceptanceRun& run);
/// All runs, ascending by id. Of those that are as they are among `known`, targets and report are taken from there.
AcceptanceList read_acceptances(Database& database, const AcceptanceList& known);
/// Of the next run; never given before, even if its predecessors are deleted.
std::uint64_t read_next_acceptance_id(Database& database);
/// Deletes these; ids that are not there are passed over.
void delete_acceptances(Database& database, std::span<const std::uint64_t> ids);

}  // namespace weft::store
