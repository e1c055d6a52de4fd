// SPDX-License-Identifier: Apache-2.0
#include "api/convert/queries.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/convert/fabric.hpp"
#include "api/convert/holds.hpp"
#include "api/convert/incident_filter.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/link_filter.hpp"
#include "api/convert/pages.hpp"
#include "api/convert/text_search.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/freshness.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

std::uint32_t count_nodes(const FabricView& fabric) {
  return static_cast<std::uint32_t>(fabric.sweep->topology->nodes().size());
}
std::uint32_t count_ports(const FabricView& fabric) {
  return static_cast<std::uint32_t>(fabric.sweep->topology->ports().size());
}
/// Those of the graph by their ports, and behind them those that the graph does not have.
std::uint32_t count_links(const FabricView& fabric) {
  return count_ports(fabric) +
         (fabric.absent_links ? static_cast<std::uint32_t>(fabric.absent_links->size()) : std::uint32_t{0});
}

bool is_absent_end(const FabricView& fabric, PortKey port) {
  return fabric.absent_links && std::ranges::any_of(*fabric.absent_links, [port](const AbsentLink& link) {
           return link.ends.a.key == port || link.ends.b.key == port;
         });
}

template <typename Request, typename Response, typename Add>
Result<Response> page(const Snapshot& snapshot, const Request& request, CountEntries count_entries, Add&& add) {
  Response response;
  auto next = walk_page(snapshot, request.fabric(), request.page_size(), request.page_token(), count_entries,
                        [&](const FabricView& fabric, std::uint32_t index) { return add(response, fabric, index); });
  if (!next) return tl::unexpected(next.error());
  response.set_next_page_token(std::move(*next));
  return response;
}

// Another shard of the site may know it.
Error unknown_node(const Snapshot& snapshot, std::string_view name) {
  if (name.empty()) return {ErrorCode::kNotFound, "no node given"};
  return unknown_name(snapshot, name, "no node named " + valid_utf8(name));
}

void to_proto(const SiteShard& from, const Site& site, v1::Status::Shard& to) {
  to.set_name(from.name);
  to.set_number(static_cast<std::uint32_t>(from.number));
  to.set_own(from.name == site.own);
  to.set_leader(valid_utf8(from.leader));
  to.set_epoch(from.epoch);
  for (const std::string& address : from.addresses) to.add_addresses(valid_utf8(address));
  for (const std::string& fabric : from.fabrics) to.add_fabrics(valid_utf8(fabric));
  for (const std::string& pattern : from.collectors) to.add_collectors(valid_utf8(pattern));
  to.set_answers(to.own() && !site.is_left);
  to.set_disagreement(valid_utf8(from.disagreement));
  to.set_never_led(from.is_new);
  if (from.is_new && !to.own()) to.set_trouble("no weftd of it has led yet: it owns nothing, and is not asked");
  if (to.own() && site.is_left)
    to.set_trouble("the site lists this shard no more; it answers for itself alone until it is started again");
}

void to_proto(const SwitchTarget& from, v1::Status::SwitchTarget& to) {
  to.set_name(valid_utf8(from.name));
  to.set_address(valid_utf8(from.address));
  to.set_state(static_cast<v1::Status::SwitchTarget::State>(static_cast<int>(from.state) + 1));
  if (from.since != kNever) set_timestamp(*to.mutable_since(), from.since);
  if (from.told != kNever) set_timestamp(*to.mutable_told(), from.told);
  to.set_reason(valid_utf8(from.reason));
  to.set_not_told(valid_utf8(from.refused));
  to.set_values(from.values);
  to.set_unknown_values(from.unknown);
  to.set_bad_values(from.bad);
  to.set_values_left_out(from.left_out);
  to.set_clock_difference_seconds(seconds(from.clock_difference));
}
static_assert(static_cast<int>(SwitchTargetState::kSilent) + 1 == v1::Status::SwitchTarget::SILENT);

}  // namespace

v1::Status status(const Snapshot& snapshot) {
  v1::Status status;
  for (const FabricView& fabric : snapshot.fabrics) {
    v1::Fabric& to = *status.add_fabrics();
    to_proto(fabric, to);
    if (fabric.watching && snapshot.taken != kNever) to.set_status(valid_utf8(status_text(fabric, snapshot.taken)));
  }
  std::uint32_t by_severity[3] = {};
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents)
      if (incident->is_open()) ++by_severity[static_cast<std::size_t>(incident->finding.severity) % 3];
  v1::Status::Incidents& open = *status.mutable_open_incidents();
  open.set_info(by_severity[0]);
  open.set_warning(by_severity[1]);
  open.set_critical(by_severity[2]);
  status.set_ready(is_ready(snapshot));
  status.set_not_ready(not_ready_text(snapshot));
  status.set_store_ok(snapshot.figures.store_ok);
  status.set_store_status(valid_utf8(snapshot.figures.store_status));
  status.set_revision(snapshot.revision);
  status.set_page_url(valid_utf8(snapshot.page_url));
  if (snapshot.taken != kNever) set_timestamp(*status.mutable_taken(), snapshot.taken);
  if (const Leadership& from = snapshot.leadership; from.is_shared) {
    v1::Status::Leadership& to = *status.mutable_leadership();
    to.set_leads(from.leads);
    to.set_held(from.is_held);
    to.set_epoch(from.epoch);
    to.set_leader(valid_utf8(from.leader));
    to.set_address(valid_utf8(from.address));
    if (from.since != kNever) set_timestamp(*to.mutable_since(), from.since);
    to.set_silence_seconds(seconds(from.silence));
    to.set_behind_seconds(seconds(from.behind));
    to.set_trouble(valid_utf8(from.trouble));
    if (from.leads && from.standby) {
      to.mutable_standby()->set_holder(valid_utf8(from.standby->holder));
      to.mutable_standby()->set_seen_seconds(seconds(from.standby->seen));
    }
  }
  if (snapshot.site)
    for (const SiteShard& shard : snapshot.site->shards) to_proto(shard, *snapshot.site, *status.add_shards());
  if (snapshot.switch_targets)
    for (const SwitchTarget& target : *snapshot.switch_targets) to_proto(target, *status.add_switch_targets());
  return status;
}

Result<v1::ListNodesResponse> list_nodes(const Snapshot& snapshot, const v1::ListNodesRequest& request) {
  const Holds holds(snapshot);
  return page<v1::ListNodesRequest, v1::ListNodesResponse>(
      snapshot, request, count_nodes, [&](v1::ListNodesResponse& response, const FabricView& fabric, NodeIndex index) {
        const Node& source = fabric.sweep->topology->node(index);
        if (const std::string& part = request.contains(); !contains(source.name, part) &&
                                                          !contains(host_name(source), part) &&
                                                          !contains(to_string(source.guid), part))
          return std::size_t{0};
        v1::Node& node = *response.add_nodes();
        node_to_proto(fabric, index, node);
        holds.add_to(source, node);
        return node.ByteSizeLong();
      });
}

Result<v1::GetNodeResponse> get_node(const Snapshot& snapshot, std::string_view name, TimePoint now) {
  v1::GetNodeResponse response;
  const Holds holds(snapshot);
  std::size_t bytes = 0;
  for (const FoundNode& found : find_nodes(snapshot, name, kAll)) {
    v1::Node& node = *response.add_nodes();
    node_to_proto(*found.fabric, found.node, node);
    const Node& source = found.fabric->sweep->topology->node(found.node);
    holds.add_to(source, node);
    for (PortIndex i = 0; i < source.port_entries(); ++i)
      if (is_port(*found.fabric->sweep->topology, source.first_port + i))
        port_to_proto(*found.fabric, source.first_port + i, PortDetail::kCounters, now, *node.add_ports());
    bytes += node.ByteSizeLong();
    if (bytes > 3 * kPageBytes)
      return fail(ErrorCode::kFailedPrecondition, "too many nodes match " + valid_utf8(name) + ": use a GUID");
  }
  if (response.nodes().empty()) return tl::unexpected(unknown_node(snapshot, name));
  return response;
}

Result<v1::ListPortsResponse> list_ports(const Snapshot& snapshot, const v1::ListPortsRequest& request, TimePoint now) {
  std::vector<FoundNode> nodes;
  if (!request.node().empty()) {
    nodes = find_nodes(snapshot, request.node(), kAll);
    if (nodes.empty()) return tl::unexpected(unknown_node(snapshot, request.node()));
  }
  const auto of_node = [&](const FabricView& fabric, PortIndex index) {
    const NodeIndex node = fabric.sweep->topology->port(index).node;
    return nodes.empty() || std::any_of(nodes.begin(), nodes.end(), [&](const FoundNode& found) {
             return found.fabric == &fabric && found.node == node;
           });
  };
  const PortDetail detail = request.without_counters() ? PortDetail::kRates : PortDetail::kCounters;
  return page<v1::ListPortsRequest, v1::ListPortsResponse>(
      snapshot, request, count_ports, [&](v1::ListPortsResponse& response, const FabricView& fabric, PortIndex index) {
        if (!is_port(*fabric.sweep->topology, index) || !of_node(fabric, index)) return std::size_t{0};
        v1::Port& port = *response.add_ports();
        port_to_proto(fabric, index, detail, now, port);
        return port.ByteSizeLong();
      });
}

Result<v1::ListLinksResponse> list_links(const Snapshot& snapshot, const v1::ListLinksRequest& request) {
  auto words = LinkWords::parse(request.contains());
  if (!words) return tl::unexpected(words.error());
  LinkFilter filter(std::move(*words));
  const Holds holds(snapshot);
  return page<v1::ListLinksRequest, v1::ListLinksResponse>(
      snapshot, request, count_links, [&](v1::ListLinksResponse& response, const FabricView& fabric, PortIndex index) {
        const Topology& topology = *fabric.sweep->topology;
        std::optional<LinkKey> key;
        v1::Link* link = nullptr;
        if (index >= topology.ports().size()) {
          const AbsentLink& absent = (*fabric.absent_links)[index - topology.ports().size()];
          if (!filter.fits(absent)) return std::size_t{0};
          link = response.add_links();
          link_to_proto(fabric, absent, *link);
          key = make_link_key(absent.ends.a.key, absent.ends.b.key);
        } else {
          const bool is_loose = is_loose_end(topology, index) && !is_absent_end(fabric, topology.key_of(index));
          if ((!starts_link(topology, index) && !is_loose) || !filter.fits(topology, index)) return std::size_t{0};
          link = response.add_links();
          link_to_proto(fabric, index, *link);
          key = topology.link_of(index);
          if (!key) holds.add_to(fabric.name, topology.key_of(index), *link);
        }
        if (key) holds.add_to(fabric.name, *key, *link);
        return link->ByteSizeLong();
      });
}

Result<v1::ListIncidentsResponse> list_incidents(const Snapshot& snapshot, const v1::ListIncidentsRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  // The token is the id of the last incident of the page before: it stays right whatever opens or goes meanwhile.
  std::uint64_t after = 0;
  if (!request.page_token().empty()) {
    const auto id = parse_incident_name(request.page_token());
    if (!id) return fail(ErrorCode::kInvalidArgument, "invalid page token");
    after = *id;
  }
  if (const auto good = check_span(request); !good) return tl::unexpected(good.error());
  v1::ListIncidentsResponse response;
  if (!snapshot.incidents) return response;
  PageBudget budget(request.page_size());
  std::uint64_t last = after;
  for (const auto& incident : *snapshot.incidents) {
    if (incident->id <= after || !is_wanted(*incident, request)) continue;
    if (budget.full()) {
      response.set_next_page_token(incident_name(last));
      break;
    }
    v1::Incident& added = *response.add_incidents();
    to_proto(*incident, added);
    budget.spend(added.ByteSizeLong());
    last = incident->id;
  }
  return response;
}

Result<v1::Incident> get_incident(const Snapshot& snapshot, std::string_view id) {
  const auto number = parse_incident_name(id);
  if (!number) return fail(ErrorCode::kInvalidArgument, "an incident's id must be like INC-17, not " + valid_utf8(id));
  const auto incident = find_incident(snapshot, *number);
  if (!incident) return fail(ErrorCode::kNotFound, "no incident " + incident_name(*number));
  v1::Incident message;
  to_proto(*incident, message);
  return message;
}

Result<v1::ListHealthResponse> list_health(const Snapshot& snapshot, const v1::ListHealthRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  v1::ListHealthResponse response;
  say_if_unswept(snapshot, response);
  if (!snapshot.health) return response;
  const auto& health = *snapshot.health;
  // The token is "SKIP:NAME": go on at NAME, leaving out so many of that name.
  auto at = health.begin();
  if (const std::string_view token = request.page_token(); !token.empty()) {
    std::ptrdiff_t skip = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), skip);
    if (error != std::errc{} || end == token.data() + token.size() || *end != ':' || skip < 0)
      return fail(ErrorCode::kInvalidArgument, "invalid page token");
    const std::string_view name = token.substr(static_cast<std::size_t>(end - token.data()) + 1);
    at = std::find_if(health.begin(), health.end(), [&](const NodeHealth& entry) { return entry.node >= name; });
    for (; skip > 0 && at != health.end() && at->node == name; --skip) ++at;
  }
  PageBudget budget(request.page_size());
  for (; at != health.end(); ++at) {
    if (!wanted(request.verdicts(), to_proto(at->verdict))) continue;
    if (budget.full()) {
      const auto same =
          std::find_if(health.begin(), at, [&](const NodeHealth& entry) { return entry.node == at->node; });
      response.set_next_page_token(std::to_string(at - same) + ':' + valid_utf8(at->node));
      break;
    }
    v1::NodeHealth& added = *response.add_nodes();
    to_proto(*at, added);
    budget.spend(added.ByteSizeLong());
  }
  return response;
}

Result<v1::NodeHealth> get_health(const Snapshot& snapshot, std::string_view node) {
  const NodeHealth* health = find_health(snapshot, node);
  if (!health) return tl::unexpected(unknown_node(snapshot, node));
  v1::NodeHealth message;
  to_proto(*health, message);
  return message;
}

TopologyParts::TopologyParts(std::shared_ptr<const Snapshot> snapshot, std::string fabric, TimePoint now,
                             std::int32_t page_size)
    : snapshot_(std::move(snapshot)), fabric_(std::move(fabric)), now_(now), page_size_(page_size) {}

Result<bool> TopologyParts::next(v1::Topology& part) {
  part.Clear();
  const Holds holds(*snapshot_);
  const auto add = [&](const FabricView& fabric, std::uint32_t index) -> std::size_t {
    if (section_ == Section::kNodes) {
      v1::Node& node = *part.add_nodes();
      node_to_proto(fabric, index, node);
      holds.add_to(fabric.sweep->topology->node(index), node);
      return node.ByteSizeLong();
    }
    if (section_ == Section::kPorts) {
      v1::Port& port = *part.add_ports();
      port_to_proto(fabric, index, PortDetail::kStates, now_, port);
      return port.ByteSizeLong();
    }
    if (!starts_link(*fabric.sweep->topology, index)) return 0;
    v1::Link& link = *part.add_links();
    link_to_proto(fabric, index, link);
    if (const auto key = fabric.sweep->topology->link_of(index)) holds.add_to(fabric.name, *key, link);
    return link.ByteSizeLong();
  };
  if (section_ == Section::kEnd) return false;
  auto next =
      walk_page(*snapshot_, fabric_, page_size_, token_, section_ == Section::kNodes ? count_nodes : count_ports, add);
  if (!next) return tl::unexpected(next.error());
  token_ = std::move(*next);
  if (token_.empty()) section_ = static_cast<Section>(static_cast<int>(section_) + 1);
  return true;
}

}  // namespace weft::api
