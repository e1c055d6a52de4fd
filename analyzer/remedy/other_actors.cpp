// SPDX-License-Identifier: Apache-2.0
// Another weftd that may act on the same fabric: both stop, until one of them is gone and a person has looked.

#include <algorithm>
#include <utility>

#include "analyzer/remedy/plan_manager.hpp"
#include "fabric/acting_weftds.hpp"

namespace weft::analyzer {

namespace {

std::string reason_of(const std::string& fabric, const std::string& who) {
  return "another weftd may act on fabric " + fabric + ": " + who + ". Two of them do not know each other's plans";
}

}  // namespace

void PlanManager::set_other_actors(const std::string& fabric, const std::string& who, TimePoint now) {
  if (who.empty()) {
    other_actors_.erase(fabric);
    return;
  }
  OtherActor& known = other_actors_[fabric];
  known.told = now;
  const bool is_news = std::exchange(known.who, who) != who;
  if (settings_.stop_for_other_weftd && !status_.breaker_tripped)
    trip_breaker(reason_of(fabric, who), now);
  else if (is_news)
    audit(nullptr, std::string(kOurselves), "another weftd", "on fabric " + fabric + ": " + who, now);
}

std::string PlanManager::other_actors_reason(TimePoint now) const {
  if (!settings_.stop_for_other_weftd) return {};
  for (const auto& [fabric, other] : other_actors_)
    if (clock_.ages(now).of(other.told) <= ActingWeftds::kLease) return reason_of(fabric, other.who);
  return {};
}

// A mark that no earlier reading showed: somebody acts here now, by other guards and budgets than ours.
void PlanManager::notice_others(const TargetReading& reading, TimePoint now) {
  for (const PlanMark& mark : reading.others) {
    const auto known = std::ranges::find(status_.others, mark.installation, &PlanMark::installation);
    if (known != status_.others.end() && known->plan >= mark.plan) continue;
    if (known != status_.others.end())
      known->plan = mark.plan;
    else if (status_.others.size() < kMostOtherMarks)
      status_.others.push_back(mark);
    status_changed_ = true;
    const std::string why = "another weftd acts here too, its mark " + mark_text(mark) +
                            " was read: two of them do not know each other's plans";
    audit(nullptr, std::string(kOurselves), status_.breaker_tripped ? "another weftd" : "breaker tripped", why, now);
    if (std::exchange(status_.breaker_tripped, true)) continue;
    status_.breaker_reason = why;
    status_.breaker_since = now;
  }
}

void PlanManager::trip_breaker(const std::string& why, TimePoint now) {
  status_.breaker_tripped = true;
  status_.breaker_reason = why;
  status_.breaker_since = now;
  status_changed_ = true;
  audit(nullptr, std::string(kOurselves), "breaker tripped", why, now);
}

}  // namespace weft::analyzer
