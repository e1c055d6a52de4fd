// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/corrections.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::scenarios {
namespace {

/// infiniband.detail_interval's default, seconds.
constexpr double kDetailInterval = 60;
constexpr double kMinutesOfDay = 1440;
/// Beyond what RS(544,514) can bear a link does not stay up (IEEE 802.3, 91.5.3.3), whatever it would be.
constexpr double kMostWrong = 2e-4;
/// Spread of one reading, decades.
constexpr double kUnsteady = 0.04;
/// Lanes of a 4X link.
constexpr unsigned kLanes = 4;

}  // namespace

Corrections::Corrections(const Scenario& scenario, const Plan& plan)
    : random_(scenario.seed ^ 0xFEC0FFEEULL),
      sides_(plan.ports.size()),
      readings_({CounterId::kRsFecCorrectedSymbols}, plan.ports.size()) {
  for (Side& side : sides_) {
    side.usual = random_.log_uniform(scenario.noise.repaired_low, scenario.noise.repaired_high);
    side.swing = random_.uniform(0, scenario.noise.repaired_swing);
    side.phase = random_.uniform();
    side.repaired = random_.log_uniform(1e3, 1e12);
  }
}

void Corrections::fade(PortIndex port, double decades_per_minute, double now) {
  sides_[port].growth = decades_per_minute;
  sides_[port].fading_since = now;
}

double Corrections::ratio(Side& side, double at) {
  const double day = std::sin(2 * std::numbers::pi * (at / 60 / kMinutesOfDay + side.phase));
  const double faded = side.growth > 0 ? side.growth * (at - side.fading_since) / 60 : 0;
  return std::min(kMostWrong, side.usual * std::pow(10, faded + side.swing * day + kUnsteady * random_.normal()));
}

void Corrections::begin_reading(double now) {
  next_read_ = now + kDetailInterval;
}

void Corrections::read(PortIndex port, double now, double line_rate, TimePoint when) {
  Side& side = sides_[port];
  const double passed = now - side.read_at;
  side.read_at = now;
  if (line_rate <= 0) return;
  const double expected = ratio(side, now - passed / 2) * line_rate * passed;
  side.repaired += static_cast<double>(random_.poisson(expected));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    readings_.set(port, readings_.column(CounterId::kRsFecCorrectedSymbols, lane),
                  static_cast<std::uint64_t>(side.repaired / kLanes), false);
  readings_.set_read_at(port, when);
  shown_.reset();
}

std::shared_ptr<const SampleTable> Corrections::table() {
  if (!shown_) shown_ = std::make_shared<const SampleTable>(readings_);
  return shown_;
}

}  // namespace weft::scenarios
