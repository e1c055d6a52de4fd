// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/pack.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "api/convert/drift.hpp"
#include "api/convert/fabric.hpp"
#include "api/convert/incident_timeline.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/maintenance.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/times.hpp"
#include "api/evidence/pack_ports.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;

/// Of the charts of one pack, all ports together: more cannot be seen on paper.
constexpr std::uint32_t kMostPoints = 480;
constexpr std::uint32_t kFewestPoints = 48;
constexpr std::uint32_t kUsualPoints = 240;
/// Before and after the time of an incident.
constexpr Duration kLeastAround = 1h;
constexpr Duration kMostAround = 24h;
constexpr Duration kLongestCharts = 7 * 24h;

std::uint32_t points_for(std::size_t ports) {
  const auto each = kMostPoints / static_cast<std::uint32_t>(std::max<std::size_t>(ports, 1));
  return std::clamp(each, kFewestPoints, kUsualPoints);
}

/// Its time, and some before and after it.
void set_time_of(const Incident& incident, TimePoint now, BegunEvidence& begun) {
  if (!begun.history) return;
  const TimePoint end = incident.resolved == kNever ? now : incident.resolved;
  const Duration around = std::clamp(end - incident.opened, kLeastAround, kMostAround);
  TimePoint from = incident.opened - around;
  const TimePoint to = std::min(end + around, now);
  if (to - from > kLongestCharts) {
    from = to - kLongestCharts;
    note_unknown(begun.pack, "Charts show the last " + short_duration(kLongestCharts) + ": the incident is older.");
  }
  google::protobuf::Timestamp begin, until;
  set_timestamp(begin, from);
  set_timestamp(until, to);
  const auto time = history_time(&begin, &until, points_for(begun.pack.ports_size()), now);
  if (!time) return begun.history.reset();
  begun.history->question.from = time->from;
  begun.history->question.to = time->to;
  begun.history->question.step = time->step;
}

/// Links of a runbook lead into weftd's page, which nobody has who reads the document. Its commands get the incident's
/// number.
std::string without_links(std::string_view html, const std::string& incident) {
  constexpr std::string_view kBlank = "INC-…";
  std::string text;
  for (std::size_t at = 0; at < html.size();) {
    const std::string_view rest = html.substr(at);
    if (rest.starts_with("<a ") || rest.starts_with("</a>")) {
      at += std::min(rest.find('>'), rest.size() - 1) + 1;
    } else if (rest.starts_with(kBlank)) {
      text += incident;
      at += kBlank.size();
    } else {
      text += html[at++];
    }
  }
  return text;
}

void add_rules(const EvidenceSource& source, IncidentKind kind, v1::EvidencePack& pack) {
  if (const auto found = source.thresholds.find(kind); found != source.thresholds.end())
    for (const ThresholdText& each : found->second) {
      v1::Threshold& to = *pack.add_thresholds();
      to.set_key(each.key);
      to.set_value(valid_utf8(each.value));
      to.set_default_value(valid_utf8(each.default_value));
      to.set_source(each.source);
    }
  pack.set_runbook(runbook_path(kind));
  const std::string_view page = source.page ? source.page(pack.runbook()) : std::string_view();
  constexpr std::string_view kBegin = "<section id=\"what-to-do\">";
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find("</section>", std::min(begin, page.size()));
  if (begin == page.npos || end == page.npos) {
    note_unknown(pack, "What the runbook says to do: this weftd was built without it.");
    return;
  }
  pack.set_runbook_steps(
      without_links(page.substr(begin + kBegin.size(), end - begin - kBegin.size()), pack.incident().id()));
}

Result<BegunEvidence> of_incident(const EvidenceSource& source, const std::shared_ptr<const Snapshot>& snapshot,
                                  const v1::GetEvidenceRequest& request, TimePoint now) {
  if (request.has_from() || request.has_to() || !request.fabric().empty())
    return fail(ErrorCode::kInvalidArgument, "fabric, from and to are of a node or port: an incident has its own");
  auto told = get_incident(*snapshot, request.incident_id());
  if (!told) return tl::unexpected(std::move(told.error()));
  BegunEvidence begun;
  v1::EvidencePack& pack = begun.pack;
  *pack.mutable_incident() = std::move(*told);
  pack.set_title(pack.incident().id());
  const auto incident = find_incident(*snapshot, *parse_incident_name(pack.incident().id()));
  if (auto timeline = incident_timeline(*snapshot, request.incident_id(), now)) {
    if (timeline->left_out() > 0)
      note_unknown(pack, std::to_string(timeline->left_out()) + " older events of the timeline are not listed.");
    *pack.mutable_timeline() = std::move(*timeline);
  }
  for (const Plan* plan : plans_of(*snapshot, *incident)) to_proto(*plan, *pack.add_plans());
  if (const std::uint64_t window = incident->finding.maintenance; window != 0)
    if (auto found = get_maintenance(*snapshot, maintenance_name(window), now))
      *pack.add_maintenance() = std::move(*found);
  add_ports_of(snapshot, incident->finding, now, begun);
  if (incident->finding.kind == IncidentKind::kConfigDrift)
    add_differences_of(*snapshot, incident->finding.cause, *pack.mutable_differences());
  set_time_of(*incident, now, begun);
  add_rules(source, incident->finding.kind, pack);
  return begun;
}

Result<BegunEvidence> of_thing(const std::shared_ptr<const Snapshot>& snapshot, const v1::GetEvidenceRequest& request,
                               TimePoint now) {
  v1::GetPortHistoryRequest wanted;
  wanted.set_what(request.what());
  wanted.set_fabric(request.fabric());
  if (request.has_from()) *wanted.mutable_from() = request.from();
  if (request.has_to()) *wanted.mutable_to() = request.to();
  auto asked = parse_port_history(snapshot, wanted, now);
  if (!asked) return tl::unexpected(std::move(asked.error()));
  BegunEvidence begun;
  begun.pack.set_title(valid_utf8(request.what()));
  std::vector<PortIndex> ports = asked->ports;
  if (asked->question.gone) {
    add_gone(snapshot, asked->question.fabric, *asked->question.gone, valid_utf8(request.what()), begun);
  } else {
    const Topology& topology = *asked->fabric->sweep->topology;
    std::erase_if(ports, [&](PortIndex index) { return topology.port(index).number.value == 0; });
    const bool is_node = !find_nodes(*snapshot, request.what(), 1).empty();
    if (!is_node && ports.size() == 1) {
      begun.pack.set_title(valid_utf8(port_label(topology, ports.front())));
      ports = with_peer(topology, ports.front());
    }
    add_ports(snapshot, *asked->fabric, ports, now, begun);
  }
  const auto time = history_time(request.has_from() ? &request.from() : nullptr,
                                 request.has_to() ? &request.to() : nullptr, points_for(begun.pack.ports_size()), now);
  if (!time) return tl::unexpected(time.error());
  if (begun.history) {
    begun.history->question.from = time->from;
    begun.history->question.to = time->to;
    begun.history->question.step = time->step;
  }
  return begun;
}

}  // namespace

void note_unknown(v1::EvidencePack& pack, const std::string& sentence) {
  pack.add_unknown(valid_utf8(sentence));
}

Result<BegunEvidence> begin_evidence(const EvidenceSource& source, std::shared_ptr<const Snapshot> snapshot,
                                     const v1::GetEvidenceRequest& request, TimePoint now) {
  if (request.incident_id().empty() == request.what().empty())
    return fail(ErrorCode::kInvalidArgument, "evidence is of one incident, or of one node or port");
  auto begun = request.what().empty() ? of_incident(source, snapshot, request, now) : of_thing(snapshot, request, now);
  if (!begun) return begun;
  begun->pack.set_weftd_version(source.version);
  begun->pack.set_weftd_host(valid_utf8(source.host));
  begun->pack.set_shard(valid_utf8(own_shard(*snapshot)));
  begun->pack.set_with_jobs(request.with_jobs());
  set_timestamp(*begun->pack.mutable_made(), now);
  note_unknown(
      begun->pack,
      "Serial numbers of switches and adapters, and the length of cables, are not known: this version of Weft does not "
      "read them. Vendor, part number and serial number of a module are known where a collector reads its memory.");
  if (begun->history) begun->history->with_still = true;  // gaps are seen in what did not move, too
  return begun;
}

}  // namespace weft::api
