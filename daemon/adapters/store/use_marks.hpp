// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which weftd have used a store: column `mark` of its row last_use. Each weftd that begins to write puts a random mark
// in front of those that were there, and a copy has those of its source. So a store whose newest mark another store
// has, too, holds nothing that happened after the other one had all of it.

#include <string>
#include <string_view>

#include "daemon/adapters/store/sql.hpp"

namespace weft::store {

/// The marks of a store, newest first, with spaces between. Failures stay in the Database.
std::string read_uses(Database& database);
/// `uses` with a new mark in front. The oldest of some hundred are dropped.
std::string add_use(std::string_view uses);
/// Whether the store of `uses` has the newest of `others`: what another store was when `others` were its marks was
/// copied to it, or from it.
bool has_newest(std::string_view uses, std::string_view others);
/// Whether marks were dropped from `uses`: that it lacks one says nothing then.
bool is_full(std::string_view uses);

}  // namespace weft::store
