// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/judge.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/scenarios/analyzers.hpp"
#include "tests/scenarios/court.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

/// That a counter stands at all ones is a fact, whatever drove it there.
bool is_saturated(const Sweep& sweep, const Place& place) {
  const PortIndex port = sweep.topology->find_port(place.a);
  if (place.kind != EntityKind::kPort || port == kNoIndex) return false;
  for (const CounterId id : sweep.counters->counters())
    if (counter_info(id).is_error && sweep.counters->saturated(port, sweep.counters->column(id))) return true;
  return false;
}

/// Congestion that an outage causes is told as part of it.
bool tells_of_rerouted_traffic(const Finding& finding) {
  return (finding.kind == IncidentKind::kLinkDown || finding.kind == IncidentKind::kSwitchDown) &&
         finding.summary.find("the rerouted traffic overloads") != std::string::npos;
}

/// Those of the incidents that opened or came back with this beat.
class AlarmHistory {
 public:
  explicit AlarmHistory(Outcome& outcome) : outcome_(outcome) {}

  void note(const std::vector<Incident>& changed, const Tick& tick, unsigned beat) {
    for (const Incident& incident : changed) {
      Known& known = known_[incident.id];
      if (incident.is_open() && incident.occurrences > known.occurrences) {
        known.occurrences = incident.occurrences;
        known.alarm = outcome_.alarms.size();
        Alarm& alarm = outcome_.alarms.emplace_back();
        alarm.at = tick.at;
        alarm.sweep = beat;
        alarm.kind = incident.finding.kind;
        alarm.cause = place_of(incident.finding.cause);
        alarm.host = incident.finding.cause.host;
        alarm.summary = incident.finding.summary;
        alarm.justified = incident.finding.kind == IncidentKind::kCounterStuck && tick.sweep &&
                          is_saturated(*tick.sweep, alarm.cause);
      }
      if (tells_of_rerouted_traffic(incident.finding))
        for (const Evidence& evidence : incident.finding.evidence)
          if (evidence.signal == "utilization") outcome_.overloaded.push_back({tick.at, place_of(evidence.where)});
      if (known.occurrences == 0) continue;
      Severity& worst = outcome_.alarms[known.alarm].severity;
      worst = std::max(worst, incident.finding.severity);
    }
  }

 private:
  struct Known {
    std::uint32_t occurrences = 0;
    std::size_t alarm = 0;  ///< of the last of them
  };
  Outcome& outcome_;
  std::map<std::uint64_t, Known> known_;
};

/// What incidents say of links in trouble, as people see it.
class AdviceHistory {
 public:
  explicit AdviceHistory(const Scenario& scenario) : scenario_(scenario), last_(scenario.advice.size()) {}

  void note(const std::vector<Incident>& changed, double at) {
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const RightAdvice& right = scenario_.advice[i];
      if (at > right.until) continue;
      for (const Incident& incident : changed)
        if (incident.is_open() && !incident.finding.advice.suspects.empty() &&
            std::ranges::find(right.links, place_of(incident.finding.cause)) != right.links.end())
          last_[i] = incident.finding.advice;
    }
  }

  std::vector<AdviceVerdict> verdicts() const {
    std::vector<AdviceVerdict> all;
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const RightAdvice& right = scenario_.advice[i];
      AdviceVerdict& verdict = all.emplace_back();
      if (last_[i].suspects.empty()) continue;
      const Suspect& first = last_[i].suspects.front();
      verdict.given = true;
      verdict.clear = last_[i].is_clear;
      verdict.right = std::ranges::find(right.parts, first.part) != right.parts.end() &&
                      (right.nodes.empty() || first.part == LinkPart::kCable ||
                       std::ranges::find(right.nodes, first.where.port.node) != right.nodes.end());
      for (const Suspect& suspect : last_[i].suspects)
        verdict.said += std::string(to_string(suspect.part)) + " " + suspect.where.label + " " +
                        std::to_string(suspect.share).substr(0, 4) + "; ";
      for (const std::string& reason : last_[i].reasons) verdict.said += "\n    " + reason;
    }
    return all;
  }

 private:
  const Scenario& scenario_;
  std::vector<Advice> last_;
};

/// What incidents say of jobs that hang.
class HangHistory {
 public:
  explicit HangHistory(const Scenario& scenario) : scenario_(scenario), verdicts_(scenario.hangs.size()) {}

  void note(const std::vector<Incident>& changed, double at) {
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      const RightHang& right = scenario_.hangs[i];
      if (at < right.from || at > right.until) continue;
      for (const Incident& incident : changed) {
        if (incident.is_open() && incident.revision == 1) ++verdicts_[i].incidents;
        const bool says = incident.finding.summary.find(" hangs") != std::string::npos;
        if (!incident.is_open() || !says) continue;
        const bool is_right =
            std::ranges::find(right.culprits, place_of(incident.finding.cause)) != right.culprits.end();
        verdicts_[i].wrong |= !is_right;
        if (is_right && !verdicts_[i].named) verdicts_[i].delay = at - right.from;
        verdicts_[i].named |= is_right;
      }
    }
  }
  std::vector<HangVerdict> verdicts() && { return std::move(verdicts_); }

 private:
  const Scenario& scenario_;
  std::vector<HangVerdict> verdicts_;
};

}  // namespace

Outcome judge(const Scenario& scenario, const Plan& plan) {
  Outcome outcome{.name = scenario.name, .group = scenario.group, .seed = scenario.seed};
  Simulator simulator(scenario, plan);
  Analyzers analyzers(simulator);
  AlarmHistory alarms(outcome);
  AdviceHistory advice(scenario);
  HangHistory hangs(scenario);
  std::vector<double> begun;
  double before = 0;
  for (Tick tick; simulator.next(tick); before = tick.at) {
    begun.push_back(tick.sweep ? tick.at - seconds(tick.sweep->finished - tick.sweep->started) : tick.at);
    const std::vector<Incident> changed = analyzers.take(tick);
    alarms.note(changed, tick, static_cast<unsigned>(begun.size() - 1));
    advice.note(changed, tick.at);
    hangs.note(changed, tick.at);
  }
  outcome.advice = advice.verdicts();
  outcome.hangs = std::move(hangs).verdicts();
  outcome.sweeps = static_cast<unsigned>(begun.size());
  outcome.port_days = static_cast<double>(simulator.cabled_ports()) * before / kSecondsOfDay;
  weigh(scenario, plan, simulator, begun, outcome);
  return outcome;
}

}  // namespace weft::scenarios
