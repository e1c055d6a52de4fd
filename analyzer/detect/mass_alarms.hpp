#pragma once
// When much is said to go wrong at once, what says so is suspected first.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/detect/describe.hpp"
#include "analyzer/detect/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Links do not begin to make errors, to flap, to degrade or to stop counting together. Of findings of such a kind that
/// begin within a few sweeps on a large share of all links one is made, COUNTER_STUCK of the fabric; those that last
/// longer than Thresholds::mass_hold are told one by one. (Outages, silent nodes and cabling see to it themselves.)
class MassAlarms {
 public:
  explicit MassAlarms(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// `links`: how many there are. What the first sweep shows has been there before.
  void hold_back(std::vector<Finding>& findings, std::size_t links, const Describe& describe, TimePoint now);

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
  void follow(IncidentKind kind, const std::vector<Finding>& findings);
  void judge(Wave& wave, std::size_t links, TimePoint now) const;

  const Thresholds& thresholds_;
  std::map<IncidentKind, Wave> waves_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace weft::analyzer
