// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet manager that takes as long as a real one: links that have trained wait for its sweep, tables are programmed
// switch by switch, and meanwhile requests that are routed by LID get lost.

#include <cstdint>
#include <limits>
#include <vector>

#include "fabric/ids.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// How slow it is. The defaults after OpenSM: sweep_interval is 10 s (osm_subnet.h), a heavy sweep of 2,328 adapters
/// and 400 switches takes 7 s.
struct SubnetManagerModel {
  double sweep = 0;         ///< seconds of a heavy sweep; 0: links and tables follow within 1.5 s, each for itself
  double lost_traps = 0.2;  ///< share of changes whose trap is lost: the next periodic sweep finds them
  double periodic = 10;     ///< seconds between light sweeps
  double failing_reads =
      0.3;  ///< share of nodes that LID-routed requests do not reach for some time while tables change

  /// Longest time from a change to the end of the sweep that takes it into account, seconds.
  double settling() const { return sweep > 0 ? periodic + 2.5 * sweep + 1 : 0; }
};

/// What the subnet manager does and when. Seconds since the scenario began.
class SubnetManager {
 public:
  enum class Step : std::uint8_t {
    kBegin,    ///< it discovers what has changed
    kProgram,  ///< it knows the links that are there, and programs tables from now on
    kDone,     ///< the tables are programmed and the links it knows are active
  };

  SubnetManager(const SubnetManagerModel& model, std::uint64_t seed, std::size_t nodes);

  bool is_slow() const { return model_.sweep > 0; }
  /// A port's state has changed, and a trap is sent.
  void notice(double now);
  /// It no longer runs, or it runs again: then it discovers everything anew.
  void stop();
  void start(double now);

  /// When its next step is; infinity when it has nothing to do.
  double next() const { return next_; }
  /// Makes that step.
  Step step();
  /// Do LID-routed requests to that node get lost now, because tables are being programmed?
  bool reads_fail(NodeIndex node, double now) const {
    return !failing_.empty() && now >= failing_[node].from && now < failing_[node].to;
  }

 private:
  struct Span {
    double from = 0, to = 0;
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  enum class State : std::uint8_t { kStopped, kIdle, kDiscovering, kProgramming };

  SubnetManagerModel model_;
  Random random_;
  State state_ = State::kIdle;
  double next_ = kNever;
  double done_ = kNever;  ///< end of the present sweep
  bool again_ = false;    ///< something changed while it was busy
  bool anew_ = false;     ///< it has just started: all tables are programmed
  std::vector<Span> failing_;
};

}  // namespace weft::scenarios
