#include "analyzer/congestion/congestion_finder.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/congestion/ranks.hpp"

namespace weft::analyzer {
namespace {

// Links looked at in all searches for victims of one moment. Some thousand roots that share their victims must not take
// seconds: the last of them get fewer.
constexpr std::size_t kMostSteps = 4'000'000;

// What a port sends, of its rate; from the other end's receive counter where its own is not known. Negative: unknown.
float utilization_of(const CongestionInput& input, PortIndex egress, PortIndex peer) {
  double sent = input.rates[egress].transmit_bits_per_second;
  if (!std::isfinite(sent)) sent = input.rates[peer].receive_bits_per_second;
  if (!std::isfinite(sent)) return -1;
  return std::min(1.0F, static_cast<float>(sent) / input.line_rates[egress]);
}

float median(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

bool below_design(const Port& a, const Port& b) {
  const auto width = static_cast<WidthMask>(a.width_supported & a.width_enabled & b.width_supported & b.width_enabled);
  const auto speed = static_cast<SpeedMask>(a.speed_supported & a.speed_enabled & b.speed_supported & b.speed_enabled);
  return lanes(a.width_active) < widest_lanes(width) || a.speed_active < fastest(speed);
}

}  // namespace

void CongestionFinder::collect(const CongestionInput& input) {
  const auto ports = input.topology->ports();
  hot_.clear();
  for (PortIndex egress = 0; egress < ports.size(); ++egress) {
    const PortIndex peer = ports[egress].peer;
    // What was not read anew says nothing about this moment.
    if (peer == kNoIndex || input.line_rates[egress] <= 0 || input.elapsed[egress] <= 0) continue;
    const double stall = input.rates[egress].stall_ratio;
    const bool stalled = stall >= thresholds_.stalled_ratio;  // false where it is not known
    const float utilization = utilization_of(input, egress, peer);
    const bool saturated = utilization >= static_cast<float>(thresholds_.saturated_ratio);
    if (!stalled && !saturated) continue;
    hot_.push_back({.egress = egress,
                    .utilization = std::max(utilization, 0.0F),
                    .stall = std::isfinite(stall) ? static_cast<float>(stall) : 0.0F,
                    .rate = input.line_rates[egress],
                    .saturated = saturated,
                    .held_back = stalled});
  }
}

const std::vector<CongestionRoot>& CongestionFinder::find(const CongestionInput& input) {
  roots_.clear();
  if (topology_ != input.topology) {
    topology_ = input.topology;
    ranks_ = node_ranks(*topology_);
  }
  collect(input);
  graph_.build(input.topology, input.routes, hot_);
  if (hot_.empty()) return roots_;
  visited_.assign(hot_.size(), 0);
  awaited_.assign(hot_.size(), 0);
  search_ = 0;
  steps_left_ = kMostSteps;
  for (std::uint32_t link = 0; link < hot_.size(); ++link)
    if (graph_.waits_for(link).empty()) add_terminal(input, link);
  for (const auto& circle : graph_.closed_circles()) add_circle(input, circle);
  merge_by_node();
  std::ranges::sort(roots_, std::greater{}, &CongestionRoot::lost_bits);
  return roots_;
}

void CongestionFinder::gather_victims(std::span<const std::uint32_t> roots, CongestionRoot& root) {
  ++search_;
  reached_.assign(roots.begin(), roots.end());
  for (const std::uint32_t link : roots) visited_[link] = search_;
  for (std::size_t head = 0; head < reached_.size() && steps_left_ > 0; ++head)
    for (const std::uint32_t waiting : graph_.waiting_for(reached_[head])) {
      if (steps_left_ > 0) --steps_left_;
      if (visited_[waiting] == search_) continue;
      visited_[waiting] = search_;
      awaited_[waiting] = reached_[head];
      reached_.push_back(waiting);
    }
  reached_.erase(reached_.begin(), reached_.begin() + static_cast<std::ptrdiff_t>(roots.size()));
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

void CongestionFinder::add_terminal(const CongestionInput& input, std::uint32_t link) {
  const HotLink& hot = hot_[link];
  CongestionRoot root;
  root.egress = hot.egress;
  root.links.push_back(hot.egress);
  root.utilization = hot.utilization;
  root.stall = hot.stall;
  // A link that is held back suffers itself; one that is full only makes others suffer.
  if (!hot.saturated) {
    root.worst_stall = hot.stall;
    root.lost_bits = static_cast<double>(hot.stall) * static_cast<double>(hot.rate);
  }
  for (const std::uint32_t feeder : graph_.waiting_for(link))
    root.feeders += hot_[feeder].stall >= static_cast<float>(thresholds_.stalled_ratio) ? 1U : 0U;
  const std::uint32_t start[] = {link};
  gather_victims(start, root);
  if (root.worst_stall < static_cast<float>(thresholds_.harm_ratio)) return;
  if (classify(input, hot, root)) roots_.push_back(std::move(root));
}

bool CongestionFinder::classify(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const {
  const Topology& topology = *input.topology;
  const Port& port = topology.port(link.egress);
  const Node& from = topology.node_of(port);
  const Node& to = topology.node(topology.port(port.peer).node);
  const bool suspect = link.egress < input.suspects.size() && input.suspects[link.egress] != 0;
  if (suspect || (link.saturated && below_design(port, topology.port(port.peer)))) {
    root.kind = IncidentKind::kLinkDegraded;
    return true;
  }
  // A host that sends at its rate, or that is held back with nobody behind it to blame: nothing to say from here.
  if (from.type != NodeType::kSwitch) return false;
  if (to.type != NodeType::kSwitch) {
    root.kind = link.saturated ? IncidentKind::kCongestionIncast : IncidentKind::kSlowReceiver;
    return !link.saturated || root.feeders >= 2;
  }
  return link.saturated && compare_siblings(input, link, root);
}

// Upwards, what goes through one uplink could go through any; downwards, what comes to a switch could come from any.
bool CongestionFinder::compare_siblings(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const {
  const Topology& topology = *input.topology;
  const Port& port = topology.port(link.egress);
  const NodeIndex from = port.node, to = topology.port(port.peer).node;
  const bool upwards = ranks_[to] > ranks_[from];
  const NodeIndex hub = upwards ? from : to;
  const std::uint8_t far_rank = ranks_[upwards ? to : from];
  std::vector<float> loads;
  const Node& node = topology.node(hub);
  for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
    const Port& end = topology.port(p);
    if (end.peer == kNoIndex || ranks_[topology.port(end.peer).node] != far_rank) continue;
    const PortIndex egress = upwards ? p : end.peer;
    if (egress == link.egress) continue;
    if (input.line_rates[egress] <= 0 || below_design(end, topology.port(end.peer))) ++root.siblings_down;
    if (input.line_rates[egress] <= 0) continue;
    if (const float load = utilization_of(input, egress, upwards ? end.peer : p); load >= 0) loads.push_back(load);
  }
  root.siblings = static_cast<unsigned>(loads.size());
  float mean = 0;
  for (const float load : loads) mean += load / static_cast<float>(loads.size());
  root.sibling_median = median(loads);
  const bool uneven = !loads.empty() && link.utilization >= static_cast<float>(thresholds_.uneven_factor) * mean;
  const bool idle = !loads.empty() && root.sibling_median < static_cast<float>(thresholds_.idle_sibling_ratio);
  if (uneven) {
    root.kind = IncidentKind::kCongestionUnevenLoad;
    root.certain = idle;
    // Some links fill up beside idle ones whenever many flows are spread by chance: only what hurts is worth a word.
    return idle && root.worst_stall >= static_cast<float>(thresholds_.severe_ratio);
  } else {
    root.kind = IncidentKind::kCongestionOversubscribed;
    root.certain = loads.empty() || root.sibling_median >= static_cast<float>(thresholds_.saturated_ratio);
    root.node = hub;
  }
  return true;
}

void CongestionFinder::add_circle(const CongestionInput& input, const std::vector<std::uint32_t>& members) {
  const auto moves = [this](std::uint32_t link) {
    return hot_[link].utilization >= static_cast<float>(thresholds_.deadlock_progress_ratio) ||
           hot_[link].stall < static_cast<float>(thresholds_.deadlock_stalled_ratio);
  };
  if (std::ranges::any_of(members, moves)) return;
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
