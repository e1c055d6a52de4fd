// SPDX-License-Identifier: Apache-2.0
#include "api/convert/path.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "api/convert/fabric.hpp"
#include "api/convert/pages.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/graph/ecmp_path.hpp"
#include "fabric/graph/multipath.hpp"
#include "fabric/graph/path.hpp"

namespace weft::api {
namespace {

static_assert(v1::Path::ARRIVED == static_cast<int>(PathEnd::kArrived) + 1);
static_assert(v1::Path::NO_SUCH_PORT == static_cast<int>(PathEnd::kNoSuchPort) + 1);

constexpr std::size_t kMostPaths = 256;
constexpr std::size_t kMostBytes = 3 * kPageBytes;  // gRPC's usual limit of one message is 4 MiB

/// A port that sends or is sent to.
struct EndPoint {
  PortIndex port = kNoIndex;
  Lid lid;  ///< InfiniBand
};

std::optional<unsigned> number_behind(std::string_view text, std::string_view words) {
  if (text.size() <= words.size()) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[i])) != words[i]) return std::nullopt;
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + words.size(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// Ports of one node that are spoken for: a switch speaks through port 0, an adapter through each port that is up.
void add_ports(const Topology& topology, NodeIndex index, std::vector<EndPoint>& ends) {
  const Node& node = topology.node(index);
  const std::size_t before = ends.size();
  EndPoint any;
  for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
    const Port& port = topology.port(p);
    if (!port.lid.is_unicast()) continue;
    if (any.port == kNoIndex) any = {p, port.lid};
    if (node.type == NodeType::kSwitch ? port.number.value == 0 : port.is_up() && port.peer != kNoIndex)
      ends.push_back({p, port.lid});
  }
  if (ends.size() == before && any.port != kNoIndex) ends.push_back(any);
}

std::vector<EndPoint> find_ends(const Snapshot& snapshot, const FabricView& fabric, const LidOwners& owners,
                                std::string_view name) {
  const Topology& topology = *fabric.sweep->topology;
  std::vector<EndPoint> ends;
  const auto of_nodes = [&](std::string_view nodes, std::optional<unsigned> number) {
    for (const FoundNode& found : find_nodes(snapshot, nodes, kMostNodes)) {
      if (found.fabric != &fabric) continue;
      if (!number) {
        add_ports(topology, found.node, ends);
        continue;
      }
      const Node& node = topology.node(found.node);
      if (*number < node.lowest_port() || *number > node.port_count) continue;
      const PortIndex port = node.first_port + *number - node.lowest_port();
      const Lid lid = topology.port(node.type == NodeType::kSwitch ? node.first_port : port).lid;
      if (lid.is_unicast()) ends.push_back({port, lid});
    }
  };
  of_nodes(name, std::nullopt);
  if (!ends.empty()) return ends;
  if (const auto number = number_behind(name, "lid "); number && *number <= 0xBFFF) {
    const Lid lid{static_cast<std::uint16_t>(*number)};
    if (const PortIndex port = owners.owner(lid); port != kNoIndex) ends.push_back({port, lid});
    return ends;
  }
  // "leaf-1 port 12", as ports are called everywhere.
  constexpr std::string_view kPort = " port ";
  if (const std::size_t at = name.rfind(kPort); at != std::string_view::npos)
    if (const auto number = number_behind(name.substr(at), kPort)) of_nodes(name.substr(0, at), number);
  return ends;
}

// On Ethernet a switch speaks for itself, a host through each interface that has a cable and is not known to be down.
std::vector<EndPoint> find_ethernet_ends(const Snapshot& snapshot, const FabricView& fabric, std::string_view name) {
  const Topology& topology = *fabric.sweep->topology;
  std::vector<EndPoint> ends, down, bare;
  for (const FoundNode& found : find_nodes(snapshot, name, kMostNodes)) {
    if (found.fabric != &fabric) continue;
    const Node& node = topology.node(found.node);
    const Port& port = topology.port(node.first_port);
    const bool cabled = node.type == NodeType::kSwitch || port.peer != kNoIndex;
    const bool lost = node.type != NodeType::kSwitch && port.state == PortState::kDown;
    (!cabled ? bare : lost ? down : ends).push_back({node.first_port, {}});
  }
  if (ends.empty()) ends = down.empty() ? std::move(bare) : std::move(down);
  if (ends.empty())
    for (const FoundPort& found : find_ports(snapshot, name))
      if (found.fabric == &fabric) ends.push_back({found.port, {}});
  return ends;
}

// "mlx5_3 1" of the adapter "gpu-0001 mlx5_3": what the same rail is called at every host.
std::string device_of(const Topology& topology, PortIndex index) {
  const Port& port = topology.port(index);
  const std::string& name = topology.node_of(port).name;
  const std::size_t space = name.rfind(' ');
  return (space == std::string::npos ? name : name.substr(space + 1)) + ' ' + std::to_string(port.number.value);
}

std::vector<std::pair<EndPoint, EndPoint>> pairs(const Topology& topology, const std::vector<EndPoint>& from,
                                                 const std::vector<EndPoint>& to) {
  std::vector<std::pair<EndPoint, EndPoint>> result;
  const bool by_rail = from.size() > 1 && to.size() > 1;
  for (const EndPoint& one : from)
    for (const EndPoint& other : to)
      if (!by_rail || device_of(topology, one.port) == device_of(topology, other.port)) result.emplace_back(one, other);
  if (result.empty())
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) result.emplace_back(from[i], to[i]);
  return result;
}

bool blames(const Entity& cause, const PortKey& from, const PortKey& to) {
  switch (cause.kind) {
    case EntityKind::kLink:
      return LinkKey{cause.port, cause.peer} == make_link_key(from, to);
    case EntityKind::kPort:
      return cause.port == from || cause.port == to;
    case EntityKind::kNode:
      return cause.port.node == from.node || cause.port.node == to.node;
    default:
      return false;
  }
}

// Everything but share and stage.
void hop_to_proto(const Snapshot& snapshot, const FabricView& fabric, const PathHop& hop, v1::PathHop& to) {
  const Topology& topology = *fabric.sweep->topology;
  const Port& port = topology.port(hop.from);
  to_proto(topology, hop.from, *to.mutable_from());
  to_proto(topology, hop.to, *to.mutable_to());
  to.set_up(port.is_up() && topology.port(hop.to).is_up());
  to.set_state_unknown(is_unread(topology, hop.from));
  to.set_width(width_text(port.width_active));
  to.set_speed(speed_text(port.speed_active));
  const double rate = port.bits_per_second();
  to.set_rate_bits_per_second(rate);
  if (fabric.rates && hop.from < fabric.rates->size()) {
    const PortRates& rates = (*fabric.rates)[hop.from];
    if (rate > 0 && std::isfinite(rates.transmit_bits_per_second))
      to.set_utilization_ratio(std::min(rates.transmit_bits_per_second / rate, 1.0));
    if (std::isfinite(rates.stall_ratio)) to.set_stall_ratio(rates.stall_ratio);
  }
  if (!snapshot.incidents) return;
  const PortKey from = topology.key_of(hop.from), peer = topology.key_of(hop.to);
  for (const auto& incident : *snapshot.incidents)
    if (incident->is_open() && incident->finding.cause.fabric == fabric.name &&
        blames(incident->finding.cause, from, peer))
      to.add_incident_ids(incident_name(incident->id));
}

/// What was asked, as it is being answered.
struct Answer {
  const Snapshot& snapshot;
  const v1::GetPathRequest& request;
  v1::GetPathResponse response{};
  std::size_t bytes = 0;
  bool known_from = false, known_to = false;
  std::string unread{};  ///< why there is no way where both are known

  /// A further path, or null where it is one too many.
  v1::Path* begin(const FabricView& fabric, const EndPoint& source, const EndPoint& target) {
    if (static_cast<std::size_t>(response.paths_size()) >= kMostPaths || bytes >= kMostBytes) {
      response.set_paths_left_out(response.paths_left_out() + 1);
      return nullptr;
    }
    v1::Path& message = *response.add_paths();
    message.set_fabric(valid_utf8(fabric.name));
    to_proto(*fabric.sweep->topology, source.port, *message.mutable_from());
    to_proto(*fabric.sweep->topology, target.port, *message.mutable_to());
    return &message;
  }
  void end(const v1::Path& message) {
    bytes += message.ByteSizeLong();
    if (bytes <= kMostBytes) return;
    response.mutable_paths()->RemoveLast();
    response.set_paths_left_out(response.paths_left_out() + 1);
  }
};

constexpr v1::Path::End to_proto(PathEnd end) {
  return static_cast<v1::Path::End>(static_cast<int>(end) + 1);
}

void add_routed(const FabricView& fabric, Answer& answer) {
  const Topology& topology = *fabric.sweep->topology;
  const LidOwners owners(topology);
  const auto from = find_ends(answer.snapshot, fabric, owners, answer.request.from());
  const auto to = find_ends(answer.snapshot, fabric, owners, answer.request.to());
  answer.known_from |= !from.empty();
  answer.known_to |= !to.empty();
  if (from.empty() || to.empty()) return;
  if (!fabric.sweep->routes) {
    answer.unread = "the forwarding tables of the switches have not been read yet";
    return;
  }
  for (const auto& [source, target] : pairs(topology, from, to)) {
    v1::Path* const message = answer.begin(fabric, source, target);
    if (message == nullptr) continue;
    const weft::Path path = find_path(topology, *fabric.sweep->routes, source.port, target.lid);
    message->set_to_lid(target.lid.value);
    for (const PathHop& hop : path.hops) {
      v1::PathHop& cable = *message->add_hops();
      hop_to_proto(answer.snapshot, fabric, hop, cable);
      cable.set_share(1);
      cable.set_stage(static_cast<std::uint32_t>(message->hops_size()));
    }
    message->set_end(to_proto(path.end));
    message->set_description(valid_utf8(describe_end(topology, path, target.lid)));
    answer.end(*message);
  }
}

void add_equal_cost(const FabricView& fabric, Answer& answer) {
  const Topology& topology = *fabric.sweep->topology;
  const auto from = find_ethernet_ends(answer.snapshot, fabric, answer.request.from());
  const auto to = find_ethernet_ends(answer.snapshot, fabric, answer.request.to());
  answer.known_from |= !from.empty();
  answer.known_to |= !to.empty();
  if (from.empty() || to.empty()) return;
  if (!fabric.sweep->multipath) {
    answer.unread = "the paths through fabric " + valid_utf8(fabric.name) + " have not been computed yet";
    return;
  }
  const Multipath& ways = *fabric.sweep->multipath;
  const auto is_cut = [](const Port& port) { return port.state == PortState::kDown && port.peer != kNoIndex; };
  std::optional<Multipath> all;
  if (std::ranges::any_of(topology.ports(), is_cut)) all = intact_ways(topology);
  const Multipath& intact = all ? *all : ways;
  for (const auto& [source, target] : pairs(topology, from, to)) {
    v1::Path* const message = answer.begin(fabric, source, target);
    if (message == nullptr) continue;
    const auto path = find_flow_path(ways, intact, source.port, target.port);
    if (!path) {
      answer.response.mutable_paths()->RemoveLast();
      answer.unread =
          "no hosts are connected to either switch: paths need a host, or a switch with hosts, at one end at least";
      continue;
    }
    for (const EcmpPath::Hop& hop : path->hops) {
      v1::PathHop& cable = *message->add_hops();
      hop_to_proto(answer.snapshot, fabric, {hop.from, topology.port(hop.from).peer}, cable);
      cable.set_share(hop.share);
      cable.set_stage(hop.stage);
    }
    message->set_ways(path->ways);
    message->set_end(to_proto(path->end));
    message->set_description(valid_utf8(describe(topology, *path, source.port, target.port)));
    answer.end(*message);
  }
}

}  // namespace

Result<v1::GetPathResponse> get_path(const Snapshot& snapshot, const v1::GetPathRequest& request) {
  if (request.from().empty() || request.to().empty())
    return fail(ErrorCode::kInvalidArgument, "a path needs both ends: from and to");
  Answer answer{snapshot, request};
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    if (!request.fabric().empty() && fabric.name != request.fabric()) continue;
    if (fabric.sweep->topology->is_ethernet()) {
      add_equal_cost(fabric, answer);
    } else {
      add_routed(fabric, answer);
    }
  }
  if (!answer.response.paths().empty()) return std::move(answer.response);
  if (answer.response.paths_left_out() > 0)
    return fail(ErrorCode::kFailedPrecondition, "too many paths for one answer: name ports that are closer together");
  if (!answer.unread.empty()) return fail(ErrorCode::kFailedPrecondition, answer.unread);
  for (const auto& [known, name] :
       {std::pair(answer.known_from, &request.from()), std::pair(answer.known_to, &request.to())})
    if (!known)
      return fail(ErrorCode::kNotFound, is_before_first_sweep(snapshot)
                                            ? not_swept_text(valid_utf8(*name))
                                            : "no node or port is named " + valid_utf8(*name));
  return fail(ErrorCode::kNotFound, "the two ends have no common subnet");
}

}  // namespace weft::api
