// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a list of a whole site goes on: the page tokens of its shards, in one.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/result.hpp"

namespace weft::api {

/// The shards that have more, each with the token of its own next page; empty: from its beginning.
using ShardTokens = std::vector<std::pair<std::string, std::string>>;

/// "site/north:5:INC-7/south:0:": empty at the end of the list.
std::string to_token(const ShardTokens& tokens);
/// What to_token() was given. kInvalidArgument for a text that is none.
Result<ShardTokens> parse_site_token(std::string_view text);

}  // namespace weft::api
