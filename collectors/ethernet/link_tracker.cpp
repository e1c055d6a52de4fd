#include "collectors/ethernet/link_tracker.hpp"

namespace weft::ethernet {
namespace {

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
  const State now{message.is_up(), message.administratively_up, message.carrier_up_count, message.carrier_down_count};
  const auto [known, is_new] = states_.try_emplace(message.index, now);
  if (is_new) return;
  const State before = known->second;
  known->second = now;
  const bool administrative = before.administratively_up != now.administratively_up;
  const LinkChange last{message.index, now.up, administrative, now.carrier_up_count, now.carrier_down_count};
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

}  // namespace weft::ethernet
