// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/tree_cache.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/places/place_finder.hpp"
#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/guards.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

std::uint8_t is_up(const Topology& topology, const Uplink& uplink) {
  const Port& port = topology.port(uplink.port);
  if (port.peer == kNoIndex) return 0;
  return port.is_up() && topology.port(port.peer).is_up() ? 1 : 0;
}

bool is_link_of(const Entity& entity, const std::string& fabric) {
  return entity.kind == EntityKind::kLink && entity.fabric == fabric;
}

bool is_of_switches(const Topology& topology, PortIndex a, PortIndex b) {
  const auto fits = [&](PortIndex end) { return topology.node_of(topology.port(end)).type == NodeType::kSwitch; };
  return fits(a) && fits(b);
}

// Between two switches, and somebody disabled one end.
bool is_disabled(const Topology& topology, PortIndex a, PortIndex b) {
  const auto is_off = [&](PortIndex end) { return topology.port(end).physical_state == PortPhysicalState::kDisabled; };
  return is_of_switches(topology, a, b) && (is_off(a) || is_off(b));
}

// Both ends, where the topology has them and knows a cable at neither; else kNoIndex twice.
std::pair<PortIndex, PortIndex> ports_without_cable(const Topology& topology, PortKey a, PortKey b) {
  const PortIndex from = topology.find_port(a), to = topology.find_port(b);
  if (from == kNoIndex || to == kNoIndex || topology.port(from).peer != kNoIndex || topology.port(to).peer != kNoIndex)
    return {kNoIndex, kNoIndex};
  return {from, to};
}

std::vector<std::pair<PortIndex, PortIndex>> missing_cables(const std::string& fabric, const Topology& topology,
                                                            const RemedyView& view,
                                                            std::span<const std::shared_ptr<const Plan>> plans) {
  std::vector<std::pair<PortIndex, PortIndex>> missing;
  const auto add = [&](const Entity& link) {
    if (!is_link_of(link, fabric)) return;
    const auto ends = ports_without_cable(topology, link.port, link.peer);
    if (ends.first != kNoIndex) missing.push_back(ends);
  };
  for (const auto& incident : view.incidents)
    if (incident->is_open()) add(incident->finding.cause);
  for (const auto& plan : plans)
    if (plan->in_force || plan->unresolved || is_under_way(plan->state)) add(plan->target);
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

// In force, or sent and not known not to be.
bool may_hold(const Plan& plan) {
  if (plan.in_force || plan.unresolved) return true;
  // What is being undone holds until it is.
  if (takes_out(plan.action) && plan.state == PlanState::kRollingBack) return true;
  return is_under_way(plan.state) && plan.intent == (takes_out(plan.action) ? PlanIntent::kApply : PlanIntent::kUndo);
}

// Nodes that the sweep did not reach, and those that open outages name and the graph does not know: after a restart no
// sweep ever saw them.
std::set<NodeGuid> nodes_missing(const std::string& fabric, const Topology& topology,
                                 std::span<const std::shared_ptr<const Incident>> incidents) {
  std::set<NodeGuid> missing;
  for (const Node& node : topology.nodes())
    if (!node.reachable) missing.insert(node.guid);
  const auto add = [&](const Entity& entity) {
    if (entity.fabric != fabric) return;
    const bool is_link = entity.kind == EntityKind::kLink;
    if (!is_link && entity.kind != EntityKind::kNode && entity.kind != EntityKind::kPort) return;
    if (topology.find_node(entity.port.node) == kNoIndex) missing.insert(entity.port.node);
    if (is_link && topology.find_node(entity.peer.node) == kNoIndex) missing.insert(entity.peer.node);
  };
  for (const auto& incident : incidents) {
    if (!incident->is_open() || !is_outage(incident->finding.kind)) continue;
    add(incident->finding.cause);
    for (const Entity& entity : incident->finding.affected) add(entity);
  }
  return missing;
}

// Both ends of links that a subnet manager is told to avoid, ascending.
std::vector<PortIndex> told_links(const Topology& topology, std::span<const PortKey> told) {
  std::vector<PortIndex> avoided;
  for (const PortKey end : told)
    if (const PortIndex port = topology.find_port(end); port != kNoIndex) {
      avoided.push_back(port);
      if (topology.port(port).peer != kNoIndex) avoided.push_back(topology.port(port).peer);
    }
  std::ranges::sort(avoided);
  return avoided;
}

// Both ends of links that plans hold, or may, ascending.
std::vector<PortIndex> held_links(const std::string& fabric, const Topology& topology,
                                  std::span<const std::shared_ptr<const Plan>> plans) {
  std::vector<PortIndex> held;
  for (const auto& plan : plans) {
    if (!may_hold(*plan) || plan->target.kind != EntityKind::kLink || plan->target.fabric != fabric) continue;
    for (const PortKey end : {plan->target.port, plan->target.peer})
      if (const PortIndex port = topology.find_port(end); port != kNoIndex) held.push_back(port);
  }
  std::ranges::sort(held);
  return held;
}

std::vector<NodeIndex> switches_of(const std::vector<JobLeaves>& jobs, const FabricTree& tree) {
  std::vector<NodeIndex> switches;
  for (const JobLeaves& job : jobs)
    for (const std::uint32_t leaf : job.leaves) switches.push_back(tree.leaves()[leaf]);
  std::ranges::sort(switches);
  switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
  return switches;
}

bool same_jobs(const std::vector<JobLeaves>& a, const std::vector<JobLeaves>& b) {
  return std::ranges::equal(
      a, b, [](const JobLeaves& x, const JobLeaves& y) { return x.job == y.job && x.leaves == y.leaves; });
}

}  // namespace

std::vector<JobLeaves> leaves_of_jobs(const FabricTree& tree, const Topology& topology,
                                      std::span<const std::shared_ptr<const HostView>> hosts) {
  using Jobs = std::vector<const std::string*>;
  std::unordered_map<std::string, Jobs> jobs_of;
  std::unordered_map<std::uint64_t, Jobs> jobs_at;  // by GUID of an adapter or of its port
  for (const auto& host : hosts) {
    if (!host->reading) continue;
    for (const std::string& job : host->reading->jobs) {
      jobs_of[short_host_name(host->host)].push_back(&job);
      if (!host->reading->inventory) continue;
      for (const HostPort& port : host->reading->inventory->ports)
        for (const std::uint64_t guid : {port.node_guid.value, port.port_guid.value})
          if (guid != 0 && !port.is_virtual_function) jobs_at[guid].push_back(&job);
    }
  }
  std::map<std::string_view, std::vector<std::uint32_t>> leaves;
  if (!jobs_of.empty()) {
    for (const Node& node : topology.nodes()) {
      if (node.type != NodeType::kChannelAdapter || node.aggregation_node) continue;
      for (const Port& port : topology.ports_of(node)) {
        const std::uint32_t leaf = port.peer == kNoIndex ? kNoIndex : tree.leaf_of(topology.port(port.peer).node);
        if (leaf == kNoIndex) continue;
        const auto add = [&](const auto& jobs, const auto& key) {
          if (const auto found = jobs.find(key); found != jobs.end())
            for (const std::string* job : found->second) leaves[*job].push_back(leaf);
        };
        add(jobs_of, short_host_name(host_name(node)));
        add(jobs_at, node.guid.value);
        add(jobs_at, port.guid.value);
      }
    }
  }
  std::vector<JobLeaves> all;
  for (auto& [job, of_job] : leaves) {
    std::ranges::sort(of_job);
    of_job.erase(std::unique(of_job.begin(), of_job.end()), of_job.end());
    all.push_back({std::string(job), std::move(of_job)});
  }
  return all;
}

LiveTree* TreeCache::tree(const std::string& name, const RemedyView& view,
                          std::span<const std::shared_ptr<const Plan>> plans) {
  const FabricView* fabric = view.fabric(name);
  if (!fabric || !fabric->sweep) return nullptr;
  const auto& topology = fabric->sweep->topology;
  Kept& kept = kept_[name];
  const bool same_hosts = std::ranges::equal(kept.hosts, view.hosts);
  if (kept.live && kept.topology == topology && kept.places == fabric->places && same_hosts &&
      kept.planted_avoided == avoided_changes_ && std::ranges::equal(kept.incidents, view.incidents) &&
      std::ranges::equal(kept.plans, plans))
    return kept.live.get();
  kept.incidents.assign(view.incidents.begin(), view.incidents.end());
  kept.plans.assign(plans.begin(), plans.end());
  auto missing = missing_cables(name, *topology, view, plans);
  const bool recabled = !kept.topology || missing != kept.missing || fabric->places != kept.places ||
                        (kept.topology != topology && !same_cabling(*kept.topology, *topology));
  if (recabled) {
    kept.places = fabric->places;
    kept.tree = std::make_unique<FabricTree>(*topology, kept.places ? *kept.places : find_places(*topology), missing);
    kept.with_avoided = {};
    kept.with_held = {};
    kept.missing = std::move(missing);
    kept.shape = find_shape(*topology, find_tiers(*topology), kept.missing);
  }
  std::vector<JobLeaves> jobs;
  // A host without an inventory is found by the names of its adapters, and those change without a cable.
  const bool renamed = !recabled && kept.topology != topology &&
                       !std::ranges::equal(kept.topology->nodes(), topology->nodes(), {}, &Node::name, &Node::name);
  const bool may_differ = recabled || renamed || !same_hosts;
  if (may_differ) {
    jobs = leaves_of_jobs(*kept.tree, *topology, view.hosts);
    kept.hosts.assign(view.hosts.begin(), view.hosts.end());
  }
  const auto uplinks = kept.tree->uplinks();
  if (kept.topology != topology || kept.planted_avoided != avoided_changes_)
    kept.told = told_links(*topology, avoided_);
  const auto held = held_links(name, *topology, plans);
  // To those that need ways they are none, up or not.
  std::vector<PortIndex> avoided;
  avoided.reserve(kept.told.size() + held.size());
  std::ranges::merge(kept.told, held, std::back_inserter(avoided));
  const auto is_way = [&](UplinkIndex index) {
    return is_up(*topology, uplinks[index]) != 0 && !std::ranges::binary_search(avoided, uplinks[index].port);
  };
  if (recabled || !kept.live || (may_differ && !same_jobs(jobs, kept.jobs))) {
    std::vector<std::uint8_t> up;
    up.reserve(uplinks.size());
    for (UplinkIndex index = 0; index < uplinks.size(); ++index) up.push_back(is_way(index) ? 1 : 0);
    kept.jobs = std::move(jobs);
    kept.busy = switches_of(kept.jobs, *kept.tree);
    kept.chooser.reset();
    kept.live = std::make_unique<LiveTree>(*kept.tree, up, kept.jobs, limits_);
    ++kept.version;
    kept.chooser = std::make_unique<LinkChooser>(*kept.live);
  } else if (kept.topology != topology || kept.avoided != avoided) {
    for (UplinkIndex index = 0; index < uplinks.size(); ++index) {
      const bool up = is_way(index);
      if (up == kept.live->is_up(index)) continue;
      kept.live->change(index, up);
      ++kept.version;
    }
    // Of a fabric without tiers the cables count that the topology shows.
    if (kept.shape.is_direct()) ++kept.version;
  }
  kept.topology = topology;
  kept.avoided = std::move(avoided);
  const auto is_up_and_no_way = [&](PortIndex end) {
    const UplinkIndex index = kept.tree->uplink_of(end);
    return index != kNoIndex && !kept.live->is_up(index) && is_up(*topology, uplinks[index]) != 0;
  };
  kept.has_avoided = std::ranges::any_of(kept.avoided, is_up_and_no_way);
  kept.has_held = std::ranges::any_of(
      held, [&](PortIndex end) { return is_up_and_no_way(end) && !std::ranges::binary_search(kept.told, end); });
  if (!kept.has_avoided) kept.with_avoided = {};
  if (!kept.has_held) kept.with_held = {};
  kept.planted_avoided = avoided_changes_;
  kept.cabled.emplace(CabledShape{*kept.topology, kept.shape, kept.missing, kept.avoided, kept.busy});
  return kept.live.get();
}

LiveTree* TreeCache::with_avoided(const std::string& name) {
  const auto found = kept_.find(name);
  if (found == kept_.end() || !found->second.has_avoided) return nullptr;
  return wider(found->second, found->second.with_avoided, false);
}

LiveTree* TreeCache::with_held(const std::string& name) {
  const auto found = kept_.find(name);
  if (found == kept_.end() || !found->second.has_held) return nullptr;
  return wider(found->second, found->second.with_held, true);
}

LiveTree* TreeCache::wider(Kept& kept, Wider& wider, bool tells_apart) const {
  if (wider.tree && wider.topology == kept.topology && (!tells_apart || wider.avoided == kept.planted_avoided))
    return wider.tree.get();
  const auto uplinks = kept.tree->uplinks();
  std::vector<std::uint8_t> up;
  up.reserve(uplinks.size());
  for (const Uplink& uplink : uplinks)
    up.push_back(tells_apart && std::ranges::binary_search(kept.told, uplink.port) ? 0 : is_up(*kept.topology, uplink));
  if (!wider.tree) wider.tree = std::make_unique<LiveTree>(*kept.tree, up, std::span<const JobLeaves>(), limits_);
  for (UplinkIndex index = 0; index < up.size(); ++index)
    if (const bool is_now = up[index] != 0; is_now != wider.tree->is_up(index)) wider.tree->change(index, is_now);
  wider.topology = kept.topology;
  wider.avoided = kept.planted_avoided;
  return wider.tree.get();
}

const SweepCounts& TreeCache::counts(const std::string& name, const RemedyView& view) {
  Kept& kept = kept_[name];
  const FabricView* fabric = view.fabric(name);
  if (!fabric || !fabric->sweep ||
      (kept.counted == fabric->sweep->topology && kept.counted_cabling == fabric->cabling &&
       kept.counted_avoided == avoided_changes_ && std::ranges::equal(kept.counted_incidents, view.incidents)))
    return kept.counts;
  kept.counted = fabric->sweep->topology;
  kept.counted_cabling = fabric->cabling;
  kept.counted_avoided = avoided_changes_;
  kept.counted_incidents.assign(view.incidents.begin(), view.incidents.end());
  kept.counts = {};
  const auto missing_before = std::exchange(kept.missing_nodes, {});
  for (const NodeGuid node : nodes_missing(name, *kept.counted, view.incidents)) {
    const auto was = missing_before.find(node);
    kept.missing_nodes[node] = was != missing_before.end() ? was->second : view.steady.value_or(Duration{});
  }
  for (const auto& [node, since] : kept.missing_nodes) kept.counts.missing_since.push_back(since);
  std::ranges::sort(kept.counts.missing_since);
  for (PortIndex index = 0; index < kept.counted->ports().size(); ++index) {
    const PortIndex peer = kept.counted->port(index).peer;
    kept.counts.links += peer != kNoIndex && peer > index ? 1 : 0;
    if (peer != kNoIndex && peer > index && is_disabled(*kept.counted, index, peer))
      kept.counts.taken_out.push_back(link_entity(name, *kept.counted, index));
  }
  std::set<LinkKey> seen;
  const auto add = [&](PortKey a, PortKey b) {
    const auto [low, high] = ports_without_cable(*kept.counted, a, b);
    if (low == kNoIndex || !seen.insert(make_link_key(a, b)).second) return;
    const bool is_avoided = std::ranges::binary_search(avoided_, a) || std::ranges::binary_search(avoided_, b);
    if (!is_disabled(*kept.counted, low, high) && !(is_avoided && is_of_switches(*kept.counted, low, high))) return;
    Entity& link = kept.counts.taken_out.emplace_back();
    link.kind = EntityKind::kLink;
    link.fabric = name;
    link.port = make_link_key(a, b).low;
    link.peer = make_link_key(a, b).high;
    const bool in_order = link.port == a;
    link.label =
        port_label(*kept.counted, in_order ? low : high) + " - " + port_label(*kept.counted, in_order ? high : low);
  };
  for (const auto& incident : view.incidents) {
    if (!incident->is_open()) continue;
    if (is_link_of(incident->finding.cause, name)) add(incident->finding.cause.port, incident->finding.cause.peer);
    for (const Entity& link : incident->finding.affected)
      if (is_link_of(link, name)) add(link.port, link.peer);
  }
  if (fabric->cabling)
    for (const NamedLink& link : fabric->cabling->missing) add(link.a.key, link.b.key);
  std::set<PortIndex> counted;
  for (const PortKey end : avoided_) {
    const PortIndex port = kept.counted->find_port(end);
    const PortIndex peer = port == kNoIndex ? kNoIndex : kept.counted->port(port).peer;
    if (peer != kNoIndex && is_of_switches(*kept.counted, port, peer) && !is_disabled(*kept.counted, port, peer) &&
        counted.insert(std::min(port, peer)).second)
      kept.counts.taken_out.push_back(link_entity(name, *kept.counted, std::min(port, peer)));
  }
  return kept.counts;
}

void TreeCache::pass_over(const std::string& fabric, Duration unseen) {
  Kept& kept = kept_[fabric];
  for (auto& [node, since] : kept.missing_nodes) since += unseen;
  for (Duration& since : kept.counts.missing_since) since += unseen;
}

void TreeCache::set_avoided(std::vector<PortKey> ports) {
  std::ranges::sort(ports);
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  if (ports == avoided_) return;
  avoided_ = std::move(ports);
  ++avoided_changes_;
}

bool TreeCache::is_avoided(const Entity& link) const {
  return std::ranges::binary_search(avoided_, link.port) || std::ranges::binary_search(avoided_, link.peer);
}

const CabledShape* TreeCache::shape(const std::string& fabric) const {
  const auto kept = kept_.find(fabric);
  return kept == kept_.end() || !kept->second.cabled ? nullptr : &*kept->second.cabled;
}

std::uint64_t TreeCache::version(const std::string& fabric) const {
  const auto kept = kept_.find(fabric);
  return kept == kept_.end() ? 0 : kept->second.version;
}

LinkChooser* TreeCache::chooser(const std::string& fabric) {
  const auto kept = kept_.find(fabric);
  return kept == kept_.end() ? nullptr : kept->second.chooser.get();
}

const RouteReview* TreeCache::routes(const std::string& name, const RemedyView& view) {
  const FabricView* fabric = view.fabric(name);
  const auto kept = kept_.find(name);
  if (!fabric || !fabric->sweep || !fabric->sweep->routes || kept == kept_.end() || !kept->second.tree) return nullptr;
  const auto& topology = fabric->sweep->topology;
  if (topology != kept->second.topology) return nullptr;
  Kept& of = kept->second;
  if (of.reviewed != fabric->sweep->routes || of.reviewed_topology != topology) {
    of.review = review_routes(*topology, *fabric->sweep->routes, of.tree->all_tiers(), kMostFollowed);
    of.reviewed = fabric->sweep->routes;
    of.reviewed_topology = topology;
  }
  return &of.review;
}

std::vector<std::string> TreeCache::jobs_over(const std::string& fabric, UplinkIndex uplink) const {
  const auto kept = kept_.find(fabric);
  if (kept == kept_.end() || !kept->second.live || uplink == kNoIndex) return {};
  const auto below = kept->second.live->leaves_below(uplink);
  std::vector<std::string> jobs;
  for (const JobLeaves& job : kept->second.jobs)
    if (std::ranges::any_of(below, [&](std::uint32_t leaf) { return std::ranges::binary_search(job.leaves, leaf); }))
      jobs.push_back(job.job);
  return jobs;
}

}  // namespace weft::analyzer
