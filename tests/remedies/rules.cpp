// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace weft::remedies {

using namespace std::chrono_literals;

analyzer::RemedySettings random_settings(Dice& dice, const Shape& shape) {
  analyzer::RemedySettings settings;
  constexpr std::array kModes{RemedyMode::kAuto, RemedyMode::kAuto, RemedyMode::kPropose, RemedyMode::kOff};
  for (RemedyMode& mode : settings.modes) mode = kModes[dice.below(kModes.size())];
  if (dice.one_in(2))  // as those who begin carefully set it
    for (const RemedyAction back : {RemedyAction::kRestoreLink, RemedyAction::kUndrainNode})
      settings.modes[static_cast<std::size_t>(back)] = RemedyMode::kAuto;
  settings.actuators.fill("fake");
  auto& limits = settings.limits;
  constexpr std::array kShares{0.34, 0.5, 0.75, 0.9};
  limits.capacity.leaf_share_idle = kShares[dice.below(3)];
  limits.capacity.leaf_share_jobs = std::max(limits.capacity.leaf_share_idle, kShares[dice.below(4)]);
  limits.capacity.job_share = kShares[dice.below(4)];
  limits.budget.actions_per_hour = 1 + dice.below(6);
  limits.budget.returns_per_hour = 1 + dice.below(3);
  limits.budget.out_minimum = 1 + dice.below(4);
  limits.budget.out_per_switch = 1 + dice.below(3);
  limits.budget.cool_down = dice.one_in(2) ? Duration(0s) : Duration(10min);
  limits.breaker.minimum = 2 + dice.below(6);
  limits.breaker.actions_per_day = 3 + dice.below(10);
  limits.verification.windows = 1 + dice.below(3);
  limits.verification.within = 60s;
  limits.verification.probation = 20s;
  limits.reinstate_after = 30min;
  limits.undrain_after = 1min;
  limits.check_interval = 1min;
  limits.late_watch = 12min;
  limits.readings = 3;
  limits.failed_readings = 4;
  limits.expiry = 1h;
  // What is over is forgotten as early as the budgets of an hour allow, in half of the sequences.
  if (dice.one_in(2)) limits.retention = 1h;
  if (dice.one_in(4)) limits.retained_plans = 1 + dice.below(4);
  if (dice.one_in(8)) settings.deny.push_back(shape.host(dice.below(shape.hosts())));
  if (dice.one_in(8)) settings.deny.push_back("spine-0");
  return settings;
}

const char* lost_capacity(const Shape& shape, const analyzer::CapacityLimits& limits,
                          const std::set<unsigned>& job_leaves, std::uint32_t before, unsigned out) {
  const std::uint32_t after = before & ~(1U << out);
  const unsigned spines = shape.spines();
  const auto of = [&](std::uint32_t up, unsigned leaf) { return up >> (leaf * spines) & ((1U << spines) - 1); };
  const auto needed = [&](double share) {
    return static_cast<int>(std::ceil(share * static_cast<double>(spines) - 1e-9));
  };
  const unsigned leaf = out / spines;
  const bool has_job = job_leaves.contains(leaf);
  if (std::popcount(of(after, leaf)) < needed(has_job ? limits.leaf_share_jobs : limits.leaf_share_idle))
    return "a leaf lost more of its ways up than it may";
  for (unsigned other = 0; other < shape.leaves(); ++other) {
    if (other == leaf || of(before, other) == 0) continue;
    const int common = std::popcount(of(after, leaf) & of(after, other));
    if (common == 0) return "two leaves lost each other";
    if (has_job && job_leaves.contains(other) && common < needed(limits.job_share))
      return "two leaves of a job lost more common spines than they may";
  }
  return nullptr;
}

bool parts_leaves(const Shape& shape, std::uint32_t up, unsigned out) {
  const unsigned spines = shape.spines(), leaf = out / spines;
  const auto of = [&](std::uint32_t links, unsigned each) { return links >> (each * spines) & ((1U << spines) - 1); };
  for (unsigned other = 0; other < shape.leaves(); ++other)
    if (other != leaf && (of(up, leaf) & of(up, other)) != 0 && (of(up & ~(1U << out), leaf) & of(up, other)) == 0)
      return true;
  return false;
}

}  // namespace weft::remedies
