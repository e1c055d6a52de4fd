// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/flap_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// A penalty this small is forgotten (points).
constexpr double kForgotten = 10;
/// Whoever did not go down for so long does not "keep" doing it.
constexpr Duration kQuiet = std::chrono::minutes(5);

/// What is left of a penalty, 0..1.
double decay(const Damping& damping, TimePoint since, TimePoint now) {
  if (now <= since || damping.half_life <= Duration::zero()) return 1;
  return std::exp2(-seconds(now - since) / seconds(damping.half_life));
}

}  // namespace

void FlapRecord::restore(const FlapState& known, const Thresholds& thresholds) {
  state = known;
  fast_suppressed_ = known.suppressed && known.fast > thresholds.flap_fast.reuse;
  slow_suppressed_ = known.suppressed && known.slow > thresholds.flap_slow.reuse;
  state.suppressed = is_flapping();
}

void FlapRecord::note(unsigned source, std::uint64_t count) {
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  seen_[source] = static_cast<std::uint32_t>(std::min(most, seen_[source] + count));
  quiet_readings_ = 0;
}

void FlapRecord::count(const Thresholds& thresholds, std::uint32_t flaps, TimePoint now) {
  state.fast = std::min(thresholds.flap_fast.ceiling, state.fast + flaps * thresholds.flap_penalty);
  if (state.slow_counted == kNever || now - state.slow_counted >= thresholds.flap_slow_spacing) {
    state.slow = std::min(thresholds.flap_slow.ceiling, state.slow + thresholds.flap_penalty);
    state.slow_counted = now;
  }
  state.flaps += flaps;
  if (single_ == Single::kNone || now - state.last_flap >= kQuiet) single_ = Single::kWent;
  state.last_flap = now;
}

FlapRecord::Change FlapRecord::settle(const Thresholds& thresholds, TimePoint now, bool reading) {
  state.fast *= decay(thresholds.flap_fast, state.updated, now);
  state.slow *= decay(thresholds.flap_slow, state.updated, now);
  state.updated = std::max(state.updated, now);
  Change change;
  const std::uint32_t most = *std::ranges::max_element(seen_);
  if (most > counted_) {
    count(thresholds, most - counted_, now);
    counted_ = most;
    change.counted = true;
  } else if (reading) {
    if (single_ == Single::kWent) single_ = Single::kBack;
    if (++quiet_readings_ >= thresholds.flap_level_sweeps) {
      seen_.fill(0);
      counted_ = 0;
    }
  }
  const bool before = is_flapping();
  const auto judge = [](bool suppressed, double penalty, const Damping& damping) {
    return suppressed ? penalty > damping.reuse : penalty >= damping.suppress;
  };
  fast_suppressed_ = judge(fast_suppressed_, state.fast, thresholds.flap_fast);
  slow_suppressed_ = judge(slow_suppressed_, state.slow, thresholds.flap_slow);
  state.suppressed = is_flapping();
  change.sides = before != state.suppressed;
  if (before && !state.suppressed) state.flaps = 0;
  return change;
}

bool FlapRecord::is_single(TimePoint now) const {
  return !is_flapping() && single_ == Single::kBack && state.last_flap <= now && now - state.last_flap < kQuiet;
}

bool FlapRecord::is_forgotten() const {
  return state.fast < kForgotten && state.slow < kForgotten;
}

const char* FlapRecord::habit(TimePoint now) const {
  if (!is_flapping()) return "went down and came back";
  return now - state.last_flap < kQuiet ? "is flapping"
                                        : "was flapping; it stays listed until its flap penalty has decayed";
}

void FlapRecord::add_evidence(const Thresholds& thresholds, const Entity& where,
                              std::vector<Evidence>& evidence) const {
  const auto add = [&](const char* layer, bool suppressed, double penalty, const Damping& damping) {
    if (!suppressed) return;
    const double at_last_flap = std::min(damping.ceiling, penalty / decay(damping, state.last_flap, state.updated));
    evidence.push_back({.signal = std::string("flap_penalty_") + layer,
                        .description = "the " + std::string(layer) + " flap penalty was " + short_number(at_last_flap) +
                                       " points after the last flap, the limit " + short_number(damping.suppress) +
                                       "; it halves every " + short_duration(damping.half_life) +
                                       ", LINK_FLAP ends below " + short_number(damping.reuse),
                        .value = at_last_flap,
                        .threshold = damping.suppress,
                        .unit = "points",
                        .observed = state.last_flap,
                        .where = where});
  };
  add("fast", fast_suppressed_, state.fast, thresholds.flap_fast);
  add("slow", slow_suppressed_, state.slow, thresholds.flap_slow);
  // Of one that does not keep doing it the count is of weeks.
  const std::uint32_t flaps = is_flapping() ? state.flaps : 1;
  evidence.push_back({.signal = "flaps",
                      .description = "went down " + count_text(flaps) + (flaps == 1 ? " time" : " times"),
                      .value = static_cast<double>(flaps),
                      .threshold = 0,
                      .unit = "events",
                      .observed = state.last_flap,
                      .where = where});
}

}  // namespace weft::analyzer
