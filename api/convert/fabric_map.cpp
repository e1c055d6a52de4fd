// SPDX-License-Identifier: Apache-2.0
#include "api/convert/fabric_map.hpp"

#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "api/convert/fabric.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A JSON string (RFC 8259, section 7).
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  append_quoted(out, text);
}

std::string time_text(TimePoint time) {
  google::protobuf::Timestamp stamp;
  set_timestamp(stamp, time);
  return google::protobuf::util::TimeUtil::ToString(stamp);
}

void mix(std::uint64_t& hash, std::uint64_t value) {
  // The step of splitmix64: cheap, and every bit of the value reaches every bit of the sum.
  hash += value + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
}

bool has_topology(const FabricView& fabric) {
  return fabric.sweep && fabric.sweep->topology;
}

char type_letter(const Node& node) {
  if (node.aggregation_node) return 'A';
  switch (node.type) {
    case NodeType::kSwitch:
      return 'S';
    case NodeType::kChannelAdapter:
      return 'C';
    case NodeType::kRouter:
      return 'R';
    case NodeType::kUnknown:
      break;
  }
  return 'U';
}

char verdict_letter(HealthVerdict verdict) {
  switch (verdict) {
    case HealthVerdict::kHealthy:
      return 'h';
    case HealthVerdict::kDegraded:
      return 'd';
    case HealthVerdict::kUnhealthy:
      return 'b';
    case HealthVerdict::kUnknown:
      break;
  }
  return 'u';
}

char node_letter(const Snapshot& snapshot, const Node& node) {
  if (!node.reachable) return 'x';
  if (!snapshot.health) return 'u';
  const auto& health = *snapshot.health;
  const std::string_view host = host_name(node);
  const auto found = std::lower_bound(health.begin(), health.end(), host,
                                      [](const NodeHealth& entry, std::string_view name) { return entry.node < name; });
  return found != health.end() && found->node == host ? verdict_letter(found->verdict) : 'u';
}

/// NaN is "not known", and the other direction's value counts then.
double worse(double one, double other) {
  if (std::isnan(one)) return other;
  if (std::isnan(other)) return one;
  return std::max(one, other);
}

struct LinkLetters {
  std::string states;
  std::string traffic;
  std::string stall;
  std::string errors;
};

/// One end that was read just now is enough to know that a link is down; to know that it is up takes both.
char link_letter(const FabricView& fabric, PortIndex index, PortIndex peer, TimePoint now) {
  bool seen = false;
  bool all_fresh = true;
  for (const PortIndex end : {index, peer}) {
    if (never_seen(*fabric.sweep, end)) {
      all_fresh = false;
      continue;
    }
    seen = true;
    const bool stale = is_stale(fabric, end, now);
    if (!stale && !fabric.sweep->topology->port(end).is_up()) return 'd';
    all_fresh = all_fresh && !stale;
  }
  if (!seen) return 'n';
  return all_fresh ? 'u' : 's';
}

void append_link(const FabricView& fabric, PortIndex index, TimePoint now, LinkLetters& letters) {
  const Topology& topology = *fabric.sweep->topology;
  const PortIndex peer = topology.port(index).peer;
  letters.states += link_letter(fabric, index, peer, now);
  const bool up = topology.port(index).is_up() && topology.port(peer).is_up();
  const bool rated = up && fabric.rates && std::max(index, peer) < fabric.rates->size();
  if (!rated) {
    letters.traffic += '-';
    letters.stall += '-';
    letters.errors += '-';
    return;
  }
  const PortRates& here = (*fabric.rates)[index];
  const PortRates& there = (*fabric.rates)[peer];
  letters.traffic += share_digit(worse(here.utilization_ratio, there.utilization_ratio));
  letters.stall += share_digit(worse(here.stall_ratio, there.stall_ratio));
  letters.errors += error_digit(worse(here.error_rate, there.error_rate));
}

template <typename Add>
void for_each_link(const Topology& topology, Add add) {
  for (PortIndex index = 0; index < topology.ports().size(); ++index)
    if (starts_link(topology, index)) add(index);
}

template <typename Text>
void append_names(std::string& out, std::string_view name, const Topology& topology, Text text) {
  out += ",\"";
  out += name;
  out += "\":[";
  bool first = true;
  for (const Node& node : topology.nodes()) {
    if (!first) out += ',';
    first = false;
    append_quoted(out, text(node));
  }
  out += ']';
}

/// The rail that the ports of the node are of; kNoIndex where that is none, or several.
std::uint32_t rail_of(const Topology& topology, const Places& places, const Node& node) {
  std::uint32_t rail = kNoIndex;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const std::uint32_t own = topology.port(port).peer == kNoIndex ? kNoIndex : places.rails[port];
    if (own == kNoIndex) continue;
    if (rail != kNoIndex && rail != own) return kNoIndex;
    rail = own;
  }
  return rail;
}

/// Two lists: `names`, and the position among them of each node, by `of`.
template <typename Of>
void append_places(std::string& out, std::string_view list, const std::vector<std::string>& names,
                   std::string_view positions, std::size_t nodes, Of of) {
  if (names.empty()) return;
  out += ",\"";
  out += list;
  out += "\":[";
  for (const std::string& name : names) {
    if (out.back() != '[') out += ',';
    append_quoted(out, name);
  }
  out += "],\"";
  out += positions;
  out += "\":[";
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (node > 0) out += ',';
    const std::uint32_t at = of(node);
    out += at == kNoIndex ? "-1" : std::to_string(at);
  }
  out += ']';
}

bool has_places(const FabricView& fabric) {
  const Topology& topology = *fabric.sweep->topology;
  return fabric.places && fabric.places->pods.size() == topology.nodes().size() &&
         fabric.places->rails.size() == topology.ports().size();
}

void append_map(std::string& out, const FabricView& fabric) {
  const Topology& topology = *fabric.sweep->topology;
  out += "{\"fabric\":";
  append_quoted(out, fabric.name);
  append_member(out, "epoch", std::to_string(topology.epoch()));
  append_member(out, "shape", map_shape(fabric));
  append_names(out, "guids", topology, [](const Node& node) { return to_string(node.guid); });
  append_names(out, "names", topology, [](const Node& node) { return std::string_view(node.name); });
  append_names(out, "hosts", topology, [](const Node& node) { return host_name(node); });
  std::string types;
  for (const Node& node : topology.nodes()) types += type_letter(node);
  append_member(out, "types", types);
  out += ",\"links\":[";
  for_each_link(topology, [&](PortIndex index) {
    for (const PortIndex end : {index, topology.port(index).peer}) {
      if (out.back() != '[') out += ',';
      out += std::to_string(topology.port(end).node) + ',' + std::to_string(topology.port(end).number.value);
    }
  });
  out += ']';
  if (topology.is_ethernet()) {
    out += ",\"ends\":[";
    for_each_link(topology, [&](PortIndex index) {
      for (const PortIndex end : {index, topology.port(index).peer}) {
        if (out.back() != '[') out += ',';
        append_quoted(out, port_label(topology, end));
      }
    });
    out += ']';
  }
  if (has_places(fabric)) {
    const Places& places = *fabric.places;
    const std::size_t nodes = topology.nodes().size();
    append_places(out, "pods", places.pod_names, "podOf", nodes, [&](NodeIndex node) { return places.pods[node]; });
    append_places(out, "rails", places.rail_names, "railOf", nodes,
                  [&](NodeIndex node) { return rail_of(topology, places, topology.node(node)); });
  }
  out += '}';
}

void append_state(std::string& out, const Snapshot& snapshot, const FabricView& fabric, TimePoint now) {
  out += "{\"fabric\":";
  append_quoted(out, fabric.name);
  out += fabric.watching ? ",\"watching\":true" : ",\"watching\":false";
  append_member(out, "status", fabric.status);
  if (has_topology(fabric)) {
    const Topology& topology = *fabric.sweep->topology;
    append_member(out, "shape", map_shape(fabric));
    append_member(out, "sweepFinished", time_text(fabric.sweep->finished));
    std::string nodes;
    for (const Node& node : topology.nodes()) nodes += node_letter(snapshot, node);
    append_member(out, "nodes", nodes);
    LinkLetters letters;
    for_each_link(topology, [&](PortIndex index) { append_link(fabric, index, now, letters); });
    append_member(out, "links", letters.states);
    append_member(out, "traffic", letters.traffic);
    append_member(out, "stall", letters.stall);
    append_member(out, "errors", letters.errors);
  }
  out += '}';
}

}  // namespace

char share_digit(double ratio) {
  if (std::isnan(ratio)) return '-';
  return kDigits[static_cast<std::size_t>(std::lround(std::clamp(ratio, 0.0, 1.0) * 63))];
}

char error_digit(double rate) {
  if (std::isnan(rate)) return '-';
  if (rate <= 0) return kDigits[0];
  return kDigits[static_cast<std::size_t>(std::lround(std::clamp(std::log10(rate) + 20, 1.0, 20.0)))];
}

std::string map_shape(const FabricView& fabric) {
  if (!has_topology(fabric)) return "";
  const Topology& topology = *fabric.sweep->topology;
  std::uint64_t hash = topology.epoch();
  for (const Node& node : topology.nodes()) {
    mix(hash, node.guid.value);
    mix(hash, std::hash<std::string_view>{}(node.name));
  }
  for (const Port& port : topology.ports()) mix(hash, port.peer);
  if (topology.is_ethernet())
    for (PortIndex port = 0; port < topology.ports().size(); ++port)
      mix(hash, std::hash<std::string_view>{}(topology.port_name(port)));
  if (has_places(fabric)) {
    for (const auto* names : {&fabric.places->pod_names, &fabric.places->rail_names})
      for (const std::string& name : *names) mix(hash, std::hash<std::string>{}(name));
    for (const auto* positions : {&fabric.places->pods, &fabric.places->rails})
      for (const std::uint32_t position : *positions) mix(hash, position);
  }
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

std::string fabric_map(const Snapshot& snapshot) {
  std::string json = "{\"fabrics\":[";
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!has_topology(fabric)) continue;
    if (json.back() != '[') json += ',';
    append_map(json, fabric);
  }
  json += "]}";
  return json;
}

std::string fabric_map_state(const Snapshot& snapshot, TimePoint now) {
  std::string json = is_ready(snapshot) ? "{\"ready\":true" : "{\"ready\":false";
  if (!is_ready(snapshot)) append_member(json, "notReady", not_ready_text(snapshot));
  if (snapshot.taken != kNever) append_member(json, "taken", time_text(snapshot.taken));
  json += snapshot.figures.store_ok ? ",\"storeOk\":true" : ",\"storeOk\":false";
  append_member(json, "storeStatus", snapshot.figures.store_status);
  if (snapshot.leadership.is_shared) {
    json += snapshot.leadership.leads ? ",\"leads\":true" : ",\"leads\":false";
    json += snapshot.leadership.is_held || !snapshot.leadership.leads ? "" : ",\"held\":false";
    append_member(json, "role", leadership_text(snapshot.leadership));
    append_member(json, "leader", snapshot.leadership.leader);
    json += ",\"epoch\":" + std::to_string(snapshot.leadership.epoch);
  }
  json += ",\"fabrics\":[";
  for (const FabricView& fabric : snapshot.fabrics) {
    if (json.back() != '[') json += ',';
    append_state(json, snapshot, fabric, now);
  }
  json += "]}";
  return json;
}

}  // namespace weft::api
