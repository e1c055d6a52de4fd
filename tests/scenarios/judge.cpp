// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/judge.hpp"

#include <algorithm>
#include <map>

#include "tests/scenarios/analyzers.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

/// An alarm may come so many sweeps after the fault is over and still be about it.
constexpr double kLateSweeps = 12;

Place place_of(const Entity& entity) {
  return {entity.kind, entity.port, entity.peer};
}

bool has(const std::vector<Place>& places, const Place& place) {
  return std::ranges::find(places, place) != places.end();
}

/// Do two places share a port or a node?
bool touches(const Place& a, const Place& b) {
  const auto ends = [](const Place& place) {
    std::vector<PortKey> keys;
    for (const PortKey key : {place.a, place.b})
      if (key.node) keys.push_back(key);
    return keys;
  };
  for (const PortKey x : ends(a))
    for (const PortKey y : ends(b))
      if (x.node == y.node && (x.port == y.port || a.kind == EntityKind::kNode || b.kind == EntityKind::kNode))
        return true;
  return false;
}

bool fits(const Truth& truth, IncidentKind kind) {
  return kind == truth.kind || std::ranges::find(truth.also, kind) != truth.also.end();
}

bool is_near(const Truth& truth, const Place& place) {
  return has(truth.victims, place) ||
         std::ranges::any_of(truth.culprits, [&](const Place& culprit) { return touches(culprit, place); });
}

bool is_about_hosts(IncidentKind kind) {
  return kind == IncidentKind::kSlowReceiver || kind == IncidentKind::kPfcStorm;
}

/// Rerouting after a fault, jobs that come together: congestion that nobody planted may be as real as any.
bool is_real(const Alarm& alarm, const Plan& plan, const HarmLedger& harm) {
  switch (alarm.kind) {
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
    case IncidentKind::kSlowReceiver:
      return harm.congested(resources_of(plan, alarm.cause, is_about_hosts(alarm.kind)), alarm.at);
    default:
      return false;
  }
}

/// Was there anything to be found? Planted congestion that holds up nobody is none: a host that gets less than it can
/// take is no slow receiver. Nor can anybody who reads counters know a straggler whose delays fall between the
/// readings.
bool had_effect(const Truth& truth, const Plan& plan, const Simulator& simulator) {
  if (truth.hidden) return false;
  const HarmLedger& harm = simulator.harm();
  switch (truth.fault) {
    case FaultKind::kStraggler: {
      unsigned visible = 0;
      for (std::uint32_t endpoint = 0; endpoint < plan.adapters.size(); ++endpoint)
        if (has(truth.culprits, {EntityKind::kPort, plan.key_of(plan.endpoint_port(endpoint)), {}}))
          visible = std::max(visible, simulator.visible_delays(endpoint, truth.start, truth.end));
      return visible >= kBeginningsToTell;
    }
    case FaultKind::kIncast:
    case FaultKind::kCollision:
    case FaultKind::kOversubscription:
    case FaultKind::kSlowReceiver:
    case FaultKind::kPcieStall:
    case FaultKind::kPfcStorm:
      break;
    default:
      return true;
  }
  std::vector<ResourceIndex> resources;
  for (const Place& place : truth.culprits)
    for (const ResourceIndex resource : resources_of(plan, place, is_about_hosts(truth.kind)))
      resources.push_back(resource);
  return harm.ever_congested(resources, truth.start, truth.end);
}

/// That a counter stands at all ones is a fact, whatever drove it there.
bool is_saturated(const Sweep& sweep, const Place& place) {
  const PortIndex port = sweep.topology->find_port(place.a);
  if (place.kind != EntityKind::kPort || port == kNoIndex) return false;
  for (const CounterId id : sweep.counters->counters())
    if (counter_info(id).is_error && sweep.counters->saturated(port, sweep.counters->column(id))) return true;
  return false;
}

class Court {
 public:
  Court(const Scenario& scenario, const Plan& plan, const Simulator& simulator, Outcome& outcome)
      : scenario_(scenario), plan_(plan), simulator_(simulator), outcome_(outcome) {}

  /// `begun`: when each beat of the watcher began, seconds.
  void weigh(const std::vector<double>& begun) {
    for (const Truth& truth : scenario_.truths) weigh(truth, begun);
    for (Alarm& alarm : outcome_.alarms) alarm.unplanted = !alarm.justified && is_real(alarm, plan_, simulator_.harm());
  }

 private:
  void weigh(const Truth& truth, const std::vector<double>& begun) {
    Verdict verdict{.fault = truth.fault, .hard = truth.hard};
    for (Alarm& alarm : outcome_.alarms) {
      if (alarm.at < truth.start || alarm.at > truth.end + kLateSweeps * scenario_.interval) continue;
      const bool culprit = has(truth.culprits, alarm.cause);
      if (!culprit && !(fits(truth, alarm.kind) && is_near(truth, alarm.cause))) continue;
      if (culprit && fits(truth, alarm.kind)) alarm.justified = true;
      if (!verdict.found) {
        verdict.found = true;
        verdict.culprit_first = culprit;
        const auto after = std::ranges::upper_bound(begun, truth.start);
        const auto first = static_cast<unsigned>(after - begun.begin());
        verdict.delay = alarm.sweep + 1 > first ? alarm.sweep + 1 - first : 1;
      }
      verdict.right_kind |= culprit && alarm.kind == truth.kind;
    }
    if (!truth.counts) return;
    if (had_effect(truth, plan_, simulator_))
      outcome_.verdicts.push_back(verdict);
    else
      ++outcome_.without_effect;
  }

  const Scenario& scenario_;
  const Plan& plan_;
  const Simulator& simulator_;
  Outcome& outcome_;
};

/// Those of the incidents that opened or came back with this beat.
class AlarmHistory {
 public:
  explicit AlarmHistory(Outcome& outcome) : outcome_(outcome) {}

  void note(const std::vector<Incident>& changed, const Tick& tick, unsigned beat) {
    for (const Incident& incident : changed) {
      std::uint32_t& known = occurrences_[incident.id];
      if (!incident.is_open() || incident.occurrences <= known) continue;
      known = incident.occurrences;
      Alarm& alarm = outcome_.alarms.emplace_back();
      alarm.at = tick.at;
      alarm.sweep = beat;
      alarm.kind = incident.finding.kind;
      alarm.cause = place_of(incident.finding.cause);
      alarm.summary = incident.finding.summary;
      alarm.justified =
          incident.finding.kind == IncidentKind::kCounterStuck && tick.sweep && is_saturated(*tick.sweep, alarm.cause);
    }
  }

 private:
  Outcome& outcome_;
  std::map<std::uint64_t, std::uint32_t> occurrences_;
};

}  // namespace

Outcome judge(const Scenario& scenario, const Plan& plan) {
  Outcome outcome{.name = scenario.name, .group = scenario.group, .seed = scenario.seed};
  Simulator simulator(scenario, plan);
  Analyzers analyzers(simulator);
  AlarmHistory alarms(outcome);
  std::vector<double> begun;
  double before = 0;
  for (Tick tick; simulator.next(tick); before = tick.at) {
    begun.push_back(tick.sweep ? tick.at - seconds(tick.sweep->finished - tick.sweep->started) : tick.at);
    alarms.note(analyzers.take(tick), tick, static_cast<unsigned>(begun.size() - 1));
  }
  outcome.sweeps = static_cast<unsigned>(begun.size());
  outcome.port_days = static_cast<double>(simulator.cabled_ports()) * before / 86400;
  Court(scenario, plan, simulator, outcome).weigh(begun);
  return outcome;
}

}  // namespace weft::scenarios
