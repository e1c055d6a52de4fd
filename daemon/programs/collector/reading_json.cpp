// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/reading_json.hpp"

#include <nlohmann/json.hpp>

#include "fabric/ids.hpp"
#include "fabric/topology.hpp"

namespace weft::collector {
namespace {

using Json = nlohmann::ordered_json;

/// Puts a text that is not empty.
void put(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

Json of(const HostPort& port) {
  Json object{{"device", port.device}, {"port", port.number}};
  put(object, "netdev", port.netdev);
  put(object, "bond", port.bond);
  put(object, "pci_address", port.pci_address);
  put(object, "driver", port.driver);
  put(object, "firmware", port.firmware);
  put(object, "board_id", port.board_id);
  put(object, "device_type", port.device_type);
  object["link_layer"] = to_string(port.link_layer);
  if (port.is_virtual_function) object["virtual_function"] = true;
  if (port.node_guid) object["node_guid"] = to_string(port.node_guid);
  if (port.port_guid) object["port_guid"] = to_string(port.port_guid);
  if (port.lid.is_unicast()) object["lid"] = port.lid.value;
  object["state"] = to_string(port.state);
  if (port.physical_state != PortPhysicalState::kUnknown) object["physical_state"] = to_string(port.physical_state);
  if (port.rate_bits_per_second != 0) object["rate_bits_per_second"] = port.rate_bits_per_second;
  put(object, "down_reason", port.down_reason);
  if (port.administratively_down) object["administratively_down"] = true;
  return object;
}

Json of(const HostSeries& series, std::uint64_t value) {
  Json object{{"device", series.device}, {"port", series.port}, {"name", series.name}};
  if (series.is_raw) object["raw"] = true;
  put(object, "direction", to_string(series.direction));
  if (series.priority != kNoPriority) object["priority"] = series.priority;
  if (series.lane != kNoLane) object["lane"] = series.lane;
  put(object, "source", to_string(series.source));
  const CounterInfo* info = series.is_raw ? nullptr : find_counter(series.name);
  if (info != nullptr && is_signed(info->unit))
    object["value"] = static_cast<std::int64_t>(value);
  else
    object["value"] = value;
  return object;
}

Json of(const Neighbour& neighbour) {
  Json object{{"chassis_type", to_string(neighbour.chassis.type)},
              {"chassis", neighbour.chassis.id},
              {"port_type", to_string(neighbour.port.type)},
              {"port", neighbour.port.id},
              {"ttl_seconds", neighbour.ttl_seconds},
              {"since", neighbour.since}};
  put(object, "system_name", neighbour.system_name);
  put(object, "port_description", neighbour.port_description);
  if (!neighbour.addresses.empty()) object["addresses"] = neighbour.addresses;
  return object;
}

Json of(const FactTable& table) {
  Json list = Json::array();
  for (const PortFacts& port : table.ports) {
    Json entry{{"device", port.device}, {"port", port.number}, {"facts", Json::array()}};
    for (const FactValue& fact : port.facts) {
      const ConfigFactRow& row = row_of(fact.fact);
      Json one{{"name", row.name}, {"value", fact.value}, {"source", to_string(fact.source)}};
      put(one, "unit", row.unit);
      entry["facts"].push_back(std::move(one));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

/// Only interfaces that have neighbours.
Json of(const NeighbourTable& table) {
  Json list = Json::array();
  for (const NeighbourPort& port : table.ports) {
    if (port.neighbours.empty()) continue;
    Json entry{{"interface", port.interface}, {"neighbours", Json::array()}};
    for (const Neighbour& neighbour : port.neighbours) entry["neighbours"].push_back(of(neighbour));
    if (port.left_out != 0) entry["left_out"] = port.left_out;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string to_json(const std::string& node, const HostReading& reading) {
  Json object{{"node", node}, {"taken", seconds(reading.taken.time_since_epoch())}};
  object["ports"] = Json::array();
  for (const HostPort& port : reading.inventory->ports) object["ports"].push_back(of(port));
  object["values"] = Json::array();
  for (std::size_t i = 0; i < reading.values.size(); ++i)
    if (reading.present[i]) object["values"].push_back(of(reading.inventory->series[i], reading.values[i]));
  object["sources"] = Json::array();
  for (const SourceStatus& source : reading.sources) {
    Json entry{{"name", source.name}, {"ok", source.ok}};
    put(entry, "message", source.message);
    object["sources"].push_back(std::move(entry));
  }
  object["jobs"] = reading.jobs;
  if (reading.neighbours) object["neighbours"] = of(*reading.neighbours);
  if (reading.facts) object["facts"] = of(*reading.facts);
  // What a driver or a prolog wrote may be no UTF-8.
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft::collector
