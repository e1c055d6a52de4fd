// SPDX-License-Identifier: Apache-2.0
#pragma once
// When to do something next, as arithmetic; the waiting itself is the executor's timer.

#include <algorithm>

#include "fabric/clock.hpp"

namespace weft::runtime {

/// A beat that does not drift: due times stay on one grid, and those that were missed are skipped, not made up for.
class Cadence {
 public:
  /// `first` is the first due time. An interval of less than 1 ns counts as 1 ns.
  Cadence(TimePoint first, Duration interval) : due_(first), interval_(std::max(interval, Duration(1))) {}

  /// The next due time.
  TimePoint due() const { return due_; }
  /// True, once for each due time reached; several that passed together count as one.
  bool take(TimePoint now) {
    // A clock that was set back would leave the next beat far away.
    if (due_ - now > interval_) due_ = now;
    if (now < due_) return false;
    due_ += interval_ * ((now - due_) / interval_ + 1);
    return true;
  }

 private:
  TimePoint due_;
  Duration interval_;
};

/// How long to wait before the next try of something that keeps failing: doubles up to a limit.
class Backoff {
 public:
  /// Delays from `first`, doubling up to `limit`.
  Backoff(Duration first, Duration limit) : first_(first), limit_(limit), next_(first) {}

  /// The delay before the next try.
  Duration next() {
    const Duration delay = next_;
    next_ = std::min(next_ * 2, limit_);
    return delay;
  }
  /// It worked: the next failure begins with the shortest delay.
  void reset() { next_ = first_; }

 private:
  Duration first_;
  Duration limit_;
  Duration next_;
};

}  // namespace weft::runtime
