// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold when an actuator is told to change something, whether it goes out or comes back.

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "analyzer/remedy/settings.hpp"
#include "tests/remedies/facts.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// What stands against any change when it is sent.
struct Brakes {
  bool hands_off = false;  ///< as persons were told that it is so
  bool file = false;       ///< the hands-off file is there
  bool breaker = false;    ///< as it is on disk
};

/// Follows one sequence. All times are World::steady().
class ActRules {
 public:
  /// Both must outlive it.
  ActRules(const World& world, const analyzer::RemedySettings& settings) : world_(world), settings_(settings) {}

  /// The plan's target was read so. The world moves between reading and acting: only what was read counts.
  void read(std::uint64_t plan, TargetState state) { last_read_[plan] = state; }
  /// The promise that the act breaks, as it is sent for the plan as it is in the journal; null: none.
  const char* breach_of(const Plan& plan, const Act& act, const Facts& decided, const Brakes& brakes);

 private:
  const char* breach_of_return(const Plan& plan, const Act& act, const Facts& decided, const Brakes& brakes);
  const char* lost_by(const Act& act, const Facts& decided) const;

  const World& world_;
  const analyzer::RemedySettings& settings_;
  std::map<std::uint64_t, unsigned> sent_;  // by plan: how often its action was sent
  std::map<std::uint64_t, TargetState> last_read_;
  std::deque<Duration> taken_;                                      // as far as weftd can know it
  std::map<std::pair<bool, unsigned>, RemedyAction> taken_out_by_;  // target: how it was last taken out
};

}  // namespace weft::remedies
