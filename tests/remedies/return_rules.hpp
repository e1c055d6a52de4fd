// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold when something is returned, and of what persons said of it: by the truth, and not by the book.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/plan.hpp"
#include "tests/remedies/facts.hpp"
#include "tests/remedies/tally.hpp"

namespace weft::remedies {

/// Follows one sequence. All times are World::steady().
class ReturnRules {
 public:
  explicit ReturnRules(const analyzer::RemedyLimits& limits) : limits_(limits) {}

  /// A person approved the plan, or asked for it.
  void approved(const Plan& plan, Duration now);
  /// A person rejected or aborted the plan.
  void ended(const Plan& plan);
  /// The process was killed: of what is not in the journal nobody was told.
  void restarted(const std::map<std::uint64_t, Plan>& journal);

  /// What the book shows. The promise that it breaks, null: none: a target that automation could not return is left
  /// alone for check_interval. `clock`: what it says now.
  const char* breach_of_book(const std::vector<std::shared_ptr<const Plan>>& plans, Duration now, TimePoint clock,
                             Tally& tally);
  /// The promise that a plan that is open breaks; null: none.
  const char* breach_of_open(const Plan& plan) const;
  /// The promise that the plan's own action breaks, as it is sent; null: none.
  const char* breach_of_act(const Plan& plan, const Facts& decided, Duration now);

 private:
  bool is_kept_out(const Plan& plan) const;

  const analyzer::RemedyLimits& limits_;
  std::map<std::uint64_t, Duration> approved_at_;  // by plan
  std::map<std::string, std::uint64_t> ended_;     // target: the return of it that a person ended last
  std::map<std::string, bool> taken_by_person_;    // target: how it was last taken out
  std::map<std::string, Duration> last_act_;       // by target
  Duration looked_{};                              // when the book was last looked at
  std::set<std::uint64_t> seen_;                   // returns
  std::map<std::uint64_t, std::pair<std::uint64_t, Duration>> failed_;  // what was to be returned: the last that failed
  std::deque<Duration> returned_;                                       // by automation
};

}  // namespace weft::remedies
