// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bounds of one call of an actuator: how long it may take, shared by all that the call asks of others, and until
// when it may change something.

#include <algorithm>
#include <chrono>
#include <optional>

#include "daemon/platform/runtime/boot_time.hpp"
#include "fabric/clock.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// The most that a call of an Actuator may take.
inline constexpr Duration kLongestCall = std::chrono::seconds(30);

/// The time by which a call must end.
class Deadline {
 public:
  /// Starts now. At most kLongestCall counts of `timeout`.
  explicit Deadline(Duration timeout) : end_(std::chrono::steady_clock::now() + std::min(timeout, kLongestCall)) {}
  /// At least a millisecond, so that what is asked last fails by its own time-out.
  Duration left() const {
    return std::max<Duration>(end_ - std::chrono::steady_clock::now(), std::chrono::milliseconds(1));
  }
  /// True from the moment the time is over.
  bool passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

/// Until when the order may be sent, on runtime::boot_time(): another weftd may lead from then on, or what the guards
/// saw is too old. nullopt: at any time.
inline std::optional<Duration> last_moment(const RemedyOrder& order) {
  if (!order.permit) return order.before;
  return std::min(order.permit->until, order.before.value_or(Duration::max()));
}

/// kFailedPrecondition from last_moment() on. For what cannot look itself: asked directly before the act.
inline Result<void> check_time(std::optional<Duration> before) {
  if (!before || runtime::boot_time() < *before) return {};
  return fail(ErrorCode::kFailedPrecondition, "the time to send it is over; nothing was sent");
}

}  // namespace weft::actuate
