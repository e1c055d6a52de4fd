// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/unread_counters.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

/// From so many nodes on, whose counters cannot be read at once, it is one trouble: of what carries the questions.
constexpr std::size_t kSeveral = 3;
/// A subnet manager that is at work is given so many times the patience.
constexpr int kWhileBusy = 5;

}  // namespace

void UnreadCounters::remember(const Incident& incident) {
  const Finding& finding = incident.finding;
  if (!incident.is_open() || !is_about_counters(finding)) return;
  remembered_.insert(finding.cause.port.node);
  if (finding.cause.kind == EntityKind::kNode) told_.insert(finding.cause.port.node);
  for (const Entity& node : finding.affected) remembered_.insert(node.port.node);
}

void UnreadCounters::judge(LinkTable& table, const Sweep& sweep, Manager manager, TimePoint now,
                           std::vector<Outage>& outages) {
  if (!sweep.counters) return;
  const std::span<const TimePoint> read_at = sweep.counters->raw_read_at();
  const Duration stale = stale_after(sweep, thresholds_);
  const Duration patience = manager.is_busy ? manager.patience * kWhileBusy : manager.patience;
  std::vector<NodeId> waiting;
  std::vector<NodeId> lost;
  for (NodeId id = 0; id < table.nodes().size(); ++id) {
    KnownNode& known = table.nodes()[id];
    if (known.index == kNoIndex) continue;
    const Node& node = sweep.topology->node(known.index);
    TimePoint newest = kNever;
    const std::size_t end = std::min<std::size_t>(node.first_port + node.port_entries(), read_at.size());
    for (std::size_t port = node.first_port; port < end; ++port) newest = std::max(newest, read_at[port]);
    const bool is_read = newest >= sweep.started;
    if (is_read) remembered_.erase(known.guid), told_.erase(known.guid);
    // A sweeper that was started anew has read nothing yet.
    const bool is_new = newest == kNever && known.counterless_since == kNever && !remembered_.contains(known.guid);
    if (known.quiet || is_read || is_new) {
      known.counterless_sweeps = 0;
      known.counterless_since = kNever;
      continue;
    }
    if (known.counterless_sweeps < 255) ++known.counterless_sweeps;
    // A clock that was set back must not make it wait for hours.
    known.counterless_since = std::min(known.counterless_since == kNever ? now : known.counterless_since, now);
    // Both: after a gap in our own sweeps, or a jump of the clock, one lost answer is old at once.
    if (known.counterless_sweeps < thresholds_.stale_intervals || newest + stale >= sweep.finished) continue;
    waiting.push_back(id);
    if (now - known.counterless_since >= patience) lost.push_back(id);
  }
  // One more beside those that are told each is told alone, too, while they are few.
  const auto is_told = [&](NodeId id) { return told_.contains(table.nodes()[id].guid); };
  const std::size_t untold = waiting.size() - static_cast<std::size_t>(std::ranges::count_if(waiting, is_told));
  const auto are_one = [&] { return several_at_ != kNever && now - several_at_ <= patience; };
  const bool are_several = (are_one() ? waiting.size() : untold) >= kSeveral || lost.size() >= 2 * kSeveral;
  several_at_ = lost.empty() ? kNever : are_several ? now : std::min(several_at_, now);
  if (are_one()) {
    told_.clear();
    outages.push_back({.kind = OutageKind::kCountersSilent, .nodes = std::move(waiting)});
    return;
  }
  for (const NodeId id : lost) {
    told_.insert(table.nodes()[id].guid);
    outages.push_back({.kind = OutageKind::kCountersSilent, .node = id});
  }
  if (waiting.size() == lost.size()) return;
  const auto reroutes = [](const Outage& outage) {
    return is_whole(outage) || outage.kind == OutageKind::kLink || outage.kind == OutageKind::kLinkGroup;
  };
  if (const auto cause = std::ranges::find_if(outages, reroutes); cause != outages.end())
    cause->counters_waiting = waiting.size() - lost.size();
}

}  // namespace weft::analyzer
