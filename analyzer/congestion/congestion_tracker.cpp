#include "analyzer/congestion/congestion_tracker.hpp"

#include <algorithm>
#include <bit>

namespace weft::analyzer {
namespace {

constexpr unsigned kWindowMask = (1U << CongestionTracker::kWindows) - 1;
// Roots remembered: beyond, the fabric has other troubles than this one's identity.
constexpr std::size_t kMostTracks = 4096;
constexpr std::size_t kMostWaiting = 1024;

PortKey key_of(const Topology& topology, const CongestionRoot& root) {
  if (root.kind == IncidentKind::kCongestionOversubscribed) return {topology.node(root.node).guid, {0}};
  return topology.key_of(root.egress);
}

}  // namespace

void CongestionTracker::see(Track& track, const Topology& topology, const CongestionRoot& root) {
  track.seen |= 1;
  track.root = root;
  track.epoch = topology.epoch();
  track.kinds[track.kind_count++ % kWindows] = root.kind;
  for (const PortIndex victim : root.victims) {
    if (track.victims.size() >= kMostSteadyVictims) break;
    const PortKey key = topology.key_of(victim);
    if (track.waited.size() >= kMostWaiting && !track.waited.contains(key)) continue;
    if (++track.waited[key] == 2) track.victims.push_back(key);
  }
}

IncidentKind CongestionTracker::usual_kind(const Track& track) const {
  const unsigned known = std::min(track.kind_count, kWindows);
  IncidentKind best = track.root.kind;
  long most = 0;
  for (unsigned i = 0; i < known; ++i) {
    const long votes = std::count(track.kinds.begin(), track.kinds.begin() + known, track.kinds[i]);
    if (votes > most) {
      most = votes;
      best = track.kinds[i];
    }
  }
  return best;
}

const std::vector<SteadyCongestion>& CongestionTracker::update(const Topology& topology,
                                                               const std::vector<CongestionRoot>& roots) {
  for (auto& [key, track] : tracks_) track.seen = static_cast<std::uint8_t>((unsigned{track.seen} << 1U) & kWindowMask);
  for (const CongestionRoot& root : roots) {
    const PortKey key = key_of(topology, root);
    auto found = tracks_.find(key);
    if (found == tracks_.end()) {
      if (tracks_.size() >= kMostTracks) continue;
      found = tracks_.try_emplace(key).first;
    }
    see(found->second, topology, root);
  }
  std::erase_if(tracks_, [](const auto& entry) { return entry.second.seen == 0; });

  steady_.clear();
  for (auto& [key, track] : tracks_) {
    const auto windows = static_cast<unsigned>(std::popcount(track.seen));
    const bool stuck = track.root.kind == IncidentKind::kDeadlock &&
                       static_cast<unsigned>(std::countr_one(track.seen)) >= thresholds_.deadlock_windows;
    track.steady = track.steady || stuck || windows >= thresholds_.windows;
    if (!track.steady || track.epoch != topology.epoch()) continue;
    SteadyCongestion steady{track.root, track.victims, windows};
    if (!stuck) steady.root.kind = usual_kind(track);
    steady_.push_back(std::move(steady));
  }
  std::ranges::sort(steady_, [](const SteadyCongestion& a, const SteadyCongestion& b) {
    return a.root.lost_bits != b.root.lost_bits ? a.root.lost_bits > b.root.lost_bits : a.root.egress < b.root.egress;
  });
  return steady_;
}

}  // namespace weft::analyzer
