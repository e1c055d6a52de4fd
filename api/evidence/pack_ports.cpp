// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/pack_ports.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "api/convert/collectors.hpp"
#include "api/convert/fabric.hpp"
#include "api/convert/host_devices.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {
namespace {

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
  if (host.reading->facts) {
    if (host.reading->facts_at != kNever) set_timestamp(*to.mutable_facts_read(), host.reading->facts_at);
    const FactTable& table = *host.reading->facts;
    for (const PortFacts* facts : {find_facts(table, from.device, from.number), find_facts(table, "", 0)})
      if (facts != nullptr)
        for (const FactValue& fact : facts->facts) to_proto(fact, *to.add_facts());
  }
  v1::Collector read;
  add_readings(*host.reading, read);
  for (const v1::CollectorPort& port : read.ports())
    if (port.device() == to.device() && port.port() == from.number)
      for (const v1::CollectorValue& value : port.counters())
        if (value.name().starts_with("module_")) *to.add_module() = value;
}

/// Its collector read who made the module.
bool names_module(const v1::HostDevice& device) {
  return std::ranges::any_of(device.facts(), [](const v1::ConfigurationFact& fact) {
    return fact.name() == row_of(ConfigFact::kModuleSerial).name;
  });
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
  else if (told.device().module().empty() && !names_module(told.device()))
    note_unknown(pack, told.label() + ": its collector reads nothing of a module here.");
}

std::vector<PortIndex> ports_of_node(const Topology& topology, NodeIndex index) {
  std::vector<PortIndex> ports;
  const Node& node = topology.node(index);
  for (PortIndex i = node.first_port; i < node.first_port + node.port_entries(); ++i)
    if (is_port(topology, i) && topology.port(i).number.value != 0) ports.push_back(i);
  return ports;
}

/// Ports that only their hosts' collectors see.
void add_host_ports(const Snapshot& snapshot, std::span<const Entity> ports, BegunEvidence& begun) {
  const HostDevices devices(snapshot);
  for (const Entity& port : ports) {
    if (port.kind != EntityKind::kHostPort) continue;
    if (begun.pack.ports_size() >= static_cast<int>(kMostEvidencePorts)) return;
    v1::EvidencePort& to = *begun.pack.add_ports();
    to.set_label(valid_utf8(port.label));
    if (const FoundDevice found = devices.find(port)) {
      device_to_proto(*found.host, *found.device, *to.mutable_device());
    } else {
      note_unknown(begun.pack, port.label + ": no collector tells of this port now.");
    }
  }
}

/// All ports of all adapters of a host, in the first fabric that has one.
void add_ports_of_host(const std::shared_ptr<const Snapshot>& snapshot, const std::string& host, TimePoint now,
                       BegunEvidence& begun) {
  const FabricView* fabric = nullptr;
  std::set<std::string> others;
  std::vector<PortIndex> ports;
  for (const FoundNode& found : find_nodes(*snapshot, host, kMostNodes)) {
    if (fabric == nullptr) fabric = found.fabric;
    if (fabric != found.fabric) {
      others.insert(found.fabric->name);
      continue;
    }
    const std::vector<PortIndex> more = ports_of_node(*fabric->sweep->topology, found.node);
    ports.insert(ports.end(), more.begin(), more.end());
  }
  if (fabric == nullptr) return note_unknown(begun.pack, host + ": no fabric has a port of this host.");
  add_ports(snapshot, *fabric, ports, now, begun);
  for (const std::string& other : others)
    note_unknown(begun.pack, host + ": its ports in fabric " + other + " are not listed: ask for the host there.");
}

const FabricView* find_view(const Snapshot& snapshot, const std::string& name) {
  const auto view = std::ranges::find_if(snapshot.fabrics, [&](const FabricView& fabric) {
    return fabric.name == name && fabric.sweep && fabric.sweep->topology;
  });
  return view == snapshot.fabrics.end() ? nullptr : &*view;
}

/// Ports and links that are affected, of an incident that has none as its cause.
void add_affected(const std::shared_ptr<const Snapshot>& snapshot, const Finding& finding, TimePoint now,
                  BegunEvidence& begun) {
  std::map<std::string, std::vector<PortIndex>> ports;  // by fabric, as many as a pack may have
  for (const Entity& each : finding.affected) {
    if (each.kind != EntityKind::kPort && each.kind != EntityKind::kLink) continue;
    const FabricView* const view = find_view(*snapshot, each.fabric);
    if (view == nullptr) continue;
    const Topology& topology = *view->sweep->topology;
    std::vector<PortIndex>& known = ports[each.fabric];
    for (const PortKey key : {each.port, each.kind == EntityKind::kLink ? each.peer : each.port}) {
      const PortIndex index = topology.find_port(key);
      if (index != kNoIndex && std::ranges::find(known, index) == known.end() && known.size() <= kMostEvidencePorts)
        known.push_back(index);
    }
  }
  for (const auto& [fabric, of_it] : ports) {
    std::optional<PortHistoryQuestion> first = std::move(begun.history);
    begun.history.reset();
    add_ports(snapshot, *find_view(*snapshot, fabric), of_it, now, begun);
    if (first) begun.history = std::move(first);
  }
  add_host_ports(*snapshot, finding.affected, begun);
  if (finding.cause.kind == EntityKind::kCohort && finding.kind != IncidentKind::kJobHang) {
    begun.history.reset();
    note_unknown(begun.pack, "There are no charts: the incident is about settings, not about what ports count.");
  } else if (begun.pack.ports().empty()) {
    note_unknown(begun.pack, "The incident is about no single port: there are no counters and no charts of one.");
  } else if (ports.size() > 1) {
    note_unknown(begun.pack, "Charts are of the ports of fabric " + ports.begin()->first + " alone.");
  }
}

}  // namespace

void add_ports(const std::shared_ptr<const Snapshot>& snapshot, const FabricView& fabric,
               const std::vector<PortIndex>& ports, TimePoint now, BegunEvidence& begun) {
  const Topology& topology = *fabric.sweep->topology;
  const HostDevices devices(*snapshot);
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
    if (const FoundDevice found = devices.find(topology, index))
      device_to_proto(*found.host, *found.device, *to.mutable_device());
    note_port(fabric, index, now, to, begun.pack);
    const NodeIndex node = topology.port(index).node;
    if (nodes.insert(node).second) node_to_proto(fabric, node, *begun.pack.add_nodes());
    asked.ports.push_back(index);
    asked.question.ports.push_back(topology.key_of(index));
  }
  if (!asked.ports.empty()) begun.history = std::move(asked);
}

std::vector<PortIndex> with_peer(const Topology& topology, PortIndex index) {
  const PortIndex peer = topology.port(index).peer;
  if (peer == kNoIndex) return {index};
  return {index, peer};
}

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

void add_ports_of(const std::shared_ptr<const Snapshot>& snapshot, const Finding& finding, TimePoint now,
                  BegunEvidence& begun) {
  const Entity& cause = finding.cause;
  if (cause.kind == EntityKind::kFabric || cause.kind == EntityKind::kCohort)
    return add_affected(snapshot, finding, now, begun);
  if (cause.kind == EntityKind::kHostPort) {
    add_host_ports(*snapshot, std::span(&cause, 1), begun);
    return note_unknown(begun.pack,
                        cause.label + ": only its host's collector sees this port, and no history is kept of it.");
  }
  if (cause.kind == EntityKind::kHost || cause.kind == EntityKind::kCollector)
    return add_ports_of_host(snapshot, cause.host, now, begun);
  const FabricView* const view = find_view(*snapshot, cause.fabric);
  if (view == nullptr)
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

}  // namespace weft::api
