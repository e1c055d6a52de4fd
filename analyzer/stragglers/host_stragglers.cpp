// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/host_stragglers.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// A cohort that nobody belongs to any more is forgotten after so long.
constexpr Duration kForget = std::chrono::minutes(10);
/// What a fabric's rules said holds for so long: it is said anew with each sweep.
constexpr Duration kExplained = std::chrono::minutes(2);
/// Of the moves of a subnet's links, so many of the last so long are kept.
constexpr std::size_t kMostRouteChurn = 64;
constexpr Duration kRemembered = std::chrono::minutes(5);
/// A port that has sent nothing for so long has no part in its job.
constexpr Duration kAtWork = std::chrono::minutes(10);
/// Before it is said that nothing moves it has been so for a while.
constexpr Duration kStood = std::chrono::seconds(5);
/// Readings of a host until what it told is taken to be complete: one may be late, another be lost.
constexpr int kReadingsToWait = 3;
/// Delays that were seen in a row, by how sure they make.
constexpr double kConfidence = 0.8;
constexpr double kConfidenceEach = 0.03;
constexpr double kMostConfidence = 0.97;

bool is_at(const Finding& finding, NodeGuid node) {
  return node && (finding.cause.port.node == node || finding.cause.peer.node == node);
}

/// Would it make a host slow?
bool slows(const Finding& finding) {
  if (finding.severity == Severity::kInfo) return false;
  switch (finding.kind) {
    case IncidentKind::kLinkDown:
    case IncidentKind::kLinkFlap:
    case IncidentKind::kLinkDegraded:
    case IncidentKind::kLinkErrors:
    case IncidentKind::kSlowReceiver:
    case IncidentKind::kPfcStorm:
    case IncidentKind::kSilentLoss:
    case IncidentKind::kRdmaErrors:
      return true;
    default:
      return false;
  }
}

/// Did a link between switches go down or come up from one topology to the next?
bool has_moved(const Topology& before, const Topology& after) {
  if (&before == &after) return false;
  if (before.ports().size() != after.ports().size()) return true;
  for (PortIndex port = 0; port < after.ports().size(); ++port) {
    if (before.port(port).is_up() == after.port(port).is_up()) continue;
    const PortIndex peer = after.port(port).peer != kNoIndex ? after.port(port).peer : before.port(port).peer;
    const auto is_switch = [&](PortIndex at) { return after.node_of(after.port(at)).type == NodeType::kSwitch; };
    if (peer == kNoIndex || (is_switch(port) && is_switch(peer))) return true;
  }
  return false;
}

void add_route_churn(std::vector<RouteChurn>& all, const RouteChurn& route_churn) {
  if (!all.empty() && route_churn.from <= all.back().to) {
    all.back().to = std::max(all.back().to, route_churn.to);
    return;
  }
  if (all.size() == kMostRouteChurn) all.erase(all.begin());
  all.push_back(route_churn);
}

}  // namespace

void HostStragglers::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto direction_of = [](const HostSeries& series) -> std::optional<std::uint64_t Bytes::*> {
    if (series.priority != kNoPriority || series.lane != kNoLane) return std::nullopt;
    if (series.name == "transmit_bytes") return &Bytes::sent;
    if (series.name == "receive_bytes") return &Bytes::received;
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) ports_[port.slot].followed.clear();
  follow_series(host, followed, direction_of,
                [&](const PortWatch& port, const auto& way) { ports_[port.slot].followed.push_back(way); });
}

void HostStragglers::take(const HostWatch& host, const HostMovement& movement) {
  for (const PortWatch& port : host.ports) {
    Bytes& bytes = ports_[port.slot];
    bool sent = false, received = false;
    for (const auto& [series, total] : bytes.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present) continue;
      const bool anew = !row.known || row.delta.was_reset;
      bytes.*total = anew ? row.value : bytes.*total + row.delta.moved;
      bytes.was_new = bytes.was_new || anew;
      (total == &Bytes::sent ? sent : received) = true;
    }
    if (!sent || !received) continue;
    if (std::exchange(bytes.was_new, false)) bytes.activity.interrupt();
    bytes.activity.take({movement.taken, bytes.sent, bytes.received, false}, thresholds_);
  }
}

/// Could nobody send to it for a while since the last call?
bool HostStragglers::was_away(const HostWatch& host, const PortWatch& port) {
  return std::exchange(ports_[port.slot].times_away, port.times_away) != port.times_away || host.lost ||
         (port.known && !port.up) || (port.place && !port.place->is_up);
}

void HostStragglers::add_delays(const HostWatch& host, const PortWatch& port, Finding& finding) const {
  const Lateness& late = ports_[port.slot].activity.lateness;
  const Duration span = late.last - late.first;
  const Entity where = place_of(host, port);
  const auto note = [&](std::string signal, std::string text, double value, double threshold, const char* unit) {
    finding.evidence.push_back({.signal = std::move(signal),
                                .description = std::move(text),
                                .value = value,
                                .threshold = threshold,
                                .unit = unit,
                                .observed = late.last,
                                .where = where,
                                .window = span});
  };
  note("begins_late",
       port.label + " started to send " + quantity_text(late.delay, "s") + " later than the others; " +
           std::to_string(late.late) + " consecutive observed starts were late",
       late.delay, late.threshold, "s");
  note(
      "cohort_score",
      std::to_string(late.witnesses) + " other ports had already started and were waiting; robust z-score of the delay",
      late.score, 0, "");
  if (seconds(span) > 0)
    note("waiting_share", "minimum share of time that the others waited for it",
         std::min(1.0, late.total / (seconds(span) + late.total / late.late)), 0, "");
}

void HostStragglers::watch(std::span<const FabricView> fabrics, const Hosts& hosts) {
  std::vector<const Sweep*> fresh;  // by position among the watched
  bool any = false;
  for (const FabricView& view : fabrics) {
    if (!view.watching || !view.sweep || !view.sweep->topology) continue;
    Subnet& subnet = subnets_[view.name];
    const bool is_new = subnet.sweep != view.sweep;
    fresh.push_back(is_new && view.sweep->counters ? view.sweep.get() : nullptr);
    if (!is_new) continue;
    any = true;
    const Sweep& sweep = *view.sweep;
    std::erase_if(subnet.route_churn, [&](const RouteChurn& route_churn) {
      return route_churn.to > sweep.finished || sweep.finished - route_churn.to > kRemembered;
    });
    if (subnet.sweep && has_moved(*subnet.sweep->topology, *sweep.topology))
      add_route_churn(subnet.route_churn, {subnet.sweep->started, sweep.finished});
    subnet.sweep = view.sweep;
  }
  std::erase_if(subnets_, [&](const auto& entry) {
    return std::ranges::none_of(fabrics, [&](const FabricView& view) { return view.name == entry.first; });
  });
  if (!any) return;
  for (const auto& [name, host] : hosts)
    for (const PortWatch& port : host.ports) {
      if (!port.place || port.place->subnet >= fresh.size()) continue;
      Bytes& bytes = ports_[port.slot];
      if (bytes.sent == 0) continue;
      const Sweep* const sweep = fresh[port.place->subnet];
      if (!sweep || port.place->index >= sweep->counters->rows()) continue;
      const SampleTable& table = *sweep->counters;
      const PortIndex row = port.place->index;
      const auto sent = table.column(CounterId::kTransmitBytes);
      const auto received = table.column(CounterId::kReceiveBytes);
      if (sent == SampleTable::kNoColumn || received == SampleTable::kNoColumn || table.read_at(row) < sweep->started ||
          !table.present(row, sent) || !table.present(row, received) || table.saturated(row, sent) ||
          table.saturated(row, received))
        continue;
      bytes.activity.take({table.read_at(row), table.value(row, sent), table.value(row, received), true}, thresholds_);
    }
}

void HostStragglers::compare(const Hosts& hosts, const HostStalls& stalls, TimePoint now) {
  struct Cohort {
    std::vector<CohortMember> members;
    const std::string* fabric = nullptr;  ///< where they stand
  };
  struct Job {
    bool is_complete = true;                      ///< its rails wait for each other
    Duration interval = std::chrono::seconds(1);  ///< the longest between two readings of a host whose silences show
    std::map<std::string_view, Cohort> rails;
  };
  std::map<std::string_view, Job> jobs;
  for (const auto& [name, host] : hosts) {
    if (!host.has_reading || host.jobs.empty()) continue;
    Job& job = jobs[host.jobs.front()];
    if (!host.lost && host.interval <= PortActivity::kLongest) job.interval = std::max(job.interval, host.interval);
    const bool has_rails = std::ranges::count_if(host.ports, [](const PortWatch& port) { return port.present; }) > 1;
    for (const PortWatch& port : host.ports) {
      Bytes& bytes = ports_[port.slot];
      PortActivity& activity = bytes.activity;
      if (bytes.job != host.jobs.front()) {
        bytes.job = host.jobs.front();
        activity.interrupt();  // its silences are those of another job
        activity.lateness = {};
      }
      activity.settle(now - kReadingsToWait * host.interval / 2, thresholds_);
      const auto lately = [&](TimePoint at) { return at != kNever && now - at <= kAtWork; };
      if (!port.present || port.is_virtual || !lately(activity.worked_at())) continue;
      job.is_complete = !was_away(host, port) && job.is_complete;
      if (!lately(activity.sent_at())) continue;
      Cohort& cohort = job.rails[has_rails ? std::string_view(port.device) : std::string_view()];
      cohort.members.push_back({port.slot.id, &activity, stalls.is_stalled(port, now)});
      if (port.place) cohort.fabric = &port.place->port.fabric;
    }
  }
  for (const auto& [name, job] : jobs)
    for (const auto& [rail, cohort] : job.rails) {
      StragglerTracker& tracker = cohorts_[{std::string(name), std::string(rail)}];
      if (!job.is_complete) {
        tracker.lack(cohort.members, now);
        continue;
      }
      const auto subnet = cohort.fabric ? subnets_.find(*cohort.fabric) : subnets_.end();
      tracker.take(cohort.members, now, kReadingsToWait * job.interval,
                   subnet == subnets_.end() ? std::span<const RouteChurn>() : subnet->second.route_churn, thresholds_);
    }
  std::erase_if(cohorts_, [&](const auto& entry) { return now - entry.second.taken() > kForget; });
}

bool HostStragglers::is_explained(const PortWatch& port, TimePoint now, const std::vector<Finding>& findings) const {
  if (!port.place) return false;
  const NodeGuid node = port.place->port.port.node;
  return std::ranges::any_of(explained_,
                             [&](const auto& entry) {
                               return now - entry.second.at <= kExplained && entry.second.nodes.contains(node);
                             }) ||
         std::ranges::any_of(findings, [&](const Finding& finding) { return slows(finding) && is_at(finding, node); });
}

void HostStragglers::judge(const Hosts& hosts, const HostStalls& stalls, TimePoint now,
                           std::vector<Finding>& findings) {
  if (compared_ > now || now - compared_ >= std::chrono::seconds(2)) {
    compare(hosts, stalls, now);
    compared_ = now;
  }
  std::vector<Finding> found;
  for (const auto& [name, host] : hosts) {
    if (host.lost || !host.has_reading || host.jobs.empty()) continue;
    Finding* finding = nullptr;
    for (const PortWatch& port : host.ports) {
      const Bytes& bytes = std::as_const(ports_)[port.slot];
      const Lateness& lateness = bytes.activity.lateness;
      if (!lateness.is_straggler || bytes.job != host.jobs.front() || !port.present ||
          is_explained(port, now, findings))
        continue;
      const Entity cause = place_of(host, port);
      const auto own = [&at = host.name](const Finding& other) {
        return slows(other) && other.cause.kind == EntityKind::kHostPort && other.cause.host == at;
      };
      if (const auto other = std::ranges::find_if(findings, own); other != findings.end()) {
        add_delays(host, port, *other);
        continue;
      }
      if (finding) {
        finding->affected.push_back(cause);  // the host is slow, not its adapter
      } else {
        finding = &found.emplace_back(make_finding(IncidentKind::kStraggler, Severity::kWarning, told_by(host, cause)));
        finding->jobs = {host.jobs.front()};
        finding->summary =
            name + " is slower than the others of " + host.jobs.front() + ": they wait for data from " + port.label;
      }
      finding->confidence =
          std::max(finding->confidence, std::min(kMostConfidence, kConfidence + kConfidenceEach * lateness.late));
      add_delays(host, port, *finding);
      stalls.add(port, now, *finding);
    }
  }
  std::ranges::move(found, std::back_inserter(findings));
}

void HostStragglers::explain(std::string_view fabric, const Hosts& hosts, std::vector<Finding>& findings,
                             TimePoint now) {
  Explained& explained = explained_.try_emplace(std::string(fabric)).first->second;
  explained.at = now;
  // Where nothing moves, or everybody is told to pause, nobody begins when it could.
  const bool stands = std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.kind == IncidentKind::kDeadlock || finding.kind == IncidentKind::kPfcStorm;
  });
  if (const auto subnet = subnets_.find(fabric); stands && subnet != subnets_.end() && subnet->second.sweep)
    add_route_churn(subnet->second.route_churn, {subnet->second.sweep->started - kStood, now});
  explained.nodes.clear();
  for (const Finding& finding : findings) {
    if (!slows(finding)) continue;
    for (const NodeGuid node : {finding.cause.port.node, finding.cause.peer.node})
      if (node) explained.nodes.insert(node);
  }
  if (explained.nodes.empty()) return;
  for (const auto& [name, host] : hosts)
    for (const PortWatch& port : host.ports) {
      if (!port.place || !std::as_const(ports_)[port.slot].activity.lateness.is_straggler) continue;
      const NodeGuid node = port.place->port.port.node;
      if (!explained.nodes.contains(node)) continue;
      for (Finding& finding : findings)
        if (slows(finding) && is_at(finding, node)) add_delays(host, port, finding);
    }
}

}  // namespace weft::analyzer
