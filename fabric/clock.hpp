// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time as a value. Pure logic is handed `now`; only daemons read a clock.

#include <chrono>

namespace weft {

/// Wall-clock time in nanoseconds since 1970-01-01 UTC. The epoch itself means "never".
using TimePoint = std::chrono::sys_time<std::chrono::nanoseconds>;
/// A span of time in nanoseconds; may be negative.
using Duration = std::chrono::nanoseconds;

inline constexpr TimePoint kNever{};

/// Seconds as a floating-point number, for rates and Prometheus.
constexpr double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// The one interface to time, so that thirty simulated days pass in a second of test.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The present time.
  virtual TimePoint now() const = 0;
  /// Time since a moment of the past that stays the same while the process runs: nobody sets this one.
  virtual Duration steady() const = 0;
};

/// The machine's clock.
class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }
  Duration steady() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

}  // namespace weft
