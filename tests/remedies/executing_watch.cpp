// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/executing_watch.hpp"

#include <algorithm>
#include <utility>

namespace weft::remedies {
namespace {

constexpr Duration kLongestExecution = std::chrono::minutes(10);

}  // namespace

std::string ExecutingWatch::breach_of(const std::vector<std::shared_ptr<const Plan>>& plans, Duration now) {
  std::string breach;
  std::map<std::uint64_t, Duration> since;
  for (const auto& plan : plans) {
    if (plan->state != PlanState::kExecuting) continue;
    const auto before = since_.find(plan->id);
    since[plan->id] = before != since_.end() ? before->second : now;
    if (now - since[plan->id] > kLongestExecution)
      breach = plan_name(plan->id) + " stays EXECUTING though all lists are told";
  }
  since_ = std::move(since);
  return breach;
}

bool begins_anew(const Plan& plan) {
  return std::ranges::adjacent_find(plan.steps, [](const PlanStep& one, const PlanStep& next) {
           return one.state == PlanState::kRollingBack && next.state == PlanState::kVerifying;
         }) != plan.steps.end();
}

}  // namespace weft::remedies
