// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/straggler_tracker.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

/// Others that are late again and again beside a straggler: with more than one in so many it is a stage of the work
/// that comes later by its nature.
constexpr std::size_t kCohortPerCompanion = 64;
/// The subnet manager sets other ways, and what was lost is sent again.
constexpr Duration kSettles = std::chrono::seconds(2);
/// What was longer ago says nothing of now.
constexpr Duration kRemember = std::chrono::minutes(10);
/// Where it could not be judged, a port that was late before counts as late for so many times the hold. Unless so many
/// silences of its cohort were without anybody who waited.
constexpr int kRunHolds = 2;
constexpr unsigned kMostOnTime = 2;
/// So long a port of a small cohort must have been at work before it was late for the first time.
constexpr Duration kOwnPast = std::chrono::seconds(10);

/// A transfer that had just begun when it was read looks like waiting: once is not enough to clear it.
void wait(Lateness& lateness, const StragglerThresholds& thresholds) {
  if (++lateness.waited >= (lateness.is_straggler ? thresholds.beginnings : 2U)) lateness = {};
}

}  // namespace

Duration StragglerTracker::period() const {
  const auto [oldest, newest] = std::ranges::minmax(ends_);
  return oldest == kNever ? Duration{} : (newest - oldest) / (kEnds - 1);
}

double StragglerTracker::share_of(std::uint64_t id) const {
  unsigned all = 0;
  unsigned own = 0;
  for (const Remembered& remembered : remembered_) {
    const auto& late = remembered.late;
    if (late.empty()) continue;
    ++all;
    if (std::ranges::find(late, id) != late.end()) ++own;
  }
  return all > 0 ? static_cast<double>(own) / all : 0;
}

std::size_t StragglerTracker::companions_of(std::uint64_t id) const {
  std::vector<std::uint64_t> others;
  for (const Remembered& remembered : remembered_)
    for (const std::uint64_t other : remembered.late)
      if (other != id) others.push_back(other);
  std::ranges::sort(others);
  // Once may be chance.
  std::size_t twice = 0;
  for (std::size_t i = 1; i < others.size(); ++i)
    if (others[i] == others[i - 1] && (i == 1 || others[i - 2] != others[i])) ++twice;
  return twice;
}

void StragglerTracker::note(const CollectiveStart& beginning, std::span<const CohortMember> members,
                            const StragglerThresholds& thresholds) {
  for (const std::uint32_t member : beginning.waited) wait(members[member].activity->lateness, thresholds);
  if (beginning.late.empty()) return;
  const bool any_stalled = std::ranges::any_of(members, &CohortMember::is_stalled);
  for (Remembered& old : remembered_)
    if (beginning.until - old.at > kRemember || beginning.until < old.at) old = {};
  Remembered& remembered = remembered_[std::exchange(next_, (next_ + 1) % kRemembered)];
  remembered = {.at = beginning.until};
  for (const LateMember& late : beginning.late) remembered.late.push_back(members[late.member].id);
  for (const LateMember& late : beginning.late) {
    const CohortMember& member = members[late.member];
    if (any_stalled && !member.is_stalled) continue;
    Lateness& lateness = member.activity->lateness;
    ++lateness.late;
    lateness.waited = lateness.on_time = 0;
    if (lateness.first == kNever) lateness.first = beginning.begun;
    lateness.last = beginning.until;
    lateness.delay = late.delay;
    lateness.threshold = beginning.allowed;
    lateness.score = late.score;
    lateness.total += late.delay;
    lateness.witnesses = static_cast<unsigned>(beginning.waited.size());
    const bool has_past = member.activity->sends_since() + kOwnPast <= lateness.first;
    if (lateness.late >= thresholds.beginnings && share_of(member.id) >= thresholds.own_share &&
        companions_of(member.id) <= members.size() / kCohortPerCompanion &&
        (members.size() >= thresholds.small_cohort || has_past))
      lateness.is_straggler = true;
  }
}

void StragglerTracker::lack(std::span<const CohortMember> members, TimePoint now) {
  for (const CohortMember& member : members) member.activity->lateness = {};
  taken_ = complete_since_ = now;
}

void StragglerTracker::take(std::span<const CohortMember> members, TimePoint now, Duration patience,
                            std::span<const RouteChurn> route_churn, const StragglerThresholds& thresholds) {
  if (judged_ > now) judged_ = kNever;  // the clock was set back
  if (complete_since_ > now) complete_since_ = kNever;
  taken_ = now;
  std::vector<MemberSilence> silences;
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    Lateness& lateness = members[member].activity->lateness;
    if (lateness.late > 0) {
      // A single long delay says nothing of when the next one is to be expected.
      const Duration usual = lateness.late > 1 ? (lateness.last - lateness.first) / lateness.late : period();
      const bool may_go_on = !lateness.is_straggler && lateness.on_time < kMostOnTime;
      const Duration hold = (may_go_on ? kRunHolds : 1) * thresholds.hold;
      if (lateness.last > now || now - lateness.last > std::max<Duration>(hold, 3 * usual)) lateness = {};
    }
    members[member].activity->each_silence(judged_, [&](const Silence& silence) {
      silences.push_back({member, silence});
    });
  }
  for (const CollectiveStart& beginning : find_beginnings(std::move(silences), now - patience, thresholds)) {
    judged_ = std::max(judged_, beginning.until);
    ends_[static_cast<std::size_t>(std::exchange(next_end_, (next_end_ + 1) % kEnds))] = beginning.until;
    const bool is_calm = std::ranges::none_of(route_churn, [&](const RouteChurn& time) {
      return time.from <= beginning.until + kSettles && beginning.silent <= time.to + kSettles;
    });
    if (beginning.begun == kNever)
      for (const CohortMember& member : members) ++member.activity->lateness.on_time;
    if (is_calm && beginning.silent > complete_since_) note(beginning, members, thresholds);
  }
}

}  // namespace weft::analyzer
