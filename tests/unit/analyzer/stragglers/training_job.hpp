// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up job: hosts that compute, each for its own time, and then communicate together; and what their collectors
// tell of it, each in its own time.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"

namespace weft::analyzer {

struct TrainingJob {
  static constexpr double kStep = 0.01;      ///< seconds
  static constexpr double kLine = 40e9;      ///< bytes per second of a transfer
  static constexpr double kIdle = 1e5;       ///< bytes per second that are always sent
  static constexpr double kFirst = 4 << 20;  ///< bytes that each member sends before it waits

  struct Shown {
    double sent = 0, received = 0;
  };

  struct Member {
    std::string name;
    double interval = 1;  ///< seconds between its readings
    double offset = 0;    ///< of its readings in the interval
    double ready = 0;     ///< when it begins, seconds
    bool begun = false;
    double sent = 1e9, received = 2e9;
    Shown from{}, to{};  ///< what its counters show at the last moment of `shown_every` and at the next one
    double storage = 0;  ///< bytes per second that it sends to others than its job
    double late = 0;     ///< seconds by which its batches are late
    bool is_silent = false;
    bool is_dead = false;
    std::vector<std::string> jobs{"slurm:7"};
    std::shared_ptr<HostInventory> inventory;
  };

  explicit TrainingJob(unsigned hosts) : members(hosts) {
    for (unsigned i = 0; i < hosts; ++i) {
      Member& member = members[i];
      member.name = "node-" + std::to_string(i);
      member.offset = static_cast<double>(i * 37 % hosts) / hosts;
      member.inventory = std::make_shared<HostInventory>();
      HostPort& port = member.inventory->ports.emplace_back();
      port.device = "mlx5_0";
      port.number = 1;
      port.state = PortState::kActive;
      for (const char* name : {"transmit_bytes", "receive_bytes", "carrier_down", "pcie_write_stall"}) {
        HostSeries series{.device = "mlx5_0", .port = 1, .name = name};
        if (series.name == "pcie_write_stall") series.behaviour = CounterBehaviour::kGauge;
        member.inventory->series.push_back(std::move(series));
      }
    }
    compute();
  }

  /// Seconds that `member` computes in an iteration; 1.5 unless a test says otherwise.
  std::function<double(unsigned member, unsigned iteration)> computing = [](unsigned, unsigned) { return 1.5; };
  /// Another pause of everybody before an iteration, seconds.
  std::function<double(unsigned iteration)> pause = [](unsigned) { return 0.0; };

  void compute() {
    ++iteration;
    for (unsigned i = 0; i < members.size(); ++i) {
      members[i].begun = false;
      members[i].ready = at + pause(iteration) + computing(i, iteration);
    }
    transfer_ends = 0;
  }

  void run(double seconds_long) {
    for (const double end = at + seconds_long; at < end;) {
      at += kStep;
      step();
      if (shown_every > 0 && std::floor(at / shown_every) > std::floor((at - kStep) / shown_every))
        for (Member& member : members) member.from = std::exchange(member.to, {member.sent, member.received});
      for (Member& member : members) {
        const double phase = at - member.offset;
        const double interval = member.interval;
        if (phase >= 0 && std::floor(phase / interval) > std::floor((phase - kStep) / interval)) read(member);
      }
      hear();
      if (std::floor(at) > std::floor(at - kStep)) judge();
    }
  }

  void step() {
    bool all = true;
    for (Member& member : members) {
      member.sent += (kIdle + member.storage) * kStep;
      member.received += kIdle * kStep;
      if (!member.begun && !member.is_dead && running && member.ready <= at) {
        member.begun = true;
        // To the next one, unless that is away.
        Member& next = members[static_cast<std::size_t>(&member - members.data() + 1) % members.size()];
        if (!next.is_dead) {
          member.sent += kFirst;
          next.received += kFirst;
        }
      }
      all = all && member.begun;
    }
    if (!all) return;
    if (transfer_ends == 0) transfer_ends = at + transfer;
    for (Member& member : members) {
      member.sent += kLine * kStep;
      member.received += kLine * kStep;
    }
    if (at >= transfer_ends) compute();
  }

  TimePoint clock(double when) const {
    return TimePoint(std::chrono::seconds(1'700'000'000)) +
           std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when + clock_set));
  }

  Shown shown(const Member& member) const {
    if (shown_every <= 0) return {member.sent, member.received};
    const double share = std::floor(20 * (at / shown_every - std::floor(at / shown_every))) / 20;
    return {member.from.sent + share * (member.to.sent - member.from.sent),
            member.from.received + share * (member.to.received - member.from.received)};
  }

  void read(Member& member) {
    if (member.is_silent || member.is_dead) return;
    HostBatch batch;
    HostReading& reading = batch.reading.emplace();
    reading.taken = clock(at);
    reading.inventory = member.inventory;
    const Shown now = shown(member);
    reading.values = {static_cast<std::uint64_t>(now.sent), static_cast<std::uint64_t>(now.received), 0,
                      member.name == stalled ? 60U : 0U};
    reading.present.assign(reading.values.size(), 1);
    reading.jobs = member.jobs;
    under_way.push_back({at + member.late, member.name, member.interval, std::move(batch)});
  }

  void hear() {
    std::vector<Batch> later;
    for (Batch& batch : under_way) {
      if (batch.heard > at) {
        later.push_back(std::move(batch));
        continue;
      }
      analyzer.hear(batch.host, std::chrono::duration_cast<Duration>(std::chrono::duration<double>(batch.interval)),
                    clock(at));
      analyzer.take(batch.host, batch.batch);
    }
    under_way = std::move(later);
  }

  void judge() {
    auto analysis = analyzer.judge(clock(at));
    found = analysis.findings;
    for (const Incident& incident :
         book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, clock(at)))
      if (incident.finding.kind == IncidentKind::kStraggler && incident.is_open())
        blamed.push_back(incident.finding.cause.label);
  }

  std::vector<Incident> open() const {
    std::vector<Incident> found_open;
    for (const IncidentPtr& incident : *book.all())
      if (incident->is_open()) found_open.push_back(*incident);
    return found_open;
  }

  struct Batch {
    double heard = 0;
    std::string host;
    double interval = 1;  ///< of its readings, seconds
    HostBatch batch;
  };

  std::vector<Member> members;
  double transfer = 1.5;  ///< seconds that they communicate
  double shown_every =
      0;  ///< counters move evenly, in twenty steps, from what they were then to what they are, seconds
  bool running = true;
  double at = 0;
  double transfer_ends = 0;
  double clock_set = 0;  ///< seconds by which all clocks were set
  unsigned iteration = 0;
  std::string stalled;  ///< the host whose PCIe stalls
  std::vector<Batch> under_way;
  HostAnalyzer analyzer{Thresholds{}, TimePoint(std::chrono::seconds(1'700'000'000))};
  IncidentManager book{IncidentPolicy{}, {}, 1};
  std::vector<Finding> found;       ///< of the last judgement
  std::vector<std::string> blamed;  ///< labels of all STRAGGLER incidents that ever were open or changed
};

}  // namespace weft::analyzer
