// SPDX-License-Identifier: Apache-2.0
#pragma once
// What persons want in service is left in service: by the truth, and not by the book.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "fabric/plan.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Follows one sequence.
class WishRules {
 public:
  /// It must outlive this.
  explicit WishRules(const World& world) : world_(world) {}

  /// A person ended the plan, so that its target is in service: until every incident is over that hurts it now,
  /// automation may not take it out.
  void wished(const Plan& plan);
  /// Nothing more may be sent for the plan.
  void left(const Plan& plan) { left_.insert(plan.id); }
  /// The process was killed: of what is not in the journal nobody was told.
  void restarted(const std::map<std::uint64_t, Plan>& journal);

  /// The promise that an act for the plan breaks, as it is sent; null: none.
  const char* breach_of(const Plan& plan, const Act& act);

 private:
  struct Wish {
    std::uint64_t plan = 0;            ///< the first that was ended for these incidents
    std::set<std::uint64_t> troubles;  ///< incidents of the target that were open then
  };

  const World& world_;
  std::map<std::pair<bool, unsigned>, Wish> wishes_;  // by target
  std::set<std::uint64_t> left_;                      // plans
};

}  // namespace weft::remedies
