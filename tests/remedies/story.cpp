// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/story.hpp"

#include <map>

namespace weft::remedies {

using namespace std::chrono_literals;

void tell_plans(const std::vector<std::shared_ptr<const Plan>>& plans, TimePoint start,
                std::vector<std::string>& story) {
  for (const auto& plan : plans) {
    story.push_back(plan_name(plan->id) + ' ' + to_string(plan->action) + ' ' + plan->target.label + ": " +
                    to_string(plan->state) + (plan->in_force ? ", in force" : "") +
                    (plan->unresolved ? ", unresolved" : ""));
    for (const PlanStep& step : plan->steps)
      story.push_back("    " + std::to_string((step.at - start) / 1s) + " s  " + to_string(step.state) + " by " +
                      step.who + ": " + step.what);
  }
}

std::string breach_of_holding(const World& world, const std::vector<std::shared_ptr<const Plan>>& plans) {
  std::map<std::pair<bool, unsigned>, unsigned> held;
  for (const auto& plan : plans)
    if (plan->in_force) ++held[world.find(plan->target)];
  const auto breach = [&](bool is_link, unsigned index) -> std::string {
    const bool ours = world.holder(is_link, index) == Holder::kWeft;
    const unsigned holding = held[{is_link, index}];
    if (ours && holding == 0) return world.label(is_link, index) + " was taken out and forgotten";
    if (!ours && holding > 0) return world.label(is_link, index) + " is said to be out and is not";
    return holding > 1 ? world.label(is_link, index) + " is held by two plans" : "";
  };
  for (unsigned link = 0; link < world.shape().links(); ++link)
    if (std::string wrong = breach(true, link); !wrong.empty()) return wrong;
  for (unsigned host = 0; host < world.shape().hosts(); ++host)
    if (std::string wrong = breach(false, host); !wrong.empty()) return wrong;
  return {};
}

}  // namespace weft::remedies
