// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/hangs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace weft::scenarios {
namespace {

constexpr double kHangMinute = 60;
/// Jobs run for so long before one of them stands still.
constexpr double kRunsBefore = 60;

/// An endpoint that a collective uses, but the watcher's.
std::uint32_t any_member(Random& random, const Case& made) {
  while (true) {
    const Job& job = random.pick(made.scenario.jobs);
    if (!is_collective(job)) continue;
    if (const std::uint32_t member = random.pick(job.members); member >= made.plan.spec.rails) return member;
  }
}

/// Others of its rail and job.
std::vector<std::uint32_t> peers_on_rail(Random& random, const Case& made, std::uint32_t endpoint,
                                         std::uint32_t count) {
  std::vector<std::uint32_t> peers;
  for (const Job& job : made.scenario.jobs) {
    if (!is_collective(job) || std::ranges::find(job.members, endpoint) == job.members.end()) continue;
    for (int attempt = 0; attempt < 100 && peers.size() < count; ++attempt) {
      const std::uint32_t peer = random.pick(job.members);
      if (peer != endpoint && std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
    }
  }
  return peers;
}

/// A burst of timeouts somewhere, of connections that end: it means nothing.
void add_timeouts(Random& random, Case& made, double from, double to) {
  made.scenario.actions.push_back({.at = random.uniform(from, to),
                                   .kind = ActionKind::kTimeouts,
                                   .a = any_member(random, made),
                                   .value = std::round(random.log_uniform(10, 1000))});
}

Fault& stop_one(Random& random, Case& made, double queue_pairs) {
  Fault fault{.kind = FaultKind::kJobHang, .port = made.plan.access_port(any_member(random, made))};
  fault.start = kRunsBefore + random.uniform(0, 20);
  fault.end = fault.start + random.uniform(6, 10) * kHangMinute;
  fault.amount = queue_pairs;
  made.scenario.duration = fault.end + kHangMinute;
  return made.scenario.faults.emplace_back(fault);
}

void hang_with_retries(Random& random, Case& made) {
  // It has a queue pair to each of its peers, and some of them one that is as unanswered.
  const std::uint32_t queue_pairs = 2 + random.below(15);
  Fault& fault = stop_one(random, made, queue_pairs);
  if (random.chance(0.7))
    fault.endpoints =
        peers_on_rail(random, made, made.plan.endpoint_at(fault.port), 1 + random.below(std::min(queue_pairs, 8U)));
}

void hang_of_receiver(Random& random, Case& made) {
  const Fault& fault = stop_one(random, made, 0);
  made.scenario.actions.push_back({.at = fault.start + random.uniform(0, 5),
                                   .kind = ActionKind::kRefuse,
                                   .a = made.plan.endpoint_at(fault.port),
                                   .value = random.log_uniform(0.5, 50)});
}

void hang_with_failures(Random& random, Case& made) {
  const Fault& hang = stop_one(random, made, 0);
  Fault failing{.kind = FaultKind::kFailedTransfers, .port = hang.port, .start = hang.start + random.uniform(20, 40)};
  failing.end = failing.start + 2;
  failing.amount = random.uniform(1, 8);
  made.scenario.faults.push_back(failing);
}

void hang_with_link(Random& random, Case& made) {
  const Fault& hang = stop_one(random, made, 0);
  Fault down{.kind = FaultKind::kLinkDown, .port = hang.port, .start = hang.start - random.uniform(0, 2)};
  made.scenario.faults.push_back(down);
}

void hang_with_flap(Random& random, Case& made) {
  const Fault& hang = stop_one(random, made, 0);
  Fault down{.kind = FaultKind::kLinkDown, .port = hang.port, .start = hang.start - random.uniform(0, 2)};
  down.end = down.start + random.uniform(5, 40);
  made.scenario.faults.push_back(down);
}

void pause_all(Case& made, double from, double to) {
  for (Job& job : made.scenario.jobs) job.pauses.push_back({from, to});
}

/// After a quarter of an hour it may be remarked, as INFO of no port.
void allow_remark(Case& made, double from, double to) {
  Truth remark{.fault = FaultKind::kJobHang, .kind = IncidentKind::kJobHang, .start = from, .end = to};
  remark.culprits = {{EntityKind::kCohort, {}, {}}};
  remark.counts = false;
  remark.most = Severity::kInfo;
  made.scenario.truths.push_back(std::move(remark));
}

/// One job computes for itself: it compiles, or tokenises, or waits for somebody.
void stay_to_compile(Random& random, Case& made) {
  const double from = kRunsBefore + random.uniform(0, 20);
  const double to = from + random.uniform(3, 40) * kHangMinute;
  pause_all(made, from, to);
  add_timeouts(random, made, from, from + 10);
  made.scenario.duration = to + kHangMinute;
  allow_remark(made, from, to);
}

/// Checkpoints to disks of the hosts, again and again.
void stay_to_write(Random& random, Case& made) {
  double at = kRunsBefore;
  for (int i = 0; i < 8; ++i) {
    at += random.uniform(1, 5) * kHangMinute;
    const double lasts = random.uniform(20, 240);
    pause_all(made, at, at + lasts);
    if (random.chance(0.5)) add_timeouts(random, made, at, at + lasts);
    at += lasts;
  }
  made.scenario.duration = at + kHangMinute;
}

/// Jobs end, and hold their hosts while results are stored and epilogs run; a part of them is killed, and its transfers
/// fail.
void end_jobs(Random& random, Case& made) {
  made.scenario.assumptions.flushes = true;
  const double at = kRunsBefore + random.uniform(0, 30);
  const double released = at + random.uniform(0.2, 8) * kHangMinute;
  for (Job& job : made.scenario.jobs) {
    if (!is_collective(job)) continue;
    job.end = at;
    job.released = released;
  }
  std::erase_if(made.scenario.jobs, [](const Job& job) { return !is_collective(job); });
  for (int i = 0; i < 3; ++i) add_timeouts(random, made, at, at + 10);
  made.scenario.duration = released + 3 * kHangMinute;
}

/// Nobody computes: notebooks hold hosts.
void stay_idle(Random& random, Case& made) {
  const double from = kRunsBefore + random.uniform(0, 20);
  const double to = from + random.uniform(20, 60) * kHangMinute;
  // One after the other, as people go home.
  for (Job& job : made.scenario.jobs) job.pauses.push_back({from + random.uniform(0, 30), to});
  for (int i = 0; i < 4; ++i) add_timeouts(random, made, from, to);
  allow_remark(made, from, to);
  made.scenario.duration = to + kHangMinute;
}

struct HangGroup {
  std::string_view name;
  void (*make)(Random&, Case&);
  bool hangs;
  bool has_own_incident;  ///< else another tells of it
};
constexpr HangGroup kHangGroups[] = {{"hang_retries", hang_with_retries, true, true},
                                     {"hang_receiver", hang_of_receiver, true, true},
                                     {"hang_failed", hang_with_failures, true, false},
                                     {"hang_link", hang_with_link, true, false},
                                     {"hang_flap", hang_with_flap, true, false},
                                     {"quiet_compile", stay_to_compile, false, false},
                                     {"quiet_checkpoint", stay_to_write, false, false},
                                     {"quiet_end", end_jobs, false, false},
                                     {"quiet_idle", stay_idle, false, false}};

}  // namespace

const std::vector<std::string_view>& hang_groups() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const HangGroup& group : kHangGroups) names.push_back(group.name);
    return names;
  }();
  return kNames;
}

bool stand_still(std::string_view hang_group, Random& random, Case& quiet) {
  const auto group = std::ranges::find(kHangGroups, hang_group, &HangGroup::name);
  if (group == std::end(kHangGroups)) return false;
  quiet.scenario.truths.clear();
  group->make(random, quiet);
  std::vector<Truth> truths = truths_of(quiet.scenario, quiet.plan);
  for (Truth& truth : truths) {
    if (truth.fault != FaultKind::kJobHang) continue;
    truth.counts = group->has_own_incident;
    quiet.scenario.hangs.push_back({truth.culprits, truth.start, truth.end});
  }
  truths.insert(truths.end(), quiet.scenario.truths.begin(), quiet.scenario.truths.end());
  quiet.scenario.truths = std::move(truths);
  return true;
}

}  // namespace weft::scenarios
