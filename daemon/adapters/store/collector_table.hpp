// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far each host's collector was heard, as rows. Failures stay in the Database (see sql.hpp); the caller has the
// transaction.

#include <span>
#include <string>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// Adds the marks, or replaces those of the same hosts.
void write_collectors(Database& database, std::span<const CollectorMark> marks);
/// Deletes what is stored of these hosts.
void delete_collectors(Database& database, std::span<const std::string> hosts);
/// Sorted by host.
std::vector<CollectorMark> read_collectors(Database& database);

}  // namespace weft::store
