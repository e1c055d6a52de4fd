// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a weftd may use the database that it is given.

#include <filesystem>

#include "daemon/adapters/store/store.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// Whether a weftd with these options may use what was found: kFailedPrecondition where the schema is another shard's,
/// and as check_mark_for_postgres().
Result<void> check_postgres(const std::filesystem::path& state_dir, const StoreOptions& options,
                            const PostgresFound& found);
/// Of a start, before a shard gets a schema: kFailedPrecondition where what this weftd had goes with another schema, or
/// where nobody has a shard yet and the schema without one holds incidents, so that the shard would begin without them.
/// Nothing is changed. A shard that has a schema is fine. It waits for others, and tells
/// StoreOptions::on_caution who that is. Else as wait_to_look_at_site().
Result<void> check_new_shard(const std::filesystem::path& state_dir, const StoreOptions& options);

}  // namespace weft::store
