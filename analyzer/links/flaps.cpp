// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/flaps.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/links/link_findings.hpp"

namespace weft::analyzer {
namespace {

enum Source : unsigned { kLowState, kHighState, kLowCounter, kHighCounter };

}  // namespace

void FlapTracker::restore(std::span<const FlapState> states, const LinkTable& table) {
  std::unordered_map<LinkKey, LinkId> ids;
  for (LinkId id = 0; id < table.links().size(); ++id) ids.emplace(table.links()[id].key, id);
  for (const FlapState& state : states) {
    const auto found = ids.find(state.link);
    if (found == ids.end()) continue;
    records_[found->second].restore(state, thresholds_);
  }
}

std::vector<FlapState> FlapTracker::state(const LinkTable& table) const {
  std::vector<FlapState> states;
  for (const auto& [id, record] : records_) {
    states.push_back(record.state);
    states.back().link = table.links()[id].key;
  }
  std::ranges::sort(states, {}, &FlapState::link);
  return states;
}

void FlapTracker::note(LinkId link, unsigned source, std::uint64_t count, const LinkTable& table, TimePoint now) {
  const LinkState& state = table.links()[link];
  // Somebody disabled it, or it went with its switch or host: not a flap of the link.
  if (state.is_disabled() || state.covered) return;
  const auto [found, added] = records_.try_emplace(link);
  if (added) {
    found->second.state.link = state.key;
    found->second.state.updated = now;
  }
  found->second.note(source, count);
}

void FlapTracker::update(const LinkTable& table, const CounterPass& pass, const PlannedLinks& planned, bool settling,
                         TimePoint now) {
  const auto exempt = [&](LinkId id) { return settling || planned.has(id) || table.links()[id].brought_up != kNever; };
  ends_up_.resize(table.links().size(), 0);
  for (LinkId id = 0; id < ends_up_.size(); ++id) {
    const LinkState& link = table.links()[id];
    const auto follow = [&](EndView view, std::uint8_t bit, unsigned source) {
      if (view == EndView::kUp) {
        ends_up_[id] |= bit;
      } else if (view != EndView::kUnseen && (ends_up_[id] & bit)) {
        ends_up_[id] &= static_cast<std::uint8_t>(~bit);
        if (!exempt(id) && view != EndView::kElsewhere) note(id, source, 1, table, now);
      }
    };
    follow(link.low_view, 1, kLowState);
    follow(link.high_view, 2, kHighState);
  }
  if (!settling)
    for (const ErrorDelta& delta : pass.errors) {
      if (delta.link_downed == 0) continue;
      const LinkId id = table.link_at(delta.port);
      if (id == kNoIndex || exempt(id) || !table.links()[id].counts()) continue;
      note(id, table.links()[id].low == delta.port ? kLowCounter : kHighCounter, delta.link_downed, table, now);
    }
  for (auto& [id, record] : records_) {
    // An end that is out of reach, as a host without its cable is, tells of the same flap when it is back: until then
    // the counts of both ends are not levelled.
    const LinkState& link = table.links()[id];
    const bool both_tell = link.low_view == EndView::kUp && link.high_view == EndView::kUp;
    const FlapRecord::Change change = record.settle(thresholds_, now, both_tell);
    revision_ += static_cast<unsigned>(change.counted) + static_cast<unsigned>(change.sides);
    if (!change.counted) continue;
    record.state.both_ends = (record.noticed_by(kLowState) || record.noticed_by(kLowCounter)) &&
                             (record.noticed_by(kHighState) || record.noticed_by(kHighCounter));
  }
  revision_ += std::erase_if(records_, [](const auto& entry) { return entry.second.is_forgotten(); });
}

bool FlapTracker::hides_down(LinkId link, TimePoint since, TimePoint now) const {
  const auto found = records_.find(link);
  return found != records_.end() && found->second.hides_down(since, now, thresholds_);
}

std::vector<LinkId> FlapTracker::flapped_since(TimePoint since) const {
  std::vector<LinkId> links;
  for (const auto& [id, record] : records_)
    if (record.state.last_flap != kNever && record.state.last_flap >= since) links.push_back(id);
  return links;
}

Finding FlapTracker::finding(const Describe& describe, LinkId id, const FlapRecord& record, TimePoint now) const {
  return link_flap(reported_link(describe, id), record,
                   record.state.both_ends ? FlapWitness::kBothEnds : FlapWitness::kOneEnd, thresholds_, now);
}

void FlapTracker::report(const Describe& describe, const LinkTable& table, TimePoint now,
                         std::vector<Finding>& findings) const {
  for (const auto& [id, record] : records_) {
    if (!record.is_flapping()) continue;
    Finding flap = finding(describe, id, record, now);
    const LinkState& link = table.links()[id];
    if (link.view == LinkView::kDown || link.view == LinkView::kDisagreement)
      flap.evidence.push_back(fact("port_state", "the link went down", link.down_since, flap.cause));
    findings.push_back(std::move(flap));
  }
}

void FlapTracker::report_single(const Describe& describe, TimePoint now, std::vector<Finding>& findings) const {
  for (const auto& [id, record] : records_)
    if (record.is_single(now) && describe.adapter_of(id) != kNoIndex)
      findings.push_back(finding(describe, id, record, now));
}

}  // namespace weft::analyzer
