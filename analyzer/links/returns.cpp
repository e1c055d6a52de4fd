// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/returns.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

/// A return is not followed for longer than so many times the patience, whatever its links do.
constexpr int kLongest = 2;

bool shows_life(const LinkTable& table, const Outage& outage) {
  return std::ranges::any_of(outage.links, [&](LinkId id) {
    const LinkView view = table.links()[id].view;
    return table.links()[id].counts() && (view == LinkView::kUp || view == LinkView::kTraining);
  });
}

bool is_back(const LinkTable& table, const Outage& outage, const std::function<bool(NodeId)>& is_dark) {
  if (outage.kind == OutageKind::kSwitch) return !is_dark(outage.node);
  // An adapter can answer on a link that is not active yet.
  return shows_life(table, outage);
}

bool is_same(const Outage& one, const Outage& other) {
  return one.kind == other.kind && one.node == other.node && one.host == other.host;
}

}  // namespace

std::vector<Outage> Returns::follow(const LinkTable& table, const std::function<bool(NodeId)>& is_dark,
                                    Duration patience, TimePoint now) {
  std::erase_if(down_, [&](Outage& outage) {
    if (!is_back(table, outage, is_dark)) return false;
    if (std::ranges::none_of(returns_, [&](const Return& known) { return is_same(known.outage, outage); }))
      returns_.push_back({std::move(outage), now, 0});
    return true;
  });
  std::vector<Outage> coming;
  std::erase_if(returns_, [&](Return& back) {
    back.since = std::min(back.since, now);  // the clock may have been set back
    ++back.sweeps;
    if (!is_back(table, back.outage, is_dark)) return true;  // it is down again
    Outage waiting{.kind = back.outage.kind, .node = back.outage.node, .host = back.outage.host};
    TimePoint newest = back.since;
    for (const LinkId id : back.outage.links) {
      const LinkState& link = table.links()[id];
      if (!link.counts() || link.view == LinkView::kUp) continue;
      waiting.links.push_back(id);
      if (link.view == LinkView::kTraining && link.view_since <= now) newest = std::max(newest, link.view_since);
    }
    const bool over =
        back.sweeps > minimum_sweeps_ && (now - newest >= patience || now - back.since >= patience * kLongest);
    if (waiting.links.empty() || over) return true;
    waiting.is_returning = true;
    waiting.links_before = back.outage.links.size();
    coming.push_back(std::move(waiting));
    return false;
  });
  return coming;
}

void Returns::remember(std::span<const Outage> outages) {
  down_.clear();
  for (const Outage& outage : outages)
    if (is_whole(outage) && !outage.is_returning) down_.push_back(outage);
}

}  // namespace weft::analyzer
