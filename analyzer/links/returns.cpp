// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/returns.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

/// A return is not followed for longer than so many times the patience, whatever its links do.
constexpr int kLongest = 2;

bool is_same(const Outage& one, const Outage& other) {
  return one.kind == other.kind && one.node == other.node && one.host == other.host;
}

/// A link of it has trained, so that it has power again; it may still miss requests.
bool shows_life(const LinkTable& table, const Outage& outage) {
  return std::ranges::any_of(outage.links, [&](LinkId id) {
    const LinkState& link = table.links()[id];
    return link.counts() && (link.view == LinkView::kUp || link.view == LinkView::kTraining);
  });
}

/// Down as at first. Hosts are blamed only after their links, so that the links have to tell.
bool is_down(const LinkTable& table, const Outage& outage, std::span<const Outage> blamed) {
  if (std::ranges::any_of(blamed, [&](const Outage& other) { return is_same(other, outage); })) return true;
  return outage.kind == OutageKind::kHost && !shows_life(table, outage) &&
         std::ranges::any_of(outage.links, [&](LinkId id) { return table.links()[id].view == LinkView::kDown; });
}

}  // namespace

void Returns::remember(const LinkTable& table, const Incident& incident) {
  const Finding& finding = incident.finding;
  const NodeId node = table.find_node(finding.cause.port.node);
  if (!incident.is_open() || node == kNoIndex) return;
  Outage outage{.kind = OutageKind::kSwitch, .node = node};
  std::vector<NodeId> nodes{node};
  if (finding.kind == IncidentKind::kNodeDown && table.nodes()[node].host != kNoIndex) {
    outage = {.kind = OutageKind::kHost, .host = table.nodes()[node].host};
    nodes = table.hosts()[outage.host];
  } else if (finding.kind != IncidentKind::kSwitchDown) {
    return;
  }
  for (const NodeId end : nodes)
    for (const LinkId id : table.links_of(end))
      if (table.links()[id].counts()) outage.links.push_back(id);
  // Whether a host with one link is down its collector tells.
  if (outage.links.size() > 1) remember({&outage, 1});
}

std::vector<Outage> Returns::follow(const LinkTable& table, std::span<const Outage> blamed,
                                    const std::function<bool(NodeId)>& is_dark, Duration patience, TimePoint now) {
  std::vector<Outage> coming;
  std::erase_if(known_, [&](Known& known) {
    const Outage& outage = known.outage;
    if (is_down(table, outage, blamed)) {
      known.back_since = kNever;
      return false;
    }
    const bool answers = outage.kind == OutageKind::kSwitch && !is_dark(outage.node);
    if (known.back_since == kNever) {
      // Out of reach behind something greater, it is not back.
      if (!answers && !shows_life(table, outage))
        return std::ranges::none_of(outage.links, [&](LinkId id) { return table.links()[id].counts(); });
      known.back_since = now;
      known.sweeps = 0;
    }
    known.back_since = std::min(known.back_since, now);  // the clock may have been set back
    ++known.sweeps;
    Outage waiting{.kind = outage.kind, .node = outage.node, .host = outage.host};
    TimePoint newest = known.back_since;
    for (const LinkId id : outage.links) {
      const LinkState& link = table.links()[id];
      // That somebody switched one off has nothing to do with the return.
      if (!link.counts() || link.view == LinkView::kUp || link.is_disabled()) continue;
      waiting.links.push_back(id);
      if (link.view == LinkView::kTraining && link.view_since <= now) newest = std::max(newest, link.view_since);
    }
    const bool over =
        known.sweeps > minimum_sweeps_ && (now - newest >= patience || now - known.back_since >= patience * kLongest);
    if (waiting.links.empty() || over) return true;
    waiting.is_returning = true;
    waiting.links_before = outage.links.size();
    coming.push_back(std::move(waiting));
    return false;
  });
  return coming;
}

void Returns::remember(std::span<const Outage> outages) {
  for (const Outage& outage : outages) {
    if (!is_whole(outage) || outage.is_returning) continue;
    const auto known = std::ranges::find_if(known_, [&](const Known& one) { return is_same(one.outage, outage); });
    if (known == known_.end())
      known_.push_back({outage, kNever, 0});
    else
      known->outage = outage;
  }
}

}  // namespace weft::analyzer
