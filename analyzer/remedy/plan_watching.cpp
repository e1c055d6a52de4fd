// SPDX-License-Identifier: Apache-2.0
// What sweeps say of a plan that was carried out or undone, and for how long it is watched: the second half of
// PlanRunner.

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/plan_runner.hpp"
#include "analyzer/remedy/plan_texts.hpp"

namespace weft::analyzer {
namespace {

// After a restart what takes out may be verified anew: in so many times the time that it has, all together.
constexpr int kMostTries = 3;

// Of a plan whose windows were all good, only what they looked at (windows.cpp).
// `reading`: of a drain how it was read to be in force; empty after a restart.
std::string what_was_seen(const Plan& plan, const std::string& reading) {
  if (!takes_out(plan.action)) return "no fault during probation";
  if (plan.action == RemedyAction::kDrainNode)
    return (reading.empty() ? "it was in force before weftd was restarted" : reading) + "; nothing else was checked";
  const bool saw_symptom = plan.incident != 0 && plan.action != RemedyAction::kRaiseLinkCost;
  return std::string(saw_symptom ? "the symptom is gone" : "no route leads over it") + ", the neighbours are no worse";
}

}  // namespace

void PlanRunner::verify_anew() {
  plan_.state = PlanState::kVerifying;
  plan_.waits_for.clear();
  plan_.windows_good = 0;
  plan_.was_up = false;
  const std::string before = std::exchange(plan_.outcome, {});
  work_ = {};
  work_.verifying_since = now_;
  note_(std::string(kIsUpAgain) + "; before, " + before);
}

void PlanRunner::pause(TimePoint from) {
  if (work_.paused == kNever) work_.paused = std::max(from, work_.verifying_since);
}

void PlanRunner::go_on(TimePoint from) {
  if (work_.paused != kNever) {
    const Duration left_out = std::max(Duration{}, std::min(from, now_) - work_.paused);
    work_.verifying_since += left_out;
    // What it is left out of once is not left out again where the next sweep reads no end of the link.
    if (work_.judged != kNever) work_.judged += left_out;
  }
  work_.paused = kNever;
}

// How long it was looked for what is awaited.
Duration PlanRunner::watched() const {
  return (work_.paused == kNever ? now_ : std::min(now_, work_.paused)) - work_.verifying_since;
}

void PlanRunner::seen_back(const Window& window) {
  if (window.fresh) work_.why = window.why;
  if (window.fresh && window.good) return end(PlanState::kRolledBack, plan_.outcome);
  // Somebody may have disabled it since, or a change of before landed late: the reading tells.
  if (window.disabled || (!work_.looked_back && watched() > limits_.verification.within / 2)) {
    work_.looked_back = true;
    return read_again();
  }
  if (watched() <= limits_.verification.within) return;
  const std::string why = work_.why.empty() ? "nobody could see whether the fabric is as before" : work_.why;
  end(PlanState::kFailed, plan_.outcome + "; it was undone, but check it by hand: " + why);
}

void PlanRunner::window(const Window& window, std::uint32_t windows_needed, Duration age) {
  if (plan_.state != PlanState::kVerifying) return;
  plan_.windows_needed = windows_needed;
  const bool comes_back = !takes_out(plan_.action);
  if (window.fresh || !window.why.empty()) work_.why = window.why;
  if (window.fresh) {
    plan_.windows_good = window.good ? plan_.windows_good + 1 : 0;
    plan_.was_up = plan_.was_up && !window.good;
    work_.worse = window.worse ? work_.worse + 1 : 0;
    if (window.unbearable || work_.worse >= limits_.verification.worse_windows) return roll_back(window.why);
    if (plan_.windows_good >= windows_needed) {
      return end(PlanState::kCommitted, what_was_seen(plan_, work_.reading));
    }
  }
  const Duration patience =
      comes_back ? limits_.verification.probation + limits_.verification.within : limits_.verification.within;
  const bool is_overdue = work_.resumed && !comes_back && window.fresh && !window.good && age > kMostTries * patience;
  const Duration unread = work_.unread ? now_ - work_.judged : Duration{};
  if (is_overdue || watched() - unread > patience)
    roll_back(work_.why.empty() ? "it could not be verified in time"
              : comes_back      ? "it could not be verified in time: " + work_.why
                                : "it did not help: " + work_.why);
}

}  // namespace weft::analyzer
