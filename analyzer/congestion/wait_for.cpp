#include "analyzer/congestion/wait_for.hpp"

#include <algorithm>
#include <numeric>

namespace weft::analyzer {
namespace {

// Tables compared in one pass: each costs some 10 µs, and what is left out now is known in a later pass.
constexpr unsigned kScansInOnePass = 2000;

}  // namespace

const WaitForGraph::PortSet* WaitForGraph::carried(PortIndex egress) {
  if (!routes_) return nullptr;
  if (const auto known = carried_.find(egress); known != carried_.end()) return &known->second;
  const Topology& topology = *topology_;
  const Port& from = topology.port(egress);
  const NodeIndex to = topology.port(from.peer).node;
  const Routes::Table* far = routes_->table(to);
  const bool from_switch = topology.node_of(from).type == NodeType::kSwitch;
  const Routes::Table* near = from_switch ? routes_->table(from.node) : nullptr;
  if (!far || (from_switch && !near) || scans_left_ == 0) return nullptr;
  --scans_left_;
  PortSet ports;
  const std::size_t count = near ? std::min(near->blocks.size(), far->blocks.size()) : far->blocks.size();
  for (std::uint16_t number = 0; number < count; ++number) {
    const RouteBlock* behind = routes_->block(to, number);
    const RouteBlock* here = near ? routes_->block(from.node, number) : nullptr;
    if (!behind || (near && !here)) continue;
    for (std::size_t i = 0; i < behind->size(); ++i)
      // What a host sends may go anywhere.
      if (!here || (*here)[i] == from.number.value) ports.set((*behind)[i]);
  }
  return &carried_.emplace(egress, ports).first->second;
}

bool WaitForGraph::carries(PortIndex egress, PortIndex next) {
  const PortSet* ports = carried(egress);
  return ports && ports->test(topology_->port(next).number.value);
}

void WaitForGraph::build(std::shared_ptr<const Topology> graph, std::shared_ptr<const Routes> routes,
                         std::span<const HotLink> links) {
  if (routes && routes->epoch() != graph->epoch()) routes.reset();
  if (routes != routes_ || graph != topology_ || links.empty()) carried_.clear();
  routes_ = std::move(routes);
  topology_ = std::move(graph);
  const Topology& topology = *topology_;
  scans_left_ = kScansInOnePass;
  first_.assign(1, 0);
  edges_.clear();
  for (const HotLink& link : links) {
    const Port& port = topology.port(link.egress);
    if (topology.node(topology.port(port.peer).node).type == NodeType::kSwitch) {
      const Node& behind = topology.node(topology.port(port.peer).node);
      const PortSet* carries = carried(link.egress);
      const auto begin = std::ranges::lower_bound(links, behind.first_port, {}, &HotLink::egress);
      for (auto next = begin; next != links.end() && next->egress < behind.first_port + behind.port_entries(); ++next) {
        if (next->egress == port.peer) continue;  // nothing goes back where it came from
        if (!link.held_back) continue;
        if (carries && !carries->test(topology.port(next->egress).number.value)) continue;
        edges_.push_back(static_cast<std::uint32_t>(next - links.begin()));
      }
    }
    first_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  reverse_first_.assign(links.size() + 1, 0);
  for (const std::uint32_t to : edges_) ++reverse_first_[to + 1];
  std::partial_sum(reverse_first_.begin(), reverse_first_.end(), reverse_first_.begin());
  reverse_.resize(edges_.size());
  std::vector<std::uint32_t> fill(reverse_first_.begin(), reverse_first_.end());
  for (std::uint32_t link = 0; link < links.size(); ++link)
    for (const std::uint32_t to : waits_for(link)) reverse_[fill[to]++] = link;
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
