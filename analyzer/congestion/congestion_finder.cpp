// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_finder.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/places/place_finder.hpp"
#include "analyzer/places/ranks.hpp"

namespace weft::analyzer {
namespace {

// Links looked at in all searches for victims of one moment. Some thousand roots that share their victims must not take
// seconds: the last of them get fewer.
constexpr std::size_t kMostSteps = 4'000'000;
// A link that was a root lately was full while others had something to send when it sent so much of that time: its
// counters and theirs are read at different moments of a phase.
constexpr float kStillFull = 0.75F;

}  // namespace

void CongestionFinder::collect(const CongestionInput& input) {
  const auto ports = input.topology->ports();
  hot_.clear();
  find_marked_ways(input);
  for (PortIndex egress = 0; egress < ports.size(); ++egress) {
    const PortIndex peer = ports[egress].peer;
    // What was not read anew says nothing about this moment.
    if (peer == kNoIndex || input.line_rates[egress] <= 0 || input.elapsed[egress] <= 0) continue;
    // Nor does what is not to be believed; the other end still tells how much arrives.
    const bool broken = is_suspect(input, egress, kBrokenCounters);
    const double stall = broken ? 0 : input.rates[egress].stall_ratio;
    const bool stalled = stall >= thresholds_.stalled_ratio;  // false where it is not known
    const float utilization = utilization_of(input, egress);
    const bool saturated = utilization >= static_cast<float>(thresholds_.saturated_ratio);
    const float slowed = stalled ? 0 : slowed_share(input, egress, utilization);
    const bool notified = slowed >= static_cast<float>(thresholds_.stalled_ratio);
    if (!stalled && !saturated && !notified) continue;
    hot_.push_back({.egress = egress,
                    .utilization = std::max(utilization, 0.0F),
                    .stall = notified               ? slowed
                             : std::isfinite(stall) ? static_cast<float>(stall)
                                                    : 0.0F,
                    .rate = input.line_rates[egress],
                    .saturated = saturated,
                    .held_back = stalled,
                    .notified = notified});
    if (saturated) weigh_marks(input, hot_.back());
  }
}

// A link that was full whenever those had data that wait for it is full on average only while they send all the time.
// Looks for such behind links that are held back by nothing known, and behind all for those that were roots lately;
// true when there are some.
bool CongestionFinder::collect_phased(const CongestionInput& input) {
  const Topology& topology = *input.topology;
  const std::size_t known = hot_.size();
  const auto saturated = static_cast<float>(thresholds_.saturated_ratio);
  for (std::uint32_t link = 0; link < known; ++link) {
    const HotLink held = hot_[link];
    if (held.saturated || held.notified || held.stall < static_cast<float>(thresholds_.harm_ratio)) continue;
    const bool waits_for_known = !graph_.waits_for(link).empty();
    if (waits_for_known && input.recent.empty()) continue;
    const PortIndex arrives = topology.port(held.egress).peer;
    const Node& behind = topology.node_of(topology.port(arrives));
    if (behind.type != NodeType::kSwitch) continue;
    const float active = std::min(1.0F, held.stall + held.utilization);
    for (PortIndex port = behind.first_port; port < behind.first_port + behind.port_entries(); ++port) {
      const PortIndex peer = topology.port(port).peer;
      if (peer == kNoIndex || port == arrives || input.line_rates[port] <= 0 || input.elapsed[port] <= 0) continue;
      const bool is_recent = std::ranges::binary_search(input.recent, port);
      if (waits_for_known && !is_recent) continue;
      const float sent = utilization_of(input, port);
      if (sent < (is_recent ? kStillFull : saturated) * active || !graph_.carries(held.egress, port)) continue;
      const auto stall = static_cast<float>(input.rates[port].stall_ratio);
      hot_.push_back({.egress = port,
                      .utilization = sent,
                      .stall = std::isfinite(stall) ? stall : 0.0F,
                      .rate = input.line_rates[port],
                      .active = active,
                      .saturated = true});
    }
  }
  if (hot_.size() == known) return false;
  std::ranges::stable_sort(hot_, {}, &HotLink::egress);
  const auto same = [](const HotLink& a, const HotLink& b) { return a.egress == b.egress; };
  hot_.erase(std::unique(hot_.begin(), hot_.end(), same), hot_.end());
  return true;
}

const std::vector<CongestionRoot>& CongestionFinder::find(const CongestionInput& input) {
  roots_.clear();
  if (topology_ != input.topology) {
    const bool recabled = !topology_ || !same_cabling(*topology_, *input.topology);
    topology_ = input.topology;
    if (recabled) ranks_ = node_ranks(*topology_);
  }
  collect(input);
  const KnownWays ways{.routes = input.routes, .multipath = input.multipath};
  graph_.build(input.topology, ways, hot_);
  if (collect_phased(input)) graph_.build(input.topology, ways, hot_);
  if (hot_.empty()) return roots_;
  find_bereft(input);
  visited_.assign(graph_.positions(), 0);
  awaited_.assign(graph_.positions(), 0);
  search_ = 0;
  steps_left_ = kMostSteps;
  for (std::uint32_t link = 0; link < hot_.size(); ++link)
    if (!hot_[link].notified && graph_.waits_for(link).empty()) add_terminal(input, link);
  for (const auto& circle : graph_.closed_circles()) add_circle(input, circle);
  merge_by_node();
  explain(input);
  std::ranges::stable_sort(roots_, std::greater{}, &CongestionRoot::lost_bits);
  return roots_;
}

void CongestionFinder::gather_victims(std::span<const std::uint32_t> roots, CongestionRoot& root) {
  ++search_;
  reached_.assign(roots.begin(), roots.end());
  for (const std::uint32_t link : roots) visited_[link] = search_;
  // Through cables that nobody reads a link might seem to wait for its own other direction.
  const PortIndex back = topology_->port(hot_[roots.front()].egress).peer;
  for (std::size_t head = 0; head < reached_.size() && steps_left_ > 0; ++head)
    for (const std::uint32_t waiting : graph_.waiting_for(reached_[head])) {
      if (steps_left_ > 0) --steps_left_;
      const bool through_region = reached_[head] >= graph_.links();
      if (visited_[waiting] == search_ || (through_region && hot_[waiting].egress == back)) continue;
      visited_[waiting] = search_;
      awaited_[waiting] = through_region ? awaited_[reached_[head]] : reached_[head];
      reached_.push_back(waiting);
    }
  reached_.erase(reached_.begin(), reached_.begin() + static_cast<std::ptrdiff_t>(roots.size()));
  std::erase_if(reached_, [this](std::uint32_t position) { return position >= graph_.links(); });
  const auto lost = [this](std::uint32_t link) {
    return static_cast<double>(hot_[link].stall) * static_cast<double>(hot_[link].rate);
  };
  std::ranges::sort(reached_, std::greater{}, lost);
  root.victim_count = reached_.size();
  for (const std::uint32_t victim : reached_) {
    root.lost_bits += lost(victim);
    root.worst_stall = std::max(root.worst_stall, hot_[victim].stall);
    if (root.victims.size() >= kMostVictims) continue;
    root.victims.push_back(hot_[victim].egress);
    root.waits_for.push_back(hot_[awaited_[victim]].egress);
  }
}

// A link that waits for two roots waits for one of them only, as far as can be told: for the one that is known, or
// that most wait for. A root that holds up nobody else is none.
void CongestionFinder::explain(const CongestionInput& input) {
  const auto known = [&](const CongestionRoot& root) {
    return std::ranges::any_of(root.links,
                               [&](PortIndex link) { return std::ranges::binary_search(input.known, link); });
  };
  std::ranges::stable_sort(roots_, [&](const CongestionRoot& a, const CongestionRoot& b) {
    const bool a_known = known(a), b_known = known(b);
    if (a_known != b_known) return a_known;
    const bool a_may_be_fed = a.marked >= 0 && ends_at_a_host(a.egress);
    const bool b_may_be_fed = b.marked >= 0 && ends_at_a_host(b.egress);
    if (a_may_be_fed != b_may_be_fed) return b_may_be_fed;
    return a.lost_bits != b.lost_bits ? a.lost_bits > b.lost_bits : a.utilization > b.utilization;
  });
  ++search_;
  std::vector<PortIndex> marked;  // roots that are told, by their marks
  std::erase_if(roots_, [&](const CongestionRoot& root) {
    float own = root.kind == IncidentKind::kDeadlock ? 1 : root.own_stall;
    for (const PortIndex victim : root.victims) {
      const auto hot = std::ranges::lower_bound(hot_, victim, {}, &HotLink::egress);
      auto& visited = visited_[static_cast<std::size_t>(hot - hot_.begin())];
      if (visited != search_) own = std::max(own, hot->stall);
      visited = search_;
    }
    if (own < static_cast<float>(thresholds_.harm_ratio) && root.links.size() == 1)
      own = own_feeders_stall(input, root);
    // Its marks are its own, whoever else is notified for them; unless they may come from a link that was told of.
    if (root.marked >= 0) {
      own = !root.tells_marks && is_fed(input, root.egress, marked) ? 0 : root.worst_stall;
      marked.push_back(root.egress);
    }
    return own < static_cast<float>(thresholds_.harm_ratio) && !known(root);
  });
}

// Links that wait for a full one may wait for others as well. But what they send more than goes over all others that
// are full or held back, at the same switch, goes over this one: it is full by their traffic, and they wait for it.
// Gives how long they wait; 0 where that is not so.
float CongestionFinder::own_feeders_stall(const CongestionInput& input, const CongestionRoot& root) const {
  constexpr float kMost = 0.5F;
  const auto hot_at = [this](PortIndex port) {
    const auto found = std::ranges::lower_bound(hot_, port, {}, &HotLink::egress);
    return found != hot_.end() && found->egress == port ? found : hot_.end();
  };
  const auto own = hot_at(root.egress);
  if (own == hot_.end() || !own->saturated) return 0;
  const auto sent = [&](PortIndex port) {
    return std::max(0.0F, utilization_of(input, port)) * input.line_rates[port];
  };
  float surplus = 0, stall = 0;
  for (const std::uint32_t waiting : graph_.waiting_for(static_cast<std::uint32_t>(own - hot_.begin()))) {
    if (waiting >= graph_.links() || hot_[waiting].stall < static_cast<float>(thresholds_.harm_ratio)) continue;
    surplus += sent(hot_[waiting].egress);
    stall = std::max(stall, hot_[waiting].stall);
  }
  const Node& at = topology_->node_of(topology_->port(root.egress));
  for (PortIndex port = at.first_port; port < at.first_port + at.port_entries(); ++port)
    if (port != root.egress && hot_at(port) != hot_.end()) surplus -= sent(port);
  return surplus >= kMost * sent(root.egress) ? stall : 0;
}

void CongestionFinder::add_terminal(const CongestionInput& input, std::uint32_t link) {
  const HotLink& hot = hot_[link];
  CongestionRoot root;
  root.egress = hot.egress;
  root.links.push_back(hot.egress);
  root.utilization = hot.utilization;
  root.stall = hot.stall;
  root.phased = hot.active < 1;
  // A link that is held back suffers itself; one that is full only makes others suffer.
  if (!hot.saturated) {
    root.worst_stall = root.own_stall = hot.stall;
    root.lost_bits = static_cast<double>(hot.stall) * static_cast<double>(hot.rate);
  }
  const std::uint32_t start[] = {link};
  gather_victims(start, root);
  // Where somebody is paused, that tells more. Through a region anybody may seem to wait: only who surely waits counts.
  if (std::ranges::none_of(graph_.waiting_for(link), [this](std::uint32_t waiting) {
        return waiting < graph_.links() && hot_[waiting].held_back;
      })) {
    root.marked = hot.marked;
    root.tells_marks = hot.tells_marks;
  }
  if (root.worst_stall < static_cast<float>(thresholds_.harm_ratio)) return;
  root.feeders = graph_.feeders(link, hot_);
  if (classify(input, hot, root)) roots_.push_back(std::move(root));
}

void CongestionFinder::add_circle(const CongestionInput& input, const std::vector<std::uint32_t>& members) {
  const auto moves = [this](std::uint32_t link) {
    return hot_[link].utilization >= static_cast<float>(thresholds_.deadlock_progress_ratio) ||
           hot_[link].stall < static_cast<float>(thresholds_.deadlock_stalled_ratio);
  };
  // A circle through cables that nobody reads may be none.
  const auto unwatched = [this](std::uint32_t member) { return member >= graph_.links(); };
  if (std::ranges::any_of(members, unwatched) || std::ranges::any_of(members, moves)) return;
  CongestionRoot root;
  root.kind = IncidentKind::kDeadlock;
  for (const std::uint32_t member : members) {
    root.links.push_back(hot_[member].egress);
    root.lost_bits += static_cast<double>(hot_[member].stall) * static_cast<double>(hot_[member].rate);
    root.worst_stall = std::max(root.worst_stall, hot_[member].stall);
  }
  // Named by the link with the smallest key, so that its identity does not depend on the order of discovery.
  const auto key = [&](PortIndex egress) { return input.topology->key_of(egress); };
  std::ranges::sort(root.links, {}, key);
  root.egress = root.links.front();
  root.stall = root.worst_stall;
  gather_victims(members, root);
  roots_.push_back(std::move(root));
}

// All full uplinks of one switch are one trouble.
void CongestionFinder::merge_by_node() {
  std::vector<CongestionRoot> merged;
  for (CongestionRoot& root : roots_) {
    const auto same = root.kind != IncidentKind::kCongestionOversubscribed
                          ? merged.end()
                          : std::ranges::find_if(merged, [&](const CongestionRoot& other) {
                              return other.kind == root.kind && other.node == root.node;
                            });
    if (same == merged.end()) {
      merged.push_back(std::move(root));
      continue;
    }
    same->links.push_back(root.egress);
    same->certain = same->certain && root.certain;
    same->worst_stall = std::max(same->worst_stall, root.worst_stall);
    // Whoever waits for two of the links is counted once.
    std::size_t more = 0;
    for (std::size_t i = 0; i < root.victims.size(); ++i) {
      if (std::ranges::find(same->victims, root.victims[i]) != same->victims.end()) continue;
      ++more;
      if (same->victims.size() >= kMostVictims) continue;
      same->victims.push_back(root.victims[i]);
      same->waits_for.push_back(root.waits_for[i]);
    }
    if (root.victim_count > 0)
      same->lost_bits += root.lost_bits * static_cast<double>(more) / static_cast<double>(root.victims.size());
    same->victim_count += more;
  }
  roots_ = std::move(merged);
}

}  // namespace weft::analyzer
