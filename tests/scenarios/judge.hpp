// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows a scenario to the analyzer and compares what it says with the truth.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// An incident that opened or came back.
struct Alarm {
  double at = 0;       ///< seconds since the scenario began
  unsigned sweep = 0;  ///< beat of the watcher, from 0
  IncidentKind kind = IncidentKind::kLinkDown;
  Place cause{};
  std::string host{};  ///< that the cause names by itself: of a collector or a host
  std::string summary{};
  Severity severity = Severity::kInfo;  ///< the worst that it had
  bool justified = false;  ///< names a culprit under a fitting kind while the fault lasts, or is plainly so
  bool unplanted = false;  ///< nobody planted it, but by the simulator's own solution it is so; see README.md
  bool repeated = false;   ///< not the first one of what it is about
};

/// A port that traffic fills which an outage rerouted, as the incident of that outage says.
struct Overloaded {
  double at = 0;  ///< seconds since the scenario began
  Place port{};
};

/// What became of one truth.
struct Verdict {
  FaultKind fault = FaultKind::kLinkDown;
  double amount = 0;  ///< of the fault
  bool hard = false;
  bool found = false;          ///< anybody was blamed for it: a culprit, or one of its victims or neighbours
  bool culprit_first = false;  ///< and the first one blamed was a culprit
  bool right_kind = false;     ///< and a culprit was blamed under the right kind
  unsigned delay = 0;          ///< sweeps from the fault to the first alarm: 1 is the first sweep that began after it
  bool joint = false;          ///< the first alarm while it lasted named the right culprit under the right kind
  bool wrong_blame = false;    ///< the first alarm while it lasted named what was healthy
  unsigned alarms = 0;         ///< about it
};

/// Real congestion that nobody planted, and that lasted.
struct Unplanted {
  double from = 0, to = 0;  ///< seconds
  std::string where{};      ///< one of the ports that were full
  double wait = 0;          ///< share of the time that somebody waited for it, in the worst sixteen sweeps
  bool found = false;       ///< some alarm named it
};

/// What was said of a link in trouble, and of which part of it.
struct AdviceVerdict {
  bool given = false;  ///< anything was said
  bool right = false;  ///< and it named first what is at fault
  bool clear = false;  ///< and it was clear
  std::string said{};  ///< for people
};

/// Whether a job's hang was named.
struct HangVerdict {
  bool named = false;      ///< by an incident of what is at fault
  bool wrong = false;      ///< by one of anything else
  unsigned incidents = 0;  ///< that opened since the job stood still
  double delay = 0;        ///< seconds from the moment that it did; 0 where it was not named
};

struct Outcome {
  std::string name{};
  std::string group{};
  std::uint64_t seed = 0;
  std::vector<Alarm> alarms{};
  std::vector<Overloaded> overloaded{};
  std::vector<Verdict> verdicts{};
  std::vector<AdviceVerdict> advice{};  ///< by Scenario::advice
  std::vector<HangVerdict> hangs{};     ///< by Scenario::hangs
  unsigned without_effect = 0;          ///< planted congestion that held up nobody: there was nothing to be found
  std::vector<Unplanted> unplanted{};
  double port_days = 0;
  unsigned sweeps = 0;
};

/// Runs the whole scenario through FabricAnalyzer and IncidentManager with their default thresholds.
Outcome judge(const Scenario& scenario, const Plan& plan);

}  // namespace weft::scenarios
