// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/link_table.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/double_guids.hpp"
#include "analyzer/ports/elsewhere.hpp"
#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {

void LinkTable::expect(const Topology* expected) {
  for (LinkState& link : links_) link.expected = false;
  if (!expected) return;
  for (PortIndex i = 0; i < expected->ports().size(); ++i) {
    const PortIndex peer = expected->port(i).peer;
    if (peer == kNoIndex || peer < i) continue;
    const LinkId id = add_link(make_link_key(expected->key_of(i), expected->key_of(peer)));
    LinkState& link = links_[id];
    link.expected = true;
    if (topology_) {
      link.low = topology_->find_port(link.key.low);
      link.high = topology_->find_port(link.key.high);
    }
    for (const PortIndex end : {i, peer}) {
      const Node& node = expected->node_of(expected->port(end));
      KnownNode& known = nodes_[node_ids_.at(node.guid)];
      if (topology_) known.index = topology_->find_node(node.guid);
      // What the fabric itself says of a node counts more.
      if (known.type == NodeType::kUnknown)
        name_node(node_ids_.at(node.guid), node.name, node.type, node.aggregation_node);
    }
  }
}

NodeId LinkTable::add_node(NodeGuid guid) {
  const auto [found, added] = node_ids_.try_emplace(guid, static_cast<NodeId>(nodes_.size()));
  if (added) nodes_.push_back({.guid = guid, .name = to_string(guid)});
  return found->second;
}

void LinkTable::name_node(NodeId id, const std::string& name, NodeType type, bool aggregation_node) {
  KnownNode& node = nodes_[id];
  const bool same = node.name == name && node.type == type && node.aggregation_node == aggregation_node;
  if (same && (node.host != kNoIndex || type != NodeType::kChannelAdapter || aggregation_node)) return;
  node.name = name.empty() ? to_string(node.guid) : name;
  node.type = type;
  node.aggregation_node = aggregation_node;
  if (node.host != kNoIndex) std::erase(hosts_[node.host], id);
  node.host = kNoIndex;
  if (type != NodeType::kChannelAdapter || aggregation_node) return;
  Node described;
  described.type = type;
  described.name = node.name;
  const std::string host(host_name(described));
  const auto [found, added] = host_ids_.try_emplace(host, static_cast<std::uint32_t>(hosts_.size()));
  if (added) {
    hosts_.emplace_back();
    host_names_.push_back(host);
  }
  node.host = found->second;
  hosts_[node.host].push_back(id);
}

LinkId LinkTable::add_link(LinkKey key) {
  const auto [found, added] = link_ids_.try_emplace(key, static_cast<LinkId>(links_.size()));
  if (added) {
    LinkState link;
    link.key = key;
    link.low_node = add_node(key.low.node);
    link.high_node = add_node(key.high.node);
    links_.push_back(link);
  }
  return found->second;
}

void LinkTable::restore(std::span<const KnownLink> links) {
  for (const KnownLink& known : links) {
    const LinkId id = add_link(known.key);
    links_[id].was_up = true;
    links_[id].low_name = known.low.port_name;
    links_[id].high_name = known.high.port_name;
    name_node(links_[id].low_node, known.low.node_name, known.low.type, false);
    name_node(links_[id].high_node, known.high.node_name, known.high.type, false);
  }
}

std::vector<KnownLink> LinkTable::known_links() const {
  std::vector<KnownLink> known;
  known.reserve(links_.size());
  for (const LinkState& link : links_)
    if (link.was_up)
      known.push_back({link.key,
                       {nodes_[link.low_node].name, nodes_[link.low_node].type, link.low_name},
                       {nodes_[link.high_node].name, nodes_[link.high_node].type, link.high_name}});
  return known;
}

std::vector<NodeGuid> LinkTable::known_switches() const {
  std::vector<std::uint8_t> known(nodes_.size(), 0);
  for (const LinkState& link : links_)
    if (link.was_up) known[link.low_node] = known[link.high_node] = 1;
  std::vector<NodeGuid> switches;
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (known[id] && nodes_[id].type == NodeType::kSwitch) switches.push_back(nodes_[id].guid);
  std::ranges::sort(switches, {}, &NodeGuid::value);
  return switches;
}

std::vector<AbsentLink> LinkTable::absent_links() const {
  std::vector<AbsentLink> absent;
  for (const LinkState& link : links_) {
    if (!link.counts() || (link.low != kNoIndex && link.high != kNoIndex)) continue;
    const bool is_seen = link.view == LinkView::kDown || link.view == LinkView::kTraining;
    // Of a plan's part that is not there the comparison with it tells.
    if (!link.was_up && !is_seen) continue;
    absent.push_back({.ends = {{link.key.low, nodes_[link.low_node].name, link.low_name},
                               {link.key.high, nodes_[link.high_node].name, link.high_name}},
                      .is_seen = is_seen,
                      .is_disabled = link.is_disabled()});
  }
  return absent;
}

NodeId LinkTable::find_node(NodeGuid guid) const {
  const auto found = node_ids_.find(guid);
  return found == node_ids_.end() ? kNoIndex : found->second;
}

LinkId LinkTable::find_link(const LinkKey& key) const {
  const auto found = link_ids_.find(key);
  return found == link_ids_.end() ? kNoIndex : found->second;
}

bool LinkTable::is_cut_off(NodeGuid guid) const {
  const NodeId node = find_node(guid);
  if (node == kNoIndex) return true;
  return std::ranges::all_of(links_of(node),
                             [this](LinkId id) { return !links_[id].counts() || links_[id].view == LinkView::kDown; });
}

bool LinkTable::is_expected_at(PortKey port) const {
  const NodeId node = find_node(port.node);
  return node != kNoIndex && std::ranges::any_of(links_of(node), [&](LinkId id) {
           const LinkState& link = links_[id];
           return link.counts() && (link.key.low == port || link.key.high == port);
         });
}

std::span<const LinkId> LinkTable::links_of(NodeId node) const {
  if (adjacency_links_ != links_.size() || first_link_.size() != nodes_.size() + 1) {
    first_link_.assign(nodes_.size() + 2, 0);
    for (const LinkState& link : links_) {
      ++first_link_[link.low_node + 2];
      ++first_link_[link.high_node + 2];
    }
    for (std::size_t i = 2; i < first_link_.size(); ++i) first_link_[i] += first_link_[i - 1];
    adjacent_.resize(links_.size() * 2);
    for (LinkId id = 0; id < links_.size(); ++id) {
      adjacent_[first_link_[links_[id].low_node + 1]++] = id;
      adjacent_[first_link_[links_[id].high_node + 1]++] = id;
    }
    first_link_.pop_back();
    adjacency_links_ = links_.size();
  }
  return std::span<const LinkId>(adjacent_).subspan(first_link_[node], first_link_[node + 1] - first_link_[node]);
}

std::string LinkTable::end_label(NodeId node, PortNum port) const {
  if (topology_ && topology_->is_ethernet())
    if (const PortIndex index = topology_->find_port({nodes_[node].guid, port}); index != kNoIndex)
      return port_label(*topology_, index);
  return nodes_[node].name + " port " + std::to_string(port.value);
}

void LinkTable::synchronise(const Topology& topology) {
  const bool new_epoch = !topology_ || topology_->epoch() != topology.epoch();
  if (new_epoch) {
    for (KnownNode& node : nodes_) node.index = topology.find_node(node.guid);
    for (LinkState& link : links_) {
      link.low = topology.find_port(link.key.low);
      link.high = topology.find_port(link.key.high);
    }
    link_at_.clear();
  }
  for (NodeIndex i = 0; i < topology.nodes().size(); ++i) {
    const Node& node = topology.node(i);
    const NodeId id = add_node(node.guid);
    nodes_[id].index = i;
    name_node(id, node.name, node.type, node.aggregation_node);
  }
  link_at_.resize(topology.ports().size(), kNoIndex);
  for (PortIndex i = 0; i < topology.ports().size(); ++i) {
    const PortIndex peer = topology.port(i).peer;
    if (peer == kNoIndex || peer < i) continue;
    const LinkId present = link_at_[i];
    if (present != kNoIndex && link_at_[peer] == present) continue;
    const LinkId id = add_link(make_link_key(topology.key_of(i), topology.key_of(peer)));
    LinkState& link = links_[id];
    link.low = topology.find_port(link.key.low);
    link.high = topology.find_port(link.key.high);
    link.recabled = false;
    link.low_name = topology.port_name(link.low);
    link.high_name = topology.port_name(link.high);
    link_at_[i] = link_at_[peer] = id;
  }
}

void LinkTable::observe(const Sweep& sweep, const OtherSubnets& others, const DoubleGuids& doubles) {
  if (sweep.topology != topology_) {
    synchronise(*sweep.topology);
    topology_ = sweep.topology;
  }
  observe_nodes(sweep);
  observe_links(sweep, others, doubles);
  // A clock that was set back must not make it last.
  began_ = began_ == kNever ? sweep.finished : std::min(began_, sweep.finished);
}

void LinkTable::observe_nodes(const Sweep& sweep) {
  const Topology& topology = *sweep.topology;
  const Duration stale = stale_after(sweep, thresholds_);
  const std::size_t readings = sweep.state_read_at.size();
  fresh_.assign(topology.ports().size(), 0);
  by_peer_.assign(topology.ports().size(), 0);
  for (KnownNode& known : nodes_) {
    known.lost = known.quiet = true;
    known.unread = topology.is_ethernet();
    if (known.index == kNoIndex) continue;
    const Node& node = topology.node(known.index);
    TimePoint newest = kNever;
    const PortIndex end = std::min<PortIndex>(node.first_port + node.port_entries(), static_cast<PortIndex>(readings));
    for (PortIndex port = node.first_port; port < end; ++port) {
      const TimePoint read_at = sweep.state_read_at[port];
      const bool by_peer = port < sweep.inferred_from_peer.size() && sweep.inferred_from_peer[port] != 0;
      by_peer_[port] = by_peer;
      if (!by_peer) newest = std::max(newest, read_at);
      fresh_[port] = node.reachable && read_at != kNever && read_at + stale >= sweep.finished;
    }
    known.unread = known.unread && newest == kNever;
    known.lost = !node.reachable || newest == kNever || newest + stale < sweep.finished;
    known.quiet = known.lost || newest < sweep.started;
    if (!known.lost) known.silent_sweeps = 0;
  }
}

EndView LinkTable::view_of(const Topology& topology, PortIndex index, PortIndex other) const {
  if (index == kNoIndex || !fresh_[index] || by_peer_[index]) return EndView::kUnseen;
  const Port& port = topology.port(index);
  if (port.peer != kNoIndex && port.peer != other) return EndView::kElsewhere;
  switch (port.state) {
    case PortState::kActive:
      return EndView::kUp;
    case PortState::kInitialize:
    case PortState::kArmed:
      return EndView::kTraining;
    case PortState::kDown:
      return port.physical_state == PortPhysicalState::kDisabled ? EndView::kDisabled : EndView::kDown;
    case PortState::kUnknown:
      break;
  }
  return EndView::kUnseen;
}

// A clock that was set back must not make an outage last, nor outages of before one moment: what went down one after
// the other did not go down together.
void LinkTable::tolerate_clock(TimePoint now) {
  Duration ahead{};
  for (const LinkState& link : links_)
    if (link.down_since != kNever) ahead = std::max(ahead, link.down_since - now);
  if (ahead <= Duration{}) return;
  for (LinkState& link : links_)
    if (link.down_since != kNever) link.down_since -= ahead;
}

/// A cable that was up and is not: it is in another subnet now, or gone with a switch that is.
bool LinkTable::has_left(LinkState& link, const OtherSubnets& others, const DoubleGuids& doubles) {
  enum class Place : std::uint8_t { kNowhere, kHere, kThere };
  const auto place_of = [&](NodeId id, PortKey end, EndView view) {
    const KnownNode& node = nodes_[id];
    const bool is_switch = node.type == NodeType::kSwitch;
    if (is_switch && !node.lost) return Place::kHere;
    const Sweep* there = nullptr;
    if (!doubles.has(node.guid)) there = others.find_end(end, is_switch, link.up_read);
    if (!there && view != EndView::kUnseen) return Place::kHere;
    return there ? Place::kThere : Place::kNowhere;
  };
  const Place low = place_of(link.low_node, link.key.low, link.low_view);
  const Place high = place_of(link.high_node, link.key.high, link.high_view);
  if (low != Place::kThere && high != Place::kThere) return false;
  if (low == high) return true;
  const bool is_low = low == Place::kThere;
  const auto is_switch = [&](bool of_low) {
    return nodes_[of_low ? link.low_node : link.high_node].type == NodeType::kSwitch;
  };
  // A switch that stays lost a neighbour; an adapter that does, or a switch that answers nowhere, lost its cable.
  if (!is_switch(is_low) || (is_switch(!is_low) && (is_low ? high : low) == Place::kHere)) return true;
  (is_low ? link.low_view : link.high_view) = EndView::kDown;
  return false;
}

/// Its readings of this sweep say that it is up.
void LinkTable::note_up(LinkState& link, const Sweep& sweep) {
  for (const auto& [port, view] : {std::pair(link.low, link.low_view), {link.high, link.high_view}})
    if (view == EndView::kUp) link.up_read = std::max(link.up_read, sweep.state_read_at[port]);
}

void LinkTable::recable(LinkState& link) {
  if (link.was_up) ++revision_;
  link.was_up = false;
  link.recabled = true;
  link.view = LinkView::kUnknown;
}

void LinkTable::observe_links(const Sweep& sweep, const OtherSubnets& others, const DoubleGuids& doubles) {
  const Topology& topology = *sweep.topology;
  tolerate_clock(sweep.finished);
  // On Ethernet cables are found one after the other, as collectors come and neighbours speak, and were there before.
  const bool still_finding =
      topology.is_ethernet() && began_ != kNever && sweep.finished - began_ < thresholds_.telemetry_start_grace;
  for (LinkState& link : links_) {
    // A clock that was set back must not make any of this last.
    link.view_since = std::min(link.view_since, sweep.finished);
    link.up_read = std::min(link.up_read, sweep.finished);
    if (sweep.finished < link.brought_up || sweep.finished - link.brought_up >= thresholds_.bring_up)
      link.brought_up = kNever;
    EndView low = view_of(topology, link.low, link.high);
    EndView high = view_of(topology, link.high, link.low);
    link.low_view = low;
    link.high_view = high;
    if (low == EndView::kElsewhere || high == EndView::kElsewhere) {
      recable(link);
      continue;
    }
    const bool is_up_here = low == EndView::kUp || high == EndView::kUp;
    // Of what was never here another subnet may tell.
    const bool is_known = link.was_up || link.low != kNoIndex || link.high != kNoIndex;
    if (!is_up_here && link.counts() && is_known) {
      if (has_left(link, others, doubles)) {
        recable(link);
        continue;
      }
      low = link.low_view;
      high = link.high_view;
    }
    // It is back.
    if (is_up_here && link.recabled && link.low != kNoIndex && topology.port(link.low).peer == link.high)
      link.recabled = false;
    // An end that was not read in this sweep does not contradict one that was.
    if (low == EndView::kUp && nodes_[link.low_node].quiet && high != EndView::kUnseen && !nodes_[link.high_node].quiet)
      low = EndView::kUnseen;
    if (high == EndView::kUp && nodes_[link.high_node].quiet && low != EndView::kUnseen && !nodes_[link.low_node].quiet)
      high = EndView::kUnseen;
    const auto either = [&](EndView view) { return low == view || high == view; };
    const bool down = either(EndView::kDown) || either(EndView::kDisabled);
    LinkView view = LinkView::kUnknown;
    if (down)
      view = either(EndView::kUp) ? LinkView::kDisagreement : LinkView::kDown;
    else if (either(EndView::kTraining))
      view = LinkView::kTraining;
    else if (either(EndView::kUp))
      view = LinkView::kUp;
    const bool unread_before =
        link.view == LinkView::kUnknown && !link.recabled && (link.sweeps_in_view > 0 || still_finding);
    link.activated_in = {};
    if (view == link.view) {
      if (link.sweeps_in_view < 255) ++link.sweeps_in_view;
    } else {
      if (link.view == LinkView::kUp || link.down_since == kNever) link.down_since = sweep.finished;
      link.fell = view != LinkView::kUp && (link.fell || link.view == LinkView::kUp);
      if (link.view == LinkView::kTraining && view == LinkView::kUp && link.view_since < sweep.finished)
        link.activated_in = sweep.finished - link.view_since;
      link.view = view;
      link.view_since = sweep.finished;
      link.sweeps_in_view = 1;
    }
    // Nobody waits for the subnet manager while it cannot ask one of the ends.
    const auto is_silent = [&](NodeId end) { return nodes_[end].lost && !nodes_[end].unread; };
    if (view == LinkView::kTraining && (is_silent(link.low_node) || is_silent(link.high_node)))
      link.view_since = sweep.finished;
    if (view != LinkView::kUp) continue;
    link.down_since = kNever;
    note_up(link, sweep);
    if (!link.was_up) {
      link.was_up = true;
      // Of what the first sweep finds, or the first one that reads it, nobody knows how long it has been there.
      if (began_ != kNever && !unread_before) link.brought_up = sweep.finished;
      ++revision_;
    }
  }
}

}  // namespace weft::analyzer
