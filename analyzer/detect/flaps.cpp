#include "analyzer/detect/flaps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace weft::analyzer {
namespace {

/// A penalty this small is forgotten (points).
constexpr double kForgotten = 10;
enum Source : unsigned { kLowState, kHighState, kLowCounter, kHighCounter };

}  // namespace

double FlapTracker::decayed(double penalty, const Damping& damping, TimePoint since, TimePoint now) const {
  if (now <= since || damping.half_life <= Duration::zero()) return penalty;
  return penalty * std::exp2(-seconds(now - since) / seconds(damping.half_life));
}

void FlapTracker::restore(std::span<const FlapState> states, const LinkTable& table) {
  std::unordered_map<LinkKey, LinkId> ids;
  for (LinkId id = 0; id < table.links().size(); ++id) ids.emplace(table.links()[id].key, id);
  for (const FlapState& state : states) {
    const auto found = ids.find(state.link);
    if (found == ids.end()) continue;
    Record& record = records_[found->second];
    record.state = state;
    record.fast_suppressed = state.suppressed && state.fast > thresholds_.flap_fast.reuse;
    record.slow_suppressed = state.suppressed && state.slow > thresholds_.flap_slow.reuse;
  }
}

std::vector<FlapState> FlapTracker::state(const LinkTable& table) const {
  std::vector<FlapState> states;
  for (const auto& [id, record] : records_) {
    states.push_back(record.state);
    states.back().link = table.links()[id].key;
    states.back().suppressed = record.fast_suppressed || record.slow_suppressed;
  }
  std::ranges::sort(states, {}, &FlapState::link);
  return states;
}

FlapTracker::Record& FlapTracker::record(LinkId link, const LinkTable& table, TimePoint now) {
  const auto [found, added] = records_.try_emplace(link);
  if (added) {
    found->second.state.link = table.links()[link].key;
    found->second.state.updated = now;
  }
  return found->second;
}

void FlapTracker::note(LinkId link, unsigned source, std::uint64_t count, const LinkTable& table, TimePoint now) {
  const LinkState& state = table.links()[link];
  // Somebody disabled it, or it went with its switch or host: not a flap of the link.
  if (state.low_view == EndView::kDisabled || state.high_view == EndView::kDisabled || state.covered) return;
  Record& flaps = record(link, table, now);
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  flaps.seen[source] = static_cast<std::uint32_t>(std::min(most, flaps.seen[source] + count));
  flaps.quiet_sweeps = 0;
}

void FlapTracker::count(Record& record, std::uint32_t flaps, TimePoint now) {
  FlapState& state = record.state;
  state.fast = std::min(thresholds_.flap_fast.ceiling, state.fast + flaps * thresholds_.flap_penalty);
  if (state.slow_counted == kNever || now - state.slow_counted >= thresholds_.flap_slow_spacing) {
    state.slow = std::min(thresholds_.flap_slow.ceiling, state.slow + thresholds_.flap_penalty);
    state.slow_counted = now;
  }
  state.flaps += flaps;
  state.last_flap = now;
  state.both_ends = (record.seen[kLowState] > 0 || record.seen[kLowCounter] > 0) &&
                    (record.seen[kHighState] > 0 || record.seen[kHighCounter] > 0);
  ++revision_;
}

void FlapTracker::settle(Record& record, TimePoint now) {
  FlapState& state = record.state;
  state.fast = decayed(state.fast, thresholds_.flap_fast, state.updated, now);
  state.slow = decayed(state.slow, thresholds_.flap_slow, state.updated, now);
  state.updated = std::max(state.updated, now);
  const std::uint32_t most = *std::ranges::max_element(record.seen);
  if (most > record.counted) {
    count(record, most - record.counted, now);
    record.counted = most;
  } else if (++record.quiet_sweeps >= thresholds_.flap_level_sweeps) {
    std::ranges::fill(record.seen, 0U);
    record.counted = 0;
  }
  const bool before = record.fast_suppressed || record.slow_suppressed;
  const auto judge = [](bool suppressed, double penalty, const Damping& damping) {
    return suppressed ? penalty > damping.reuse : penalty >= damping.suppress;
  };
  record.fast_suppressed = judge(record.fast_suppressed, state.fast, thresholds_.flap_fast);
  record.slow_suppressed = judge(record.slow_suppressed, state.slow, thresholds_.flap_slow);
  const bool after = record.fast_suppressed || record.slow_suppressed;
  if (before != after) ++revision_;
  if (before && !after) state.flaps = 0;
}

void FlapTracker::update(const LinkTable& table, const CounterPass& pass, bool settling, TimePoint now) {
  ends_up_.resize(table.links().size(), 0);
  for (LinkId id = 0; id < ends_up_.size(); ++id) {
    const LinkState& link = table.links()[id];
    const auto follow = [&](EndView view, std::uint8_t bit, unsigned source) {
      if (view == EndView::kUp) {
        ends_up_[id] |= bit;
      } else if (view != EndView::kUnseen && (ends_up_[id] & bit)) {
        ends_up_[id] &= static_cast<std::uint8_t>(~bit);
        if (!settling && view != EndView::kElsewhere) note(id, source, 1, table, now);
      }
    };
    follow(link.low_view, 1, kLowState);
    follow(link.high_view, 2, kHighState);
  }
  if (!settling)
    for (const ErrorDelta& delta : pass.errors) {
      if (delta.link_downed == 0) continue;
      const LinkId id = table.link_at(delta.port);
      if (id == kNoIndex || !table.links()[id].counts()) continue;
      note(id, table.links()[id].low == delta.port ? kLowCounter : kHighCounter, delta.link_downed, table, now);
    }
  for (auto& [id, record] : records_) settle(record, now);
  revision_ += std::erase_if(records_, [](const auto& entry) {
    const FlapState& state = entry.second.state;
    return state.fast < kForgotten && state.slow < kForgotten;
  });
}

bool FlapTracker::is_flapping(LinkId link) const {
  const auto found = records_.find(link);
  return found != records_.end() && (found->second.fast_suppressed || found->second.slow_suppressed);
}

void FlapTracker::report(const Describe& describe, const LinkTable& table, TimePoint now,
                         std::vector<Finding>& findings) const {
  for (const auto& [id, record] : records_) {
    if (!record.fast_suppressed && !record.slow_suppressed) continue;
    const FlapState& state = record.state;
    Finding finding = make_finding(IncidentKind::kLinkFlap, Severity::kWarning, describe.link(id));
    if (const NodeId adapter = describe.adapter_of(id); adapter != kNoIndex)
      finding.affected.push_back(describe.node(adapter));
    finding.confidence = state.both_ends ? 0.98 : 0.75;
    finding.summary = "Link " + finding.cause.label + " keeps going down and coming back, " +
                      (state.both_ends ? "seen at both ends" : "seen at one end only");
    const auto add = [&](const char* layer, bool suppressed, double penalty, const Damping& damping) {
      if (!suppressed) return;
      finding.evidence.push_back(
          {.signal = std::string("flap_penalty_") + layer,
           .description = "the " + std::string(layer) + " flap penalty is " + short_number(penalty) + ", the limit " +
                          short_number(damping.suppress) + "; it ends below " + short_number(damping.reuse),
           .value = penalty,
           .threshold = damping.suppress,
           .unit = "points",
           .observed = state.last_flap,
           .where = finding.cause});
    };
    add("fast", record.fast_suppressed, state.fast, thresholds_.flap_fast);
    add("slow", record.slow_suppressed, state.slow, thresholds_.flap_slow);
    finding.evidence.push_back({.signal = "flaps",
                                .description = std::to_string(state.flaps) + " times down, the last one " +
                                               short_duration(now - state.last_flap) + " ago",
                                .value = static_cast<double>(state.flaps),
                                .threshold = 0,
                                .unit = "events",
                                .observed = state.last_flap,
                                .where = finding.cause});
    const LinkState& link = table.links()[id];
    if (link.view == LinkView::kDown || link.view == LinkView::kDisagreement)
      finding.evidence.push_back({.signal = "port_state",
                                  .description = "the link is down at present",
                                  .value = 0,
                                  .threshold = 0,
                                  .unit = "",
                                  .observed = link.down_since,
                                  .where = finding.cause});
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
