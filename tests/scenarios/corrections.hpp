// SPDX-License-Identifier: Apache-2.0
#pragma once
// What forward error correction repairs on each link: the detail counters, read once a minute.

#include <memory>
#include <vector>

#include "fabric/samples.hpp"
#include "tests/scenarios/fat_tree.hpp"
#include "tests/scenarios/random.hpp"
#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// Symbols that Reed-Solomon correction has repaired at every receiving port. Each link has a rate of its own that goes
/// up and down with the day's temperature and is never quite the same twice; one that fades gets worse steadily.
class Corrections {
 public:
  Corrections(const Scenario& scenario, const Plan& plan);

  /// The rate of wrong symbols at a receiving port grows by so many decades a minute from now on; 0: it is as it was.
  void fade(PortIndex port, double decades_per_minute, double now);
  /// It is time to read them again.
  bool is_due(double now) const { return now >= next_read_; }
  void begin_reading(double now);
  /// Reads one port, up or down since the reading before, at the rate it has now (bits per second, 0 down).
  void read(PortIndex port, double now, double line_rate, TimePoint when);
  /// All readings; the same table until something was read.
  std::shared_ptr<const SampleTable> table();

 private:
  struct Side {
    double usual = 0;   ///< wrong symbols per bit
    double swing = 0;   ///< decades by which the day moves it, either way
    double phase = 0;   ///< 0..1 of a day
    double growth = 0;  ///< decades a minute
    double fading_since = 0;
    double read_at = 0;
    double repaired = 0;  ///< symbols, ever
  };
  double ratio(Side& side, double at);

  Random random_;
  std::vector<Side> sides_;  ///< by port
  SampleTable readings_;
  std::shared_ptr<const SampleTable> shown_;
  double next_read_ = 0;
};

}  // namespace weft::scenarios
