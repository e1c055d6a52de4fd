// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/timeline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "fabric/link_rate.hpp"
#include "tests/scenarios/analyzers.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

using nlohmann::json;

/// By host: its adapters. None where no host has a collector.
json hosts_of(const Scenario& scenario, const Plan& plan) {
  json hosts = json::array();
  if (!scenario.collectors) return hosts;
  const auto jobs = jobs_of_hosts(scenario, plan);
  for (std::uint32_t host = 0; host < plan.spec.hosts; ++host) {
    const auto first = plan.adapters.begin() + host * plan.spec.rails;
    json names = json::array();  // real hosts are given theirs once
    for (const PlacedJob& job : jobs[host])
      if (job.start <= 0) names.push_back(job.name);
    hosts.push_back({{"name", host_name(plan.nodes[*first])},
                     {"adapters", std::vector<NodeIndex>(first, first + plan.spec.rails)},
                     {"jobs", std::move(names)}});
  }
  return hosts;
}

json fabric_line(const Scenario& scenario, const Plan& plan) {
  json nodes = json::array();
  for (const Node& node : plan.nodes)
    nodes.push_back({{"guid", node.guid.value},
                     {"switch", node.type == NodeType::kSwitch},
                     {"name", node.name},
                     {"ports", node.port_count}});
  json cables = json::array();
  for (const PortIndex port : plan.cables()) {
    const Port& here = plan.ports[port];
    const Port& there = plan.ports[here.peer];
    cables.push_back({here.node, here.number.value, there.node, there.number.value});
  }
  return {{"name", scenario.name},
          {"interval", scenario.interval},
          {"duration", scenario.duration},
          {"watcher", plan.adapters.front()},
          {"nodes", std::move(nodes)},
          {"cables", std::move(cables)},
          {"hosts", hosts_of(scenario, plan)}};
}

/// What of one port a driver can make so.
json port_state(const Port& port) {
  const bool joined = port.state != PortState::kDown;
  return {{"joined", joined},
          {"width", lanes(port.width_active)},
          {"speed", speed_name(port.speed_active)},
          {"rate", link_bits_per_second(port.width_active, port.speed_active)},
          {"tick", static_cast<double>(port.wait_tick_seconds)}};
}

json register_values(const SampleTable& table, PortIndex port) {
  json values = json::object();
  for (const CounterId id : table.counters())
    if (table.present(port, table.column(id)))
      values[std::string(counter_info(id).name)] = table.value(port, table.column(id));
  return values;
}

/// What a host's collector read of RDMA errors, by device.
json errors_read(const HostReading& reading) {
  json devices = json::object();
  const SeriesList& series = reading.inventory->series;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (reading.present[i] && find_counter(series[i].name)->family == CounterFamily::kRdmaError)
      devices[series[i].device][series[i].name] = reading.values[i];
  return devices;
}

/// As the kernel shows it in sysfs, where nothing tells of PCIe.
void keep_what_files_show(HostBatch& batch) {
  if (!batch.reading) return;
  const SeriesList& series = batch.reading->inventory->series;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (series[i].name.starts_with("pcie_")) batch.reading->present[i] = 0;
}

class Writer {
 public:
  Writer(const Case& scenario, const Simulator& simulator, std::ostream& out)
      : plan_(scenario.plan),
        simulator_(simulator),
        out_(out),
        states_(plan_.ports.size()),
        values_(plan_.ports.size()),
        was_up_(plan_.nodes.size(), 0),
        errors_(scenario.scenario.collectors ? plan_.spec.hosts : 0) {}

  bool write(const Tick& tick) {
    const std::vector<Port>& ports = simulator_.ports();
    SampleTable counters = *tick.sweep->counters;
    json moved = json::array();
    std::vector<std::uint8_t> read(plan_.nodes.size(), 0);
    std::vector<std::uint8_t> up(plan_.nodes.size(), 0);
    for (PortIndex port = 0; port < ports.size(); ++port) {
      if (ports[port].peer != plan_.ports[port].peer) return false;
      if (ports[port].peer == kNoIndex) continue;
      read[ports[port].node] |= static_cast<std::uint8_t>(tick.sweep->state_read_at[port] >= tick.sweep->started);
      up[ports[port].node] |= static_cast<std::uint8_t>(ports[port].is_up() && ports[ports[port].peer].is_up());
      json entry{{"node", ports[port].node}, {"port", ports[port].number.value}};
      if (json state = port_state(ports[port]); state != states_[port])
        entry["state"] = states_[port] = std::move(state);
      simulator_.read_now(port, counters);
      if (json values = register_values(counters, port); values != values_[port])
        entry["values"] = values_[port] = std::move(values);
      if (entry.size() > 2) moved.push_back(std::move(entry));
    }
    json silent = json::array();
    // One that was cut off until now could not answer, which does not make it silent.
    for (NodeIndex node = 0; node < read.size(); ++node)
      if (!read[node] && up[node] && was_up_[node]) silent.push_back(node);
    was_up_ = std::move(up);
    json frame{{"at", tick.at}, {"ports", std::move(moved)}, {"silent", std::move(silent)}};
    if (!errors_.empty()) add_hosts(tick, frame);
    out_ << frame << '\n';
    return true;
  }

 private:
  void add_hosts(const Tick& tick, json& frame) {
    std::vector<json> read(errors_.size());
    for (const Delivery& delivery : tick.heard)
      if (delivery.batch.reading) read[host_of(delivery.host)] = errors_read(*delivery.batch.reading);
    json& hosts = frame["hosts"] = json::array();
    json& dark = frame["dark"] = json::array();
    for (std::uint32_t host = 0; host < read.size(); ++host) {
      if (!simulator_.is_powered(plan_.adapters[host * plan_.spec.rails])) dark.push_back(host);
      if (read[host].is_null() || read[host] == errors_[host]) continue;
      errors_[host] = read[host];
      hosts.push_back({{"host", host}, {"devices", std::move(read[host])}});
    }
  }

  std::uint32_t host_of(std::string_view name) const {
    std::uint32_t host = 0;
    while (host_name(plan_.nodes[plan_.adapters[host * plan_.spec.rails]]) != name) ++host;
    return host;
  }

  const Plan& plan_;
  const Simulator& simulator_;
  std::ostream& out_;
  std::vector<json> states_, values_;  ///< by port, as last written
  std::vector<std::uint8_t> was_up_;   ///< by node: it had a link that was up
  std::vector<json> errors_;           ///< by host, as last written
};

json incident_line(const analyzer::IncidentManager& book) {
  const auto signals = [](const Incident& incident) {
    json list = json::array();
    for (const Evidence& evidence : incident.finding.evidence) list.push_back(evidence.signal);
    return list;
  };
  json incidents = json::array();
  for (const auto& incident : *book.all())
    incidents.push_back({{"kind", to_string(incident->finding.kind)},
                         {"entity", to_string(incident->finding.cause.kind)},
                         {"guid", incident->finding.cause.port.node.value},
                         {"port", incident->finding.cause.port.port.value},
                         {"peer_guid", incident->finding.cause.peer.node.value},
                         {"peer_port", incident->finding.cause.peer.port.value},
                         {"label", incident->finding.cause.label},
                         {"signals", signals(*incident)},
                         {"summary", incident->finding.summary}});
  return {{"incidents", std::move(incidents)}};
}

}  // namespace

Result<void> write_timeline(const Case& scenario, std::ostream& out) {
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::kInvalidArgument, scenario.scenario.name + ": " + why);
  };
  if (scenario.plan.is_ethernet()) return refuse("ibsim knows no Ethernet");
  Simulator simulator(scenario.scenario, scenario.plan);
  Analyzers analyzers(simulator);
  out << fabric_line(scenario.scenario, scenario.plan) << '\n';
  Writer writer(scenario, simulator, out);
  for (Tick tick; simulator.next(tick);) {
    if (!tick.sweep) return refuse("the watcher itself stops, which no port shows");
    for (Delivery& delivery : tick.heard) keep_what_files_show(delivery.batch);
    if (!writer.write(tick)) return refuse("cables change their places, which no port shows");
    analyzers.take(tick);
  }
  out << incident_line(analyzers.book()) << '\n';
  return {};
}

}  // namespace weft::scenarios
