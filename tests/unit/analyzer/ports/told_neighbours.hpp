// SPDX-License-Identifier: Apache-2.0
#pragma once
// Systems that tell their neighbours, as a cabling makes them.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ports/neighbour_cables.hpp"

namespace weft::analyzer {

/// Systems with ports and cables; what each would tell of it.
class ToldNeighbours {
 public:
  struct Port {
    std::string system, name;
    auto operator<=>(const Port&) const = default;
  };

  static ChassisId chassis(const std::string& system) { return {ChassisIdType::kMac, "chassis of " + system}; }

  /// How a system names its ports to others.
  std::map<std::string, PortIdType> id_types{};
  std::vector<std::pair<Port, Port>> cables{};
  std::vector<Port> ports{};                     ///< those without a cable
  std::vector<std::string> silent{};             ///< systems of which nobody reads the neighbours
  std::vector<std::string> stale{};              ///< of which nobody does now
  std::vector<std::string> forgetful{};          ///< that hear nobody, as after a restart
  std::vector<std::string> from_outside{};       ///< that are read by gNMI: nobody knows how they name their own ports
  std::map<std::string, std::string> claimed{};  ///< what a system says that it is called

  LldpPortId id(const Port& port) const {
    const auto type = id_types.find(port.system);
    if (type == id_types.end() || type->second == PortIdType::kMac) return {PortIdType::kMac, "mac of " + port.name};
    if (type->second == PortIdType::kInterfaceName) return {type->second, port.name};
    return {type->second, "id " + port.name};
  }
  Neighbour seen(const Port& port) const {
    Neighbour one;
    one.chassis = chassis(port.system);
    one.port = id(port);
    const auto name = claimed.find(port.system);
    one.system_name = name == claimed.end() ? port.system : name->second;
    one.port_description = port.name;
    return one;
  }

  std::vector<NeighbourTeller> tellers() const {
    std::map<std::string, NeighbourTable> tables;
    const auto add = [&](const Port& here, const Port* there) {
      NeighbourTable& table = tables[here.system];
      table.chassis = chassis(here.system);
      table.system_name = here.system;
      NeighbourPort& port = table.ports.emplace_back();
      port.interface = here.name;
      port.own =
          std::ranges::count(from_outside, here.system) ? LldpPortId{PortIdType::kInterfaceName, here.name} : id(here);
      port.own_description = here.name;
      if (there != nullptr && !std::ranges::count(forgetful, here.system)) port.neighbours.push_back(seen(*there));
    };
    for (const auto& [one, other] : cables) {
      add(one, &other);
      add(other, &one);
    }
    for (const Port& port : ports) add(port, nullptr);
    std::vector<NeighbourTeller> told;
    for (auto& [system, table] : tables)
      if (!std::ranges::count(silent, system))
        told.push_back({system, std::make_shared<const NeighbourTable>(tidy(std::move(table))),
                        !std::ranges::count(stale, system)});
    return told;
  }

  /// Two leaves with two hosts each below two spines.
  static ToldNeighbours leaf_spine() {
    ToldNeighbours told;
    told.cables = {{{"leaf01", "swp1"}, {"gpu-01", "eth1"}},   {{"leaf01", "swp2"}, {"gpu-02", "eth1"}},
                   {{"leaf02", "swp1"}, {"gpu-03", "eth1"}},   {{"leaf02", "swp2"}, {"gpu-04", "eth1"}},
                   {{"leaf01", "swp51"}, {"spine01", "swp1"}}, {{"leaf01", "swp52"}, {"spine02", "swp1"}},
                   {{"leaf02", "swp51"}, {"spine01", "swp2"}}, {{"leaf02", "swp52"}, {"spine02", "swp2"}}};
    return told;
  }
};

}  // namespace weft::analyzer
