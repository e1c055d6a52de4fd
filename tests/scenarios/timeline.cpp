#include "tests/scenarios/timeline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyzer/detect/fabric_analyzer.hpp"
#include "analyzer/incidents/incident_book.hpp"
#include "fabric/link_rate.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

using nlohmann::json;

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
  return {{"name", scenario.name},         {"interval", scenario.interval},
          {"duration", scenario.duration}, {"watcher", plan.adapters.front()},
          {"nodes", std::move(nodes)},     {"cables", std::move(cables)}};
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

class Writer {
 public:
  Writer(const Case& scenario, std::ostream& out)
      : plan_(scenario.plan),
        out_(out),
        states_(plan_.ports.size()),
        values_(plan_.ports.size()),
        was_up_(plan_.nodes.size(), 0) {}

  bool write(const Tick& tick, const std::vector<Port>& ports) {
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
      if (json values = register_values(*tick.sweep->counters, port); values != values_[port])
        entry["values"] = values_[port] = std::move(values);
      if (entry.size() > 2) moved.push_back(std::move(entry));
    }
    json silent = json::array();
    // One that was cut off until now could not answer, which does not make it silent.
    for (NodeIndex node = 0; node < read.size(); ++node)
      if (!read[node] && up[node] && was_up_[node]) silent.push_back(node);
    was_up_ = std::move(up);
    out_ << json{{"at", tick.at}, {"ports", std::move(moved)}, {"silent", std::move(silent)}} << '\n';
    return true;
  }

 private:
  const Plan& plan_;
  std::ostream& out_;
  std::vector<json> states_, values_;  ///< by port, as last written
  std::vector<std::uint8_t> was_up_;   ///< by node: it had a link that was up
};

json incident_line(const analyzer::IncidentBook& book) {
  json incidents = json::array();
  for (const auto& incident : *book.all())
    incidents.push_back({{"kind", to_string(incident->kind)},
                         {"entity", to_string(incident->cause.kind)},
                         {"guid", incident->cause.port.node.value},
                         {"port", incident->cause.port.port.value},
                         {"peer_guid", incident->cause.peer.node.value},
                         {"peer_port", incident->cause.peer.port.value},
                         {"label", incident->cause.label},
                         {"summary", incident->summary}});
  return {{"incidents", std::move(incidents)}};
}

}  // namespace

Result<void> write_timeline(const Case& scenario, std::ostream& out) {
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::kInvalidArgument, scenario.scenario.name + ": " + why);
  };
  Simulator simulator(scenario.scenario, scenario.plan);
  analyzer::FabricAnalyzer watcher(kFabricName, {}, simulator.expected());
  analyzer::IncidentBook book({}, {}, 1);
  out << fabric_line(scenario.scenario, scenario.plan) << '\n';
  Writer writer(scenario, out);
  for (Tick tick; simulator.next(tick);) {
    if (!tick.sweep) return refuse("the watcher itself stops, which no port shows");
    if (!writer.write(tick, simulator.ports())) return refuse("cables change their places, which no port shows");
    analyzer::Analysis analysis = watcher.analyze(*tick.sweep, tick.now);
    book.update(kFabricName, std::move(analysis.findings), analysis.coverage, tick.now);
  }
  out << incident_line(book) << '\n';
  return {};
}

}  // namespace weft::scenarios
