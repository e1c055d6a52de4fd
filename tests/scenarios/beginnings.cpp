#include "tests/scenarios/beginnings.hpp"

#include <algorithm>

namespace weft::scenarios {
namespace {

bool has_between(const std::vector<double>& times, double from, double to) {
  const auto next = std::ranges::upper_bound(times, from);
  return next != times.end() && *next < to;
}

}  // namespace

void Beginnings::end_burst(std::size_t job, double at) {
  for (Burst& burst : bursts_)
    if (burst.job == job && !burst.end) burst.end = at;
}

bool Beginnings::covered(std::span<const Job> jobs, std::uint32_t endpoint, const Iteration& iteration) const {
  return std::ranges::any_of(bursts_, [&](const Burst& burst) {
    return burst.begin < iteration.last && (!burst.end || *burst.end > iteration.silent) &&
           std::ranges::find(jobs[burst.job].members, endpoint) != jobs[burst.job].members.end();
  });
}

unsigned Beginnings::visible(std::span<const Job> jobs, std::uint32_t endpoint, std::uint32_t rails,
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
    double others = iteration.silent;
    double first = iteration.last;
    for (std::size_t member = 0; member < senders; ++member) {
      if (member == position) continue;
      others = std::max(others, iteration.began[member]);
      first = std::min(first, iteration.began[member]);
    }
    if (others >= iteration.began[position] || covered(jobs, endpoint, iteration)) continue;
    const auto tells = [&](std::uint32_t who) {
      const std::vector<double>& times = readings[who / rails];
      return has_between(times, iteration.silent, first) && has_between(times, others, iteration.last);
    };
    if (!tells(endpoint)) continue;
    const auto witnesses = std::ranges::count_if(std::span(job.members).first(senders), tells);  // and itself
    if (witnesses > static_cast<std::ptrdiff_t>(kWitnesses)) ++seen;
  }
  return seen;
}

}  // namespace weft::scenarios
