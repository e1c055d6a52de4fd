// SPDX-License-Identifier: Apache-2.0
#pragma once
// The damping of one link or port: penalties that grow with each time it goes down and decay with time, on two time
// scales.

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// One flap is one going down, however often it is noticed: each source counts for itself, the counts of one busy spell
/// are compared and the greatest holds; after a few quiet readings they start again.
class FlapRecord {
 public:
  /// What settle() changed.
  struct Change {
    bool counted = false;  ///< a flap was counted
    bool sides = false;    ///< it began or ceased to be flapping
  };

  FlapState state;  ///< `suppressed` is kept by settle()

  /// Takes over the penalties that an earlier process saved.
  void restore(const FlapState& known, const Thresholds& thresholds);
  /// Source 0 to 3 noticed that it went down so often.
  void note(unsigned source, std::uint64_t count);
  /// Counts what was noted and lets the penalties decay until `now`. `reading`: a sweep or a reading has passed, not
  /// only time.
  Change settle(const Thresholds& thresholds, TimePoint now, bool reading);

  /// Its last flap is history, which says nothing of now.
  void set_past() { single_ = Single::kNone; }

  /// True when this source noticed a flap since the counts last started again.
  bool noticed_by(unsigned source) const { return seen_[source] > 0; }
  /// Over the limit of the fast or the slow layer, and not yet decayed below its lower one.
  bool is_flapping() const { return fast_suppressed_ || slow_suppressed_; }
  /// It went down within the last minutes, was back for a reading at least, and does not keep doing it.
  bool is_single(TimePoint now) const;
  /// One that keeps flapping is down now and then: LINK_FLAP says so, until it has been down for
  /// Thresholds::flap_down_hold. `since` kNever: nobody knows how long.
  bool hides_down(TimePoint since, TimePoint now, const Thresholds& thresholds) const {
    return is_flapping() && since != kNever && now - since < thresholds.flap_down_hold;
  }
  /// Its penalties are as good as none.
  bool is_forgotten() const;
  /// What it does, for a summary: it went down and came back; it keeps doing so; or it did, and is listed until its
  /// penalties have decayed.
  const char* habit(TimePoint now) const;
  /// The penalties over their limits, as they were at the last flap, and how often it went down.
  void add_evidence(const Thresholds& thresholds, const Entity& where, std::vector<Evidence>& evidence) const;

 private:
  void count(const Thresholds& thresholds, std::uint32_t flaps, TimePoint now);

  bool fast_suppressed_ = false;
  bool slow_suppressed_ = false;
  std::array<std::uint32_t, 4> seen_{};  ///< this spell, by source
  std::uint32_t counted_ = 0;            ///< of this spell
  unsigned quiet_readings_ = 0;
  /// Of flaps that are less than minutes apart: none in this process; it went down; it was up for a reading since.
  enum class Single : std::uint8_t { kNone, kWent, kBack } single_ = Single::kNone;
};

}  // namespace weft::analyzer
