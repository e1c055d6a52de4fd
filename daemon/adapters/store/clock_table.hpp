// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the wall clock showed, as rows. Failures stay in the Database (see sql.hpp); the caller has the transaction.

#include "daemon/adapters/store/sql.hpp"
#include "fabric/clock_memory.hpp"

namespace weft::store {

/// Takes the place of what was stored.
void write_clock(Database& database, const ClockMemory& memory);
/// ClockMemory{} where nothing was stored.
ClockMemory read_clock(Database& database);

}  // namespace weft::store
