// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_tracker.hpp"

#include <algorithm>
#include <bit>

namespace weft::analyzer {
namespace {

/// A root that comes and goes must have come so often in all windows, or have been seen in so many: one long wait is no
/// phase.
constexpr int kFewestPhases = 3;
constexpr int kFewestSights = 5;
/// And it does come and go when it was missing so often between its first and its last.
constexpr int kFewestGaps = 3;

constexpr std::uint16_t last(unsigned windows) {
  return static_cast<std::uint16_t>((1U << windows) - 1);
}

int count(unsigned bits) {
  return std::popcount(bits);
}

/// How often it came.
int phases(unsigned seen) {
  return std::popcount(seen & ~(seen << 1U));
}

bool comes_and_goes(unsigned seen) {
  if (seen == 0) return false;
  const unsigned up_to_last = seen >> static_cast<unsigned>(std::countr_zero(seen));
  return static_cast<int>(std::bit_width(up_to_last)) - std::popcount(up_to_last) >= kFewestGaps;
}

// Roots remembered: beyond, the fabric has other troubles than this one's identity.
constexpr std::size_t kMostTracks = 4096;
constexpr std::size_t kMostWaiting = 1024;

PortKey key_of(const Topology& topology, const CongestionRoot& root) {
  if (root.kind == IncidentKind::kCongestionOversubscribed) return {topology.node(root.node).guid, {0}};
  return topology.key_of(root.egress);
}

}  // namespace

void CongestionTracker::see(Track& track, const Topology& topology, const CongestionRoot& root) {
  const bool again = (track.seen & 2U) != 0 && track.root.kind == root.kind;
  track.same_kind = again ? track.same_kind + 1 : 1;
  track.seen |= 1;
  if (!root.phased) track.whole |= 1;
  if (root.worst_stall >= static_cast<float>(thresholds_.severe_ratio)) track.severe |= 1;
  track.stalls[window_] = root.worst_stall;
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

bool CongestionTracker::stuck(const Track& track) const {
  if ((track.seen & 1U) == 0) return false;
  if (track.root.kind == IncidentKind::kDeadlock) return track.same_kind >= thresholds_.deadlock_windows;
  return track.root.kind == IncidentKind::kPfcStorm && track.same_kind >= thresholds_.pfc_storm_windows;
}

IncidentKind CongestionTracker::usual_kind(const Track& track) {
  const auto end = track.kinds.begin() + std::min(track.kind_count, kWindows);
  IncidentKind best = track.told;
  auto most = track.told == IncidentKind::kCount ? std::ptrdiff_t{0} : std::ptrdiff_t{kWindows - 1};
  for (auto kind = track.kinds.begin(); kind != end; ++kind)
    if (const auto votes = std::count(track.kinds.begin(), end, *kind); votes > most) {
      most = votes;
      best = *kind;
    }
  return best;
}

void CongestionTracker::judge(Track& track) const {
  const auto needed = static_cast<int>(thresholds_.windows);
  float sum = 0;
  for (const float stall : track.stalls) sum += stall;
  const auto over = [&](double ratio) {
    return (count(track.seen) >= kFewestSights || phases(track.seen) >= kFewestPhases) &&
           sum >= static_cast<float>(ratio * kLongWindows);
  };
  const bool still = stuck(track);
  const bool often = count(track.whole & last(kWindows)) >= needed;
  const bool in_phases = (track.seen & 1U) != 0 && over(thresholds_.harm_ratio);
  const unsigned patience = comes_and_goes(track.seen) ? kLongWindows / 2 : kWindows;
  track.steady = still || often || in_phases || (track.steady && (track.seen & last(patience)) != 0);
  track.grave = still || count(track.severe & last(kWindows)) >= needed || over(thresholds_.severe_ratio) ||
                (track.grave && (track.severe & last(patience)) != 0);
  if (track.steady) track.told = still ? track.root.kind : usual_kind(track);
}

std::span<const PortIndex> CongestionTracker::recent(std::uint64_t epoch) {
  recent_.clear();
  for (const auto& [key, track] : tracks_)
    if (track.epoch == epoch) recent_.insert(recent_.end(), track.root.links.begin(), track.root.links.end());
  std::ranges::sort(recent_);
  return recent_;
}

const std::vector<SteadyCongestion>& CongestionTracker::update(const Topology& topology,
                                                               const std::vector<CongestionRoot>& roots) {
  window_ = (window_ + 1) % kLongWindows;
  for (auto& [key, track] : tracks_) {
    track.seen = static_cast<std::uint16_t>(unsigned{track.seen} << 1U);
    track.whole = static_cast<std::uint16_t>(unsigned{track.whole} << 1U);
    track.severe = static_cast<std::uint16_t>(unsigned{track.severe} << 1U);
    track.stalls[window_] = 0;
  }
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
    judge(track);
    // After a new discovery the indices of what was not yet seen again mean something else.
    if (!track.steady || track.epoch != topology.epoch()) continue;
    SteadyCongestion& steady = steady_.emplace_back(SteadyCongestion{key, track.root, track.victims, track.grave});
    steady.root.kind = track.told;
  }
  std::ranges::sort(steady_, [](const SteadyCongestion& a, const SteadyCongestion& b) {
    return a.root.lost_bits != b.root.lost_bits ? a.root.lost_bits > b.root.lost_bits : a.root.egress < b.root.egress;
  });
  return steady_;
}

}  // namespace weft::analyzer
