// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/wish_rules.hpp"

#include <algorithm>

#include "tests/remedies/rules.hpp"

namespace weft::remedies {

void WishRules::wished(const Plan& plan) {
  const auto place = world_.find(plan.target);
  wishes_[place] = {plan.id, world_.troubles_of(place.first, place.second)};
}

void WishRules::restarted(const std::map<std::uint64_t, Plan>& journal) {
  const auto is_known = [&journal](std::uint64_t id, const auto& said) {
    const auto plan = journal.find(id);
    return plan != journal.end() && said(plan->second);
  };
  std::erase_if(wishes_, [&](const auto& each) {
    return !is_known(each.second.plan, [](const Plan& plan) {
      return plan.aborted || plan.left_in_service || plan.state == PlanState::kRejected;
    });
  });
  std::erase_if(left_,
                [&](std::uint64_t id) { return !is_known(id, [](const Plan& plan) { return plan.left_in_service; }); });
}

const char* WishRules::breach_of(const Plan& plan, const Act& act) {
  if (left_.contains(plan.id)) return "something was sent for a plan that a person left as it is";
  if (!takes_out(plan.action) || act.order.action != plan.action) return nullptr;
  const auto wish = wishes_.find({act.is_link, act.index});
  if (wish == wishes_.end() || plan.id <= wish->second.plan) return nullptr;
  if (plan.requested_by != kOurselves || plan.approved_by != kOurselves) {
    wishes_.erase(wish);  // a person took it out
    return nullptr;
  }
  const auto open = world_.troubles_of(act.is_link, act.index);
  const bool lasts = std::ranges::any_of(wish->second.troubles, [&open](auto id) { return open.contains(id); });
  return lasts ? "automation took out what a person wanted in service, for trouble of then" : nullptr;
}

}  // namespace weft::remedies
