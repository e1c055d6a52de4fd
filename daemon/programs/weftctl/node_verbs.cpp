// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/list_text.hpp"

namespace weft::ctl {
namespace {

/// Of a node: two shards of a site may have fabrics of the same name.
using NodeKey = std::tuple<std::string, std::string, std::string>;

NodeKey key_of(const v1::Node& node) {
  return {node.shard(), node.fabric(), node.guid()};
}

const char* type_text(v1::Node::Type type) {
  switch (type) {
    case v1::Node::CHANNEL_ADAPTER:
      return "adapter";
    case v1::Node::SWITCH:
      return "switch";
    case v1::Node::ROUTER:
      return "router";
    default:
      return "unknown";
  }
}

/// Those that the choice fits, in the server's order.
v1::ListNodesResponse chosen_nodes(const Session& session, const NodeChoice& choice) {
  std::set<NodeKey> named;
  if (!choice.node.empty()) {
    v1::GetNodeRequest request;
    request.set_node(choice.node);
    try {
      const auto found = session.client.call(session.client.fabric, &v1::FabricService::Stub::GetNode, request);
      for (const v1::Node& node : found.nodes()) named.insert(key_of(node));
    } catch (const Failure& failure) {
      if (!std::string_view(failure.what()).starts_with("no node named ")) throw;
      throw Failure(failure.exit, std::string(failure.what()) +
                                      "; those with it in their names: weftctl nodes --contains " +
                                      printable(choice.node.substr(0, choice.node.find(':'))));
    }
  }
  v1::ListNodesRequest request;
  request.set_fabric(choice.fabric);
  request.set_contains(choice.contains);
  auto all = session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListNodes, request);
  v1::ListNodesResponse kept;
  for (v1::Node& node : *all.mutable_nodes()) {
    const bool fits = (choice.node.empty() || named.contains(key_of(node))) &&
                      (choice.type.empty() || choice.type == type_text(node.type())) &&
                      (!choice.down_only || (!node.reachable() && !node.unread()));
    if (fits) *kept.add_nodes() = std::move(node);
  }
  *kept.mutable_missing_shards() = all.missing_shards();
  return kept;
}

/// Why the list is empty.
std::string none_text(const NodeChoice& choice) {
  const std::string kind = choice.type.empty() ? "nodes" : choice.type == "switch" ? "switches" : choice.type + 's';
  std::string text = "No " + kind;
  if (!choice.is_filter()) return text + " are known";
  if (!choice.node.empty()) text += " of " + printable(choice.node);
  if (choice.contains.empty()) return text + (choice.down_only ? " are cut off" : " are known");
  return text + " contain \"" + printable(choice.contains) + '"' + (choice.down_only ? " and are cut off" : "");
}

void sort_by_name(google::protobuf::RepeatedPtrField<v1::Node>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const v1::Node& a, const v1::Node& b) { return counts_before(a.name(), b.name()); });
}

/// Ports by number, on Ethernet by name.
bool stands_before(const v1::Port* a, const v1::Port* b) {
  if (a->name() != b->name()) return counts_before(a->name(), b->name());
  return a->port() < b->port();
}

v1::Topology whole_topology(const Session& session, const std::string& fabric) {
  v1::GetTopologyRequest request;
  request.set_fabric(fabric);
  v1::Topology all;
  session.client.attempt(Client::Kind::kRead, [&](grpc::ClientContext& context) {
    all.Clear();
    const auto stream = session.client.fabric->GetTopology(&context, request);
    for (v1::Topology part; stream->Read(&part);) all.MergeFrom(part);
    return stream->Finish();
  });
  for (const std::string& shard : all.missing_shards()) session.client.note_missing(shard);
  return all;
}

/// With the ports of those nodes, and the links that end there.
void keep_nodes(const v1::ListNodesResponse& chosen, v1::Topology& topology) {
  std::set<NodeKey> keys;
  for (const v1::Node& node : chosen.nodes()) keys.insert(key_of(node));
  v1::Topology kept;
  for (v1::Node& node : *topology.mutable_nodes())
    if (keys.contains(key_of(node))) *kept.add_nodes() = std::move(node);
  for (v1::Port& port : *topology.mutable_ports())
    if (keys.contains({port.shard(), port.fabric(), port.node_guid()})) *kept.add_ports() = std::move(port);
  for (v1::Link& link : *topology.mutable_links())
    if (keys.contains({link.shard(), link.fabric(), link.a().node_guid()}) ||
        (link.has_b() && keys.contains({link.shard(), link.fabric(), link.b().node_guid()})))
      *kept.add_links() = std::move(link);
  *kept.mutable_missing_shards() = topology.missing_shards();
  topology = std::move(kept);
}

/// Why what its link shows may not be so; empty: it was read, and is up.
const char* doubt_text(const v1::Port& port) {
  if (port.state() == v1::Port::STATE_UNKNOWN && !port.has_state_read_at()) return "[not read]";
  if (port.state() != v1::Port::ACTIVE) return "[not active]";
  return port.stale() ? "[stale]" : "";
}

/// A line for each, in columns.
void print_ports(std::ostream& out, const std::vector<const v1::Port*>& ports) {
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 3> widths{};
  for (const v1::Port* port : ports) {
    rows.push_back({(port->name().empty() ? "port " : "") + printable(port_text(*port)), doubt_text(*port),
                    link_text(port->width(), port->speed(), port->rate_bits_per_second()),
                    printable(end_text(port->peer()))});
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > 0) out << "  " << row[i] << std::string(widths[i] - row[i].size(), ' ');
    out << "  " << row.back() << '\n';
  }
}

}  // namespace

Exit show_nodes(const Session& session, const NodeChoice& choice) {
  v1::ListNodesResponse nodes = chosen_nodes(session, choice);
  if (choice.names_only) {
    std::set<std::string> names;
    for (const v1::Node& node : nodes.nodes()) names.insert(node.host());
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::stable_sort(sorted, counts_before);
    session.out << list_text(sorted, session.json);
    return Exit::kGood;
  }
  if (session.json) {
    session.out << json_text(nodes, false) << '\n';
    return Exit::kGood;
  }
  if (nodes.nodes().empty()) {
    session.out << none_text(choice) << where_asked(nodes) << ".\n" << not_ready_text(session);
    return Exit::kGood;
  }
  sort_by_name(*nodes.mutable_nodes());
  // Only a fabric that has pods has a column for them.
  const bool pods = std::ranges::any_of(nodes.nodes(), [](const v1::Node& node) { return !node.pod().empty(); });
  const bool shards = has_shards(nodes.nodes());
  std::vector<Column> columns{key("NODE"), "TYPE", spare("GUID"), spare(number("PORTS")), spare(number("TIER"))};
  if (pods) columns.push_back(spare("POD"));
  columns.insert(columns.end(), {spare("FABRIC"), judged("REACHED")});
  // Only where Weft drained a host.
  const bool holds = std::ranges::any_of(nodes.nodes(), [](const v1::Node& node) { return node.has_hold(); });
  if (holds) columns.emplace_back("DRAINED BY");
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  for (const v1::Node& node : nodes.nodes()) {
    std::vector<std::string> cells{node.name(), type_text(node.type()), node.guid(), std::to_string(node.port_count()),
                                   node.has_tier() ? std::to_string(node.tier()) : "-"};
    if (pods) cells.push_back(node.pod().empty() ? "-" : node.pod());
    cells.push_back(node.fabric());
    cells.emplace_back(node.unread() ? "not read" : node.reachable() ? "yes" : "no");
    if (holds) cells.push_back(hold_text(node.hold()));
    if (shards) cells.push_back(node.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  return Exit::kGood;
}

Exit show_topology(const Session& session, const NodeChoice& choice) {
  v1::Topology topology = whole_topology(session, choice.fabric);
  if (choice.is_filter()) keep_nodes(chosen_nodes(session, choice), topology);
  if (session.json) {
    session.out << json_text(topology, false) << '\n';
    return Exit::kGood;
  }
  if (topology.nodes().empty()) {
    session.out << none_text(choice) << where_asked(topology) << ".\n" << not_ready_text(session);
    return Exit::kGood;
  }
  sort_by_name(*topology.mutable_nodes());
  // As a person walks it: each node with what is behind each of its ports.
  std::map<NodeKey, std::vector<const v1::Port*>> ports_of;
  for (const v1::Port& port : topology.ports())
    if (port.has_peer()) ports_of[{port.shard(), port.fabric(), port.node_guid()}].push_back(&port);
  for (auto& [node, ports] : ports_of) std::ranges::stable_sort(ports, stands_before);
  for (const v1::Node& node : topology.nodes()) {
    session.out << type_text(node.type()) << ' ' << printable(node.name()) << "  " << node.guid()
                << (node.reachable() ? "" : "  unreachable")
                << (node.shard().empty() ? "" : "  shard " + printable(node.shard())) << '\n';
    print_ports(session.out, ports_of[{node.shard(), node.fabric(), node.guid()}]);
  }
  return Exit::kGood;
}

}  // namespace weft::ctl
