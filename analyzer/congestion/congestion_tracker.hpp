#pragma once
// Congestion over time: a root that stays is trouble, one that comes and goes with a phase is not.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/congestion/congestion_finder.hpp"

namespace weft::analyzer {

/// A root that was seen in enough of the last windows, with what was gathered of it. Its kind is the one that most of
/// the last windows say; its victims only ever grow, so that what people are shown does not flicker.
struct SteadyCongestion {
  CongestionRoot root;           ///< as last seen; indices are of the topology of that sweep
  std::vector<PortKey> victims;  ///< sending ports that waited in at least two windows, at most kMostSteadyVictims
  unsigned seen_windows = 0;     ///< of the last kWindows
};

inline constexpr std::size_t kMostSteadyVictims = 64;

class CongestionTracker {
 public:
  static constexpr unsigned kWindows = 5;

  explicit CongestionTracker(const CongestionThresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes the roots of one window (one sweep); gives those that are steady, worst first. A root is steady once it was
  /// seen in CongestionThresholds::windows of the last kWindows, a deadlock once in deadlock_windows in a row; and
  /// until it was missing in kWindows. One that was last seen in an earlier discovery is left out until it is seen
  /// again. Valid until the next call.
  const std::vector<SteadyCongestion>& update(const Topology& topology, const std::vector<CongestionRoot>& roots);
  /// What was seen before says nothing about now: a gap, a new discovery in another order is none.
  void forget() { tracks_.clear(); }

 private:
  struct Track {
    CongestionRoot root;
    std::uint64_t epoch = 0;  ///< of the topology that its indices are of
    std::uint8_t seen = 0;    ///< a bit for each window, the last one lowest
    std::array<IncidentKind, kWindows> kinds{};
    unsigned kind_count = 0;
    bool steady = false;
    std::unordered_map<PortKey, unsigned> waited;  ///< windows by victim
    std::vector<PortKey> victims;
  };

  void see(Track& track, const Topology& topology, const CongestionRoot& root);
  IncidentKind usual_kind(const Track& track) const;

  const CongestionThresholds& thresholds_;
  std::unordered_map<PortKey, Track> tracks_;
  std::vector<SteadyCongestion> steady_;
};

}  // namespace weft::analyzer
