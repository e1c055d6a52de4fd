// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/job_traffic.hpp"

#include <algorithm>
#include <optional>

namespace weft::analyzer {
namespace {

/// A host that moved fewer bytes for its job does not use the fabric for it: what collectives exchange to get to know
/// each other is less.
constexpr double kUsed = 64 << 20;
/// A host is silent, too, where it moves less than this share of what it did when it was busiest for its job.
constexpr double kShareOfPeak = 0.1;
/// A host that never moved more than this share of what the busiest one of its job did has no part in it.
constexpr double kShareOfOthers = 0.01;
/// A job that nobody has is forgotten after so long.
constexpr Duration kForget = std::chrono::minutes(10);
/// Of a host that was not read for so many of its intervals nobody knows what it does.
constexpr int kUnread = 5;
constexpr Duration kUnreadAtLeast = std::chrono::seconds(5);

}  // namespace

void JobTraffic::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  Traffic& traffic = hosts_[host.name];
  traffic.series.clear();
  const auto is_bytes = [](const HostSeries& series) -> std::optional<bool> {
    if (series.priority != kNoPriority || series.lane != kNoLane) return std::nullopt;
    if (series.name != "transmit_bytes" && series.name != "receive_bytes") return std::nullopt;
    return true;
  };
  follow_series(host, followed, is_bytes,
                [&](const PortWatch&, const auto& bytes) { traffic.series.push_back(bytes.series); });
}

bool JobTraffic::take(const HostWatch& host, const HostMovement& movement) {
  Traffic& traffic = hosts_[host.name];
  if (traffic.jobs != host.jobs) {
    std::vector<std::uint32_t> series = std::move(traffic.series);
    traffic = {.jobs = host.jobs, .series = std::move(series)};
  }
  if (movement.elapsed <= Duration::zero() || !host.inventory) return false;
  double bytes = 0, line = 0, line_now = 0;
  bool is_complete = !traffic.series.empty();
  for (const std::uint32_t series : traffic.series) {
    is_complete = is_complete && movement.series[series].present;
    if (movement.series[series].present) bytes += static_cast<double>(movement.series[series].delta.moved);
  }
  if (is_complete) traffic.read = std::max(traffic.read, movement.taken);
  for (const PortWatch& port : host.ports)
    if (port.present) line += static_cast<double>(port.best_rate) / 8;
  // A port that is down has no rate now; one whose state is not told was never noted as up.
  for (const HostPort& port : host.inventory->ports) line_now += static_cast<double>(port.rate_bits_per_second) / 8;
  line = std::max(line, line_now);
  const double rate = bytes / seconds(movement.elapsed);
  traffic.peak = std::max(traffic.peak, rate);
  if (rate < std::min(quiet_rate(line, limits_.silent_share), std::max(quiet_rate(0), kShareOfPeak * traffic.peak)))
    return false;
  traffic.total += bytes;
  traffic.moved = std::max(traffic.moved, movement.taken);
  return true;
}

void JobTraffic::tolerate_clock_jump(Duration step, TimePoint now) {
  const auto move_on = [&](TimePoint& at) {
    if (at != kNever) at = std::min(at + step, now);
  };
  for (auto& [name, traffic] : hosts_) {
    move_on(traffic.moved);
    move_on(traffic.read);
  }
  for (auto& [name, job] : jobs_) move_on(job.since);
}

std::map<std::string_view, JobSilence> JobTraffic::jobs(const Hosts& hosts, TimePoint now) {
  std::map<std::string_view, JobSilence> all;
  std::map<std::string_view, double> peaks;  // of the busiest host of each job
  for (const auto& [name, host] : hosts)
    if (const auto traffic = hosts_.find(name); traffic != hosts_.end())
      for (const std::string& job : host.jobs) peaks[job] = std::max(peaks[job], traffic->second.peak);
  for (const auto& [name, host] : hosts) {
    if (host.jobs.empty()) continue;
    const auto traffic = hosts_.find(name);
    const bool is_used = traffic != hosts_.end() && traffic->second.total >= kUsed;
    const bool is_read = host.has_reading && !host.lost && traffic != hosts_.end() &&
                         now - traffic->second.read <= std::max<Duration>(kUnread * host.interval, kUnreadAtLeast);
    for (const std::string& job : host.jobs) {
      JobSilence& silence = all[job];
      ++silence.hosts;
      // Beside the others it does nothing for the job: what it moves is its system's.
      if (traffic != hosts_.end() && traffic->second.peak < kShareOfOthers * peaks[job]) continue;
      if (traffic != hosts_.end()) silence.since = std::max(silence.since, traffic->second.moved);
      if (!is_read) ++silence.unheard;
      if (is_read && is_used) silence.members.push_back(&host);
    }
  }
  for (auto& [name, silence] : all) {
    Job& job = jobs_[std::string(name)];
    job.seen = now;
    if (job.since != kNever && silence.since > job.since)
      job.longest = std::max(job.longest, silence.since - job.since);
    job.since = std::max(job.since, silence.since);
    silence.since = job.since;
    silence.longest = job.longest;
  }
  std::erase_if(jobs_, [&](const auto& entry) { return now - entry.second.seen > kForget; });
  return all;
}

}  // namespace weft::analyzer
