// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/incident_families.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/metrics/family.hpp"
#include "api/metrics/sample.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kLongestValue = 256;  ///< bytes of a label, as of a node's name

using Shown = std::vector<std::shared_ptr<const Incident>>;

Shown open_incidents(const Snapshot& snapshot) {
  Shown shown;
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents)
      if (incident->is_open() && incident->finding.kind < IncidentKind::kCount) shown.push_back(incident);
  return shown;
}

/// Cuts `incidents` to the ones that have series; gives back how many have none.
std::size_t keep_worst(Shown& incidents) {
  if (incidents.size() <= kMostIncidentsShown) return 0;
  std::ranges::stable_sort(incidents, [](const auto& a, const auto& b) {
    return std::pair(b->finding.severity, a->id) < std::pair(a->finding.severity, b->id);
  });
  const std::size_t left_out = incidents.size() - kMostIncidentsShown;
  incidents.resize(kMostIncidentsShown);
  return left_out;
}

std::string_view attention_of(const Incident& incident, TimePoint now) {
  if (incident.finding.maintenance != 0) return "planned";
  if (incident.state == IncidentState::kAcknowledged) return "acknowledged";
  return incident.silenced_until > now ? "silenced" : "unattended";
}

/// One end of what an incident is about, as port series name it; empty where the subnet is not swept.
struct End {
  std::string node;
  std::string guid;
  std::string port;
  std::string host;
};

End end_of(const Snapshot& snapshot, const Entity& entity, PortKey key) {
  End end;
  if (!key.node) return end;
  end.guid = to_string(key.node);
  if (key.port.value > 0) end.port = std::to_string(key.port.value);
  for (const FabricView& fabric : snapshot.fabrics) {
    if (fabric.name != entity.fabric || !fabric.sweep || !fabric.sweep->topology) continue;
    const Topology& topology = *fabric.sweep->topology;
    const NodeIndex index = topology.find_node(key.node);
    if (index == kNoIndex) continue;
    const Node& node = topology.nodes()[index];
    end.node = node.name;
    if (node.type == NodeType::kChannelAdapter) end.host = host_name(node);
  }
  return end;
}

/// Labels in their order, those without a value left out.
class Line {
 public:
  Line(std::string& out, std::string_view name) : out_(out) { out_.append(name) += '{'; }
  void label(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (out_.back() != '{') out_ += ',';
    out_.append(name) += "=\"";
    append_label_value(out_, value.substr(0, kLongestValue));
    out_ += '"';
  }
  void end() { out_ += "} 1\n"; }

 private:
  std::string& out_;
};

void append_info(std::string& out, const Snapshot& snapshot, const Shown& incidents, TimePoint now,
                 MetricsFormat format) {
  constexpr MetricFamily kInfo{"weft_incident_info", MetricType::kInfo,
                               "Open incidents, the most severe first; the label attention is their handling state."};
  append_head(out, kInfo, format);
  for (const auto& incident : incidents) {
    const Entity& cause = incident->finding.cause;
    const End near = end_of(snapshot, cause, cause.port);
    const End far = end_of(snapshot, cause, cause.peer);
    Line line(out, kInfo.name);
    line.label("incident", incident_name(incident->id));
    line.label("kind", to_string(incident->finding.kind));
    line.label("severity", to_string(incident->finding.severity));
    line.label("attention", attention_of(*incident, now));
    line.label("subnet", cause.fabric);
    line.label("entity", to_string(cause.kind));
    line.label("cause", cause.label);
    line.label("node", near.node);
    line.label("guid", near.guid);
    line.label("port", near.port);
    line.label("peer_node", far.node);
    line.label("peer_guid", far.guid);
    line.label("peer_port", far.port);
    line.label("host", !cause.host.empty() ? cause.host : near.host.empty() ? far.host : near.host);
    line.label("device", cause.device);
    line.end();
  }
}

/// A family with one sample for each incident.
template <typename Value>
void per_incident(std::string& out, const Shown& incidents, MetricsFormat format, const MetricFamily& family,
                  Value&& value) {
  append_head(out, family, format);
  for (const auto& incident : incidents)
    append_sample(out, family.name, {{"incident", incident_name(incident->id)}}, value(*incident));
}

}  // namespace

void append_incident_families(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format) {
  Shown incidents = open_incidents(snapshot);
  const std::size_t left_out = keep_worst(incidents);
  constexpr MetricFamily kLeftOut{"weft_incidents_left_out", MetricType::kGauge,
                                  "Open incidents without their own series because there are too many."};
  append_head(out, kLeftOut, format);
  append_sample(out, kLeftOut.name, {}, left_out);
  if (incidents.empty()) return;
  append_info(out, snapshot, incidents, now, format);
  per_incident(out, incidents, format,
               {"weft_incident_opened_timestamp_seconds", MetricType::kGauge,
                "Time when the incident was first opened, in Unix time."},
               [](const Incident& incident) { return seconds(incident.opened.time_since_epoch()); });
  per_incident(out, incidents, format,
               {"weft_incident_affected", MetricType::kGauge, "Nodes, links and ports affected by the incident."},
               [](const Incident& incident) { return incident.finding.affected.size(); });
  per_incident(out, incidents, format,
               {"weft_incident_waiting_links", MetricType::kGauge, "Links that wait for the incident's cause."},
               [](const Incident& incident) { return incident.finding.waiting.total; });
  per_incident(out, incidents, format, {"weft_incident_jobs", MetricType::kGauge, "Jobs affected by the incident."},
               [](const Incident& incident) { return incident.finding.jobs.size(); });
  constexpr MetricFamily kJobs{"weft_incident_job_info", MetricType::kInfo, "The jobs affected by the incident."};
  std::string samples;
  for (const auto& incident : incidents)
    for (std::size_t i = 0; i < std::min(incident->finding.jobs.size(), kMostJobsShown); ++i) {
      Line line(samples, kJobs.name);
      line.label("incident", incident_name(incident->id));
      line.label("job_id", incident->finding.jobs[i]);
      line.end();
    }
  if (samples.empty()) return;
  append_head(out, kJobs, format);
  out += samples;
}

bool append_jobs(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position) {
  if (!snapshot.hosts) return false;
  constexpr MetricFamily kJob{"weft_job_info", MetricType::kInfo, "Jobs on hosts, as reported by collectors."};
  const auto& hosts = *snapshot.hosts;
  for (; position < hosts.size() && out.size() < kChunk; ++position) {
    if (position == 0) append_head(out, kJob, format);
    const HostView& host = *hosts[position];
    if (host.state != CollectorState::kConnected || !host.reading) continue;
    const auto& jobs = host.reading->jobs;
    for (std::size_t i = 0; i < std::min(jobs.size(), kMostJobsShown); ++i) {
      Line line(out, kJob.name);
      line.label("job_id", jobs[i]);
      line.label("node", host.host);
      line.end();
    }
  }
  return !out.empty();
}

}  // namespace weft::api
