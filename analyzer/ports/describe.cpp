// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/describe.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {

Entity Describe::fabric() const {
  return {.kind = EntityKind::kFabric, .fabric = fabric_, .port = {}, .peer = {}, .label = fabric_};
}

Entity Describe::node(NodeId id) const {
  const KnownNode& node = table_.nodes()[id];
  return {.kind = EntityKind::kNode, .fabric = fabric_, .port = {node.guid, {}}, .peer = {}, .label = node.name};
}

Entity Describe::host(std::uint32_t host) const {
  NodeGuid lowest;
  for (const NodeId adapter : table_.hosts()[host]) {
    const NodeGuid guid = table_.nodes()[adapter].guid;
    if (!lowest || guid < lowest) lowest = guid;
  }
  return {.kind = EntityKind::kNode,
          .fabric = fabric_,
          .port = {lowest, {}},
          .peer = {},
          .label = table_.host_name_of(host)};
}

Entity Describe::port(PortKey key) const {
  const NodeId node = table_.find_node(key.node);
  const std::string label = node == kNoIndex ? to_string(key.node) + " port " + std::to_string(key.port.value)
                                             : table_.end_label(node, key.port);
  return {.kind = EntityKind::kPort, .fabric = fabric_, .port = key, .peer = {}, .label = label};
}

Entity Describe::link(LinkId id) const {
  const LinkState& link = table_.links()[id];
  return {.kind = EntityKind::kLink,
          .fabric = fabric_,
          .port = link.key.low,
          .peer = link.key.high,
          .label = table_.end_label(link.low_node, link.key.low.port) + " - " +
                   table_.end_label(link.high_node, link.key.high.port)};
}

Entity Describe::end(LinkId id, bool high) const {
  const LinkState& link = table_.links()[id];
  return port(high ? link.key.high : link.key.low);
}

NodeId Describe::adapter_of(LinkId id) const {
  const LinkState& link = table_.links()[id];
  const auto is_adapter = [&](NodeId node) { return table_.nodes()[node].type == NodeType::kChannelAdapter; };
  if (is_adapter(link.low_node)) return link.low_node;
  return is_adapter(link.high_node) ? link.high_node : kNoIndex;
}

Finding make_finding(IncidentKind kind, Severity severity, Entity cause) {
  Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.cause = std::move(cause);
  return finding;
}

Evidence fact(std::string signal, std::string description, TimePoint observed, Entity where) {
  return {.signal = std::move(signal),
          .description = std::move(description),
          .value = 0,
          .threshold = 0,
          .unit = {},
          .observed = observed,
          .where = std::move(where)};
}

}  // namespace weft::analyzer
