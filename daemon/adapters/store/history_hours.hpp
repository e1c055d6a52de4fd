// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hours of port history: sums and peaks of the moments of each whole hour, so that a month is read in a fraction of a
// second. They are made from what is stored, so that neither a restart nor an update leaves one out.

#include <cstdint>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/clock.hpp"

namespace weft::store {

/// Adds up some of the next hour that is over: one that a later moment follows. True: there is more to do. A moment
/// that is older than the last hour, because the clock was set back, is in no hour.
Result<bool> add_up_hours(Database& history);
/// Deletes some of the hours that ended before `oldest_allowed`. Within a transaction.
void delete_old_hours(Database& history, TimePoint oldest_allowed);

}  // namespace weft::store
