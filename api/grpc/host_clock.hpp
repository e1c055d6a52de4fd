// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a host's clock is off, measured over its stream.

#include <array>
#include <cstddef>

#include "fabric/clock.hpp"

namespace weft::api {

/// The offset of the shortest of the last round trips: what a longer one says is spoilt by waiting (RFC 5905,
/// section 10, the clock filter). Those from before a clock was set are forgotten with the next.
class HostClock {
 public:
  /// A probe left at `sent` and its reply arrived at `received`, both on our clock; the host's said `host_time`.
  void add(TimePoint sent, TimePoint received, TimePoint host_time);
  /// Our clock minus the host's; zero before the first measurement.
  Duration offset() const;
  /// A time of the host's on our clock: never later than `now`; `now` itself for what is no time at all.
  TimePoint correct(TimePoint host_time, TimePoint now) const;

 private:
  struct Measurement {
    Duration round_trip = Duration::max();
    Duration offset{};
  };
  std::array<Measurement, 8> last_{};
  std::size_t next_ = 0;
};

/// Is it a time that a clock can show (1970 to 2116)? Sums of two such times do not overflow.
constexpr bool is_sane(TimePoint time) {
  return time > kNever && time < TimePoint(Duration(std::int64_t{1} << 62));
}

}  // namespace weft::api
