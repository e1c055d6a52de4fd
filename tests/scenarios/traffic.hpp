// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the jobs send at each moment, and what the fabric makes of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/scenarios/collective_starts.hpp"
#include "tests/scenarios/fair_rates.hpp"
#include "tests/scenarios/forwarding.hpp"
#include "tests/scenarios/random.hpp"
#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// What the fabric can carry at present. Resources are the ports' sending sides, then one for each endpoint: the rate
/// at which its host takes in what arrives.
struct Capacity {
  std::vector<PortIndex> peers;          ///< by port
  std::vector<double> resources;         ///< bits per second
  std::vector<double> sources;           ///< by endpoint: share of what a job asks of it that it really offers
  std::vector<double> slowness;          ///< by endpoint: its computing takes so many times as long
  std::vector<std::uint8_t> deadlocked;  ///< by port: it waits for good
};

/// A flow as it runs now.
struct FlowRate {
  std::uint32_t from = 0, to = 0;  ///< endpoints
  double rate = 0;                 ///< bits per second
  std::vector<PortIndex> path;     ///< the sending ports on its way
};

/// Rates that hold until something changes.
struct Loads {
  std::vector<FlowRate> flows;
  std::vector<double> sent;             ///< by port, bits per second
  std::vector<float> waiting;           ///< by port, share of the time
  std::vector<double> jobs;             ///< by job, rate of its slowest flow, bits per second
  std::vector<Bottleneck> bottlenecks;  ///< what is full, and who waits for that
};

/// The first that a member of a collective sends, which needs nothing from anybody. Then it waits for the others.
struct FirstSend {
  double at = 0;                   ///< seconds
  std::uint32_t from = 0, to = 0;  ///< endpoints
};
/// Of each first send, bytes: a chunk of 2 MiB (half of NCCL_BUFFSIZE, which is 4 MiB) on each of two channels, what a
/// ring of NCCL sends before it needs anything. Members further from the late one get further; that is left out.
inline constexpr double kFirstSendBytes = Constants{}.first_send;

/// What of the model a scenario may have otherwise. See Assumptions and Constants.
struct TrafficModel {
  unsigned ways = 1;
  bool back_pressure = true;
  double restless = Constants{}.restless;
  double pace = Constants{}.pace;
};

/// Runs the jobs in simulated time. Between two changes all rates are constant.
class Traffic {
 public:
  /// `line_rate` in bits per second. `seed`: whose computing takes a little longer or shorter; all alike without one.
  Traffic(const Plan& plan, std::vector<Job> jobs, double line_rate, std::optional<std::uint64_t> seed = {},
          TrafficModel model = {});

  /// The fabric is another one now. Null tables: those of before stay.
  void set_fabric(std::shared_ptr<const ForwardingTables> tables, std::shared_ptr<const Capacity> capacity);
  /// The rates of now.
  const Loads& loads();
  /// When they change next, unless the fabric changes before (seconds).
  double next_change();
  /// Time passes; `to` is not after next_change().
  void advance(double to);

  /// The members that began by `until` and were not the last of their collective, in the order of time; each is given
  /// once.
  std::vector<FirstSend> begun(double until);
  bool begins(double until) const { return !first_sends_.empty() && first_sends_.front().at <= until; }
  /// When the members of each collective began, if that is kept.
  const CollectiveStarts& beginnings() const { return beginnings_; }
  void keep_beginnings() { beginnings_.keep(); }
  /// The ports on the way from one endpoint to another; false where there is none at present.
  bool path(std::uint32_t from, std::uint32_t to, std::vector<PortIndex>& ports) const;

  /// Lowers the loads of jobs, so that no link is loaded above `share` (of the line rate) even when all of them
  /// communicate at once: a fabric without congestion. Steady jobs, which faults consist of, stay as they are.
  void calm(double share);
  std::span<const Job> jobs() const { return jobs_; }
  /// Who sends to whom in collectives: source, destination.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> collective_pairs() const;
  /// By port: 1 where packets of a collective are sent through it, by the present tables.
  std::vector<std::uint8_t> collective_ports() const;

 private:
  struct Pair {
    std::uint32_t from;
    std::uint32_t to;
    double share;  ///< of the job's load
  };
  struct Running {
    std::vector<std::vector<Pair>> phases;
    std::size_t phase = 0;               ///< 0 computes (or waits), then phases[phase - 1]
    double left = 0;                     ///< seconds while it computes, bits of each flow's share while it communicates
    double deadline = 0;                 ///< it gives up waiting for a flow that is stuck
    std::vector<double> pace{};          ///< by member: its computing takes so many times as long as it should
    std::vector<std::uint32_t> first{};  ///< by member: to whom it sends first; kNoIndex for one that only receives
  };

  void make_phases(const Job& job, Running& running) const;
  void enter(std::size_t job, std::size_t phase);
  double phase_end(std::size_t job);
  /// The pause that the job is in, or null; and when its next one begins.
  const Pause* pause_at(std::size_t job) const;
  double next_pause(std::size_t job) const;
  /// Each member computes for its own time; the communication begins with the last of them.
  void compute(std::size_t job);
  std::unique_ptr<Loads> solve() const;
  struct Demands;
  /// Adds the flows of one pair: over its one way, or over several. False when there is none.
  bool add_flows(std::size_t job, const Pair& pair, Demands& demands) const;
  bool equalises(JobKind kind) const { return kind != JobKind::kStorage && kind != JobKind::kSteady; }

  const Plan& plan_;
  std::vector<Job> jobs_;
  double line_rate_;
  TrafficModel model_;
  std::vector<Running> running_;
  double now_ = 0;
  std::shared_ptr<const ForwardingTables> tables_;
  std::shared_ptr<const Capacity> capacity_;
  std::map<std::vector<std::uint8_t>, std::unique_ptr<Loads>> solved_;  ///< by the jobs' phases
  std::size_t kept_ = 0;                                                ///< flows and ports in them
  const Loads* current_ = nullptr;
  std::optional<Random> random_;
  std::vector<FirstSend> first_sends_;  ///< to come
  CollectiveStarts beginnings_;
};

}  // namespace weft::scenarios
