// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens of collectors as rows, one for each node. Failures stay in the Database (see sql.hpp); the caller has the
// transaction.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/enroll_token.hpp"

namespace weft::store {

/// Adds the tokens; each takes the place of the one of its node.
void write_enroll_tokens(Database& database, std::span<const EnrollToken> tokens);
/// Deletes the tokens of these nodes.
void delete_enroll_tokens(Database& database, std::span<const std::string> nodes);
/// Those that expire after `now`, sorted by node.
std::vector<EnrollToken> read_enroll_tokens(Database& database, TimePoint now);
/// The one with that hash, expired or not.
std::optional<EnrollToken> find_enroll_token(Database& database, std::string_view hash);
/// Deletes at most `limit` tokens that had expired before then. True: there may be more.
bool delete_old_enroll_tokens(Database& database, TimePoint before, std::int64_t limit);

}  // namespace weft::store
