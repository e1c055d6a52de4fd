// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether what is copied into the schema of a shard may be that shard's.

#include <string>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// `url` is where `source` is to be copied to. Where that is a shard's schema in a database that has a site already:
/// kFailedPrecondition, with an id and the reason, when `source` has an incident, a plan, a maintenance window or an
/// acceptance with an id that is not that shard's (Site::owner_of()); and when the site does not have the shard yet,
/// but others, so that it would be refused when it starts (join_site()). Changes nothing. Else as the database's
/// failures.
Result<void> check_ids_for_shard(Database& source, const std::string& url);

}  // namespace weft::store
