// SPDX-License-Identifier: Apache-2.0
#include "api/site/site_token.hpp"

#include <charconv>

namespace weft::api {
namespace {

constexpr std::string_view kFront = "site";

}  // namespace

ShardTokens all_shards(const Site& site) {
  ShardTokens tokens{{site.own, ""}};
  for (const SiteShard& shard : site.others()) tokens.emplace_back(shard.name, "");
  return tokens;
}

std::string to_token(const ShardTokens& tokens) {
  if (tokens.empty()) return {};
  std::string text(kFront);
  // A shard's own token may have any character in it: its length stands before it.
  for (const auto& [shard, token] : tokens) text += '/' + shard + ':' + std::to_string(token.size()) + ':' + token;
  return text;
}

Result<ShardTokens> parse_site_token(std::string_view text) {
  const auto invalid = fail(ErrorCode::kInvalidArgument, "invalid page token");
  if (!text.starts_with(kFront)) return invalid;
  text.remove_prefix(kFront.size());
  ShardTokens tokens;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    if (text.front() != '/' || colon == std::string_view::npos) return invalid;
    const std::string_view shard = text.substr(1, colon - 1);
    text.remove_prefix(colon + 1);
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc{} || end == text.data() + text.size() || *end != ':') return invalid;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    if (length > text.size()) return invalid;
    tokens.emplace_back(shard, text.substr(0, length));
    text.remove_prefix(length);
  }
  if (tokens.empty()) return invalid;
  return tokens;
}

Result<ShardPlace> parse_shard_place(std::string_view text) {
  ShardPlace place;
  if (text.empty()) return place;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place.taken);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '.')
    return fail(ErrorCode::kInvalidArgument, "invalid page token");
  place.token = text.substr(static_cast<std::size_t>(end - text.data()) + 1);
  return place;
}

Result<std::string> next_place(const ShardPlace& place, std::size_t entries, const std::string& next) {
  if (next.empty()) return std::string();
  const auto refuse = [](const std::string& why) { return fail(ErrorCode::kProtocol, "its list " + why); };
  if (entries == 0 || next == place.token) return refuse("does not get on: a page is followed by nothing new");
  if (next.size() > kLongestShardToken)
    return refuse("has a page token of more than " + std::to_string(kLongestShardToken) + " bytes");
  // What a person tampered with in a token must not overflow.
  if (place.taken >= kMostEntriesOfShard || entries >= kMostEntriesOfShard - place.taken)
    return refuse("does not end after " + std::to_string(kMostEntriesOfShard) + " entries");
  return std::to_string(place.taken + entries) + '.' + next;
}

}  // namespace weft::api
