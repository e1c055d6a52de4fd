// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/collective_starts.hpp"

#include <algorithm>

namespace weft::scenarios {
namespace {

/// What readings show of a silence that lasted from `from` to `to`, in which somebody began at `began`.
struct Seen {
  double first = 0, asleep = 0;  ///< the first and the last reading before it began; 0 without one
  double begun = 0, last = 0;    ///< the first and the last after that
};

Seen look(const std::vector<double>& times, double from, double began, double to) {
  Seen seen;
  for (auto at = std::ranges::upper_bound(times, from); at != times.end() && *at < to; ++at) {
    double& first = *at < began ? seen.first : seen.begun;
    double& last = *at < began ? seen.asleep : seen.last;
    if (first == 0) first = *at;
    last = *at;
  }
  return seen;
}

}  // namespace

void CollectiveStarts::end_burst(std::size_t job, double at) {
  for (Burst& burst : bursts_)
    if (burst.job == job && !burst.end) burst.end = at;
}

bool CollectiveStarts::covered(std::span<const Job> jobs, std::uint32_t endpoint, const Iteration& iteration) const {
  return std::ranges::any_of(bursts_, [&](const Burst& burst) {
    return burst.begin < iteration.last && (!burst.end || *burst.end > iteration.silent) &&
           std::ranges::find(jobs[burst.job].members, endpoint) != jobs[burst.job].members.end();
  });
}

unsigned CollectiveStarts::visible(std::span<const Job> jobs, std::uint32_t endpoint,
                                   const std::vector<std::vector<double>>& readings, double from, double to) const {
  unsigned seen = 0;
  for (const Iteration& iteration : iterations_) {
    if (iteration.silent < from || iteration.last > to) continue;
    const Job& job = jobs[iteration.job];
    const auto found = std::ranges::find(job.members, endpoint);
    // Whoever only receives is late to nobody.
    const std::size_t senders = job.kind == JobKind::kPipeline ? job.members.size() / 2 : job.members.size();
    const auto position = static_cast<std::size_t>(found - job.members.begin());
    if (position >= senders) continue;
    if (covered(jobs, endpoint, iteration)) continue;
    const Seen own = look(readings[endpoint], iteration.silent, iteration.began[position], iteration.last + 1);
    unsigned asleep_later = 0;
    unsigned begun_earlier = 0;
    for (std::size_t member = 0; member < senders; ++member) {
      if (member == position) continue;
      const Seen other =
          look(readings[job.members[member]], iteration.silent, iteration.began[member], iteration.began[position]);
      if (other.asleep == 0 || other.begun == 0) continue;
      if (other.asleep > own.first) ++asleep_later;
      if (other.begun + kClearly < own.asleep) ++begun_earlier;
    }
    if (own.first > 0 && asleep_later >= kWitnesses && begun_earlier >= kWitnesses) ++seen;
  }
  return seen;
}

unsigned CollectiveStarts::telling(std::span<const Job> jobs, std::uint32_t endpoint,
                                   const std::vector<double>& readings, double from, double to) const {
  unsigned count = 0;
  for (const Iteration& iteration : iterations_) {
    const Job& job = jobs[iteration.job];
    const auto position = static_cast<std::size_t>(std::ranges::find(job.members, endpoint) - job.members.begin());
    if (position == job.members.size() || iteration.last > to || covered(jobs, endpoint, iteration)) continue;
    std::vector<double> others = iteration.began;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position));
    if (others.empty()) continue;
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
    std::ranges::nth_element(others, middle);
    double before = 0;
    for (auto at = std::ranges::upper_bound(readings, iteration.silent); at != readings.end() && *at < iteration.last;
         before = *at++) {
      if (before == 0) continue;
      const bool would_begin = iteration.silent >= from && before < *middle && *middle <= *at;
      if (!would_begin) ++count;
    }
  }
  return count;
}

}  // namespace weft::scenarios
