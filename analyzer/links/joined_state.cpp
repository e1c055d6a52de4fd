// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/joined_state.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <vector>

namespace weft::analyzer {
namespace {

/// It was never known here, or was never up: not one that was seen to have left.
bool is_missing(const LinkTable& table, const LinkKey& key) {
  const LinkId id = table.find_link(key);
  return id == kNoIndex || (!table.links()[id].was_up && !table.links()[id].recabled);
}

bool is_up(const LinkTable& table, const LinkKey& key) {
  const LinkId id = table.find_link(key);
  return id != kNoIndex && table.links()[id].view == LinkView::kUp;
}

bool join_links(const LinkTable& table, std::vector<KnownLink>& own, const std::vector<KnownLink>& stored) {
  std::set<LinkKey> known;
  std::set<PortKey> taken;
  std::vector<KnownLink> more;
  for (const KnownLink& link : stored) {
    known.insert(link.key);
    if (!is_missing(table, link.key)) continue;
    more.push_back(link);
    taken.insert(link.key.low);
    taken.insert(link.key.high);
  }
  std::erase_if(own, [&](const KnownLink& link) {
    const bool is_other = taken.contains(link.key.low) || taken.contains(link.key.high);
    return is_other && !known.contains(link.key) && !is_up(table, link.key);
  });
  own.insert(own.end(), more.begin(), more.end());
  return !more.empty();
}

/// True: one of a link that flaps was added. Others alone change nothing that is told.
bool join_flaps(std::vector<FlapState>& own, const std::vector<FlapState>& stored) {
  bool is_told = false;
  std::unordered_map<LinkKey, std::size_t> known;
  for (std::size_t at = 0; at < own.size(); ++at) known.emplace(own[at].link, at);
  for (const FlapState& flaps : stored) {
    const auto same = known.find(flaps.link);
    if (same != known.end() && (own[same->second].suppressed || !flaps.suppressed)) continue;
    is_told = is_told || flaps.suppressed;
    if (same == known.end())
      own.push_back(flaps);
    else
      own[same->second] = flaps;
  }
  return is_told;
}

/// Adds those of ports that `own` does not have; the number of them.
template <typename State>
std::size_t join_ports(std::vector<State>& own, const std::vector<State>& stored) {
  std::set<PortKey> known;
  for (const State& each : own) known.insert(each.port);
  const std::size_t before = own.size();
  for (const State& each : stored)
    if (known.insert(each.port).second) own.push_back(each);
  return own.size() - before;
}

}  // namespace

std::optional<AnalyzerState> joined_state(const LinkTable& table, AnalyzerState own, const AnalyzerState& stored) {
  const bool has_links = join_links(table, own.links, stored.links);
  const bool has_flaps = join_flaps(own.flaps, stored.flaps);
  const bool has_errors = join_ports(own.errors, stored.errors) > 0;
  if (!has_links && !has_flaps && !has_errors) return std::nullopt;
  join_ports(own.fec_baselines, stored.fec_baselines);
  return own;
}

}  // namespace weft::analyzer
