// SPDX-License-Identifier: Apache-2.0
// What is so of plans, whatever the words in which it is told.

#include <algorithm>
#include <utility>

#include "daemon/programs/weftctl/plan_report.hpp"
#include "fabric/plan.hpp"

namespace weft::ctl {

bool holds_its_target(const v1::Plan& plan) {
  return plan.in_force() || plan.unresolved();
}

bool is_in_force_after_all(const v1::Plan& plan) {
  return takes_out(plan) && plan.in_force() && !plan.unresolved() &&
         (plan.state() == v1::Plan::ROLLED_BACK || plan.state() == v1::Plan::FAILED);
}

const v1::Plan* other_holder(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans) {
  const v1::Plan* found = nullptr;
  for (const v1::Plan& other : plans) {
    if (other.id() == plan.id() || other.target().identity() != plan.target().identity()) continue;
    const bool is_changing = other.state() >= v1::Plan::EXECUTING && other.state() < v1::Plan::COMMITTED;
    if (!holds_its_target(other) && !is_changing) continue;
    if (found == nullptr || !found->in_force() || other.in_force()) found = &other;
  }
  return found;
}

std::string own_words(const v1::Plan& plan) {
  std::string words = plan.outcome();
  for (const v1::PlanStep& step : plan.steps()) words = without_reason(std::move(words), step.who(), step.what());
  return words;
}

v1::Plan::Action held_by(const v1::Plan& plan) {
  if (takes_out(plan)) return plan.action();
  if (plan.reverted_action() != v1::Plan::ACTION_UNSPECIFIED) return plan.reverted_action();
  return plan.action() == v1::Plan::UNDRAIN_NODE ? v1::Plan::DRAIN_NODE : v1::Plan::ISOLATE_LINK;
}

const v1::Plan& first_out(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans) {
  const v1::Plan* first = &plan;
  for (int i = 0; i < plans.size() && !takes_out(*first); ++i) {
    const auto before = std::ranges::find(plans, first->undoes(), [](const v1::Plan& each) { return each.id(); });
    if (before == plans.end()) break;
    first = &*before;
  }
  return *first;
}

bool takes_out(const v1::Plan& plan) {
  return plan.action() == v1::Plan::ISOLATE_LINK || plan.action() == v1::Plan::RAISE_LINK_COST ||
         plan.action() == v1::Plan::DRAIN_NODE;
}

bool is_reverted(const v1::Plan& plan) {
  return takes_out(plan) && plan.state() == v1::Plan::COMMITTED && !plan.in_force();
}

}  // namespace weft::ctl
