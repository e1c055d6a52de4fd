// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/court.hpp"

#include <algorithm>
#include <utility>

namespace weft::scenarios {
namespace {

/// An alarm may come so many sweeps after the fault is over and still be about it.
constexpr double kLateSweeps = 12;
/// What is said of congestion, by its last sixteen sweeps, may be said before it is clearly harmful.
constexpr double kEarlySweeps = kLongHarmWindows;

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

bool fits_first(const Truth& truth, IncidentKind kind) {
  return kind == truth.kind || std::ranges::find(truth.first, kind) != truth.first.end();
}

bool is_near(const Truth& truth, const Place& place) {
  return has(truth.victims, place) ||
         std::ranges::any_of(truth.culprits, [&](const Place& culprit) { return touches(culprit, place); });
}

bool is_about_hosts(IncidentKind kind) {
  return kind == IncidentKind::kSlowReceiver || kind == IncidentKind::kPfcStorm;
}

bool is_congestion(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
    case IncidentKind::kSlowReceiver:
      return true;
    default:
      return false;
  }
}

/// The resources that a truth's culprits stand for.
std::vector<ResourceIndex> resources_of(const Plan& plan, const Truth& truth, bool receiving) {
  std::vector<ResourceIndex> resources;
  for (const Place& place : truth.culprits)
    for (const ResourceIndex resource : resources_of(plan, place, receiving)) resources.push_back(resource);
  return resources;
}

class Court {
 public:
  Court(const Scenario& scenario, const Plan& plan, const Simulator& simulator, Outcome& outcome)
      : scenario_(scenario), plan_(plan), simulator_(simulator), outcome_(outcome), about_(outcome.alarms.size(), 0) {}

  void weigh(const std::vector<double>& begun) {
    for (const Truth& truth : scenario_.truths) weigh(truth, begun);
    for (Alarm& alarm : outcome_.alarms) alarm.unplanted = !alarm.justified && is_real(alarm);
    weigh_unplanted();
    for (const auto& [truth, verdict] : judged_) look_at_first(*truth, outcome_.verdicts[verdict]);
  }

 private:
  /// While the truth lasts, or shortly after.
  bool is_timely(const Alarm& alarm, const Truth& truth) const {
    return alarm.at >= truth.start && alarm.at <= truth.end + kLateSweeps * scenario_.interval;
  }
  /// Blames a culprit, or a victim or neighbour under a kind that fits.
  bool is_about(const Alarm& alarm, const Truth& truth) const {
    return (has(truth.culprits, alarm.cause) && !is_anothers(alarm, truth)) ||
           (fits(truth, alarm.kind) && is_near(truth, alarm.cause)) || names_host(alarm, truth);
  }
  /// Its kind does not fit this truth, and fits another with the same culprit: that uplinks of a switch are down is
  /// nothing that is said of the traffic of those that are left.
  bool is_anothers(const Alarm& alarm, const Truth& truth) const {
    return !fits(truth, alarm.kind) && !fits_first(truth, alarm.kind) &&
           std::ranges::any_of(scenario_.truths, [&](const Truth& other) {
             return fits(other, alarm.kind) && has(other.culprits, alarm.cause) && is_timely(alarm, other);
           });
  }
  /// Names the host of the truth itself, and no link or port of it.
  bool names_host(const Alarm& alarm, const Truth& truth) const {
    if (truth.host.empty() || !fits_first(truth, alarm.kind)) return false;
    if (!alarm.host.empty()) return alarm.host == truth.host;
    return alarm.cause.kind == EntityKind::kNode && std::ranges::any_of(plan_.adapters, [&](NodeIndex adapter) {
             return plan_.nodes[adapter].guid == alarm.cause.a.node && host_name(plan_.nodes[adapter]) == truth.host;
           });
  }
  /// Congestion that comes of rerouting or of jobs that meet may be as real as any.
  bool is_real(const Alarm& alarm) const {
    return is_congestion(alarm.kind) && simulator_.harm().congested(places_of(alarm), alarm.at);
  }
  std::vector<ResourceIndex> places_of(const Alarm& alarm) const {
    return scenarios::resources_of(plan_, alarm.cause, is_about_hosts(alarm.kind));
  }
  bool had_effect(const Truth& truth) const;
  bool can_be_seen(const Episode& episode) const;
  void weigh(const Truth& truth, const std::vector<double>& begun);
  void weigh_unplanted();
  void look_at_first(const Truth& truth, Verdict& verdict) const;

  const Scenario& scenario_;
  const Plan& plan_;
  const Simulator& simulator_;
  Outcome& outcome_;
  std::vector<unsigned> about_;                               ///< by alarm: truths that it is about
  std::vector<std::pair<const Truth*, std::size_t>> judged_;  ///< those that count, and their verdicts
};

/// Was there anything to be found? Planted congestion that holds up nobody is none: a host that gets less than it can
/// take is no slow receiver. Nor can anybody who reads counters know a straggler whose delays fall between the
/// readings.
bool Court::had_effect(const Truth& truth) const {
  if (truth.hidden) return false;
  switch (truth.fault) {
    case FaultKind::kStraggler: {
      unsigned visible = 0;
      for (std::uint32_t endpoint = 0; endpoint < plan_.adapters.size(); ++endpoint)
        if (has(truth.culprits, {EntityKind::kPort, plan_.key_of(plan_.endpoint_port(endpoint)), {}}))
          visible = std::max(visible, simulator_.visible_delays(endpoint, truth.start, truth.end));
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
  return simulator_.harm().ever_congested(resources_of(plan_, truth, is_about_hosts(truth.kind)), truth.start,
                                          truth.end);
}

void Court::weigh(const Truth& truth, const std::vector<double>& begun) {
  Verdict verdict{.fault = truth.fault, .amount = truth.amount, .hard = truth.hard};
  for (std::size_t i = 0; i < outcome_.alarms.size(); ++i) {
    Alarm& alarm = outcome_.alarms[i];
    if (!is_timely(alarm, truth) || !is_about(alarm, truth)) continue;
    const bool host = names_host(alarm, truth);
    const bool culprit = host || has(truth.culprits, alarm.cause);
    ++about_[i];
    ++verdict.alarms;
    if (culprit && (host || fits(truth, alarm.kind)) && alarm.severity <= truth.most) alarm.justified = true;
    if (!verdict.found) {
      verdict.found = true;
      verdict.culprit_first = culprit;
      const auto after = std::ranges::upper_bound(begun, truth.start);
      const auto first = static_cast<unsigned>(after - begun.begin());
      verdict.delay = alarm.sweep + 1 > first ? alarm.sweep + 1 - first : 1;
    } else {
      alarm.repeated = true;
    }
    verdict.right_kind |= culprit && alarm.kind == truth.kind;
  }
  if (!truth.counts) return;
  if (!had_effect(truth)) {
    ++outcome_.without_effect;
    return;
  }
  judged_.emplace_back(&truth, outcome_.verdicts.size());
  outcome_.verdicts.push_back(verdict);
}

/// Does anybody read a port of what was full? Of an Ethernet fabric whose switches have no collector only hosts' ports
/// and those that they are cabled to are known; what is between switches no counter tells.
bool Court::can_be_seen(const Episode& episode) const {
  if (!plan_.is_ethernet() || scenario_.switch_collectors) return true;
  return std::ranges::any_of(episode.resources,
                             [&](ResourceIndex port) { return plan_.endpoint_at(port) != kNoIndex; });
}

void Court::weigh_unplanted() {
  std::vector<ResourceIndex> planted;
  for (const Truth& truth : scenario_.truths)
    for (const bool receiving : {false, true})
      for (const ResourceIndex resource : resources_of(plan_, truth, receiving)) planted.push_back(resource);
  std::ranges::sort(planted);
  const auto meet = [](const std::vector<ResourceIndex>& sorted, const std::vector<ResourceIndex>& others) {
    return std::ranges::any_of(others, [&](ResourceIndex other) { return std::ranges::binary_search(sorted, other); });
  };
  for (const Episode& episode : simulator_.harm().episodes(kLastingSweeps, kClearlyHarmful)) {
    if (meet(planted, episode.resources)) continue;
    if (!can_be_seen(episode)) {
      ++outcome_.without_effect;
      continue;
    }
    Unplanted& truth = outcome_.unplanted.emplace_back();
    truth.from = episode.from;
    truth.to = episode.to;
    truth.wait = episode.wait;
    const PortIndex port = episode.resources.front();
    truth.where = plan_.nodes[plan_.ports[port].node].name + " port " + std::to_string(plan_.ports[port].number.value);
    const auto is_timely = [&](double at) {
      return at >= episode.from - kEarlySweeps * scenario_.interval &&
             at <= episode.to + kLateSweeps * scenario_.interval;
    };
    bool found = std::ranges::any_of(outcome_.overloaded, [&](const Overloaded& told) {
      return is_timely(told.at) && meet(episode.resources, scenarios::resources_of(plan_, told.port, false));
    });
    for (Alarm& alarm : outcome_.alarms) {
      if (!alarm.unplanted || !is_timely(alarm.at) || !meet(episode.resources, places_of(alarm))) continue;
      alarm.repeated |= found;
      found = true;
    }
    truth.found = found;
  }
}

/// The first incident that opens while the truth lasts, justified or not, unless it is about something else that is
/// so.
void Court::look_at_first(const Truth& truth, Verdict& verdict) const {
  for (std::size_t i = 0; i < outcome_.alarms.size(); ++i) {
    const Alarm& alarm = outcome_.alarms[i];
    if (!is_timely(alarm, truth)) continue;
    if (!is_about(alarm, truth) && (about_[i] > 0 || alarm.justified || alarm.unplanted)) continue;
    const bool host = names_host(alarm, truth);
    const bool culprit = has(truth.culprits, alarm.cause) && (truth.host.empty() || alarm.host.empty());
    verdict.joint = truth.host.empty() ? culprit && fits_first(truth, alarm.kind) : host;
    verdict.wrong_blame = !culprit && !host;
    return;
  }
}

}  // namespace

Place place_of(const Entity& entity) {
  return {entity.kind, entity.port, entity.peer};
}

void weigh(const Scenario& scenario, const Plan& plan, const Simulator& simulator, const std::vector<double>& begun,
           Outcome& outcome) {
  Court(scenario, plan, simulator, outcome).weigh(begun);
}

}  // namespace weft::scenarios
