// SPDX-License-Identifier: Apache-2.0
#pragma once
// For how long plans are EXECUTING, and which of them were on probation anew.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/plan.hpp"

namespace weft::remedies {

/// Follows one sequence while nothing stands in the way of an answer.
class ExecutingWatch {
 public:
  /// The promise that is broken when the plans are so now; empty: none. `now`: as World::steady().
  std::string breach_of(const std::vector<std::shared_ptr<const Plan>>& plans, Duration now);

 private:
  std::map<std::uint64_t, Duration> since_;  // by plan
};

/// A return that failed, could not be undone, and was well again: its probation began once more.
bool begins_anew(const Plan& plan);

}  // namespace weft::remedies
