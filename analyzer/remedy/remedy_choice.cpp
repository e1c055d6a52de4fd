// SPDX-License-Identifier: Apache-2.0
// What proposals weigh, and which of those for bad links go first.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/remedy/plan_manager.hpp"

namespace weft::analyzer {
namespace {

// They refuse a link for what it is. What others refuse lies with its fabric, and with those that compete with it.
constexpr std::array kOfOneLink{Guard::kReachability, Guard::kLists,   Guard::kMaintenance, Guard::kTwoSignals,
                                Guard::kCoolDown,     Guard::kOwnPath, Guard::kBenefit};

// A link that was down so often when it was to be taken out goes before no other, until it has been kept waiting for so
// long that this says nothing of it any more.
constexpr unsigned kMostDown = 3;
constexpr Duration kForgiven = std::chrono::minutes(10);
constexpr double kLeastWeight = 1e-9;

bool is_refused_alone(const Plan& plan) {
  return std::ranges::any_of(plan.guards, [](const GuardVerdict& verdict) {
    return verdict.result == GuardResult::kRefused &&
           (std::ranges::find(kOfOneLink, verdict.guard) != kOfOneLink.end() ||
            (verdict.guard == Guard::kBudget && is_over_own_limit(verdict.explanation)));
  });
}

// Automation's own, of which nothing was sent and nobody else decided.
bool is_open(const Plan& plan) {
  const bool may_begin =
      plan.state == PlanState::kApproved || (plan.state == PlanState::kExecuting && plan.intent == PlanIntent::kNone);
  return plan.requested_by == kOurselves &&
         (plan.state == PlanState::kProposed || (may_begin && plan.approved_by == kOurselves));
}

// The guard whose limit keeps a link in service beside those that go first. REACHABILITY refuses a link for what it is,
// which would take it out of the next choice.
Guard guard_of(const std::optional<Shortfall>& shortfall) {
  return shortfall && shortfall->guard != Guard::kReachability ? shortfall->guard : Guard::kLeafCapacity;
}

constexpr std::size_t kMostNamed = 3;

// Why a link stays in service: `before` are the plans that go first, with their links; `shortfall` is what would be too
// little if it went with them, in words.
std::string preferred_text(const std::vector<std::string>& before, const std::string& shortfall, bool exact,
                           bool was_often_down) {
  std::string text =
      was_often_down ? "it was down each time that it was to be isolated: first comes the " : "to isolate the ";
  text += before.size() == 1 ? "link of " : std::to_string(before.size()) + " links of ";
  for (std::size_t i = 0; i < std::min(before.size(), kMostNamed); ++i) text += (i == 0 ? "" : ", ") + before[i];
  if (before.size() > kMostNamed) text += " and others";
  if (!was_often_down) text += exact ? " avoids more loss" : " avoids more loss, as far as a partial search tells";
  return shortfall.empty() ? text : text + "; with this link too " + shortfall;
}

}  // namespace

// The numbers that a person approves, and that the benefit is judged by, are of now.
bool PlanManager::weigh(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const Incident* incident = view.incident(plan.incident);
  if (plan.requested_by != kOurselves || !takes_out(plan.action) || !incident) return false;
  LiveTree* tree = plan.target.kind == EntityKind::kLink ? trees_.tree(plan.target.fabric, view, shown_) : nullptr;
  // Before the first sweep after a restart nothing is known of what the link's loss would cost: what was told stands.
  if (plan.target.kind == EntityKind::kLink && !tree) return false;
  const std::uint64_t version = tree ? trees_.version(plan.target.fabric) : 0;
  const bool is_told_anew = incident->revision != entry.weighed;
  if (!is_told_anew && version == entry.weighed_in) return false;
  entry.weighed = incident->revision;
  entry.weighed_in = version;
  auto candidates = candidates_for(*incident, {plan.action, plan.target}, view, tree,
                                   tree ? trees_.shape(plan.target.fabric) : nullptr, settings_.limits);
  for (Candidate& candidate : candidates) {
    const auto before = std::ranges::find(plan.candidates, candidate.action, &Candidate::action);
    if (before != plan.candidates.end()) candidate.allowed = before->allowed;
  }
  if (!is_told_anew && candidates == plan.candidates) return false;
  plan.candidates = std::move(candidates);
  if (!is_told_anew) return true;  // what the fabric changes in them the journal need not know
  plan.updated = view.now;
  entry.changed = true;
  return true;
}

bool PlanManager::was_often_down(const Entry& entry, TimePoint now) {
  return entry.found_down >= kMostDown && now < entry.held_until + kForgiven;
}

void PlanManager::choose(const RemedyView& view) {
  outdone_.clear();
  std::map<std::string, std::vector<const Plan*>> isolations;
  for (const PlanPtr& plan : shown_) {
    double& weight = entries_.at(plan->id).weight = 0;
    if (!is_open(*plan) || plan->action != RemedyAction::kIsolateLink) continue;
    // As it is now: it may be worse than when the plan was made.
    const Incident* incident = view.incident(plan->incident);
    const bool may_lead = incident && !was_often_down(entries_.at(plan->id), view.now);
    weight = std::max(may_lead ? harm_of(*incident, view, settings_.limits).weight : 0, kLeastWeight);
    if (!is_refused_alone(*plan)) isolations[plan->target.fabric].push_back(plan.get());
  }
  for (const auto& [name, plans] : isolations) {
    LiveTree* tree = plans.size() < 2 ? nullptr : trees_.tree(name, view, shown_);
    // Without tiers one is judged after the other, each by what those before it left.
    if (!tree || trees_.shape(name)->shape.is_direct()) continue;
    const Topology& topology = *view.fabric(name)->sweep->topology;
    std::vector<BadLink> bad;
    std::vector<const Plan*> of;
    for (const Plan* plan : plans) {
      const PortIndex port = topology.find_port(plan->target.port);
      const UplinkIndex uplink = port == kNoIndex ? kNoIndex : tree->tree().uplink_of(port);
      if (uplink == kNoIndex) continue;
      bad.push_back({uplink, entries_.at(plan->id).weight});
      of.push_back(plan);
    }
    const LinkChoice& choice = trees_.chooser(name)->choose(bad);
    for (const auto& [at, kept] : choice.kept) {
      std::vector<std::string> before;
      for (const std::uint32_t i : kept.before)
        before.push_back(plan_name(of[i]->id) + " (" + of[i]->target.label + ')');
      if (before.empty()) continue;
      outdone_[of[at]->id] = {
          guard_of(kept.shortfall),
          preferred_text(before, kept.shortfall ? describe(*kept.shortfall, tree->tree(), topology) : std::string(),
                         choice.exact, was_often_down(entries_.at(of[at]->id), view.now))};
    }
  }
}

}  // namespace weft::analyzer
