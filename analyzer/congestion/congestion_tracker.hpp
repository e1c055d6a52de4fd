// SPDX-License-Identifier: Apache-2.0
#pragma once
// Congestion over time: a root that stays is trouble, one that comes and goes with a phase is not.

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/congestion/congestion_finder.hpp"

namespace weft::analyzer {

/// A root that was seen in enough of the last windows, with what was gathered of it. Its kind is the one that most
/// windows said when it became steady, until all of the last ones say another; its victims only ever grow, so that what
/// people are shown does not flicker.
struct SteadyCongestion {
  PortKey key;                   ///< what it is known by from sweep to sweep
  CongestionRoot root;           ///< as last seen; indices are of the topology of that sweep
  std::vector<PortKey> victims;  ///< sending ports that waited in at least two windows, at most kMostSteadyVictims
  bool severe = false;           ///< somebody waited for severe_ratio for as long, and still does at times
};

inline constexpr std::size_t kMostSteadyVictims = 64;

/// Follows congestion roots from sweep to sweep and reports those that persist.
class CongestionTracker {
 public:
  static constexpr unsigned kWindows = 5;
  /// Jobs send in phases: what holds them up each time is seen in some of these windows.
  static constexpr unsigned kLongWindows = 16;

  explicit CongestionTracker(const CongestionThresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes the roots of one window (one sweep); gives those that are steady, worst first. A root is steady once it was
  /// seen in CongestionThresholds::windows of the last kWindows, or in some of the last kLongWindows and did harm on
  /// average over all of them; a deadlock or a host that takes nothing once in as many in a row as its threshold says.
  /// It is so until it was missing in kWindows in a row, one that comes and goes in half of kLongWindows. One that was
  /// last seen in an earlier discovery is left out until it is seen again. Valid until the next call.
  const std::vector<SteadyCongestion>& update(const Topology& topology, const std::vector<CongestionRoot>& roots);
  /// What the last update() gave.
  const std::vector<SteadyCongestion>& steady() const { return steady_; }
  /// Links of all roots that were seen in the last kLongWindows and belong to the discovery `epoch`, ascending. Valid
  /// until the next call.
  std::span<const PortIndex> recent(std::uint64_t epoch);

 private:
  struct Track {
    CongestionRoot root;
    std::uint64_t epoch = 0;                   ///< that the root's indices belong to
    std::uint16_t seen = 0;                    ///< a bit for each window, the last one lowest
    std::uint16_t whole = 0;                   ///< the same: not in phases
    std::uint16_t severe = 0;                  ///< the same: somebody waited for severe_ratio
    std::array<float, kLongWindows> stalls{};  ///< by window, round: the longest wait in it
    std::array<IncidentKind, kWindows> kinds{};
    unsigned kind_count = 0;
    unsigned same_kind = 0;  ///< windows in a row up to now with the root's present kind
    bool steady = false;
    bool grave = false;
    IncidentKind told = IncidentKind::kCount;      ///< the kind that was last said of it
    std::unordered_map<PortKey, unsigned> waited;  ///< windows by victim
    std::vector<PortKey> victims;
  };

  void see(Track& track, const Topology& topology, const CongestionRoot& root);
  static IncidentKind usual_kind(const Track& track);
  void judge(Track& track) const;
  /// It stands still for long enough.
  bool stuck(const Track& track) const;

  const CongestionThresholds& thresholds_;
  unsigned window_ = 0;  ///< position of the present one in Track::stalls
  std::unordered_map<PortKey, Track> tracks_;
  std::vector<SteadyCongestion> steady_;
  std::vector<PortIndex> recent_;
};

}  // namespace weft::analyzer
