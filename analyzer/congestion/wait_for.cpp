// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/wait_for.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/congestion/congestion_input.hpp"
#include "fabric/graph/multipath.hpp"

namespace weft::analyzer {
namespace {

// Tables compared in one pass: each costs some 10 µs, and what is left out now is known in a later pass.
constexpr unsigned kScansInOnePass = 2000;
// More links than these are not counted one by one.
constexpr unsigned kMostFeeders = 256;
// Of equal-cost ways, where each port of a switch is asked about each switch with hosts.
constexpr unsigned kScansOfWays = 8;
// Switches with notified hosts, times links that mark: of more it is not asked which of them lie on whose ways.
constexpr std::size_t kMostMarkingPairs = 20'000;
// What an entry of a linear forwarding table can name.
constexpr std::size_t kTablePorts = 256;

bool has(const std::vector<bool>& ports, PortNum number) {
  return number.value < ports.size() && ports[number.value];
}

}  // namespace

bool WaitForGraph::carried_by_tables(PortIndex egress, PortSet& ports) const {
  const Topology& topology = *topology_;
  const Port& from = topology.port(egress);
  const NodeIndex to = topology.port(from.peer).node;
  const Routes& routes = *ways_.routes;
  const Routes::Table* far = routes.table(to);
  const bool from_switch = topology.node_of(from).type == NodeType::kSwitch;
  const Routes::Table* near = from_switch ? routes.table(from.node) : nullptr;
  if (!far || (from_switch && !near)) return false;
  ports.assign(kTablePorts, false);
  const std::size_t count = near ? std::min(near->blocks.size(), far->blocks.size()) : far->blocks.size();
  for (std::uint16_t number = 0; number < count; ++number) {
    const RouteBlock* behind = routes.block(to, number);
    const RouteBlock* here = near ? routes.block(from.node, number) : nullptr;
    if (!behind || (near && !here)) continue;
    for (std::size_t i = 0; i < behind->size(); ++i)
      // What a host sends may go anywhere.
      if (!here || (*here)[i] == from.number.value) ports[(*behind)[i]] = true;
  }
  return true;
}

const WaitForGraph::PortSet* WaitForGraph::carried(PortIndex egress) {
  if (!ways_.routes && !ways_.multipath) return nullptr;
  if (const auto known = carried_.find(egress); known != carried_.end()) return &known->second;
  if (scans_left_ == 0) return nullptr;
  PortSet ports;
  if (ways_.multipath) {
    // Each port behind is as dear as some tables.
    scans_left_ -= std::min(scans_left_, kScansOfWays);
    const Topology& topology = *topology_;
    const Node& behind = topology.node_of(topology.port(topology.port(egress).peer));
    ports.assign(behind.port_count + std::size_t{1}, false);
    for (PortIndex next = behind.first_port; next < behind.first_port + behind.port_entries(); ++next)
      if (topology.port(next).peer != kNoIndex && ways_.multipath->carries(egress, next))
        ports[topology.port(next).number.value] = true;
  } else {
    if (!carried_by_tables(egress, ports)) return nullptr;
    --scans_left_;
  }
  return &carried_.emplace(egress, std::move(ports)).first->second;
}

bool WaitForGraph::carries(PortIndex egress, PortIndex next) {
  const PortSet* ports = carried(egress);
  return ports && has(*ports, topology_->port(next).number);
}

void WaitForGraph::find_regions() {
  const Topology& topology = *topology_;
  region_.assign(topology.is_ethernet() ? topology.nodes().size() : 0, kNoIndex);
  regions_ = 0;
  std::vector<NodeIndex> queue;
  for (NodeIndex start = 0; start < region_.size(); ++start) {
    if (region_[start] != kNoIndex || topology.node(start).type != NodeType::kSwitch) continue;
    queue.assign(1, start);
    region_[start] = regions_;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const Node& node = topology.node(queue[head]);
      for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
        if (!is_unread(topology, port)) continue;
        const NodeIndex other = topology.port(topology.port(port).peer).node;
        if (topology.node(other).type != NodeType::kSwitch || region_[other] != kNoIndex) continue;
        region_[other] = regions_;
        queue.push_back(other);
      }
    }
    if (queue.size() > 1)
      ++regions_;
    else
      region_[start] = kNoIndex;
  }
}

void WaitForGraph::find_marking(std::span<const HotLink> links) {
  marking_.clear();
  if (!ways_.multipath) return;
  std::vector<std::uint32_t> all;
  for (std::uint32_t link = 0; link < links.size(); ++link)
    if (links[link].marked >= 0) all.push_back(link);
  if (all.empty()) return;
  std::vector<std::pair<NodeIndex, PortIndex>> switches;  // each with one of its hosts' ports
  for (const HotLink& link : links)
    if (link.notified) switches.emplace_back(topology_->port(topology_->port(link.egress).peer).node, link.egress);
  std::ranges::sort(switches);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  switches.erase(std::unique(switches.begin(), switches.end(), same), switches.end());
  const bool too_many = switches.size() * all.size() > kMostMarkingPairs;
  for (const auto& [node, port] : switches) {
    Marking marking{.node = node, .links = {}};
    for (const std::uint32_t link : all)
      if (too_many || ways_.multipath->may_pass(port, links[link].egress)) marking.links.push_back(link);
    if (!marking.links.empty()) marking_.push_back(std::move(marking));
  }
}

/// Edges to what is hot at the switch that `link` leads to, and to what that switch's region leads to.
void WaitForGraph::add_links_behind(const HotLink& link, std::span<const HotLink> links) {
  const Topology& topology = *topology_;
  const PortIndex arrives = topology.port(link.egress).peer;
  const NodeIndex node = topology.port(arrives).node;
  const Node& behind = topology.node(node);
  if (behind.type != NodeType::kSwitch) return;
  const PortSet* carries = carried(link.egress);
  const auto begin = std::ranges::lower_bound(links, behind.first_port, {}, &HotLink::egress);
  for (auto next = begin; next != links.end() && next->egress < behind.first_port + behind.port_entries(); ++next) {
    if (next->egress == arrives) continue;  // nothing goes back where it came from
    if (!link.held_back) continue;
    if (carries && !has(*carries, topology.port(next->egress).number)) continue;
    edges_.push_back(static_cast<std::uint32_t>(next - links.begin()));
  }
  if (link.notified) {
    const auto marking = std::ranges::lower_bound(marking_, node, {}, &Marking::node);
    if (marking != marking_.end() && marking->node == node)
      edges_.push_back(first_marking_ + static_cast<std::uint32_t>(marking - marking_.begin()));
  }
  if (link.held_back && node < region_.size() && region_[node] != kNoIndex && hub_[region_[node]] != kNoIndex)
    edges_.push_back(hub_[region_[node]]);
}

void WaitForGraph::build(std::shared_ptr<const Topology> graph, KnownWays ways, std::span<const HotLink> links) {
  if (ways.routes && ways.routes->epoch() != graph->epoch()) ways.routes.reset();
  if (ways.multipath && ways.multipath->topology()->epoch() != graph->epoch()) ways.multipath.reset();
  const bool is_new = graph != topology_;
  if (ways.routes != ways_.routes || ways.multipath != ways_.multipath || is_new || links.empty()) carried_.clear();
  ways_ = std::move(ways);
  topology_ = std::move(graph);
  if (is_new) find_regions();
  const Topology& topology = *topology_;
  scans_left_ = kScansInOnePass;
  links_ = static_cast<std::uint32_t>(links.size());
  std::vector<std::vector<std::uint32_t>> out_of(regions_);
  if (regions_ > 0)
    for (std::uint32_t link = 0; link < links_; ++link)
      if (const std::uint32_t region = region_[topology.port(links[link].egress).node]; region != kNoIndex)
        out_of[region].push_back(link);
  hub_.assign(regions_, kNoIndex);
  for (std::uint32_t region = 0, next = links_; region < regions_; ++region)
    if (!out_of[region].empty()) hub_[region] = next++;
  first_marking_ = links_ + static_cast<std::uint32_t>(
                                std::ranges::count_if(out_of, [](const auto& leaving) { return !leaving.empty(); }));
  find_marking(links);
  first_.assign(1, 0);
  edges_.clear();
  for (const HotLink& link : links) {
    add_links_behind(link, links);
    first_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  for (const auto& leaving : out_of) {
    if (leaving.empty()) continue;
    edges_.insert(edges_.end(), leaving.begin(), leaving.end());
    first_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  for (const Marking& marking : marking_) {
    edges_.insert(edges_.end(), marking.links.begin(), marking.links.end());
    first_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  reverse_first_.assign(positions() + 1, 0);
  for (const std::uint32_t to : edges_) ++reverse_first_[to + 1];
  std::partial_sum(reverse_first_.begin(), reverse_first_.end(), reverse_first_.begin());
  reverse_.resize(edges_.size());
  std::vector<std::uint32_t> fill(reverse_first_.begin(), reverse_first_.end());
  for (std::uint32_t position = 0; position < positions(); ++position)
    for (const std::uint32_t to : waits_for(position)) reverse_[fill[to]++] = position;
}

unsigned WaitForGraph::feeders(std::uint32_t link, std::span<const HotLink> links) const {
  unsigned count = 0;
  const PortIndex back = topology_->port(links[link].egress).peer;
  for (const std::uint32_t waiting : waiting_for(link)) {
    if (waiting < links_) {
      ++count;
      continue;
    }
    for (const std::uint32_t through : waiting_for(waiting)) {
      if (count >= kMostFeeders) break;
      // Who waits for it at its own switch as well was counted.
      const auto direct = waits_for(through);
      if (links[through].egress != back && std::ranges::find(direct, link) == direct.end()) ++count;
    }
  }
  return count;
}

// Tarjan's algorithm with a stack of its own: chains of waiting links may be long.
std::vector<std::vector<std::uint32_t>> WaitForGraph::closed_circles() const {
  constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  const auto count = static_cast<std::uint32_t>(first_.size() - 1);
  std::vector<std::uint32_t> order(count, kUnseen), low(count, 0), component(count, kUnseen), next(count, 0);
  std::vector<std::uint32_t> stack, path;
  std::vector<std::vector<std::uint32_t>> circles;
  std::uint32_t seen = 0, components = 0;
  for (std::uint32_t start = 0; start < count; ++start) {
    if (order[start] != kUnseen) continue;
    path.push_back(start);
    while (!path.empty()) {
      const std::uint32_t link = path.back();
      if (order[link] == kUnseen) {
        order[link] = low[link] = seen++;
        stack.push_back(link);
      }
      const auto successors = waits_for(link);
      if (next[link] < successors.size()) {
        const std::uint32_t to = successors[next[link]++];
        if (order[to] == kUnseen)
          path.push_back(to);
        else if (component[to] == kUnseen)
          low[link] = std::min(low[link], order[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[link]);
      if (low[link] != order[link]) continue;
      std::vector<std::uint32_t> members;
      while (true) {
        const std::uint32_t member = stack.back();
        stack.pop_back();
        component[member] = components;
        members.push_back(member);
        if (member == link) break;
      }
      const bool open = std::ranges::any_of(members, [&](std::uint32_t member) {
        return std::ranges::any_of(waits_for(member), [&](std::uint32_t to) { return component[to] != components; });
      });
      ++components;
      if (members.size() > 1 && !open) circles.push_back(std::move(members));
    }
  }
  std::ranges::sort(circles, std::greater{}, [](const auto& circle) { return circle.size(); });
  return circles;
}

}  // namespace weft::analyzer
