// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/return_rules.hpp"

#include "analyzer/remedy/budget.hpp"

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

// An order waits on the lane for so long at most.
constexpr Duration kSlack = 15s;

bool is_ours(const Plan& plan) {
  return plan.requested_by == kOurselves;
}

}  // namespace

void ReturnRules::approved(const Plan& plan, Duration now) {
  approved_at_[plan.id] = now;
  if (!takes_out(plan.action) && !is_ours(plan)) ended_.erase(plan.target.label);
}

void ReturnRules::ended(const Plan& plan) {
  if (!takes_out(plan.action)) ended_[plan.target.label] = plan.id;
}

void ReturnRules::restarted(const std::map<std::uint64_t, Plan>& journal) {
  std::erase_if(seen_, [&journal](std::uint64_t id) { return !journal.contains(id); });
  std::erase_if(failed_, [&journal](const auto& each) {
    const auto plan = journal.find(each.second.first);
    return plan == journal.end() || !is_over(plan->second.state);
  });
  std::erase_if(ended_, [&journal](const auto& each) {
    const auto plan = journal.find(each.second);
    return plan == journal.end() || plan->second.kept_out.empty();
  });
}

// What has failed since the last look did so right after it: no time passes between that and the answers.
const char* ReturnRules::breach_of_book(const std::vector<std::shared_ptr<const Plan>>& plans, Duration now,
                                        TimePoint clock, Tally& tally) {
  const Duration before = std::exchange(looked_, now);
  bool is_kept = true;
  for (const auto& plan : plans) {
    if (takes_out(plan->action)) continue;
    const auto failed = failed_.find(plan->undoes);
    if (seen_.insert(plan->id).second && is_ours(*plan) && failed != failed_.end())
      is_kept &= now - failed->second.second >= limits_.check_interval;
    const bool is_failed = plan->state == PlanState::kFailed || plan->state == PlanState::kRolledBack;
    if (!is_failed || (failed != failed_.end() && failed->second.first >= plan->id)) continue;
    ++tally.failed_returns;
    failed_[plan->undoes] = {plan->id, plan->finished == clock ? now : before};
  }
  return is_kept ? nullptr : "automation wants to return again what it could not return a moment ago";
}

bool ReturnRules::is_kept_out(const Plan& plan) const {
  const auto ended = ended_.find(plan.target.label);
  return !takes_out(plan.action) && is_ours(plan) && ended != ended_.end() && plan.id > ended->second;
}

const char* ReturnRules::breach_of_open(const Plan& plan) const {
  return is_kept_out(plan) ? "automation wants to return again what a person keeps out" : nullptr;
}

const char* ReturnRules::breach_of_act(const Plan& plan, const Facts& decided, Duration now) {
  const std::string& target = plan.target.label;
  const auto last = last_act_.find(target);
  const bool is_cool = last == last_act_.end() || now - last->second >= limits_.budget.cool_down - kSlack;
  last_act_[target] = now;
  const auto approved = approved_at_.find(plan.id);
  if (plan.approved_by != kOurselves && approved != approved_at_.end() &&
      now - approved->second > limits_.expiry + kSlack)
    return "what a person approved was done when the approval was too old";
  if (takes_out(plan.action)) {
    taken_by_person_[target] = !is_ours(plan);
    ended_.erase(target);
    return is_ours(plan) && !is_cool ? "automation acted on a target that had no time to cool down" : nullptr;
  }
  if (!is_ours(plan)) return nullptr;
  if (is_kept_out(plan)) return "automation returned what a person keeps out";
  if (taken_by_person_[target]) return "automation returned what a person took out";
  if (decided.hurt && outward_action(plan) != RemedyAction::kIsolateLink)
    return "automation returned what an incident hurts, or did a moment ago";
  while (!returned_.empty() && now - returned_.front() >= 1h - kSlack) returned_.pop_front();
  returned_.push_back(now);
  return returned_.size() > limits_.budget.returns_per_hour ? "more returns in an hour than may be" : nullptr;
}

}  // namespace weft::remedies
