// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans and how automation stands, as rows. Failures stay in the Database (see sql.hpp); the caller has the
// transaction.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// Writes each plan whole, in place of its older revision; raises the next id, and counts a plan each time that it
/// passes from not over to over.
void write_plans(Database& database, std::span<const Plan> plans);
/// Plans that are not over, that ended after `ended_since`, that are in force or unresolved, or whose incident is open;
/// ascending by id.
std::vector<Plan> read_plans(Database& database, TimePoint ended_since);
/// Of the next plan; never given before, even if its predecessors are deleted.
std::uint64_t read_next_plan_id(Database& database);
/// How many plans ended, by action and final state, ever.
PlansEnded read_plans_ended(Database& database);

/// The random id that the database was given when it was made, or brought to this format: 16 hexadecimal digits. A
/// missing one is noted as kCorrupt by the Database.
std::string read_installation(Database& database);

/// Replaces the stored state of automation.
void write_remedy_state(Database& database, const RemedyHolds& state);
/// The stored state of automation. A missing one is noted as kCorrupt by the Database.
RemedyHolds read_remedy_state(Database& database);

/// Deletes at most `limit` plans that are over since before `before` and neither in force nor unresolved. True when
/// there may be more.
bool delete_old_plans(Database& database, TimePoint before, std::int64_t limit);

}  // namespace weft::store
