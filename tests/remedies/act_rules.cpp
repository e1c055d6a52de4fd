// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/act_rules.hpp"

#include "analyzer/remedy/guards.hpp"
#include "tests/remedies/rules.hpp"

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestWait = 10s;

}  // namespace

const char* ActRules::breach_of(const Plan& plan, const Act& act, const Facts& decided, const Brakes& brakes) {
  const bool undo = act.order.action != plan.action;
  if (plan.intent != (undo ? PlanIntent::kUndo : PlanIntent::kApply)) return "an action was not journalled";
  if (brakes.hands_off) return "something was done after hands-off was acknowledged";
  if (brakes.file) return "something was done while the hands-off file was there";
  if (!is_under_way(plan.state)) return "something was done for a plan that is over";
  if (act.order.decided && world_.steady() - *act.order.decided > kLongestWait)
    return "something was done that was decided long before";
  if (act.is_link && takes_out(act.order.action) && decided.manager_unheard)
    return "a link was taken out while the subnet manager did not answer";
  if (last_read_[plan.id] == TargetState::kForeign) return "what somebody else took was touched";
  if (undo) return breach_of_return(plan, act, decided, brakes);
  if (++sent_[plan.id] != 1) return "a plan sent its action twice";
  if (!act.is_link)
    if (const char* breach = breach_of_identity(plan, decided)) return breach;
  if (!takes_out(plan.action)) return breach_of_return(plan, act, decided, brakes);

  if (act.before == Holder::kWeft) return "what was out was taken out again";
  if (const char* breach = breach_of_taking_out(act.is_link, decided, settings_.limits, world_.shape())) return breach;
  taken_out_by_[{act.is_link, act.index}] = plan.action;
  if (const char* breach = breach_of_settings(plan, settings_)) return breach;
  if (brakes.breaker) return "something was taken out with the breaker tripped";
  // An action counts from when it is decided.
  while (!taken_.empty() && world_.steady() - taken_.front() >= 1h - kLongestWait) taken_.pop_front();
  taken_.push_back(world_.steady());
  if (taken_.size() > settings_.limits.budget.actions_per_hour) return "more actions in an hour than may be";
  return lost_by(act, decided);
}

// Of a return, and of what undoes a plan: a return that failed goes out again.
const char* ActRules::breach_of_return(const Plan& plan, const Act& act, const Facts& decided, const Brakes& brakes) {
  if (brakes.breaker && plan.requested_by == kOurselves && !act.order.undo)
    return "automation brought something back with the breaker tripped";
  if (!takes_out(act.order.action))
    return act.is_link && decided.manager_unheard && plan.requested_by == kOurselves && !act.order.undo
               ? "automation brought a link back while the subnet manager did not answer"
               : nullptr;
  if (taken_out_by_[{act.is_link, act.index}] != act.order.action) return "a return was undone by another action";
  return lost_by(act, decided);
}

const char* ActRules::lost_by(const Act& act, const Facts& decided) const {
  if (!act.is_link) return nullptr;
  const Shape& shape = world_.shape();
  const auto& limits = settings_.limits.capacity;
  if (const char* lost = lost_capacity(shape, limits, decided.job_leaves, decided.seen_up, act.index)) return lost;
  if (world_.has_rails())
    if (const char* lost = lost_rail(shape, limits, decided.seen_up, act.index)) return lost;
  if (act.order.action == RemedyAction::kIsolateLink && act.before == Holder::kNobody &&
      parts_leaves(shape, decided.seen_at_any_cost, act.index))
    return "two leaves lost each other over links whose cost is raised";
  return nullptr;
}

}  // namespace weft::remedies
