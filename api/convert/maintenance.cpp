// SPDX-License-Identifier: Apache-2.0
#include "api/convert/maintenance.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/convert/commands.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/pages.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

static_assert(v1::MaintenanceWindow::PLANNED == static_cast<int>(MaintenanceState::kPlanned) + 1);
static_assert(v1::MaintenanceWindow::OVER == static_cast<int>(MaintenanceState::kOver) + 1);

constexpr std::string_view kBetweenEnds = " - ";
/// Of both ends of a link, each with a port behind it.
constexpr std::size_t kLongestLinkName = 2 * kLongestNodeName + 64;

Entity port_entity(const FoundPort& found) {
  const Topology& topology = *found.fabric->sweep->topology;
  return {.kind = EntityKind::kPort,
          .fabric = found.fabric->name,
          .port = topology.key_of(found.port),
          .peer = {},
          .label = port_label(topology, found.port)};
}

/// As no_such_port_text(); empty where `what` names no number at a known node.
std::string ports_there_are(const Snapshot& snapshot, const std::string& what) {
  for (const std::string_view between : {" port ", ":"}) {
    const std::size_t at = what.rfind(between);
    if (at == std::string::npos) continue;
    const std::string number = what.substr(at + between.size());
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto nodes = find_nodes(snapshot, what.substr(0, at), 1);
    if (nodes.empty() || nodes.front().fabric->sweep->topology->is_ethernet()) continue;
    const Node& node = nodes.front().fabric->sweep->topology->node(nodes.front().node);
    return no_such_port_text(node, number);
  }
  return {};
}

/// "leaf-1 port 12 - dgx-04 mlx5_0 port 1", "leaf01 swp12 - gpu-04 eth2": the cable between the two.
std::optional<Entity> find_link(const Snapshot& snapshot, std::string_view name) {
  std::size_t tried = 0;
  for (std::size_t at = name.find(kBetweenEnds); at != std::string_view::npos && tried < kMostPartings;
       at = name.find(kBetweenEnds, at + 1), ++tried)
    for (const FoundPort& one : find_ports(snapshot, name.substr(0, at)))
      for (const FoundPort& other : find_ports(snapshot, name.substr(at + kBetweenEnds.size()))) {
        const Topology& topology = *one.fabric->sweep->topology;
        if (one.fabric != other.fabric || topology.port(one.port).peer != other.port) continue;
        const LinkKey key = make_link_key(topology.key_of(one.port), topology.key_of(other.port));
        return Entity{.kind = EntityKind::kLink,
                      .fabric = one.fabric->name,
                      .port = key.low,
                      .peer = key.high,
                      .label = port_label(topology, topology.find_port(key.low)) + std::string(kBetweenEnds) +
                               port_label(topology, topology.find_port(key.high))};
      }
  return std::nullopt;
}

/// Everything of a host, in whatever subnets it stands.
/// Its adapters are those that its collector reports, and those that bear its name and no other host reports.
void add_host(const Snapshot& snapshot, const std::string& host, MaintenanceWindow& window) {
  window.host = host;
  window.nodes.clear();
  std::set<NodeGuid> own, foreign;
  if (snapshot.hosts)
    for (const auto& view : *snapshot.hosts)
      if (view->reading && view->reading->inventory)
        for (const HostPort& port : view->reading->inventory->ports)
          (same_host(view->host, host) ? own : foreign).insert(port.node_guid);
  for (const FabricView& view : snapshot.fabrics) {
    if (!view.sweep || !view.sweep->topology) continue;
    for (const Node& node : view.sweep->topology->nodes())
      if (node.type == NodeType::kChannelAdapter &&
          (own.contains(node.guid) || (same_host(host_name(node), host) && !foreign.contains(node.guid))))
        window.nodes.push_back(node.guid);
  }
  std::ranges::sort(window.nodes);
  window.nodes.erase(std::unique(window.nodes.begin(), window.nodes.end()), window.nodes.end());
}

/// One fabric, or all that this weftd watches where `fabric` is empty: in a site, those of its shard.
Entity fabric_entity(const Snapshot& snapshot, const std::string& fabric) {
  std::string label = fabric.empty() ? "everything" : "fabric " + fabric;
  if (fabric.empty() && snapshot.site) label += " of shard " + snapshot.site->own;
  return {.kind = EntityKind::kFabric, .fabric = fabric, .port = {}, .peer = {}, .label = std::move(label)};
}

Result<void> look_up_node(const Snapshot& snapshot, std::string_view what, MaintenanceWindow& window) {
  const std::vector<FoundNode> found = find_nodes(snapshot, what, kMostNodes);
  const auto several = [&] { return fail(ErrorCode::kInvalidArgument, several_nodes_text(what, found)); };
  if (!found.empty()) {
    const FoundNode& first = found.front();
    const Node& node = first.fabric->sweep->topology->node(first.node);
    window.entity = {.kind = EntityKind::kNode,
                     .fabric = first.fabric->name,
                     .port = {node.guid, {}},
                     .peer = {},
                     .label = node.name};
    window.nodes = {node.guid};
    if (node.type == NodeType::kChannelAdapter && same_host(host_name(node), what)) {
      add_host(snapshot, std::string(what), window);
      if (window.nodes.empty()) window.nodes = {node.guid};  // another host reports all that bear the name
      window.entity.port.node = window.nodes.front();
      window.entity.label = what;
      return {};
    }
    // One node may be seen in two subnets.
    for (const FoundNode& other : found)
      if (other.fabric->sweep->topology->node(other.node).guid != node.guid) return several();
    return {};
  }
  if (snapshot.hosts)
    for (const auto& host : *snapshot.hosts)
      if (same_host(host->host, what)) {
        window.entity = {.kind = EntityKind::kCollector,
                         .fabric = {},
                         .port = {},
                         .peer = {},
                         .label = host->host,
                         .host = host->host};
        add_host(snapshot, host->host, window);
        return {};
      }
  if (std::string ports = ports_there_are(snapshot, std::string(what)); !ports.empty())
    return fail(ErrorCode::kNotFound, std::move(ports));
  return tl::unexpected(unknown_name(snapshot, what,
                                     // The end is said of the shards of a site that were asked: unknown_in_site().
                                     "work is on a host, a switch, a port (\"leaf-1 port 12\", on Ethernet \"leaf01 "
                                     "swp12\"), a link (\"leaf-1 port 12 - dgx-04 mlx5_0 port 1\"), a fabric, or "
                                     "\"fabric\" for all of them. Nothing is named " +
                                         valid_utf8(what)));
}

Result<void> look_up(const Snapshot& snapshot, const std::string& what, const std::string& fabric,
                     MaintenanceWindow& window) {
  if (what.empty()) return fail(ErrorCode::kInvalidArgument, "the target of the work is required");
  const auto is_it = [&](const FabricView& view) { return view.name == fabric; };
  if (!fabric.empty() && !std::ranges::any_of(snapshot.fabrics, is_it))
    return fail(ErrorCode::kNotFound, "no fabric named " + valid_utf8(fabric));
  if (what == "fabric") {
    window.entity = fabric_entity(snapshot, fabric);
    return {};
  }
  if (const auto link = find_link(snapshot, what)) {
    window.entity = *link;
    return {};
  }
  // A host's interface on Ethernet is a node of its own: what is planned for it is planned for the node.
  const std::vector<FoundPort> ports =
      find_nodes(snapshot, what, 1).empty() ? find_ports(snapshot, what) : std::vector<FoundPort>();
  if (!ports.empty()) {
    window.entity = port_entity(ports.front());
    for (const FoundPort& other : ports)
      if (port_entity(other).port != window.entity.port)
        return fail(ErrorCode::kInvalidArgument, valid_utf8(what) + " matches several ports: use the node's GUID");
    return {};
  }
  Result<void> node = look_up_node(snapshot, what, window);
  const bool is_fabric = std::ranges::find(snapshot.fabrics, what, &FabricView::name) != snapshot.fabrics.end();
  if (node || node.error().code != ErrorCode::kNotFound || !is_fabric) return node;
  if (!fabric.empty() && fabric != what)
    return fail(ErrorCode::kInvalidArgument,
                "two fabrics are named: " + valid_utf8(what) + " and " + valid_utf8(fabric));
  window.entity = fabric_entity(snapshot, what);
  return {};
}

}  // namespace

void to_proto(const MaintenanceWindow& from, TimePoint now, v1::MaintenanceWindow& to) {
  to.set_id(maintenance_name(from.id));
  to_proto(from.entity, *to.mutable_entity());
  to.set_host(valid_utf8(from.host));
  for (const NodeGuid node : from.nodes) to.add_node_guids(to_string(node));
  to.set_state(static_cast<v1::MaintenanceWindow::State>(static_cast<int>(state_at(from, now)) + 1));
  set_timestamp(*to.mutable_from(), from.from);
  set_timestamp(*to.mutable_until(), from.until);
  if (from.ended != kNever) set_timestamp(*to.mutable_ended(), from.ended);
  to.set_reason(valid_utf8(from.reason));
  to.set_added_by(valid_utf8(from.added_by));
  to.set_ended_by(valid_utf8(from.ended_by));
  set_timestamp(*to.mutable_added(), from.added);
}

Result<v1::ListMaintenanceResponse> list_maintenance(const Snapshot& snapshot,
                                                     const v1::ListMaintenanceRequest& request, TimePoint now) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  // The token is the id of the last window of the page before.
  std::uint64_t after = 0;
  if (!request.page_token().empty()) {
    const auto id = parse_maintenance_name(request.page_token());
    if (!id) return fail(ErrorCode::kInvalidArgument, "invalid page token");
    after = *id;
  }
  v1::ListMaintenanceResponse response;
  if (!snapshot.maintenance) return response;
  PageBudget budget(request.page_size());
  std::uint64_t last = after;
  for (const MaintenanceWindow& window : *snapshot.maintenance) {
    if (window.id <= after) continue;
    v1::MaintenanceWindow message;
    to_proto(window, now, message);
    const auto& states = request.states();
    if (!states.empty() && std::find(states.begin(), states.end(), message.state()) == states.end()) continue;
    if (budget.full()) {
      response.set_next_page_token(maintenance_name(last));
      break;
    }
    budget.spend(message.ByteSizeLong());
    *response.add_windows() = std::move(message);
    last = window.id;
  }
  return response;
}

Result<v1::MaintenanceWindow> get_maintenance(const Snapshot& snapshot, std::string_view id, TimePoint now) {
  const auto number = parse_maintenance_name(id);
  if (!number)
    return fail(ErrorCode::kInvalidArgument, "a maintenance window's id must be like MW-3, not " + valid_utf8(id));
  if (snapshot.maintenance)
    if (const auto found = std::ranges::find(*snapshot.maintenance, *number, &MaintenanceWindow::id);
        found != snapshot.maintenance->end()) {
      v1::MaintenanceWindow message;
      to_proto(*found, now, message);
      return message;
    }
  return fail(ErrorCode::kNotFound, "no maintenance window " + maintenance_name(*number));
}

Result<MaintenanceWindow> wanted_maintenance(const Snapshot& snapshot, const v1::AddMaintenanceRequest& request,
                                             TimePoint now) {
  if (request.has_from())
    if (const auto good = check_time("from", request.from()); !good) return tl::unexpected(good.error());
  if (request.what().size() > kLongestLinkName)
    return fail(ErrorCode::kInvalidArgument, "the target of the work has " + std::to_string(request.what().size()) +
                                                 " bytes: no name is longer than " + std::to_string(kLongestLinkName));
  // A host is found by what stands before a dot, whatever follows.
  if (const auto plain = plain_text("the target of the work", request.what()); !plain)
    return tl::unexpected(plain.error());
  MaintenanceWindow window;
  if (auto known = look_up(snapshot, request.what(), request.fabric(), window); !known)
    return tl::unexpected(known.error());
  if (!request.has_length() || request.length().seconds() <= 0)
    return fail(ErrorCode::kInvalidArgument, "a maintenance window needs a length");
  constexpr std::int64_t kLongest = std::int64_t{3650} * 86400;  // far beyond what the daemon lets through
  const std::chrono::seconds length(std::min(request.length().seconds(), kLongest));
  // What begins that late is refused by the daemon, and its end must be a time all the same.
  window.from = std::min(request.has_from() ? from_timestamp(request.from()) : now, TimePoint::max() - length);
  window.until = window.from + length;
  window.reason = request.reason();
  return window;
}

Result<void> keep_reason(MaintenanceWindow& window) {
  constexpr std::size_t kLongestReason = 1024;
  if (auto plain = plain_text("the reason", window.reason); !plain) return plain;
  window.reason = for_the_record(window.reason, kLongestReason);
  return {};
}

}  // namespace weft::api
