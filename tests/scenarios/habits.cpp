// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/habits.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "tests/scenarios/random.hpp"

namespace weft::scenarios {
namespace {

constexpr double kBefore = 15;      ///< seconds before anything happens
constexpr double kAfterwards = 70;  ///< seconds that are watched after the last thing that happens
constexpr double kHour = 3600;

/// Nobody computes on the host: it was drained before. Its first adapter.
std::uint32_t drain(Random& random, Case& made) {
  const std::uint32_t rails = made.plan.spec.rails;
  const std::uint32_t storage = std::max(1U, made.plan.spec.hosts / 16);
  const std::uint32_t host = 1 + random.below(made.plan.spec.hosts - 1 - storage);
  for (Job& job : made.scenario.jobs)
    std::erase_if(job.members, [&](std::uint32_t member) { return member / rails == host; });
  return host * rails;
}

/// A cable between switches, or of a host but the watcher's; no cable twice.
PortIndex any_cable(Random& random, const Plan& plan, bool inner, std::set<PortIndex>& taken) {
  const std::vector<PortIndex> cables = plan.cables();
  while (true) {
    const PortIndex port = random.pick(cables);
    const std::uint32_t endpoint = plan.endpoint_at(port);
    if (endpoint == 0 || (inner && endpoint != kNoIndex) || !taken.insert(port).second) continue;
    return port;
  }
}

/// Jobs end and others begin on the same hosts; `pause`: seconds between them.
void hand_over(Random& random, Case& made, double shortest_pause, double longest_pause) {
  made.scenario.assumptions.flushes = true;
  std::vector<Job> next;
  const double end = random.uniform(30, 60);
  const double start = end + random.uniform(shortest_pause, longest_pause);
  for (Job& job : made.scenario.jobs) {
    if (!is_collective(job)) continue;
    job.end = end;
    Job& other = next.emplace_back(job);
    other.start = start;
    other.end = std::numeric_limits<double>::infinity();
  }
  made.scenario.jobs.insert(made.scenario.jobs.end(), next.begin(), next.end());
  made.scenario.duration = start + kAfterwards;
}

void tear_down(Random& random, Case& made) {
  hand_over(random, made, 20, 60);
}

void restart_job(Random& random, Case& made) {
  hand_over(random, made, 2, 8);
}

/// All hosts write at once, again and again.
void write_checkpoints(Random& random, Case& made) {
  for (Job& job : made.scenario.jobs) {
    if (is_collective(job)) continue;
    job.period = random.uniform(25, 45);
    job.communication = random.uniform(0.2, 0.5);
    job.load = 0.6;
    job.start = random.uniform(5, 15);
  }
  made.scenario.duration = 200;
}

void reboot_node(Random& random, Case& made) {
  Fault fault{.kind = FaultKind::kNodeReboot, .node = made.plan.adapters[drain(random, made)]};
  fault.start = kBefore + random.uniform(0, 10);
  fault.end = fault.start + random.uniform(60, 180);
  made.scenario.duration = fault.end + kAfterwards;
  made.scenario.faults.push_back(fault);
}

void reload_driver(Random& random, Case& made) {
  Fault fault{.kind = FaultKind::kDriverReload, .node = made.plan.adapters[drain(random, made)]};
  fault.start = kBefore + random.uniform(0, 10);
  fault.end = fault.start + random.uniform(5, 20);
  made.scenario.duration = fault.end + kAfterwards;
  made.scenario.faults.push_back(fault);
}

/// Between switches, so that no host is cut off.
void retrain(Random& random, Case& made) {
  std::set<PortIndex> taken;
  Fault fault{.kind = FaultKind::kRetraining, .port = any_cable(random, made.plan, true, taken)};
  fault.start = kBefore + random.uniform(0, 10);
  fault.end = fault.start + 1;
  made.scenario.duration = fault.end + kAfterwards;
  made.scenario.faults.push_back(fault);
}

void replace_manager(Random& random, Case& made, FaultKind kind) {
  made.scenario.assumptions.manager.sweep = random.log_uniform(2, 15);
  Fault fault{.kind = kind};
  if (kind == FaultKind::kManagerFailover)
    fault.port = made.plan.endpoint_port(static_cast<std::uint32_t>(made.plan.adapters.size()) - 1);
  fault.start = kBefore + random.uniform(0, 10);
  fault.end = fault.start + random.uniform(3, 30);
  made.scenario.duration = fault.end + made.scenario.assumptions.manager.settling() + kAfterwards;
  made.scenario.faults.push_back(fault);
}

void restart_manager(Random& random, Case& made) {
  replace_manager(random, made, FaultKind::kManagerRestart);
}

void fail_over(Random& random, Case& made) {
  replace_manager(random, made, FaultKind::kManagerFailover);
}

/// A thousand ports, a day, a sweep a second; and jobs that fill it one after another.
void begin_day(Random& random, Case& made, double shortest_job, double longest_job) {
  Scenario& scenario = made.scenario;
  scenario.interval = 1;
  scenario.duration = kSecondsOfDay;
  scenario.fabric = {.levels = 2,
                     .hosts = 256,
                     .rails = 1,
                     .hosts_per_leaf = 16,
                     .uplinks = 16,
                     .speed = scenario.fabric.speed,
                     .layer = scenario.fabric.layer,
                     .hash = scenario.fabric.hash};
  made.plan = *lay_out(scenario.fabric);
  scenario.jobs.clear();
  constexpr std::uint32_t kParts = 3, kHostsOfPart = 80, kStorage = 240;
  static constexpr JobKind kCollectives[] = {JobKind::kRing, JobKind::kTree, JobKind::kAllToAll, JobKind::kPipeline};
  for (std::uint32_t part = 0; part < kParts; ++part)
    for (double at = random.uniform(0, 60); at < scenario.duration;) {
      Job job{.kind = random.pick(kCollectives),
              .period = random.uniform(2, 20),
              .communication = random.uniform(0.3, 0.9),
              .load = random.uniform(0.4, 0.9),
              .start = at};
      for (std::uint32_t i = 0; i < kHostsOfPart; ++i) job.members.push_back(part * kHostsOfPart + i);
      job.end = std::min(scenario.duration, at + random.uniform(shortest_job, longest_job));
      at = job.end + random.uniform(30, 300);
      scenario.jobs.push_back(std::move(job));
    }
  Job burst{.kind = JobKind::kStorage, .period = random.uniform(60, 600), .communication = 0.1, .load = 0.2};
  for (std::uint32_t host = 0; host < kStorage; ++host) burst.members.push_back(host);
  for (std::uint32_t host = kStorage; host < scenario.fabric.hosts; ++host) burst.targets.push_back(host);
  scenario.jobs.push_back(std::move(burst));
  scenario.assumptions.flushes = true;
}

void still_day(Random& random, Case& made) {
  begin_day(random, made, kSecondsOfDay, kSecondsOfDay);
}

void busy_day(Random& random, Case& made) {
  begin_day(random, made, 0.5 * kHour, 4 * kHour);
  Scenario& scenario = made.scenario;
  if (!made.plan.is_ethernet()) scenario.assumptions.manager.sweep = random.log_uniform(2, 10);
  std::set<PortIndex> taken;
  std::set<NodeIndex> hosts;
  const auto at = [&] { return random.uniform(600, kSecondsOfDay - 1200); };
  const auto add = [&](Fault fault, double lasts) {
    fault.start = at();
    fault.end = fault.start + lasts;
    scenario.faults.push_back(fault);
  };
  for (int i = 0; i < 6; ++i)
    add({.kind = FaultKind::kRetraining, .port = any_cable(random, made.plan, true, taken)}, 1);
  // Hosts that no job uses: behind those of the jobs, or storage.
  for (int i = 0; i < 4; ++i) {
    const NodeIndex node = made.plan.adapters[240 + random.below(16)];
    if (!hosts.insert(node).second) continue;
    const bool reboot = i < 2;
    add({.kind = reboot ? FaultKind::kNodeReboot : FaultKind::kDriverReload, .node = node},
        reboot ? random.uniform(90, 400) : random.uniform(5, 20));
  }
  if (!made.plan.is_ethernet()) add({.kind = FaultKind::kManagerRestart}, random.uniform(3, 30));
}

struct Habit {
  std::string_view name;
  void (*make)(Random&, Case&);
};
constexpr Habit kHabits[] = {{"teardown", tear_down},
                             {"job_restart", restart_job},
                             {"checkpoint", write_checkpoints},
                             {"node_reboot", reboot_node},
                             {"driver_reload", reload_driver},
                             {"retraining", retrain},
                             {"manager_restart", restart_manager},
                             {"manager_failover", fail_over},
                             {"still_day", still_day},
                             {"busy_day", busy_day}};

}  // namespace

const std::vector<std::string_view>& habits() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Habit& habit : kHabits) names.push_back(habit.name);
    return names;
  }();
  return kNames;
}

bool is_whole_day(std::string_view group) {
  return group.ends_with("still_day") || group.ends_with("busy_day");
}

bool live(std::string_view habit, Random& random, Case& quiet) {
  const auto found = std::ranges::find(kHabits, habit, &Habit::name);
  if (found == std::end(kHabits)) return false;
  found->make(random, quiet);
  quiet.scenario.truths = truths_of(quiet.scenario, quiet.plan);
  return true;
}

}  // namespace weft::scenarios
