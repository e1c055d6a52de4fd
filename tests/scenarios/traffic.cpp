// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::scenarios {
namespace {

constexpr double kNeverEnds = std::numeric_limits<double>::infinity();
/// A communication that takes so many times as long as it should is given up (the job starts again).
constexpr double kPatience = 4;
/// Steps of an all-to-all that are simulated; the real one has members - 1.
constexpr std::size_t kShifts = 4;
/// What a flow that waits for a slower one of its collective still offers: a little more than that one.
constexpr double kFollow = 1.02;
/// Flows and ports in all solutions that are kept for the next time: about 100 bytes each.
constexpr std::size_t kMostKept = 500'000;

}  // namespace

/// Flows as fair_rates() takes them, and whose they are.
struct Traffic::Demands {
  struct Of {
    std::size_t job = 0;
    std::uint32_t from = 0, to = 0;
    std::size_t pair = 0;  ///< flows of one pair are one transfer over several ways
    double share = 1;      ///< of the pair's demand
  };
  std::vector<Flow> flows;
  std::vector<Of> of;
  std::size_t pairs = 0;
};

Traffic::Traffic(const Plan& plan, std::vector<Job> jobs, double line_rate, std::optional<std::uint64_t> seed,
                 TrafficModel model)
    : plan_(plan), jobs_(std::move(jobs)), line_rate_(line_rate), model_(model), running_(jobs_.size()) {
  if (seed) random_.emplace(*seed);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    make_phases(jobs_[i], running_[i]);
    running_[i].left = jobs_[i].start;
    if (!equalises(jobs_[i].kind)) continue;
    for (std::size_t member = 0; member < jobs_[i].members.size(); ++member) {
      running_[i].pace.push_back(random_ ? 1 + model_.pace * random_->normal() : 1);
      running_[i].first.push_back(kNoIndex);
      // NCCL's trees are double: who stands within one is a leaf of the other, and begins at once.
      for (const auto& phase : running_[i].phases)
        for (const Pair& pair : phase)
          if (pair.from == jobs_[i].members[member] && running_[i].first[member] == kNoIndex)
            running_[i].first[member] = pair.to;
    }
  }
}

std::vector<FirstSend> Traffic::begun(double until) {
  const auto later = std::ranges::upper_bound(first_sends_, until, {}, &FirstSend::at);
  std::vector<FirstSend> begun(first_sends_.begin(), later);
  first_sends_.erase(first_sends_.begin(), later);
  return begun;
}

bool Traffic::path(std::uint32_t from, std::uint32_t to, std::vector<PortIndex>& ports) const {
  return tables_->path(plan_, capacity_->peers, from, to, ports) &&
         std::ranges::none_of(ports, [&](PortIndex port) { return capacity_->resources[port] < 0; });
}

void Traffic::make_phases(const Job& job, Running& running) const {
  const auto& members = job.members;
  const auto count = static_cast<std::uint32_t>(members.size());
  if (count == 0) return;
  const auto next_phase = [&]() -> std::vector<Pair>& { return running.phases.emplace_back(); };
  switch (job.kind) {
    case JobKind::kRing: {
      auto& phase = next_phase();
      for (std::uint32_t i = 0; i < count; ++i) phase.push_back({members[i], members[(i + 1) % count], 1});
      break;
    }
    case JobKind::kTree: {
      running.phases.resize(2);
      for (std::uint32_t i = 1; i < count; ++i) {
        running.phases[0].push_back({members[i], members[(i - 1) / 2], 0.5});
        running.phases[1].push_back({members[(i - 1) / 2], members[i], 0.5});
      }
      break;
    }
    case JobKind::kAllToAll:
      for (std::size_t s = 0; s < std::min<std::size_t>(kShifts, count - 1); ++s) {
        const auto shift = static_cast<std::uint32_t>(1 + s * (count - 1) / kShifts);
        auto& phase = next_phase();
        for (std::uint32_t i = 0; i < count; ++i) phase.push_back({members[i], members[(i + shift) % count], 1});
      }
      break;
    case JobKind::kPipeline: {
      auto& phase = next_phase();
      for (std::uint32_t i = 0; i < count / 2; ++i) phase.push_back({members[i], members[i + count / 2], 1});
      break;
    }
    case JobKind::kStorage:
    case JobKind::kSteady: {
      if (job.targets.empty()) return;
      auto& phase = next_phase();
      for (std::uint32_t i = 0; i < count; ++i)
        phase.push_back({members[i], job.targets[i % job.targets.size()], job.shares.empty() ? 1 : job.shares[i]});
      break;
    }
  }
  for (auto& phase : running.phases) std::erase_if(phase, [](const Pair& pair) { return pair.from == pair.to; });
  std::erase_if(running.phases, [](const auto& phase) { return phase.empty(); });
}

void Traffic::set_fabric(std::shared_ptr<const ForwardingTables> tables, std::shared_ptr<const Capacity> capacity) {
  if (tables) tables_ = std::move(tables);
  capacity_ = std::move(capacity);
  solved_.clear();
  kept_ = 0;
  current_ = nullptr;
}

const Loads& Traffic::loads() {
  if (!current_) {
    std::vector<std::uint8_t> key;
    for (const Running& running : running_) key.push_back(static_cast<std::uint8_t>(running.phase));
    auto found = solved_.find(key);
    if (found == solved_.end()) {
      // Jobs that go their own ways in a day meet in more ways than memory has room for.
      std::unique_ptr<Loads> solved = solve();
      kept_ += solved->flows.size() + solved->sent.size();
      if (kept_ > kMostKept) {
        solved_.clear();
        kept_ = solved->flows.size() + solved->sent.size();
      }
      found = solved_.emplace(std::move(key), std::move(solved)).first;
    }
    current_ = found->second.get();
  }
  return *current_;
}

bool Traffic::add_flows(std::size_t job, const Pair& pair, Demands& demands) const {
  const std::size_t first = demands.flows.size();
  const auto passes = [&](const std::vector<PortIndex>& path) {
    return std::ranges::none_of(path, [&](PortIndex port) { return capacity_->resources[port] < 0; });
  };
  for (unsigned way = 0; way < model_.ways; ++way) {
    Flow flow;
    const bool leads = model_.ways == 1
                           ? tables_->path(plan_, capacity_->peers, pair.from, pair.to, flow.path)
                           : tables_->spread_path(plan_, capacity_->peers, pair.from, pair.to, way, flow.path);
    if (!leads || !passes(flow.path)) continue;
    const auto same = [&](const Flow& other) {
      return std::ranges::equal(flow.path, std::span(other.path).first(other.path.size() - 1));
    };
    if (std::any_of(demands.flows.begin() + static_cast<std::ptrdiff_t>(first), demands.flows.end(), same)) continue;
    flow.path.push_back(static_cast<ResourceIndex>(plan_.ports.size() + pair.to));
    demands.flows.push_back(std::move(flow));
    demands.of.push_back({.job = job, .from = pair.from, .to = pair.to, .pair = demands.pairs});
  }
  const std::size_t count = demands.flows.size() - first;
  if (count == 0) return false;
  ++demands.pairs;
  for (std::size_t i = first; i < demands.flows.size(); ++i) {
    demands.of[i].share = 1.0 / static_cast<double>(count);
    demands.flows[i].demand =
        line_rate_ * jobs_[job].load * pair.share * capacity_->sources[pair.from] / static_cast<double>(count);
  }
  return true;
}

std::unique_ptr<Loads> Traffic::solve() const {
  Demands demands;
  auto loads = std::make_unique<Loads>();
  loads->jobs.assign(jobs_.size(), kNeverEnds);
  const std::size_t ports = plan_.ports.size();
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (running_[job].phase == 0) continue;
    // What has no way is discarded by the switch whose port is down.
    for (const Pair& pair : running_[job].phases[running_[job].phase - 1])
      if (!add_flows(job, pair, demands)) loads->jobs[job] = 0;
  }
  std::vector<Flow>& flows = demands.flows;
  Rates rates = fair_rates(flows, capacity_->resources, model_.back_pressure);
  std::vector<double> transfers;
  const auto slowest = [&] {
    transfers.assign(demands.pairs, 0);
    for (std::size_t i = 0; i < flows.size(); ++i) transfers[demands.of[i].pair] += rates.flows[i];
    for (std::size_t i = 0; i < flows.size(); ++i)
      loads->jobs[demands.of[i].job] = std::min(loads->jobs[demands.of[i].job], transfers[demands.of[i].pair]);
  };
  slowest();
  // A collective is as fast as its slowest flow: what runs ahead of that has nothing to send.
  bool again = false;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Demands::Of& of = demands.of[i];
    if (!equalises(jobs_[of.job].kind) || transfers[of.pair] <= kFollow * loads->jobs[of.job]) continue;
    flows[i].demand = kFollow * loads->jobs[of.job] * of.share;
    again = true;
  }
  if (again) {
    rates = fair_rates(flows, capacity_->resources, model_.back_pressure);
    slowest();
  }
  loads->sent.assign(rates.loads.begin(), rates.loads.begin() + static_cast<std::ptrdiff_t>(ports));
  for (std::size_t i = 0; i < flows.size(); ++i) {
    flows[i].path.pop_back();  // the taking in of its host
    loads->flows.push_back({demands.of[i].from, demands.of[i].to, rates.flows[i], std::move(flows[i].path)});
  }
  loads->waiting.assign(ports, 0);
  for (std::size_t port = 0; port < ports; ++port) {
    const double capacity = capacity_->resources[port];
    const double used = capacity > 0 ? std::min(1.0, loads->sent[port] / capacity) : 0;
    double waiting = used * model_.restless * static_cast<double>(port * 2654435761U % 8);
    if (rates.waits[port]) waiting = 1 - used;
    if (capacity_->deadlocked[port]) waiting = 1;
    loads->waiting[port] = static_cast<float>(std::min(waiting, 1.0));
  }
  loads->bottlenecks = std::move(rates.bottlenecks);
  return loads;
}

void Traffic::enter(std::size_t index, std::size_t phase) {
  Running& running = running_[index];
  const Job& job = jobs_[index];
  current_ = nullptr;
  running.phase = phase > running.phases.size() ? 0 : phase;
  const bool over = now_ >= job.end || running.phases.empty();
  if (const Pause* const pause = pause_at(index); pause && !over) {
    running.phase = 0;
    running.left = pause->to - now_;
    return;
  }
  if (over) running.phase = 0;
  if (running.phase == 0) {
    running.left = over ? kNeverEnds : job.period * (1 - job.communication);
    if (!over && equalises(job.kind)) compute(index);
    if (!over && !equalises(job.kind)) beginnings_.end_burst(index, now_);
    if (running.left <= 0) enter(index, 1);
    return;
  }
  if (job.kind == JobKind::kStorage) beginnings_.begin_burst(index, now_);
  const double nominal = job.kind == JobKind::kSteady
                             ? kNeverEnds
                             : job.period * job.communication / static_cast<double>(running.phases.size());
  // Time for a burst that nobody waits for, bits for a collective.
  running.left =
      equalises(job.kind) ? nominal * line_rate_ * job.load * running.phases[running.phase - 1][0].share : nominal;
  running.deadline = now_ + kPatience * nominal;
}

void Traffic::compute(std::size_t index) {
  Running& running = running_[index];
  const Job& job = jobs_[index];
  Iteration iteration{.job = index, .silent = now_, .began = {}, .last = now_};
  for (std::size_t member = 0; member < job.members.size(); ++member) {
    const double noise = random_ ? model_.pace * random_->normal() : 0;
    const double pace = std::max(0.5, running.pace[member] + noise) * capacity_->slowness[job.members[member]];
    iteration.began.push_back(now_ + job.period * (1 - job.communication) * pace);
    iteration.last = std::max(iteration.last, iteration.began.back());
  }
  for (std::size_t member = 0; member < job.members.size(); ++member)
    if (running.first[member] != kNoIndex && iteration.began[member] < iteration.last)
      first_sends_.push_back({iteration.began[member], job.members[member], running.first[member]});
  std::ranges::sort(first_sends_, {}, &FirstSend::at);
  running.left = iteration.last - now_;
  beginnings_.add(std::move(iteration));
}

const Pause* Traffic::pause_at(std::size_t index) const {
  const auto found = std::ranges::find_if(jobs_[index].pauses,
                                          [this](const Pause& pause) { return now_ >= pause.from && now_ < pause.to; });
  return found == jobs_[index].pauses.end() ? nullptr : &*found;
}

double Traffic::next_pause(std::size_t index) const {
  for (const Pause& pause : jobs_[index].pauses)
    if (pause.from > now_) return pause.from;
  return kNeverEnds;
}

double Traffic::phase_end(std::size_t index) {
  const Running& running = running_[index];
  const Job& job = jobs_[index];
  if (running.phase == 0) return now_ + running.left;
  if (!equalises(job.kind)) return std::min(now_ + running.left, std::max(now_, job.end));
  const double rate = loads().jobs[index];
  const double end = rate > 0 && !std::isinf(rate) ? now_ + running.left / rate : kNeverEnds;
  return std::max(now_, std::min({end, running.deadline, std::max(now_, job.end), next_pause(index)}));
}

double Traffic::next_change() {
  double next = kNeverEnds;
  for (std::size_t i = 0; i < jobs_.size(); ++i) next = std::min(next, phase_end(i));
  return next;
}

void Traffic::advance(double to) {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (phase_end(i) <= to) ended.push_back(i);
  const Loads* rates = jobs_.empty() ? nullptr : &loads();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Running& running = running_[i];
    if (std::isinf(running.left)) continue;
    const bool bits = running.phase > 0 && equalises(jobs_[i].kind);
    const double speed = bits ? (std::isinf(rates->jobs[i]) ? 0 : rates->jobs[i]) : 1;
    running.left = std::max(0.0, running.left - (to - now_) * speed);
  }
  now_ = to;
  for (const std::size_t i : ended) enter(i, running_[i].phase + 1);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Traffic::collective_pairs() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (!equalises(jobs_[job].kind)) continue;
    for (const auto& phase : running_[job].phases)
      for (const Pair& pair : phase) pairs.emplace_back(pair.from, pair.to);
  }
  return pairs;
}

std::vector<std::uint8_t> Traffic::collective_ports() const {
  std::vector<std::uint8_t> used(plan_.ports.size(), 0);
  std::vector<PortIndex> path;
  for (const auto& [from, to] : collective_pairs())
    if (tables_->path(plan_, capacity_->peers, from, to, path))
      for (const PortIndex port : path) used[port] = 1;
  return used;
}

void Traffic::calm(double share) {
  std::vector<double> total(plan_.ports.size(), 0);
  std::vector<std::vector<double>> of_job(jobs_.size());
  std::vector<PortIndex> path;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (jobs_[job].kind == JobKind::kSteady) continue;
    of_job[job].assign(total.size(), 0);
    for (const auto& phase : running_[job].phases) {
      std::vector<double> load(total.size(), 0);
      for (const Pair& pair : phase)
        if (tables_->path(plan_, capacity_->peers, pair.from, pair.to, path))
          for (const PortIndex port : path) load[port] += jobs_[job].load * pair.share;
      for (std::size_t port = 0; port < load.size(); ++port)
        of_job[job][port] = std::max(of_job[job][port], load[port]);
    }
    for (std::size_t port = 0; port < total.size(); ++port) total[port] += of_job[job][port];
  }
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    double greatest = 0;
    for (std::size_t port = 0; port < of_job[job].size(); ++port)
      if (of_job[job][port] > 0) greatest = std::max(greatest, total[port]);
    if (greatest > share) jobs_[job].load *= share / greatest;
  }
  solved_.clear();
  kept_ = 0;
  current_ = nullptr;
}

}  // namespace weft::scenarios
