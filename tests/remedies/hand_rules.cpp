// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/hand_rules.hpp"

#include <algorithm>

#include "analyzer/remedy/guards.hpp"

namespace weft::remedies {
namespace {

bool is_of_isolation(const Plan& plan) {
  return plan.target.kind == EntityKind::kLink && outward_action(plan) == RemedyAction::kIsolateLink;
}

bool was_verified(const Plan& plan) {
  return std::ranges::find(plan.steps, PlanState::kVerifying, &PlanStep::state) != plan.steps.end();
}

/// By the journal: weftd has read it to be back, and nothing that takes it out was decided since.
bool is_read_back(const Plan& plan) {
  if (takes_out(plan.action)) return plan.state == PlanState::kRollingBack && plan.intent == PlanIntent::kNone;
  return plan.state == PlanState::kVerifying ||
         (plan.state == PlanState::kRollingBack && plan.intent == PlanIntent::kApply && was_verified(plan));
}

/// A return that failed was read to be back, and what takes it out again is decided. It finds the port disabled then.
bool is_about_to_be_undone(const Plan& plan) {
  return !takes_out(plan.action) && plan.state == PlanState::kRollingBack && plan.intent == PlanIntent::kUndo &&
         was_verified(plan);
}

}  // namespace

// What takes it out may have been sent: it may land, or have landed before somebody disabled the link.
void HandRules::lose_sight_of(unsigned link, bool is_refused) {
  uncertain_.insert(link);
  if (!is_refused && world_.is_disabled_by_hand(link)) world_.take_as_ours(link);
}

void HandRules::sent(const Act& act, bool is_known, bool is_refused) {
  on_lane_.erase(act.order.plan);
  if (act.order.undo) undone_.insert(act.order.plan);
  if (!act.is_link || !takes_out(act.order.action)) return;
  if (is_known)
    uncertain_.erase(act.index);
  else
    lose_sight_of(act.index, is_refused);
}

void HandRules::restarted(const Journal& journal) {
  on_lane_.clear();
  for (const auto& [id, plan] : journal) {
    if (!is_under_way(plan.state) || plan.intent == PlanIntent::kNone || plan.target.kind != EntityKind::kLink)
      continue;
    const bool is_undo = plan.intent == PlanIntent::kUndo;
    if (is_undo) undone_.insert(id);
    if (is_undo != takes_out(plan.action)) lose_sight_of(world_.find(plan.target).second, false);
  }
}

std::string HandRules::disable(Dice& dice, const Journal& journal, Tally& tally) {
  std::set<unsigned> links, unresolved;
  for (const auto& [id, plan] : journal) {
    if (plan.target.kind != EntityKind::kLink) continue;
    const unsigned link = world_.find(plan.target).second;
    const bool is_first = is_about_to_be_undone(plan) && on_lane_.contains(id) && !undone_.contains(id);
    if (plan.unresolved || (on_lane_.contains(id) && !is_first)) unresolved.insert(link);
    if (is_of_isolation(plan) && (is_read_back(plan) || is_first) && world_.holder(true, link) == Holder::kNobody &&
        !uncertain_.contains(link))
      links.insert(link);
  }
  for (const unsigned link : unresolved) links.erase(link);
  if (links.empty()) return {};
  const unsigned link = *std::next(links.begin(), dice.below(static_cast<unsigned>(links.size())));
  world_.somebody_disables(link);
  ++tally.disabled_by_hand;
  return "somebody disables " + world_.label(true, link) + " where weft sets it";
}

const char* HandRules::breach_of(const Plan& plan, const Act& act) const {
  if (!act.is_link || takes_out(act.order.action) || !world_.is_disabled_by_hand(act.index)) return nullptr;
  const bool is_wish = !takes_out(plan.action) && plan.requested_by != kOurselves;
  return is_wish ? nullptr : "weftd enabled what somebody had disabled since it was read to be back";
}

bool HandRules::may_be_left(const Plan& plan) const {
  if (!is_of_isolation(plan) || takes_out(plan.action) || plan.state != PlanState::kRollingBack ||
      !was_verified(plan) || on_lane_.contains(plan.id))
    return false;
  return !undone_.contains(plan.id) && (world_.links_seen_up() >> world_.find(plan.target).second & 1U) != 0;
}

std::string HandRules::give_back(const std::vector<std::shared_ptr<const Plan>>& plans, Dice& dice, Tally& tally) {
  std::string labels;
  for (const auto& plan : plans) {
    if (plan->state != PlanState::kRollingBack || !takes_out(plan->action) || !is_of_isolation(*plan)) continue;
    const unsigned link = world_.find(plan->target).second;
    if (world_.holder(true, link) != Holder::kWeft || dice.one_in(4)) continue;
    world_.somebody_gives_back(true, link);
    ++tally.enabled_by_hand;
    labels += ' ' + plan->target.label;
  }
  return labels.empty() ? labels : "somebody gives back what waits to be undone:" + labels;
}

const char* HandRules::breach_of_waiting(const std::vector<std::shared_ptr<const Plan>>& plans) const {
  for (const auto& plan : plans) {
    if (plan->state != PlanState::kRollingBack || !takes_out(plan->action) || !is_of_isolation(*plan)) continue;
    const unsigned link = world_.find(plan->target).second;
    if (world_.holder(true, link) == Holder::kNobody && (world_.links_up() >> link & 1U) != 0)
      return "a plan that waits to be undone does not see that somebody gave its link back";
  }
  return nullptr;
}

}  // namespace weft::remedies
