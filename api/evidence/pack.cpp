// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/pack.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "api/convert/collectors.hpp"
#include "api/convert/fabric.hpp"
#include "api/convert/incident_timeline.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/maintenance.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/counters.hpp"
#include "fabric/host_names.hpp"
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

/// What the collector of the host says of a port of the graph.
const HostPort* find_device(const Topology& topology, PortIndex index, const HostView& host) {
  if (!host.reading || !host.reading->inventory) return nullptr;
  const Port& port = topology.port(index);
  const auto fits = [&](const HostPort& device) {
    if (topology.is_ethernet()) return !device.netdev.empty() && device.netdev == topology.port_name(index);
    return port.guid && device.port_guid == port.guid;
  };
  const auto& devices = host.reading->inventory->ports;
  const auto found = std::ranges::find_if(devices, fits);
  return found == devices.end() ? nullptr : &*found;
}

void device_to_proto(const HostView& host, const HostPort& from, v1::HostDevice& to) {
  to.set_host(valid_utf8(host.host));
  to.set_device(valid_utf8(from.device));
  to.set_port(from.number);
  to.set_interface(valid_utf8(from.netdev));
  to.set_driver(valid_utf8(from.driver));
  to.set_firmware(valid_utf8(from.firmware));
  to.set_board_id(valid_utf8(from.board_id));
  to.set_device_type(valid_utf8(from.device_type));
  to.set_pci_address(valid_utf8(from.pci_address));
  to.set_collector_version(valid_utf8(host.collector_version));
  if (host.reading->taken != kNever) set_timestamp(*to.mutable_read(), host.reading->taken);
  v1::Collector read;
  add_readings(*host.reading, read);
  for (const v1::CollectorPort& port : read.ports())
    if (port.device() == to.device() && port.port() == from.number)
      for (const v1::CollectorValue& value : port.counters())
        if (value.name().starts_with("module_")) *to.add_module() = value;
}

/// The device of a port of a fabric, where a collector tells of it.
void add_device(const Snapshot& snapshot, const Topology& topology, PortIndex index, v1::EvidencePort& to) {
  if (!snapshot.hosts) return;
  const std::string_view name = host_name(topology.node_of(topology.port(index)));
  for (const auto& host : *snapshot.hosts) {
    if (!same_host(host->host, name)) continue;
    if (const HostPort* device = find_device(topology, index, *host))
      return device_to_proto(*host, *device, *to.mutable_device());
  }
}

/// What of the port could not be told.
void note_port(const FabricView& fabric, PortIndex index, TimePoint now, const v1::EvidencePort& told,
               v1::EvidencePack& pack) {
  const Topology& topology = *fabric.sweep->topology;
  const bool is_switch = topology.node_of(topology.port(index)).type == NodeType::kSwitch;
  if (never_seen(*fabric.sweep, index)) {
    note_unknown(pack, told.label() + ": nobody reads this port, so neither its state nor its counters are known.");
  } else {
    if (told.port().stale()) {
      const TimePoint read = fabric.sweep->state_read_at.size() > index ? fabric.sweep->state_read_at[index] : kNever;
      note_unknown(
          pack, told.label() + ": its readings are old" +
                    (read == kNever ? "" : ", the last one " + short_duration(now - read) + " before this was made") +
                    "; what it does now is not known.");
    }
    if (told.port().counters().empty()) note_unknown(pack, told.label() + ": no counter of it was read.");
  }
  if (!told.has_device())
    note_unknown(
        pack, told.label() +
                  (is_switch && !topology.is_ethernet()
                       ? ": the firmware of the switch and the module at this port are not known: collectors tell of "
                         "them, and an InfiniBand switch has none."
                       : ": driver, firmware and module are not known: no collector tells of this port."));
  else if (told.device().module().empty())
    note_unknown(pack, told.label() + ": its collector reads nothing of a module here.");
}

/// Adds ports of one fabric, in this order, with their nodes. Sets the ports that the history is asked for.
void add_ports(const std::shared_ptr<const Snapshot>& snapshot, const FabricView& fabric,
               const std::vector<PortIndex>& ports, TimePoint now, BegunEvidence& begun) {
  const Topology& topology = *fabric.sweep->topology;
  PortHistoryQuestion asked;
  asked.question.fabric = fabric.name;
  asked.fabric = &fabric;
  asked.snapshot = snapshot;
  std::set<NodeIndex> nodes;
  for (const PortIndex index : ports) {
    if (begun.pack.ports_size() >= static_cast<int>(kMostEvidencePorts)) {
      note_unknown(begun.pack, "Only " + std::to_string(kMostEvidencePorts) + " of " + std::to_string(ports.size()) +
                                   " ports are told of: ask for one of the others by its own name.");
      break;
    }
    v1::EvidencePort& to = *begun.pack.add_ports();
    to.set_label(valid_utf8(port_label(topology, index)));
    port_to_proto(fabric, index, PortDetail::kCounters, now, *to.mutable_port());
    add_device(*snapshot, topology, index, to);
    note_port(fabric, index, now, to, begun.pack);
    const NodeIndex node = topology.port(index).node;
    if (nodes.insert(node).second) node_to_proto(fabric, node, *begun.pack.add_nodes());
    asked.ports.push_back(index);
    asked.question.ports.push_back(topology.key_of(index));
  }
  if (!asked.ports.empty()) begun.history = std::move(asked);
}

/// A port and the other end of its cable.
std::vector<PortIndex> with_peer(const Topology& topology, PortIndex index) {
  const PortIndex peer = topology.port(index).peer;
  if (peer == kNoIndex) return {index};
  return {index, peer};
}

std::vector<PortIndex> ports_of_node(const Topology& topology, NodeIndex index) {
  std::vector<PortIndex> ports;
  const Node& node = topology.node(index);
  for (PortIndex i = node.first_port; i < node.first_port + node.port_entries(); ++i)
    if (is_port(topology, i) && topology.port(i).number.value != 0) ports.push_back(i);
  return ports;
}

/// A port that no fabric has now: its history may be there.
void add_gone(const std::shared_ptr<const Snapshot>& snapshot, const std::string& fabric, PortKey port,
              const std::string& label, BegunEvidence& begun) {
  v1::EvidencePort& to = *begun.pack.add_ports();
  to.set_label(valid_utf8(label));
  PortHistoryQuestion asked;
  asked.snapshot = snapshot;
  asked.question.fabric = fabric;
  asked.question.gone = port;
  begun.history = std::move(asked);
  note_unknown(begun.pack, label + ": no fabric has it now, so its state and its counters are not known.");
}

/// The ports that an incident is about.
void add_ports_of(const std::shared_ptr<const Snapshot>& snapshot, const Entity& cause, TimePoint now,
                  BegunEvidence& begun) {
  if (cause.kind == EntityKind::kFabric || cause.kind == EntityKind::kCollector || cause.kind == EntityKind::kCohort)
    return note_unknown(begun.pack,
                        "The incident is about no single port: there are no counters and no charts of one.");
  if (cause.kind == EntityKind::kHost || cause.kind == EntityKind::kHostPort) {
    if (cause.kind == EntityKind::kHostPort && snapshot->hosts)
      for (const auto& host : *snapshot->hosts) {
        if (host->host != cause.host || !host->reading || !host->reading->inventory) continue;
        for (const HostPort& device : host->reading->inventory->ports)
          if (device.device == cause.device && device.number == cause.port.port.value) {
            v1::EvidencePort& to = *begun.pack.add_ports();
            to.set_label(valid_utf8(cause.label));
            device_to_proto(*host, device, *to.mutable_device());
          }
      }
    if (cause.kind == EntityKind::kHostPort)
      return note_unknown(begun.pack,
                          cause.label + ": only its host's collector sees this port, and no history is kept of it.");
    for (const FoundNode& found : find_nodes(*snapshot, cause.host, kMostNodes))
      if (!begun.history)
        add_ports(snapshot, *found.fabric, ports_of_node(*found.fabric->sweep->topology, found.node), now, begun);
    if (!begun.history) note_unknown(begun.pack, cause.host + ": no fabric has a port of this host.");
    return;
  }
  const auto view = std::ranges::find_if(snapshot->fabrics, [&](const FabricView& fabric) {
    return fabric.name == cause.fabric && fabric.sweep && fabric.sweep->topology;
  });
  if (view == snapshot->fabrics.end())
    return note_unknown(begun.pack, "Fabric " + cause.fabric + " is not watched now: its ports are not known.");
  const Topology& topology = *view->sweep->topology;
  if (cause.kind == EntityKind::kNode) {
    const NodeIndex node = topology.find_node(cause.port.node);
    if (node == kNoIndex) return add_gone(snapshot, cause.fabric, {cause.port.node, {}}, cause.label, begun);
    return add_ports(snapshot, *view, ports_of_node(topology, node), now, begun);
  }
  std::vector<PortIndex> ports;
  if (const PortIndex index = topology.find_port(cause.port); index != kNoIndex) ports.push_back(index);
  if (cause.kind == EntityKind::kLink)
    if (const PortIndex index = topology.find_port(cause.peer); index != kNoIndex) ports.push_back(index);
  if (ports.empty()) return add_gone(snapshot, cause.fabric, cause.port, cause.label, begun);
  if (cause.kind == EntityKind::kLink && ports.size() == 1)
    note_unknown(begun.pack, cause.label + ": no fabric has one of its ends now.");
  if (cause.kind == EntityKind::kPort) ports = with_peer(topology, ports.front());
  add_ports(snapshot, *view, ports, now, begun);
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
  add_ports_of(snapshot, incident->finding.cause, now, begun);
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
      "Vendor, part number, serial number and length of cables and modules are not known: this version of Weft does "
      "not "
      "read them.");
  if (begun->history) begun->history->with_still = true;  // gaps are seen in what did not move, too
  return begun;
}

}  // namespace weft::api
