// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is read of a target while it is being changed.

#include <map>
#include <utility>

#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Follows one sequence.
class Glimpses {
 public:
  /// It must outlive this.
  explicit Glimpses(World& world) : world_(world) {}
  /// As World::read(). True: it is wrong. A port in the middle of being taken out may be read as it was, for a moment,
  /// and once: a reading that comes too late for its plan in between makes no second one right.
  std::pair<TargetReading, bool> read(const Entity& target, bool by_cost, bool may_be_wrong, Dice& dice);

 private:
  World& world_;
  std::map<std::pair<bool, unsigned>, Duration> wrong_;  ///< when a target was last read wrongly, as World::steady()
};

}  // namespace weft::remedies
