// SPDX-License-Identifier: Apache-2.0
#include "fabric/stuck_ranks.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, 3> kRankTroubles{"behind", "missing", "dead"};
constexpr std::string_view kRanksHead = " ranks: ";
constexpr std::string_view kAllAnswer = "all answer";
constexpr std::string_view kMoreRanks = " more";
constexpr std::string_view kUnknownRank = "?";
/// Digits of IPv6, with a zone.
constexpr std::size_t kLongestRankHost = 64;

std::optional<std::uint32_t> rank_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The part before `mark`, which is taken off together with it; all where there is none.
std::string_view cut_before(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + mark.size());
  return part;
}

std::optional<StuckRank> parse_rank(std::string_view part) {
  StuckRank rank;
  const auto trouble = parse_name<RankTrouble>(kRankTroubles, cut_before(part, " "));
  const std::string_view number = cut_before(part, " at ");
  if (number != kUnknownRank) {
    rank.rank = rank_number(number);
    if (!rank.rank) return std::nullopt;
  }
  const bool is_host = !part.empty() && part.size() <= kLongestRankHost && part.find(' ') == std::string_view::npos;
  if (!trouble || !is_host) return std::nullopt;
  rank.trouble = *trouble;
  rank.host = part;
  return rank;
}

}  // namespace

const char* to_string(RankTrouble trouble) {
  return name_of(kRankTroubles, trouble);
}

std::string to_text(const StuckRanks& ranks) {
  std::string text = std::to_string(ranks.ranks) + std::string(kRanksHead);
  if (ranks.stuck.empty()) return text + std::string(kAllAnswer);
  const std::size_t room = kMostStuckText - std::string_view(", 4294967295 more").size();
  std::size_t listed = 0;
  for (const StuckRank& rank : ranks.stuck) {
    const std::string part = (listed == 0 ? std::string() : ", ") + to_string(rank.trouble) + " " +
                             (rank.rank ? std::to_string(*rank.rank) : std::string(kUnknownRank)) + " at " + rank.host;
    if (text.size() + part.size() > room) break;
    text += part;
    ++listed;
  }
  const std::uint64_t more = ranks.more + (ranks.stuck.size() - listed);
  if (more > 0)
    text +=
        (listed == 0 ? "" : ", ") + std::to_string(std::min<std::uint64_t>(more, UINT32_MAX)) + std::string(kMoreRanks);
  return text;
}

std::optional<StuckRanks> parse_stuck_ranks(std::string_view text) {
  if (text.size() > kMostStuckText || text.find(kRanksHead) == std::string_view::npos) return std::nullopt;
  StuckRanks ranks;
  const auto count = rank_number(cut_before(text, kRanksHead));
  if (!count) return std::nullopt;
  ranks.ranks = *count;
  if (text == kAllAnswer) return ranks;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::string_view part = cut_before(text, ", ");
    if (text.empty() && part.ends_with(kMoreRanks)) {
      part.remove_suffix(kMoreRanks.size());
      const auto more = rank_number(part);
      if (!more) return std::nullopt;
      ranks.more = *more;
      return ranks;
    }
    auto rank = parse_rank(part);
    if (!rank) return std::nullopt;
    ranks.stuck.push_back(std::move(*rank));
  }
  return ranks;
}

}  // namespace weft
