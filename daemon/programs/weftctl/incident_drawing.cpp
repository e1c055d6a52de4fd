// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/incident_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/number_text.hpp"

namespace weft::ctl {
namespace {

// What a person takes in at a glance; all of it is in the JSON.
constexpr int kMostWaiting = 24;
constexpr std::size_t kMostHanging = 12;
constexpr std::string_view kBetweenEnds = " - ";

/// Both ends of a link by name, the one of Entity.port first. The label is "leaf-1 port 12 - dgx-04 mlx5_0 port 1", on
/// Ethernet "leaf01 swp12 - gpu-04 eth2".
std::pair<std::string, std::string> ends_of(const v1::Entity& link) {
  const std::string label = label_of(link);
  const std::string between = " port " + std::to_string(link.port()) + " - ";
  const std::size_t at = label.find(between);
  const bool numbered = at != std::string::npos;
  const std::size_t cut = numbered ? at + between.size() - kBetweenEnds.size() : label.find(kBetweenEnds);
  if (cut == std::string::npos || (!numbered && cut != label.rfind(kBetweenEnds))) return {label, ""};
  return {label.substr(0, cut), label.substr(cut + kBetweenEnds.size())};
}

std::string whole_percent(double ratio) {
  return std::to_string(std::lround(std::clamp(ratio, 0.0, 1.0) * 100)) + " %";
}

const v1::Evidence* contribution_of(const v1::Incident& incident, const v1::Entity& sender) {
  const auto found = std::ranges::find_if(incident.evidence(), [&](const v1::Evidence& fact) {
    return fact.signal() == "contributor" && fact.where().identity() == sender.identity();
  });
  return found == incident.evidence().end() ? nullptr : &*found;
}

/// Does it wait for a link that comes before it? What a server says is not taken on trust.
bool waits(const v1::Incident& incident, int position) {
  const v1::WaitingLink& link = incident.waiting(position);
  return link.has_waits_for() && link.waits_for() < static_cast<std::uint32_t>(position);
}

Branch branch_of(const v1::Incident& incident, int position, const Pen& pen) {
  const v1::WaitingLink& link = incident.waiting(position);
  Branch branch;
  branch.text = label_of(link.sender());
  if (!waits(incident, position)) branch.text = pen.cause + branch.text + pen.arrow + link.towards();
  branch.note = "waits " + whole_percent(link.stall_ratio()) + ", sends " + whole_percent(link.utilization_ratio());
  if (const v1::Evidence* share = contribution_of(incident, link.sender()))
    branch.note += ": contributes " + rate_text(share->value() * 1e9);
  return branch;
}

std::vector<std::string> draw_waiting(const v1::Incident& incident, const Pen& pen) {
  const int shown = std::min(incident.waiting_size(), kMostWaiting);
  // From the last one, so that each is whole before it is hung up.
  std::vector<Branch> branches;
  for (int i = 0; i < shown; ++i) branches.push_back(branch_of(incident, i, pen));
  std::vector<Branch> roots;
  std::uint64_t waiting = 0;
  for (int i = shown - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    std::ranges::reverse(branches[at].branches);
    const bool hangs = waits(incident, i);
    waiting += hangs ? 1U : 0U;
    (hangs ? branches[incident.waiting(i).waits_for()].branches : roots).push_back(std::move(branches[at]));
  }
  std::ranges::reverse(roots);
  std::vector<std::string> lines;
  const auto whole = static_cast<std::size_t>(shown) + 1;
  if (roots.size() == 1) {
    lines = draw(roots.front(), pen, whole);
  } else {
    const bool circle = incident.kind() == v1::Incident::DEADLOCK;
    Branch heading{
        .text = circle ? "cycle: each link waits for the next, the last for the first" : label_of(incident.cause()),
        .note = "",
        .branches = std::move(roots)};
    lines = draw(heading, pen, whole);
  }
  if (incident.waiting_total() > waiting)
    lines.push_back("and " + std::to_string(incident.waiting_total() - waiting) + " more waiting links");
  return lines;
}

/// What an outage does to the nodes behind it.
const char* cut_off(const v1::Incident& incident) {
  return incident.state() == v1::Incident::RESOLVED ? "was cut off" : "cut off";
}

std::vector<std::string> draw_link(const v1::Incident& incident, const Pen& pen) {
  const auto& [near, far] = ends_of(incident.cause());
  if (far.empty()) return {};
  const bool is_down = incident.kind() == v1::Incident::LINK_DOWN;
  Branch root{.text = near + (is_down ? pen.cut : pen.sick) + far, .note = ""};
  for (const v1::Entity& victim : incident.affected())
    root.branches.push_back({label_of(victim), is_down ? cut_off(incident) : "affected"});
  return draw(root, pen, kMostHanging);
}

std::vector<std::string> draw_node(const v1::Incident& incident, const Pen& pen) {
  const v1::Entity& cause = incident.cause();
  Branch root{.text = pen.cause + label_of(cause), .note = ""};
  std::vector<std::string> ends;
  for (const v1::Entity& link : incident.affected()) {
    if (link.kind() != v1::Entity::LINK) continue;
    auto [near, far] = ends_of(link);
    // A host is known by one of its adapters; those of the others bear its name.
    const bool turned = link.peer_guid() == cause.node_guid() ||
                        (link.node_guid() != cause.node_guid() && far.starts_with(label_of(cause) + " "));
    if (turned) std::swap(near, far);
    const std::uint32_t port = turned ? link.peer_port() : link.port();
    if (near.starts_with(label_of(cause) + " port ")) near = "port " + std::to_string(port);
    // On Ethernet: "leaf01 swp3".
    std::string before = label_of(cause);
    before += ' ';
    if (near.starts_with(before) && near.find(' ', before.size()) == std::string::npos) near.erase(0, before.size());
    root.branches.push_back({near + pen.cut + far, ""});
    ends.push_back(link.node_guid());
    ends.push_back(link.peer_guid());
  }
  for (const v1::Entity& node : incident.affected())
    if (node.kind() == v1::Entity::NODE && std::ranges::find(ends, node.node_guid()) == ends.end())
      root.branches.push_back({label_of(node), cut_off(incident)});
  if (root.branches.empty()) return {};
  return draw(root, pen, kMostHanging);
}

}  // namespace

std::string label_of(const v1::Entity& entity) {
  if (!entity.label().empty()) return printable(entity.label());
  return printable(entity.kind() == v1::Entity::FABRIC ? entity.fabric() : entity.identity());
}

std::vector<std::string> drawing_of(const v1::Incident& incident, const Pen& pen) {
  if (!incident.waiting().empty()) return draw_waiting(incident, pen);
  switch (incident.kind()) {
    case v1::Incident::LINK_DOWN:
    case v1::Incident::LINK_FLAP:
    case v1::Incident::LINK_DEGRADED:
    case v1::Incident::LINK_ERRORS:
      return incident.cause().kind() == v1::Entity::LINK ? draw_link(incident, pen) : std::vector<std::string>{};
    case v1::Incident::SWITCH_DOWN:
    case v1::Incident::NODE_DOWN:
      return draw_node(incident, pen);
    default:
      return {};
  }
}

std::vector<std::string> path_of(const v1::Incident& incident) {
  int from = -1;
  for (int i = 0; i < incident.waiting_size(); ++i) {
    if (!waits(incident, i)) continue;
    const bool contributes = contribution_of(incident, incident.waiting(i).sender()) != nullptr;
    // The path of the worst one begins at the last link that waits for it: no other link waits for that one.
    if (from < 0 || contributes || incident.waiting(i).waits_for() == static_cast<std::uint32_t>(from)) from = i;
    if (contributes) break;
  }
  std::vector<std::string> path;
  while (from >= 0) {
    const v1::WaitingLink& link = incident.waiting(from);
    path.push_back(label_of(link.sender()));
    if (waits(incident, from)) {
      from = static_cast<int>(link.waits_for());
      continue;
    }
    path.push_back(printable(link.towards()));
    break;
  }
  return path;
}

}  // namespace weft::ctl
