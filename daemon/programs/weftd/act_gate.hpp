// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last word before an actuator changes something: asked on the actuator's lane, told by the thread that owns the
// plans.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/plan.hpp"

namespace weft::daemon {

/// What the guards decided longer ago is decided anew before it is done.
inline constexpr Duration kLongestDecision = std::chrono::seconds(10);

/// All members may be called from any thread. Whether an order may start and that it has started are one step: when
/// stop() or keep() returns, each order has either begun, and is among under_way(), or never will.
class ActGate {
 public:
  /// Why nothing may start; each is empty while it stops nothing.
  struct Stops {
    std::string everything;  ///< of all orders: hands-off, the end of the process
    std::string breaker;     ///< of those that RemedyOrder::breaker_stops
  };

  /// Nothing may start before the first stop().
  ActGate() = default;
  /// From now on these hold, and no others.
  void stop(Stops stops);
  /// The order may start, as far as its plan goes.
  void admit(std::uint64_t order);
  /// What was admitted, has not begun and is not `wanted` may not start any more.
  void keep(const std::function<bool(std::uint64_t order)>& wanted);
  /// nullopt: it has begun and is under way until finish(). Else one sentence why not; it is not admitted any more
  /// then. `steady`: on the clock of RemedyOrder::decided.
  std::optional<std::string> start(const RemedyOrder& order, Duration steady, TimePoint now);
  /// The order that began has ended.
  void finish(std::uint64_t order);
  /// What has begun and not ended, the oldest order first.
  std::vector<OrderUnderWay> under_way() const;

 private:
  mutable std::mutex mutex_;
  Stops stops_{"weftd is starting", {}};
  std::map<std::uint64_t, std::optional<OrderUnderWay>> orders_;  ///< admitted; with a value: begun
};

}  // namespace weft::daemon
