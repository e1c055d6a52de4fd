// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/subnet_manager.hpp"

#include <algorithm>
#include <cmath>

namespace weft::scenarios {
namespace {

/// From a change to the trap's arrival at the subnet manager, seconds.
constexpr double kTrap = 0.05;
/// Share of a heavy sweep that is discovery; in the rest tables are programmed.
constexpr double kDiscovery = 0.6;

}  // namespace

SubnetManager::SubnetManager(const SubnetManagerModel& model, std::uint64_t seed, std::size_t nodes)
    : model_(model), random_(seed) {
  if (is_slow()) failing_.resize(nodes);
}

void SubnetManager::notice(double now) {
  if (!is_slow()) return;
  if (state_ != State::kIdle) {
    again_ = true;
    return;
  }
  const bool lost = random_.chance(model_.lost_traps);
  const double heard = lost ? (std::floor(now / model_.periodic) + 1) * model_.periodic : now + kTrap;
  next_ = std::min(next_, heard);
}

void SubnetManager::stop() {
  state_ = State::kStopped;
  next_ = kNever;
  for (Span& span : failing_) span = {};
}

void SubnetManager::start(double now) {
  state_ = State::kIdle;
  anew_ = true;
  next_ = now;
}

SubnetManager::Step SubnetManager::step() {
  const double now = next_;
  switch (state_) {
    case State::kStopped:
    case State::kIdle: {
      const double takes = model_.sweep * random_.uniform(0.8, 1.25);
      state_ = State::kDiscovering;
      again_ = false;
      done_ = now + takes;
      next_ = now + kDiscovery * takes;
      return Step::kBegin;
    }
    case State::kDiscovering: {
      const double share = std::min(1.0, model_.failing_reads * (anew_ ? 2 : 1));
      anew_ = false;
      for (Span& span : failing_) {
        span = {};
        if (!random_.chance(share)) continue;
        span.from = random_.uniform(now, done_);
        span.to = random_.uniform(span.from, done_);
      }
      state_ = State::kProgramming;
      next_ = done_;
      return Step::kProgram;
    }
    case State::kProgramming:
      break;
  }
  state_ = State::kIdle;
  next_ = again_ ? now + kTrap : kNever;
  return Step::kDone;
}

}  // namespace weft::scenarios
