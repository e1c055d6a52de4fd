// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/glimpses.hpp"

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestChange = 30s;

}  // namespace

std::pair<TargetReading, bool> Glimpses::read(const Entity& target, bool by_cost, bool may_be_wrong, Dice& dice) {
  TargetReading reading = world_.read(target, by_cost);
  const auto place = world_.find(target);
  const auto last = wrong_.find(place);
  const bool was_wrong = last != wrong_.end() && world_.steady() - last->second <= 5min;
  const bool is_changing = world_.steady() - world_.changed(place.first, place.second) <= kLongestChange;
  if (was_wrong || !is_changing || !may_be_wrong || reading.state != TargetState::kOurs || !dice.one_in(3))
    return {reading, false};
  wrong_[place] = world_.steady();
  reading.state = TargetState::kClear;
  return {reading, true};
}

}  // namespace weft::remedies
