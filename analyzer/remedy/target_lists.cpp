// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/target_lists.hpp"

#include <algorithm>
#include <charconv>

#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

bool names_node(std::string_view entry, const Node& node) {
  if (const auto guid = written_guid(entry)) return node.guid.value == *guid;
  return same_name(entry, node.name);
}

/// The host itself, or an adapter by the name that it bears there: "n2 mlx5_0" (host_name()).
bool names_host(std::string_view entry, std::string_view host) {
  const std::size_t space = entry.rfind(' ');
  return same_host(entry, host) ||
         (space != std::string_view::npos && same_host(entry.substr(0, space), host) && !is_nobodys_description(entry));
}

/// "name:7": the node's name, and the port's number or name; nullopt without a colon.
std::optional<std::pair<std::string_view, std::string_view>> split_port(std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return std::pair(entry.substr(0, colon), entry.substr(colon + 1));
}

bool is_number(std::string_view text, unsigned number) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value == number;
}

/// It is the GUID of a port of the node: of an adapter of that very port. Of a switch any port means the switch:
/// NodeInfo (InfiniBand Architecture Specification volume 1, 14.2.5.3) has one PortGUID for all, which may differ from
/// the node's.
bool has_port_guid(std::uint64_t guid, const Node& node, PortKey port, const Topology& topology) {
  for (PortIndex at = node.first_port; at < node.first_port + node.port_entries(); ++at)
    if (topology.port(at).guid.value == guid && (node.type == NodeType::kSwitch || topology.key_of(at) == port))
      return true;
  return false;
}

bool names_any_node(std::string_view entry, const Topology& topology) {
  const auto guid = written_guid(entry);
  if (guid && std::ranges::any_of(topology.ports(), [&](const Port& port) { return port.guid.value == *guid; }))
    return true;
  return std::ranges::any_of(topology.nodes(), [&](const Node& node) {
    return names_node(entry, node) || (node.type == NodeType::kChannelAdapter && names_host(entry, host_name(node)));
  });
}

bool names_any_port(std::string_view entry, const Topology& topology) {
  const auto parts = split_port(entry);
  if (!parts) return false;
  return std::ranges::any_of(topology.nodes(), [&](const Node& node) {
    if (!names_node(parts->first, node)) return false;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
      if (means_port(entry, topology.key_of(port), &topology)) return true;
    return false;
  });
}

}  // namespace

std::optional<std::uint64_t> written_guid(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  const auto guid = parse_guid(text);
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return c != ':'; }));
  if (!guid || (!text.starts_with("0x") && !text.starts_with("0X") && digits != kDigits)) return std::nullopt;
  return guid;
}

bool means_host(std::string_view entry, std::string_view host, const HostIdentities& hosts) {
  const auto guid = written_guid(entry);
  return names_host(entry, host) || hosts.has_adapter(host, entry) || (guid && hosts.has_guid(host, *guid));
}

bool means_port(std::string_view entry, PortKey port, const Topology* topology) {
  const NodeIndex index = topology ? topology->find_node(port.node) : kNoIndex;
  const auto is_node = [&](std::string_view text) {
    const auto guid = written_guid(text);
    if (index == kNoIndex) return guid && *guid == port.node.value;
    return names_node(text, topology->node(index)) ||
           (guid && has_port_guid(*guid, topology->node(index), port, *topology));
  };
  if (is_node(entry)) return true;
  const auto parts = split_port(entry);
  if (!parts || !is_node(parts->first)) return false;
  if (is_number(parts->second, port.port.value)) return true;
  const PortIndex at = index == kNoIndex ? kNoIndex : topology->find_port(port);
  return at != kNoIndex && !topology->port_name(at).empty() && same_name(parts->second, topology->port_name(at));
}

std::vector<std::string> entries_without_target(const RemedySettings& settings, const RemedyView& view) {
  const auto is_known = [&view](const std::string& entry) {
    if (std::ranges::any_of(view.hosts, [&](const auto& host) { return names_host(entry, host->host); })) return true;
    return std::ranges::any_of(view.fabrics, [&](const FabricView& fabric) {
      if (!fabric.sweep || !fabric.sweep->topology) return false;
      return names_any_node(entry, *fabric.sweep->topology) || names_any_port(entry, *fabric.sweep->topology);
    });
  };
  std::vector<std::string> unknown;
  for (const auto* list : {&settings.deny, &settings.allow})
    for (const std::string& entry : *list)
      if (!is_known(entry)) unknown.push_back(entry);
  return unknown;
}

}  // namespace weft::analyzer
