// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hours of port history: sums and peaks of the moments of each whole hour, so that a month is read in a fraction of a
// second. They are made from what is stored, so that neither a restart nor an update leaves one out.

#include <string_view>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/clock.hpp"

namespace weft::store {

/// Adds up some of the next hour that is over: one that a later moment follows. True: there is more to do.
Result<bool> add_up_hours(Database& history);
/// Forgets the sums of the hour that a moment at that time lies in, where the clock had run ahead of it: they are made
/// again. Within a transaction.
void reopen_hour(Database& history, std::string_view fabric, TimePoint at);
/// Deletes some of the hours that ended before `oldest_allowed`. Within a transaction.
void delete_old_hours(Database& history, TimePoint oldest_allowed);
/// Deletes the oldest hour, if it ended before that. False: there is none. Within a transaction.
bool delete_oldest_hour(Database& history, TimePoint before);

}  // namespace weft::store
