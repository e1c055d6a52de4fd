// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/collective_starts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weft::analyzer {
namespace {

/// So many must have been seen to begin at the same time; of a large cohort, such a share.
constexpr std::size_t kLeastWitnesses = 2;
constexpr double kWitnessShare = 0.02;
/// And of all that were seen to begin: else there is no common beginning.
constexpr double kAgreement = 0.6;
/// Of the silences of a cohort that moves in step, each member has one; a few may have been cut in two.
constexpr double kDoubles = 0.1;
/// Of the members that wait for a second, at least such a share is seen to.
constexpr double kReadInASecond = 0.3;
/// Of those that are seen to wait for them, the late ones are at most one in so many.
constexpr std::size_t kMany = 10;
/// One in so many may be no beginning.
constexpr std::size_t kLatest = 8;
/// Spread below which steadiness is not believed, share of the median: hosts differ by a per cent, and each of them
/// from one iteration to the next by another.
constexpr double kLeastSpread = 0.015;
/// A member may begin before the others by so many times the spread, which is no less than 2.2 % of the time that they
/// wait: of hosts that differ as above one in a thousand does. And clocks of hosts agree to some milliseconds.
constexpr double kEarly = 2;
constexpr double kClocksAgree = 0.02;
/// So many of the silences must be without a background, or with a known one: during a burst of storage they are not,
/// and those of a few say nothing of the others.
constexpr double kKnownShare = 0.4;
/// Backgrounds that differ by such a part of a first sending may differ by one.
constexpr double kPartOfFirst = 0.5;
/// The median absolute deviation is that part of a normal distribution's standard deviation.
constexpr double kNormal = 0.6745;

/// Where most spans overlap.
struct Common {
  TimePoint from = kNever, to = kNever;
  std::size_t support = 0;
};

/// `ends`: when each span begins, 1, and when it ends, -1.
Common find_common(std::vector<std::pair<TimePoint, int>> ends) {
  std::ranges::sort(ends);  // where one ends and another begins they do not overlap
  Common best;
  std::size_t open = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].second < 0) {
      --open;
    } else if (++open > best.support) {
      best = {ends[i].first, ends[i + 1].first, open};
    }
  }
  return best;
}

Common find_common_beginning(std::span<const MemberSilence> silences) {
  std::vector<std::pair<TimePoint, int>> ends;
  for (const auto& [member, silence] : silences) {
    if (!silence.was_seen_to_begin()) continue;
    ends.emplace_back(silence.asleep, 1);
    ends.emplace_back(silence.begun, -1);
  }
  return find_common(std::move(ends));
}

/// For how long the transfer before may have gone on after `since`: what was read next may be its end.
Duration rest_of(const Silence& silence) {
  if (!silence.was_seen_to_begin() || silence.asleep != silence.since) return {};
  const auto rest = std::chrono::duration<double>(silence.first / silence.rate);
  return std::min(silence.begun - silence.since, std::chrono::duration_cast<Duration>(rest));
}

/// By when the transfer before was over; kNever where that is not known. What was read next may have its end.
TimePoint common_end(std::span<const MemberSilence> silences) {
  std::vector<std::pair<TimePoint, int>> ends;
  for (const auto& [member, silence] : silences) {
    if (silence.sending == kNever) continue;
    ends.emplace_back(silence.sending, 1);
    ends.emplace_back(silence.since + rest_of(silence), -1);
  }
  return find_common(std::move(ends)).to;
}

/// Whoever was read before the transfer was over has the rest of it in the next reading. That looks like a first
/// sending, as little as it is, and comes long before the cohort begins. It began when it sent next; where that was not
/// seen nothing is known of it, for its first may be in the same reading.
std::span<MemberSilence> without_ends_of_transfers(std::span<MemberSilence> silences) {
  const TimePoint over = common_end(silences);
  for (auto& [member, silence] : silences) {
    if (!silence.was_seen_to_begin() || silence.asleep != silence.since || silence.since >= over) continue;
    silence.asleep = silence.asleep_again;
    silence.begun = silence.begun_again;
    silence.first = silence.first_again;
    if (!silence.was_seen_to_begin()) silence.since = kNever;
  }
  const auto end = std::remove_if(silences.begin(), silences.end(),
                                  [](const MemberSilence& member) { return member.silence.since == kNever; });
  return silences.first(static_cast<std::size_t>(end - silences.begin()));
}

/// The last moment before the common beginning at which members were read silent. A transfer that had just begun when
/// it was read looks like a first sending, and lies after that: of many, the latest few do not count.
TimePoint last_silent(std::span<const MemberSilence> silences, const Common& common) {
  std::vector<TimePoint> asleep;
  for (const auto& [member, silence] : silences)
    if (silence.was_seen_to_begin() && silence.asleep <= common.from && silence.begun >= common.to)
      asleep.push_back(silence.asleep);
  std::ranges::sort(asleep);
  return asleep[asleep.size() - 1 - asleep.size() / kLatest];
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

bool moves_in_step(std::span<const MemberSilence> silences) {
  std::vector<std::uint32_t> members;
  members.reserve(silences.size());
  for (const MemberSilence& silence : silences) members.push_back(silence.member);
  std::ranges::sort(members);
  const auto distinct = std::unique(members.begin(), members.end()) - members.begin();
  return static_cast<double>(silences.size()) <= (1 + kDoubles) * static_cast<double>(distinct);
}

/// Where ports of the cohort are known to have a background, silences of those that may have one are taken out: what
/// they send all the time would be taken for first sendings. Where none is known, readings that are alike are those.
std::span<MemberSilence> with_known_beginnings(std::span<MemberSilence> silences) {
  if (std::ranges::any_of(silences, [](const auto& member) { return member.silence.has_background; })) {
    const auto end = std::remove_if(silences.begin(), silences.end(),
                                    [](const auto& member) { return member.silence.may_have_background; });
    return silences.first(static_cast<std::size_t>(end - silences.begin()));
  }
  for (auto& [member, silence] : silences) {
    if (!silence.is_alike || silence.second == kNever) continue;
    silence.asleep = silence.since;
    silence.begun = silence.second;
    silence.first = silence.background * silence.longest;
  }
  return silences;
}

/// Bytes per second that ports move in silence that were seen to begin above it, or are known to; the median of them. A
/// port that moves more than that by a first sending may send its first in each of its readings. Nothing where they
/// differ by more than `apart` bytes a reading: each host has a background of its own then, and theirs tell nothing of
/// another's.
std::optional<double> usual_background(std::span<const MemberSilence> silences, double apart) {
  std::vector<double> known;
  double longest = 0;
  for (const auto& [member, silence] : silences) {
    if (!silence.was_seen_to_begin() && silence.may_include_first) continue;
    known.push_back(silence.background);
    longest = std::max(longest, silence.longest);
  }
  if (known.empty()) return 0;
  std::ranges::sort(known);
  if ((known[(known.size() - 1) * 3 / 4] - known[known.size() / 4]) * longest > apart) return std::nullopt;
  return known[known.size() / 2];
}

/// Of the late ones, whose silences are `of`, only those remain that are so; all where none is.
void prefer(std::vector<LateMember>& late, std::vector<const Silence*>& of, bool (*is_so)(const Silence*)) {
  if (std::ranges::none_of(of, is_so)) return;
  std::size_t at = 0;
  std::erase_if(late, [&](const LateMember&) { return !is_so(of[at++]); });
  std::erase_if(of, [&](const Silence* silence) { return !is_so(silence); });
}

CollectiveStart judge(std::span<MemberSilence> all, const StragglerThresholds& thresholds) {
  CollectiveStart beginning;
  beginning.silent = all.front().silence.since;
  for (const MemberSilence& member : all) beginning.until = std::max(beginning.until, member.silence.until);
  const std::span<MemberSilence> known = with_known_beginnings(all);
  if (static_cast<double>(known.size()) < kKnownShare * static_cast<double>(all.size())) return beginning;
  const std::span<const MemberSilence> silences = without_ends_of_transfers(known);
  const Common common = find_common_beginning(silences);
  const auto seen = static_cast<double>(
      std::ranges::count_if(silences, [](const auto& member) { return member.silence.was_seen_to_begin(); }));
  const auto least = std::max<std::size_t>(
      kLeastWitnesses, static_cast<std::size_t>(std::ceil(kWitnessShare * static_cast<double>(silences.size()))));
  if (common.support < least || static_cast<double>(common.support) < kAgreement * seen || !moves_in_step(silences))
    return beginning;
  beginning.begun = common.to;
  std::vector<double> times;
  std::vector<double> firsts;
  for (const auto& [member, silence] : silences) {
    if (!silence.was_seen_to_begin()) continue;
    firsts.push_back(silence.first);
    times.push_back(seconds(std::clamp(common.to, silence.asleep, silence.begun) - beginning.silent));
  }
  const double first = median(firsts);
  const double usual = median(times);
  for (double& time : times) time = std::abs(time - usual);
  const double spread = std::max(median(times), kLeastSpread * usual) / kNormal;
  beginning.allowed = std::max(thresholds.score * spread, seconds(thresholds.least_delay));
  const std::optional<double> background = usual_background(silences, kPartOfFirst * first);
  const TimePoint last = last_silent(silences, common);
  const double surely_later = std::max(kEarly * spread, kClocksAgree);
  std::vector<const Silence*> of_late;
  std::vector<LateMember> seen_late;
  for (const auto& [member, silence] : silences) {
    // Whose transfer had just begun when it was read was silent until then.
    const TimePoint silent_until = silence.was_seen_to_begin() ? silence.asleep : silence.until;
    const double delay = seconds(silent_until - beginning.silent) - usual;
    if (silence.was_seen_to_begin() && delay <= beginning.allowed) {
      beginning.waited.push_back(member);
      continue;
    }
    if (silence.hidden > first) continue;
    // It may as well have begun before the others, as hosts differ, and before it was read silent.
    if (seconds(last - silence.since) < surely_later) continue;
    if (silence.may_include_first &&
        (!background || (silence.background - *background) * silence.longest > kPartOfFirst * first))
      continue;
    if (delay <= beginning.allowed) continue;
    // In so long a time more of them would have been read: those few were something else.
    const double read = kReadInASecond * std::min(1.0, delay) * static_cast<double>(silences.size());
    if (static_cast<double>(common.support) < read) continue;
    const LateMember late{member, delay, spread > 0 ? delay / spread : 0};
    if (silence.was_seen_to_begin()) {
      seen_late.push_back(late);
      continue;
    }
    beginning.late.push_back(late);
    of_late.push_back(&silence);
  }
  if (beginning.late.empty() && seen_late.size() == 1) beginning.late = seen_late;
  if (of_late.empty()) return beginning;
  // Who waits to hand its first to the late one may not have sent either; but it has received.
  prefer(beginning.late, of_late, [](const Silence* silence) { return !silence->received; });
  // Many that are late are another part of the work, and nobody's fault.
  const std::size_t most = std::min(common.support / 2, std::max<std::size_t>(2, common.support / kMany));
  if (beginning.late.size() > most) beginning.late.clear();
  // Who waits to receive from the late one only receives when that has begun.
  prefer(beginning.late, of_late, [](const Silence* silence) { return silence->then_sent; });
  return beginning;
}

}  // namespace

std::vector<CollectiveStart> find_beginnings(std::vector<MemberSilence> silences, TimePoint horizon,
                                             const StragglerThresholds& thresholds) {
  std::ranges::sort(silences, {}, [](const MemberSilence& member) { return member.silence.since; });
  std::vector<CollectiveStart> found;
  for (std::size_t first = 0; first < silences.size();) {
    TimePoint until = silences[first].silence.until;
    std::size_t last = first + 1;
    for (; last < silences.size() && silences[last].silence.since <= until; ++last)
      until = std::max(until, silences[last].silence.until);
    if (until >= horizon) break;
    found.push_back(judge(std::span(silences).subspan(first, last - first), thresholds));
    first = last;
  }
  return found;
}

}  // namespace weft::analyzer
