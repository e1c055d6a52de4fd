// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/double_guids.hpp"

#include <algorithm>
#include <chrono>

namespace weft::analyzer {
namespace {

/// Signal of the evidence that names the other subnet.
constexpr const char* kInBothSignal = "node_guid_in_both";
constexpr unsigned kSweepsInBoth = 3;
constexpr Duration kForgetAfter = std::chrono::minutes(10);

/// The other subnet where that node, which answers here, is up as well, after `since`; null: none.
const Sweep* find(const Topology& topology, NodeIndex index, const OtherSubnets& others, TimePoint since) {
  const Node& node = topology.node(index);
  if (node.type == NodeType::kSwitch) return others.find_switch(node.guid, since);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
    if (topology.port(port).is_up())
      if (const Sweep* const there = others.find_port(topology.key_of(port), since)) return there;
  return nullptr;
}

}  // namespace

void DoubleGuids::remember(const Incident& incident, std::string_view fabric) {
  const Finding& finding = incident.finding;
  if (!incident.is_open() || finding.kind != IncidentKind::kDuplicateGuid) return;
  Double& both = doubles_[finding.cause.port.node];
  both.last = std::max(both.last, incident.updated);
  both.is_known = true;
  const auto told = std::ranges::find(finding.evidence, kInBothSignal, &Evidence::signal);
  if (told == finding.evidence.end() || finding.cause.fabric != fabric) return;
  both.other = told->where.fabric;
  both.is_ours = true;
}

void DoubleGuids::look(const Sweep& sweep, const OtherSubnets& others, NodeIndex node) {
  const Topology& topology = *sweep.topology;
  const NodeGuid guid = topology.node(node).guid;
  const Sweep* const there = topology.node(node).reachable ? find(topology, node, others, kNever) : nullptr;
  if (!there) return;
  Double& both = doubles_[guid];
  if (both.since == kNever) both.since = std::max(sweep.finished, there->finished);
  both.other = there->fabric;
  both.last = sweep.finished;
  // Both have been read again since.
  if (++both.sweeps < kSweepsInBoth || !find(topology, node, others, both.since)) return;
  both.is_known = true;
  both.is_ours = sweep.fabric < both.other;
}

void DoubleGuids::observe(const Sweep& sweep, const OtherSubnets& others) {
  const bool is_another = topology_ != sweep.topology || !others_.has_same_graphs(others);
  topology_ = sweep.topology;
  others_ = others;
  const Topology& topology = *sweep.topology;
  if (is_another) {
    for (NodeIndex node = 0; node < topology.nodes().size(); ++node) look(sweep, others, node);
  } else {
    for (const auto& [guid, both] : doubles_)
      if (const NodeIndex node = topology.find_node(guid); node != kNoIndex) look(sweep, others, node);
  }
  for (auto& [guid, both] : doubles_) {
    // A clock that was set back must not make it last.
    both.last = std::min(both.last, sweep.finished);
    both.since = std::min(both.since, sweep.finished);
    if (both.last == sweep.finished) continue;
    both.sweeps = 0;
    both.since = kNever;
  }
  std::erase_if(doubles_, [&](const auto& entry) {
    const auto& [guid, both] = entry;
    if (both.is_known) return sweep.finished - both.last > kForgetAfter && !others.find_node(guid);
    return both.last < sweep.finished;
  });
}

bool DoubleGuids::has(NodeGuid guid) const {
  const auto found = doubles_.find(guid);
  return found != doubles_.end() && found->second.is_known;
}

void DoubleGuids::report(const Describe& describe, const LinkTable& table, TimePoint now,
                         std::vector<Finding>& findings) const {
  for (const auto& [guid, both] : doubles_) {
    const NodeId id = both.is_known && both.is_ours ? table.find_node(guid) : kNoIndex;
    if (id == kNoIndex) continue;
    Finding finding = make_finding(IncidentKind::kDuplicateGuid, Severity::kWarning, describe.node(id));
    finding.confidence = 0.95;
    finding.summary = "GUID " + to_string(guid) + " of " + finding.cause.label + " answers in two subnets, " +
                      describe.fabric().label + " and " + both.other +
                      ": two nodes have it, and what becomes of one is not told from the other";
    Entity other = describe.fabric();
    other.fabric = other.label = both.other;
    finding.evidence.push_back(
        fact(kInBothSignal, to_string(guid) + " answered in " + both.other + " as well", now, std::move(other)));
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
