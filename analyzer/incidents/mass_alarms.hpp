// SPDX-License-Identifier: Apache-2.0
#pragma once
// When much is said to go wrong at once, what says so is suspected first.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// What is judged together, and when it is too much.
struct MassAlarmScope {
  /// When findings of one kind are too many at once: both the minimum and the share must be reached.
  struct Limit {
    IncidentKind kind;
    std::size_t minimum;  ///< findings
    double share;         ///< of all there are, 0..1
  };
  std::vector<Limit> limits;
  std::uint64_t together = 3;  ///< calls within which they begin: readings get lost, windows do not all close at once
  Duration hold{};             ///< so long; what lasts longer is told one by one
  const char* what = "links";  ///< that there are many of
};

/// Links do not begin to make errors, to flap, to degrade or to stop counting together, nor do many begin to lose
/// packets silently. Of findings of such a kind that begin together on a large share of all links one is made,
/// COUNTER_STUCK of the fabric; those that last longer are told one by one. (Outages, silent nodes and cabling see to
/// it themselves.)
class MassAlarms {
 public:
  explicit MassAlarms(MassAlarmScope scope) : scope_(std::move(scope)) {}

  /// `links`: how many there are. What the first call shows has been there before. `fabric` is what is suspected.
  void hold_back(std::vector<Finding>& findings, std::size_t links, const Entity& fabric, TimePoint now);

 private:
  struct Known {
    std::uint64_t first = 0;  ///< sweep in which it began
    std::uint64_t last = 0;   ///< and in which it was seen last
    bool held = false;
  };
  struct Wave {
    std::map<std::string, Known> findings;  ///< by identity of the cause
    TimePoint since = kNever;               ///< when it rose; kNever while there is none
  };
  static double least(const MassAlarmScope::Limit& limit, std::size_t links);
  void follow(IncidentKind kind, const std::vector<Finding>& findings);
  void judge(Wave& wave, double least, TimePoint now) const;

  MassAlarmScope scope_;
  std::map<IncidentKind, Wave> waves_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace weft::analyzer
