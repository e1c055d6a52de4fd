// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/link_tracker.hpp"

namespace weft::ethernet {
namespace {

// A removal takes the kernel some 10 ms, in which one reading may fall.
constexpr std::uint8_t kReadings = 2;

/// Whether a count moved; one that is not told did not.
bool moved(std::optional<std::uint32_t> before, std::optional<std::uint32_t> now) {
  return before && now && *before != *now;
}

std::optional<std::uint32_t> one_less(std::optional<std::uint32_t> count) {
  if (count) --*count;
  return count;
}

}  // namespace

void LinkTracker::take(const LinkMessage& message, std::vector<LinkChange>& changes) {
  const State now{message.is_up(), message.administratively_up, 0, message.carrier_up_count,
                  message.carrier_down_count};
  const auto [known, is_new] = states_.try_emplace(message.index, now);
  if (is_new) return;
  const State before = known->second;
  known->second = now;
  const bool administrative = before.administratively_up != now.administratively_up;
  if (!now.administratively_up)
    known->second.closed_lately = before.up && administrative ? kReadings : before.closed_lately;
  const LinkChange last{message.index, now.up, administrative, now.carrier_up_count, now.carrier_down_count, false};
  if (before.up == now.up) {
    // It is as it was, but it was not so all the time.
    const bool went_and_came = now.up ? moved(before.carrier_down_count, now.carrier_down_count)
                                      : moved(before.carrier_up_count, now.carrier_up_count);
    if (!went_and_came || !now.administratively_up || administrative) return;
    LinkChange between = last;
    between.up = !now.up;
    if (now.up) between.carrier_up_count = one_less(between.carrier_up_count);
    if (!now.up) between.carrier_down_count = one_less(between.carrier_down_count);
    changes.push_back(between);
  }
  changes.push_back(last);
}

void LinkTracker::remove(std::uint32_t index, std::vector<LinkChange>& changes) {
  const auto known = states_.find(index);
  if (known == states_.end()) return;
  const State& state = known->second;
  if (state.up || state.closed_lately > 0)
    changes.push_back({index, false, false, state.carrier_up_count, state.carrier_down_count, true});
  states_.erase(known);
}

void LinkTracker::settle() {
  for (auto& [index, state] : states_)
    if (state.closed_lately > 0) --state.closed_lately;
}

}  // namespace weft::ethernet
