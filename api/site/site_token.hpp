// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a list of a whole site goes on: the page tokens of its shards, in one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::api {

/// The shards that have more, each with the token of its own next page; empty: from its beginning.
using ShardTokens = std::vector<std::pair<std::string, std::string>>;

/// "site/north:5:INC-7/south:0:": empty at the end of the list.
std::string to_token(const ShardTokens& tokens);
/// What to_token() was given. kInvalidArgument for a text that is none.
Result<ShardTokens> parse_site_token(std::string_view text);

/// Shards in the order in which a list goes through them: the own one, then the others by name.
ShardTokens all_shards(const Site& site);

/// What a shard gives at most of one list, over all pages: it cannot keep us asking.
inline constexpr std::uint64_t kMostEntriesOfShard = 1'000'000;
/// The longest token of another shard that is passed on, in bytes.
inline constexpr std::size_t kLongestShardToken = 1024;

/// How far another shard's part of a list is.
struct ShardPlace {
  std::uint64_t taken = 0;  ///< entries, in the pages before
  std::string token{};      ///< of its next page
};
/// Reads what next_place() gave; empty: the beginning. kInvalidArgument for another text.
Result<ShardPlace> parse_shard_place(std::string_view text);
/// The place after a page with `entries` entries that was asked for at `place`, where the shard says that `next`
/// follows; empty at the end. kProtocol, with the reason, for a list that does not get on, or does not end.
Result<std::string> next_place(const ShardPlace& place, std::size_t entries, const std::string& next);

}  // namespace weft::api
