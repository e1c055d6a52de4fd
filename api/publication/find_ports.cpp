// SPDX-License-Identifier: Apache-2.0
#include "api/publication/find_ports.hpp"

#include <charconv>

#include "api/publication/derived.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

constexpr std::string_view kPort = " port ";
constexpr std::string_view kBetweenEnds = " - ";
constexpr std::size_t kMostNames = 64;

bool is_ethernet(const FabricView& fabric) {
  return fabric.sweep && fabric.sweep->topology && fabric.sweep->topology->is_ethernet();
}

void find_numbered(const Snapshot& snapshot, std::string_view name, std::vector<FoundPort>& found) {
  std::size_t at = name.rfind(kPort);
  std::string_view digits;
  if (at != std::string_view::npos) {
    digits = name.substr(at + kPort.size());
  } else if (at = name.rfind(':'); at != std::string_view::npos) {
    digits = name.substr(at + 1);
  } else {
    return;
  }
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number == 0 || number > kMostPorts) return;
  for (const FoundNode& node : find_nodes(snapshot, name.substr(0, at), kMostNodes)) {
    const Topology& topology = *node.fabric->sweep->topology;
    const PortKey key{topology.node(node.node).guid, PortNum{static_cast<std::uint16_t>(number)}};
    if (const PortIndex port = topology.find_port(key); port != kNoIndex && !topology.is_ethernet())
      found.push_back({node.fabric, port});
  }
}

/// "leaf01 swp3" of "leaf01" and "swp3". Names of ports may have colons in them.
bool joins(std::string_view name, std::string_view node, std::string_view port) {
  return name.size() == node.size() + 1 + port.size() && same_name(name.substr(0, node.size()), node) &&
         name.ends_with(port) && (name[node.size()] == ' ' || name[node.size()] == ':');
}

void find_named(const FabricView& fabric, std::string_view name, std::vector<FoundPort>& found) {
  const Topology& topology = *fabric.sweep->topology;
  for (PortIndex port = 0; port < topology.ports().size(); ++port) {
    const std::string_view called = topology.port_name(port);
    if (called.empty() || !name.ends_with(called)) continue;
    const Node& node = topology.node_of(topology.port(port));
    if (joins(name, host_name(node), called) || joins(name, to_string(node.guid), called))
      found.push_back({&fabric, port});
  }
}

}  // namespace

std::vector<std::string> node_names_in(std::string_view text) {
  std::vector<std::string> names{std::string(text)};
  const auto add_nodes_of = [&](std::string_view end) {
    for (const std::string_view between : {kPort, std::string_view(":"), std::string_view(" ")})
      if (const std::size_t at = end.rfind(between);
          at != std::string_view::npos && at > 0 && names.size() < kMostNames)
        names.emplace_back(end.substr(0, at));
  };
  add_nodes_of(text);
  // Names may have such a dash in them as well.
  for (std::size_t at = text.find(kBetweenEnds); at != std::string_view::npos && names.size() < kMostNames;
       at = text.find(kBetweenEnds, at + 1))
    add_nodes_of(text.substr(0, at));
  return names;
}

std::string first_end(const std::string& label) {
  return end_of(label.substr(0, label.find(kBetweenEnds)));
}

std::string end_of(std::string end) {
  if (const std::size_t at = end.rfind(kPort); at != std::string::npos)
    end.replace(at, kPort.size(), ":");
  else if (const std::size_t blank = end.rfind(' '); blank != std::string::npos && end.find(':') == std::string::npos)
    end[blank] = ':';
  return end;
}

std::vector<FoundPort> find_ports(const Snapshot& snapshot, std::string_view name) {
  std::vector<FoundPort> found;
  find_numbered(snapshot, name, found);
  for (const FabricView& fabric : snapshot.fabrics)
    if (is_ethernet(fabric)) find_named(fabric, name, found);
  return found;
}

}  // namespace weft::api
