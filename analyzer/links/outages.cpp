// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/outages.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

/// Silent nodes among which a hub is looked for; the search is quadratic.
constexpr std::size_t kMostToSort = 256;

/// The link that counts at that port, whether this sweep's graph has it or not; kNoIndex: none is known.
LinkId own_link(const LinkTable& table, PortKey port) {
  const NodeId node = table.find_node(port.node);
  if (node == kNoIndex) return kNoIndex;
  for (const LinkId id : table.links_of(node)) {
    const LinkState& link = table.links()[id];
    if (link.counts() && (link.key.low == port || link.key.high == port)) return id;
  }
  return kNoIndex;
}

}  // namespace

/// What one judgement needs, by node unless said otherwise.
struct OutageFinder::Work {
  struct Frontier {
    std::uint16_t links = 0;    ///< links that count
    std::uint16_t up = 0;       ///< links that an answering neighbour sees up
    std::uint16_t trained = 0;  ///< links that it sees trained but not active, and that are no outage so far
    std::uint16_t down = 0;     ///< links that an answering neighbour sees down
    std::uint16_t dead = 0;     ///< of those, the ones that are certain
    bool dark = false;
  };
  std::vector<Frontier> nodes;
  std::vector<std::uint8_t> covered;  ///< by link: inside a switch's or host's outage
  std::vector<Outage> outages;
  std::size_t counting_nodes = 0;
  std::size_t dark_nodes = 0;
  std::size_t counting_links = 0;
  std::size_t training_links = 0;
  bool trouble = false;  ///< there is anything to look at
  TimePoint now = kNever;
  Duration patience{};  ///< with the subnet manager
};

void OutageFinder::remember(LinkTable& table, const Incident& incident) {
  groups_.remember(table, incident);
  returns_.remember(table, incident);
  counters_.remember(incident);
  const Finding& finding = incident.finding;
  if (!incident.is_open() || !is_outage(finding.kind)) return;
  many_waiting_ = many_waiting_ || finding.kind == IncidentKind::kLinksNotActivated;
  std::vector<Entity> parts = finding.affected;
  parts.push_back(finding.cause);
  for (const Entity& part : parts) {
    const LinkId id = part.kind == EntityKind::kLink ? table.find_link({part.port, part.peer}) : kNoIndex;
    if (id == kNoIndex) continue;
    table.links()[id].reported = true;
    marked_.push_back(id);
  }
}

bool OutageFinder::has_waited(const LinkState& link, const Work& work) const {
  return link.sweeps_in_view > thresholds_.activation_grace_sweeps && work.now - link.view_since >= work.patience;
}

bool OutageFinder::is_dead(const LinkState& link, const Work& work) const {
  if (!link.counts() || link.brought_up != kNever) return false;
  switch (link.view) {
    case LinkView::kDown:
      return true;
    case LinkView::kDisagreement:
      return link.reported || link.sweeps_in_view >= thresholds_.disagreement_sweeps;
    case LinkView::kTraining:
      return link.reported || has_waited(link, work);
    case LinkView::kUnknown:
    case LinkView::kUp:
      break;
  }
  return false;
}

void OutageFinder::survey(LinkTable& table, Work& work) {
  // What was told as trouble of its own is not what is usual.
  for (const LinkState& link : table.links())
    if (link.activated_in > Duration::zero() && (!link.reported || link.covered))
      patience_.note(link.activated_in, work.now);
  work.patience = patience_.value(work.now);
  const std::vector<KnownNode>& nodes = table.nodes();
  work.nodes.assign(nodes.size(), {});
  work.covered.assign(table.links().size(), 0);
  for (const LinkState& link : table.links()) {
    if (!link.counts()) continue;
    ++work.counting_links;
    Work::Frontier& low = work.nodes[link.low_node];
    Work::Frontier& high = work.nodes[link.high_node];
    ++low.links;
    ++high.links;
    if (link.view == LinkView::kUp && !nodes[link.low_node].quiet && !nodes[link.high_node].quiet) continue;
    work.trouble = true;
    if (link.view == LinkView::kTraining) ++work.training_links;
    const auto look = [&](NodeId near, EndView near_view, NodeId far, Work::Frontier& frontier) {
      if (nodes[near].quiet || !nodes[far].quiet) return;
      if (near_view == EndView::kUp) ++frontier.up;
      // What went down and trains is the outage that it was; a new link is brought into service.
      if (near_view == EndView::kTraining && !link.reported && link.brought_up == kNever) ++frontier.trained;
      if (near_view == EndView::kDown || near_view == EndView::kDisabled) {
        ++frontier.down;
        if (is_dead(link, work)) ++frontier.dead;
      }
    };
    look(link.low_node, link.low_view, link.high_node, high);
    look(link.high_node, link.high_view, link.low_node, low);
  }
  for (NodeId id = 0; id < nodes.size(); ++id) {
    Work::Frontier& node = work.nodes[id];
    if (node.links == 0) continue;
    if (!nodes[id].unread) ++work.counting_nodes;
    node.dark = nodes[id].lost || (nodes[id].quiet && node.down > 0 && node.up == 0);
    if (node.dark && !nodes[id].unread) ++work.dark_nodes;
  }
}

void OutageFinder::blame_nodes(LinkTable& table, bool ethernet, Work& work) const {
  for (NodeId id = 0; id < work.nodes.size(); ++id) {
    const Work::Frontier& seen = work.nodes[id];
    KnownNode& node = table.nodes()[id];
    // A collector's silence is judged with the hosts; that there is none says nothing.
    const bool silent = seen.dark && seen.up + seen.trained > 0 && !ethernet;
    if (!silent) {
      node.silent_sweeps = 0;
    } else if (node.silent_sweeps < 255) {
      ++node.silent_sweeps;
    }
    if (silent && node.silent_sweeps >= thresholds_.node_silent_sweeps)
      work.outages.push_back({.kind = OutageKind::kNodeSilent, .node = id});
    const bool is_switch = node.type != NodeType::kChannelAdapter;
    if (!seen.dark || seen.up > 0 || seen.down < 2 || seen.dead == 0 || !is_switch) continue;
    Outage outage{.kind = OutageKind::kSwitch, .node = id};
    for (const LinkId link : table.links_of(id)) {
      if (!table.links()[link].counts()) continue;
      outage.links.push_back(link);
      work.covered[link] = 1;
    }
    work.outages.push_back(std::move(outage));
  }
}

void OutageFinder::blame_returns(const LinkTable& table, Work& work) {
  // Of hosts nobody is blamed yet: what is down again is found with its links.
  const auto is_dark = [&](NodeId node) { return work.nodes[node].dark; };
  for (Outage& outage : returns_.follow(table, work.outages, is_dark, work.patience, work.now)) {
    for (const LinkId id : outage.links) work.covered[id] = 1;
    work.outages.push_back(std::move(outage));
  }
}

void OutageFinder::blame_manager(const LinkTable& table, Work& work) {
  const auto waits = [&](LinkId id) {
    const LinkState& link = table.links()[id];
    // Of what was told before a restart nobody knows any more how long it has waited.
    return link.view == LinkView::kTraining && ((many_waiting_ && link.reported) || has_waited(link, work));
  };
  const auto may_wait = [](const Outage& outage) {
    return outage.kind == OutageKind::kLink || outage.kind == OutageKind::kLinkGroup;
  };
  std::size_t waiting = 0;
  for (const Outage& outage : work.outages)
    if (may_wait(outage)) waiting += static_cast<std::size_t>(std::ranges::count_if(outage.links, waits));
  // The last ones still wait for the same.
  many_waiting_ = waiting > 0 && (many_waiting_ || waiting >= kManyNotActivated);
  if (!many_waiting_) return;
  Outage manager{.kind = OutageKind::kNotActivated};
  std::erase_if(work.outages, [&](Outage& outage) {
    if (!may_wait(outage)) return false;
    const auto first =
        std::stable_partition(outage.links.begin(), outage.links.end(), [&](LinkId id) { return !waits(id); });
    manager.links.insert(manager.links.end(), first, outage.links.end());
    outage.links.erase(first, outage.links.end());
    return outage.links.empty();
  });
  work.outages.push_back(std::move(manager));
}

void OutageFinder::blame_links(const LinkTable& table, bool ethernet, Work& work) const {
  // A node that died in the middle of the sweep: some of its neighbours were read before, some after. On Ethernet each
  // interface of a host is a node, and they die together.
  const auto dying = [&](NodeId id) {
    const KnownNode& node = table.nodes()[id];
    if (!node.quiet || node.unread) return false;
    return work.nodes[id].up > 0 || (ethernet && node.host != kNoIndex && table.hosts()[node.host].size() > 1);
  };
  for (LinkId id = 0; id < table.links().size(); ++id) {
    const LinkState& link = table.links()[id];
    if (work.covered[id] || !is_dead(link, work)) continue;
    if (!link.reported && link.sweeps_in_view < 2 && (dying(link.low_node) || dying(link.high_node))) continue;
    work.outages.push_back({.kind = OutageKind::kLink, .link = id, .links = {id}});
  }
}

void OutageFinder::group_hosts(const LinkTable& table, Work& work) const {
  std::unordered_map<std::uint32_t, std::vector<LinkId>> dead;
  for (const Outage& outage : work.outages) {
    if (outage.kind != OutageKind::kLink) continue;
    const LinkState& link = table.links()[outage.link];
    for (const NodeId end : {link.low_node, link.high_node})
      if (table.nodes()[end].host != kNoIndex) dead[table.nodes()[end].host].push_back(outage.link);
  }
  std::vector<Outage> hosts;
  for (auto& [host, links] : dead) {
    if (links.size() < 2) continue;
    bool all = true;
    for (const NodeId adapter : table.hosts()[host])
      for (const LinkId id : table.links_of(adapter))
        all = all && (!table.links()[id].counts() || work.covered[id] || std::ranges::find(links, id) != links.end());
    if (!all) continue;
    std::ranges::sort(links);
    hosts.push_back({.kind = OutageKind::kHost, .host = host, .links = links});
  }
  if (hosts.empty()) return;
  std::ranges::sort(hosts, {}, &Outage::host);
  for (const Outage& host : hosts)
    for (const LinkId id : host.links) work.covered[id] = 1;
  std::erase_if(work.outages,
                [&](const Outage& outage) { return outage.kind == OutageKind::kLink && work.covered[outage.link]; });
  std::ranges::move(hosts, std::back_inserter(work.outages));
}

void OutageFinder::attribute(const LinkTable& table, Work& work) const {
  if (work.dark_nodes == 0 || work.outages.empty()) return;
  constexpr std::uint32_t kNobody = kNoIndex;
  std::vector<std::uint32_t> owner(work.nodes.size(), kNobody);
  std::vector<NodeId> queue;
  const auto claim = [&](NodeId node, std::uint32_t outage, bool inside) {
    if (!work.nodes[node].dark || owner[node] != kNobody) return;
    owner[node] = outage;
    queue.push_back(node);
    if (inside) work.outages[outage].nodes.push_back(node);
  };
  for (std::uint32_t i = 0; i < work.outages.size(); ++i) {
    const Outage& outage = work.outages[i];
    if (outage.kind == OutageKind::kSwitch || outage.kind == OutageKind::kNodeSilent) claim(outage.node, i, false);
    if (outage.kind == OutageKind::kHost)
      for (const NodeId adapter : table.hosts()[outage.host]) claim(adapter, i, false);
  }
  for (std::uint32_t i = 0; i < work.outages.size(); ++i) {
    if (work.outages[i].kind != OutageKind::kLink && work.outages[i].kind != OutageKind::kLinkGroup) continue;
    const std::vector<LinkId> links = work.outages[i].links;
    for (const LinkId id : links)
      for (const NodeId end : {table.links()[id].low_node, table.links()[id].high_node})
        if (work.nodes[end].up == 0 && work.nodes[end].down == 1) claim(end, i, true);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId from = queue[head];
    for (const LinkId id : table.links_of(from)) {
      const LinkState& link = table.links()[id];
      if (!link.counts()) continue;
      const NodeId to = link.low_node == from ? link.high_node : link.low_node;
      if (work.nodes[to].up == 0 && work.nodes[to].down == 0) claim(to, owner[from], true);
    }
  }
}

void OutageFinder::blame_hubs(const LinkTable& table, Work& work) const {
  // Our requests to a node lead through its neighbours: a silent node with several silent neighbours is what silences
  // them.
  std::unordered_map<NodeId, std::size_t> silent;
  for (std::size_t i = 0; i < work.outages.size(); ++i)
    if (work.outages[i].kind == OutageKind::kNodeSilent) silent.emplace(work.outages[i].node, i);
  if (silent.size() < 3 || silent.size() > kMostToSort) return;  // so many become the fabric's trouble anyway
  const auto neighbours = [&](NodeId node) {
    std::vector<NodeId> found;
    for (const LinkId id : table.links_of(node)) {
      const LinkState& link = table.links()[id];
      const NodeId other = link.low_node == node ? link.high_node : link.low_node;
      if (link.counts() && silent.contains(other)) found.push_back(other);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());  // clang 14 knows no ranges::unique
    return found;
  };
  std::vector<std::uint8_t> hidden(work.outages.size(), 0);
  while (true) {
    std::vector<NodeId> most;
    NodeId hub = kNoIndex;
    for (const auto& [node, at] : silent) {
      std::vector<NodeId> found = neighbours(node);
      if (found.size() < 2 || found.size() < most.size() || (found.size() == most.size() && node > hub)) continue;
      most = std::move(found);
      hub = node;
    }
    if (hub == kNoIndex) break;
    Outage& blamed = work.outages[silent.at(hub)];
    for (const NodeId node : most) {
      const std::size_t at = silent.at(node);
      blamed.nodes.push_back(node);
      blamed.nodes.insert(blamed.nodes.end(), work.outages[at].nodes.begin(), work.outages[at].nodes.end());
      hidden[at] = 1;
      silent.erase(node);
    }
    silent.erase(hub);
  }
  std::size_t at = 0;
  std::erase_if(work.outages, [&](const Outage&) { return hidden[at++] != 0; });
}

void OutageFinder::merge_silent(const LinkTable& table, Work& work) const {
  const auto is_silent = [](const Outage& outage) { return outage.kind == OutageKind::kNodeSilent; };
  const auto silent = static_cast<std::size_t>(std::ranges::count_if(work.outages, is_silent));
  const double share =
      static_cast<double>(silent) / static_cast<double>(std::max<std::size_t>(1, table.nodes().size()));
  if (silent < thresholds_.telemetry_mass_minimum) return;
  if (silent < thresholds_.telemetry_mass_nodes && share < thresholds_.telemetry_mass_share) return;
  Outage fabric{.kind = OutageKind::kFabric,
                .reason = "many nodes stopped answering at once while their links look up"};
  for (const Outage& outage : work.outages)
    if (is_silent(outage)) fabric.nodes.push_back(outage.node);
  // The counters of several others are the same kind of trouble of the same fabric: one incident tells of both.
  std::erase_if(work.outages, [&](const Outage& outage) {
    if (outage.kind != OutageKind::kCountersSilent || outage.node != kNoIndex) return is_silent(outage);
    fabric.nodes.insert(fabric.nodes.end(), outage.nodes.begin(), outage.nodes.end());
    return true;
  });
  work.outages.push_back(std::move(fabric));
}

bool OutageFinder::mass(const LinkTable& table, const Sweep& sweep, const Work& work, std::size_t culprits,
                        TimePoint now, Outage& fabric) {
  fabric = {.kind = OutageKind::kFabric};
  // Made anew behind a port that is down, a graph has ourselves alone: it shows neither the link there nor anybody.
  const LinkId own = own_link(table, sweep.local_port);
  const bool is_dead_end = is_own_port_down(sweep) || (own != kNoIndex && is_dead(table.links()[own], work));
  if (is_dead_end && work.dark_nodes > 0) {
    fabric.reason = "the link that we ask through is down";
    if (own != kNoIndex) fabric.links.push_back(own);
    return true;
  }
  const auto most = [&](std::size_t part, std::size_t whole) {
    return whole >= thresholds_.mass_minimum_links &&
           static_cast<double>(part) > thresholds_.mass_share * static_cast<double>(whole);
  };
  // Collectors do not ask through the fabric: many that are silent at once hide nothing of those that speak.
  const bool dark = most(work.dark_nodes, work.counting_nodes) && culprits > 1 && !sweep.topology->is_ethernet();
  const bool training = most(work.training_links, work.counting_links);
  if (!dark)
    mass_since_ = kNever;
  else if (mass_since_ == kNever)
    mass_since_ = now;
  const bool suspect = dark && now - mass_since_ < thresholds_.mass_hold;
  if (!suspect && !training) return false;
  fabric.reason = suspect ? "most nodes are out of reach at once: our own place in the fabric is suspected"
                          : "most links are cabled but not activated: no subnet manager seems to be at work";
  return true;
}

void OutageFinder::mark(LinkTable& table, const Work& work) {
  for (const LinkId id : marked_) table.links()[id].reported = table.links()[id].covered = false;
  marked_.clear();
  for (const Outage& outage : work.outages) {
    if (outage.kind == OutageKind::kFabric) continue;
    for (const LinkId id : outage.links) {
      LinkState& link = table.links()[id];
      link.reported = true;
      link.covered = is_whole(outage);
      marked_.push_back(id);
    }
  }
}

/// Does anything say that the subnet manager programs routes or activates links, or did it a moment ago?
bool OutageFinder::is_manager_busy(const LinkTable& table, const Work& work) {
  const auto is_recent = [&](LinkId id) {
    const TimePoint since = table.links()[id].view_since;
    return since != kNever && work.now - since < work.patience;
  };
  const bool works = work.training_links > 0 || std::ranges::any_of(work.outages, [&](const Outage& outage) {
                       return outage.is_returning || std::ranges::any_of(outage.links, is_recent);
                     });
  if (works) busy_at_ = work.now;
  return busy_at_ != kNever && work.now - busy_at_ < work.patience;
}

OutageReport OutageFinder::find(LinkTable& table, const Sweep& sweep, TimePoint now) {
  Work work;
  work.now = now;
  // A clock that was set back must not make them last.
  mass_since_ = std::min(mass_since_, now);
  busy_at_ = std::min(busy_at_, now);
  survey(table, work);
  if (work.trouble) blame_nodes(table, sweep.topology->is_ethernet(), work);
  if (work.trouble || returns_.is_waiting()) blame_returns(table, work);
  if (work.trouble) {
    blame_links(table, sweep.topology->is_ethernet(), work);
    group_hosts(table, work);
  }
  const std::size_t culprits = work.outages.size();
  groups_.gather(table, work.outages);
  Outage fabric;
  if (mass(table, sweep, work, culprits, now, fabric)) {
    OutageReport report;
    report.blind = true;
    // Nothing is said before the first culprit is certain: a subnet that is just being activated is no trouble.
    if (culprits > 0 || is_own_port_down(sweep)) report.outages.push_back(std::move(fabric));
    return report;
  }
  blame_manager(table, work);
  if (work.trouble) {
    attribute(table, work);
    blame_hubs(table, work);
  }
  counters_.judge(table, sweep, {work.patience, is_manager_busy(table, work)}, now, work.outages);
  merge_silent(table, work);
  mark(table, work);
  returns_.remember(work.outages);
  return {std::move(work.outages), false};
}

}  // namespace weft::analyzer
