// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "analyzer/remedy/guards.hpp"

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
  limits.capacity.rail_share = kShares[dice.below(3)];
  limits.budget.actions_per_hour = 1 + dice.below(6);
  limits.budget.returns_per_hour = 1 + dice.below(3);
  limits.budget.out_minimum = 1 + dice.below(4);
  constexpr std::array kOutShares{0.005, 0.1, 0.2};
  limits.budget.out_share = kOutShares[dice.below(3)];
  limits.budget.out_per_switch = 1 + dice.below(3);
  limits.budget.out_per_rail = 1 + dice.below(4);
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
  constexpr std::array kMissingShares{0.02, 0.15, 0.3};
  limits.missing_share = kMissingShares[dice.below(3)];
  constexpr std::array<Duration, 3> kMissingTimes{10s, 40s, 2min};
  limits.missing_for = kMissingTimes[dice.below(3)];
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

const char* lost_rail(const Shape& shape, const analyzer::CapacityLimits& limits, std::uint32_t before, unsigned out) {
  const unsigned spines = shape.spines(), rail = Shape::rail_of_leaf(out / spines);
  unsigned left = 0, designed = 0;
  for (unsigned link = 0; link < shape.links(); ++link) {
    if (Shape::rail_of_leaf(link / spines) != rail) continue;
    ++designed;
    left += link != out && (before >> link & 1U) != 0;
  }
  return left < std::ceil(limits.rail_share * designed - 1e-9) ? "a rail lost more of its uplinks than it may"
                                                               : nullptr;
}

const char* breach_of_taking_out(bool is_link, const Facts& decided, const analyzer::RemedyLimits& limits,
                                 const Shape& shape) {
  if (decided.untold) return "something was taken out while a list was not told for three minutes";
  const unsigned all_links = shape.links() + shape.hosts();
  const auto share = static_cast<unsigned>(limits.budget.out_share * all_links);
  if (decided.out >= std::max(limits.budget.out_minimum, share)) return "more is out of service at once than may be";
  if (!is_link) return nullptr;
  if (decided.on_switch >= limits.budget.out_per_switch) return "more links of one switch are out than may be";
  if (decided.on_rail >= limits.budget.out_per_rail) return "more links of one rail are out than may be";
  const auto bearable = static_cast<unsigned>(std::max(1.0, limits.missing_share * shape.nodes()));
  if (decided.missing_lately > bearable) return "a link was taken out while more nodes were missing than may be";
  return nullptr;
}

const char* breach_of_identity(const Plan& plan, const Facts& decided) {
  if (decided.doubt > 0 && plan.approved_by == kOurselves) return "automation acted on a host that nobody confirms";
  if (decided.doubt > 1 && takes_out(plan.action)) return "a host was drained though somebody says that it is another";
  return nullptr;
}

const char* breach_of_settings(const Plan& plan, const analyzer::RemedySettings& settings) {
  const RemedyMode mode = settings.mode(plan.action);
  if (mode == RemedyMode::kOff) return "an action that is off was done";
  if (mode != RemedyMode::kAuto && plan.approved_by == kOurselves) return "nobody approved it";
  const std::string& label = plan.target.label;
  for (const std::string& name : settings.deny)
    if (label.find(name + ' ') != std::string::npos || label.ends_with(name))
      return "what is on the deny list was touched";
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
