// SPDX-License-Identifier: Apache-2.0
// The last look before a plan acts, and what sweeps say of it afterwards.

#include <algorithm>
#include <cmath>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/neighbours.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

// What was read of a target longer ago is read again before it is changed.
constexpr Duration kLongestReading = std::chrono::seconds(10);

// What would be taken out again must leave as much as if it were taken out for the first time.
bool concerns_return(Guard guard) {
  return guard >= Guard::kOwnPath && guard <= Guard::kRailCapacity;
}

}  // namespace

void PlanManager::act(Entry& entry, const RemedyView& view) {
  if (status_.is_stopped()) return;
  // As when it was held before: somebody may have come meanwhile.
  if (view.now - entry.checked > kLongestReading) return runner(entry, view.now).read_again();
  Plan& plan = entry.plan;
  const bool undoing = plan.state == PlanState::kRollingBack;
  entry.work.decided.reset();
  if (undoing && takes_out(plan.action)) return runner(entry, view.now).act(std::nullopt);
  entry.work.decided = view.steady;
  Plan asked = plan;
  if (undoing) asked.action = inverse_action(plan);
  const auto guards = guards_of(asked, view);
  const bool by_automation = plan.approved_by == kOurselves;
  if (const GuardVerdict* why =
          undoing || first_refusal(guards, false) ? nullptr : first_refusal(guards, by_automation))
    return wait_for_person(entry, *why, view.now);
  const auto refused = std::ranges::find_if(guards, [&](const GuardVerdict& verdict) {
    return verdict.result == GuardResult::kRefused && (!undoing || concerns_return(verdict.guard));
  });
  entry.routes_before.reset();
  if (const RouteReview* routes = trees_.routes(plan.target.fabric, view)) entry.routes_before = *routes;
  const FabricView* fabric = view.fabric(plan.target.fabric);
  if (fabric && plan.target.kind == EntityKind::kLink)
    entry.neighbours = answering_neighbours(plan.target, *fabric, settings_.limits.stale_intervals);
  runner(entry, view.now)
      .act(refused == guards.end()
               ? std::nullopt
               : std::optional(std::string(to_string(refused->guard)) + ": " + refused->explanation));
}

// What the new routes did to others. Before the link went there was no turn: the guards saw to that.
void PlanManager::check_routes(const Entry& entry, const RemedyView& view, Window& window) {
  const std::string& fabric = entry.plan.target.fabric;
  const RouteReview* now = trees_.tree(fabric, view, shown_) ? trees_.routes(fabric, view) : nullptr;
  if (!now) return;
  if (now->turn != kNoIndex)
    window.why = "routes then turned from down to up at " + view.fabric(fabric)->sweep->topology->node(now->turn).name;
  else if (entry.routes_before && entry.routes_before->known == now->known && now->lost > entry.routes_before->lost)
    window.why = std::to_string(now->lost - entry.routes_before->lost) + " pairs of adapters lost their path";
  else
    return;
  window.good = false;
  window.worse = true;
}

// Who answered before and does not any more may have lost its last way by the plan.
void PlanManager::check_neighbours(const Entry& entry, const RemedyView& view, Window& window) const {
  const FabricView* fabric = view.fabric(entry.plan.target.fabric);
  if (!fabric || !window.fresh) return;
  std::string silent =
      silent_neighbours(entry.neighbours, entry.plan.target, *fabric, settings_.limits.stale_intervals);
  if (silent.empty()) return;
  window.good = false;
  window.worse = true;
  window.why = std::move(silent);
}

void PlanManager::watch_undoing(Entry& entry, const RemedyView& view) {
  runner(entry, view.now)
      .seen_back(judge_undoing(entry.plan, view, entry.work.verifying_since, entry.neighbours, settings_.limits));
}

void PlanManager::watch(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  const FabricView* fabric = view.fabric(plan.target.fabric);
  const Duration interval = fabric && fabric->sweep ? fabric->sweep->interval : Duration(std::chrono::seconds(1));
  const TimePoint seen = fabric && fabric->sweep ? fabric->sweep->started : view.now;
  Window window;
  if (seen - entry.last_window >= interval / 2 || seen < entry.last_window) {
    window = judge_window(plan, view, entry.work.verifying_since, settings_.limits);
    if (takes_out(plan.action) && plan.target.kind == EntityKind::kLink) {
      if (window.good) check_routes(entry, view, window);
      check_neighbours(entry, view, window);
    }
    entry.last_window = seen;
  }
  const VerificationLimits& limits = settings_.limits.verification;
  std::uint32_t needed = limits.windows;
  if (plan.action == RemedyAction::kDrainNode) needed = 1;
  if (!takes_out(plan.action))
    needed = static_cast<std::uint32_t>(std::max(1.0, std::ceil(seconds(limits.probation) / seconds(interval))));
  const PlanState before = plan.state;
  const bool was_good = plan.windows_good > 0;
  runner(entry, view.now).window(window, needed);
  // From here on what goes wrong with it is trouble again, and no work.
  if (plan.state == before && !was_good && plan.windows_good > 0 && !takes_out(plan.action))
    note(entry, std::string(kOurselves), "it is up, and on probation", view.now);
  if (plan.state == before && window.fresh) {
    // People who look see it move; the journal need not.
    const bool changed = entry.changed;
    show(entry);
    entry.changed = changed;
  }
}

}  // namespace weft::analyzer
