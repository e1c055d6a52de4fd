// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/double_guids.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weft::analyzer {
namespace {

/// Signal of the evidence that names the other subnet.
constexpr const char* kInBothSignal = "node_guid_in_both";
constexpr unsigned kSweepsInBoth = 3;
constexpr Duration kForgetAfter = std::chrono::minutes(10);
constexpr Duration kForgetUnreadAfter = std::chrono::hours(7 * 24);

/// The other subnet where that node is up as well as here, both after `since`; null: none.
const Sweep* find(const Sweep& here, NodeIndex index, const OtherSubnets& others, TimePoint since) {
  const Topology& topology = *here.topology;
  const Node& node = topology.node(index);
  if (node.type == NodeType::kSwitch)
    return has_answered(here, index, since) ? others.find_switch(node.guid, since) : nullptr;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
    if (is_link_up(here, port, since))
      if (const Sweep* const there = others.find_port(topology.key_of(port), since)) return there;
  return nullptr;
}

}  // namespace

void DoubleGuids::remember(const Incident& incident, std::string_view fabric) {
  const Finding& finding = incident.finding;
  if (!incident.is_open() || finding.kind != IncidentKind::kDuplicateGuid) return;
  const auto told = std::ranges::find(finding.evidence, kInBothSignal, &Evidence::signal);
  if (told == finding.evidence.end()) return;
  Double& both = doubles_[finding.cause.port.node];
  both.is_known = true;
  both.is_ours = finding.cause.fabric == fabric;
  both.other = both.is_ours ? told->where.fabric : finding.cause.fabric;
}

void DoubleGuids::rename_subnet(std::string_view before, const std::string& since) {
  for (auto& [guid, both] : doubles_)
    if (both.other == before) both.other = since;
}

void DoubleGuids::look(const Sweep& sweep, const OtherSubnets& others, NodeIndex node) {
  const Topology& topology = *sweep.topology;
  const NodeGuid guid = topology.node(node).guid;
  const Sweep* const there = find(sweep, node, others, kNever);
  if (!there) return;
  Double& both = doubles_[guid];
  if (both.since == kNever) both.since = std::max(sweep.finished, there->finished);
  both.other = there->fabric;
  both.last = sweep.finished;
  // Both have been read again since.
  if (++both.sweeps < kSweepsInBoth || !find(sweep, node, others, both.since)) return;
  if (!std::exchange(both.is_known, true)) both.is_ours = sweep.fabric < both.other;
}

void DoubleGuids::observe(const Sweep& sweep, const OtherSubnets& others) {
  auto graphs = others.graphs();
  graphs.push_back(sweep.topology);
  const Topology& topology = *sweep.topology;
  if (std::exchange(graphs_, graphs) != graphs) {
    for (NodeIndex node = 0; node < topology.nodes().size(); ++node) look(sweep, others, node);
  } else {
    for (const auto& [guid, both] : doubles_)
      if (const NodeIndex node = topology.find_node(guid); node != kNoIndex) look(sweep, others, node);
  }
  for (auto& [guid, both] : doubles_) {
    // A clock that was set back must not make it last.
    for (TimePoint* const at : {&both.last, &both.since, &both.away_since, &both.single_since})
      *at = std::min(*at, sweep.finished);
    if (both.last == sweep.finished) {
      both.away_since = both.single_since = kNever;
      both.is_missing = false;
      continue;
    }
    both.sweeps = 0;
    both.since = kNever;
    const bool is_there = others.find_node(guid) != nullptr;
    both.is_missing = both.is_known && is_there;
    const auto note = [&](TimePoint& since, bool is_away) {
      if (!is_away)
        since = kNever;
      else if (since == kNever)
        since = sweep.finished;
    };
    note(both.away_since, !is_there);
    note(both.single_since, !is_there && others.has(both.other));
  }
  std::erase_if(doubles_, [&](const auto& entry) {
    const Double& both = entry.second;
    if (!both.is_known) return both.last < sweep.finished;
    const auto is_over = [&](TimePoint since, Duration span) {
      return since != kNever && sweep.finished - since > span;
    };
    return is_over(both.single_since, kForgetAfter) || is_over(both.away_since, kForgetUnreadAfter);
  });
}

bool DoubleGuids::has(NodeGuid guid) const {
  const auto found = doubles_.find(guid);
  return found != doubles_.end() && found->second.is_known;
}

void DoubleGuids::report(const Describe& describe, const LinkTable& table, TimePoint now,
                         std::vector<Finding>& findings) const {
  for (const auto& [guid, both] : doubles_) {
    const bool is_told = both.is_known && (both.is_ours || both.is_missing);
    const NodeId id = is_told ? table.find_node(guid) : kNoIndex;
    if (id == kNoIndex) continue;
    Finding finding = make_finding(IncidentKind::kDuplicateGuid, Severity::kWarning, describe.node(id));
    finding.confidence = 0.95;
    finding.summary = "GUID " + to_string(guid) + " of " + finding.cause.label + " answers in two subnets, " +
                      describe.fabric().label + " and " + both.other +
                      ": two nodes have it, and what becomes of one is not told from the other";
    Entity other = describe.fabric();
    other.fabric = other.label = both.other;
    finding.evidence.push_back(fact(kInBothSignal, to_string(guid) + " answered in " + both.other + " as well",
                                    both.last == kNever ? now : both.last, std::move(other)));
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
