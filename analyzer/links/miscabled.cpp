// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/miscabled.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/links/compare_cabling.hpp"
#include "analyzer/ports/plan_topology.hpp"

namespace weft::analyzer {
namespace {

std::string label_of(const NamedPort& port) {
  if (!port.name.empty()) return port.node.ends_with(' ' + port.name) ? port.node : port.node + ' ' + port.name;
  return port.node + " port " + std::to_string(port.key.port.value);
}

void add_end(Finding& finding, const Describe& describe, PortKey at, PortKey found,
             const std::optional<NamedPort>& wanted, TimePoint now) {
  const Entity where = describe.port(at);
  finding.evidence.push_back(fact("expected_peer",
                                  where.label + " should be connected with " +
                                      (wanted ? label_of(*wanted) : std::string("nothing")) + ", found " +
                                      describe.port(found).label,
                                  now, where));
}

Finding finding_of(const MisledLink& link, LinkId id, const Describe& describe, TimePoint now) {
  Finding finding = make_finding(IncidentKind::kMiscabled, Severity::kWarning, describe.link(id));
  finding.confidence = 0.95;
  const PortKey a = link.found.a.key, b = link.found.b.key;
  if (!link.a_expects && !link.b_expects) {
    finding.severity = Severity::kInfo;
    finding.summary = "Link " + finding.cause.label + " is not in the expected topology";
  } else {
    finding.summary = "Link " + finding.cause.label + " is miscabled: " + describe.port(link.a_expects ? a : b).label +
                      " should be connected with " + label_of(link.a_expects ? *link.a_expects : *link.b_expects);
  }
  for (const auto& wants : {link.a_expects, link.b_expects})
    if (wants) finding.affected.push_back(describe.port(wants->key));
  add_end(finding, describe, a, b, link.a_expects, now);
  add_end(finding, describe, b, a, link.b_expects, now);
  return finding;
}

/// Neither this process nor one before it ever saw the node.
bool is_new(const LinkTable& table, NodeId id) {
  return table.nodes()[id].index == kNoIndex &&
         std::ranges::none_of(table.links_of(id), [&](LinkId link) { return table.links()[link].was_up; });
}

/// Nor any of its neighbours, which would tell that the link to it is down.
bool is_unseen(const LinkTable& table, NodeGuid guid) {
  const NodeId id = table.find_node(guid);
  if (id == kNoIndex) return true;
  return is_new(table, id) && std::ranges::all_of(table.links_of(id), [&](LinkId link) {
           const LinkState& state = table.links()[link];
           return is_new(table, state.low_node == id ? state.high_node : state.low_node);
         });
}

}  // namespace

/// Planned nodes that were never seen, and none of whose neighbours was: nothing else speaks of them.
void Cabling::add_unseen(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<const Node*> unseen;
  for (const Node& node : expected_->nodes())
    if (topology.find_node(node.guid) == kNoIndex && is_unseen(table, node.guid)) unseen.push_back(&node);
  if (unseen.empty()) return;
  std::ranges::sort(unseen, {}, &Node::name);
  Finding finding = make_finding(IncidentKind::kMiscabled, Severity::kInfo, describe.fabric());
  finding.confidence = 0.95;
  const std::string fabric = "in fabric " + finding.cause.label;
  if (unseen.size() == expected_->nodes().size()) {
    finding.severity = Severity::kWarning;
    finding.summary = "No node of the expected topology is " + fabric + "; check that the file is of this fabric";
  } else if (unseen.size() == 1) {
    finding.summary = "The planned node " + unseen.front()->name + " is not " + fabric;
  } else {
    finding.summary = std::to_string(unseen.size()) + " planned nodes are not " + fabric;
  }
  for (std::size_t i = 0; i < std::min(kMostNamed, unseen.size()); ++i) {
    const NodeId id = table.find_node(unseen[i]->guid);
    finding.evidence.push_back(
        fact("expected_node",
             unseen[i]->name +
                 (unseen[i]->guid == guid_of_name(unseen[i]->name) ? "" : " (" + to_string(unseen[i]->guid) + ")") +
                 " was expected; neither it nor a neighbour was found",
             now, id == kNoIndex ? finding.cause : describe.node(id)));
  }
  findings_.push_back(std::move(finding));
}

void Cabling::update(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now) {
  findings_.clear();
  differences_.reset();
  if (!expected_) return;
  auto compared = std::make_shared<CablingDifferences>(compare_cabling(*expected_, topology));
  compared->ignored = ignored_;
  const auto add = [&](const MisledLink& link) {
    findings_.push_back(finding_of(link, table.link_at(topology.find_port(link.found.a.key)), describe, now));
  };
  for (const MisledLink& link : compared->misled) add(link);
  for (const NamedLink& link : compared->unplanned) add({link, {}, {}});
  const double share =
      static_cast<double>(findings_.size()) / static_cast<double>(std::max<std::size_t>(compared->compared_links, 1));
  differences_ = std::move(compared);
  if (findings_.size() <= thresholds_.mass_minimum_links || share <= thresholds_.miscabled_mass_share)
    return add_unseen(topology, table, describe, now);
  Finding all = make_finding(IncidentKind::kMiscabled, Severity::kWarning, describe.fabric());
  all.confidence = 0.9;
  all.summary = "Fabric " + all.cause.label +
                " differs from its expected topology on most links; check that the file is of this fabric";
  for (std::size_t i = 0; i < 4; ++i)
    all.evidence.insert(all.evidence.end(), findings_[i].evidence.begin(), findings_[i].evidence.end());
  findings_.assign(1, std::move(all));
}

void report_duplicates(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                       std::vector<Finding>& findings) {
  std::map<NodeGuid, Finding> by_guid;
  for (const DuplicateGuid& duplicate : topology.duplicates()) {
    const NodeId id = table.find_node(duplicate.guid);
    if (id == kNoIndex) continue;
    const auto [found, added] = by_guid.try_emplace(duplicate.guid);
    Finding& finding = found->second;
    if (added) {
      finding = make_finding(IncidentKind::kDuplicateGuid, Severity::kCritical, describe.node(id));
      finding.confidence = 0.99;
      finding.summary = "GUID " + to_string(duplicate.guid) + " of " + finding.cause.label +
                        " answers at two places: at " + describe.port(duplicate.first_seen_behind).label +
                        " and, as \"" + duplicate.second_description + "\", at " +
                        describe.port(duplicate.second_seen_behind).label;
    }
    for (const PortKey& key : {duplicate.first_seen_behind, duplicate.second_seen_behind}) {
      const Entity where = describe.port(key);
      bool known = false;
      for (const Evidence& evidence : finding.evidence) known = known || evidence.where.port == key;
      if (known) continue;
      finding.affected.push_back(where);
      finding.evidence.push_back(
          fact("node_guid", to_string(duplicate.guid) + " answered at " + where.label, now, where));
    }
  }
  for (auto& [guid, finding] : by_guid) findings.push_back(std::move(finding));
}

}  // namespace weft::analyzer
