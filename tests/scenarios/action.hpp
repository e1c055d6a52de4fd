// SPDX-License-Identifier: Apache-2.0
#pragma once
// A single thing that happens at a moment.

#include <cstdint>

#include "fabric/ids.hpp"

namespace weft::scenarios {

enum class ActionKind : std::uint8_t {
  kCut,          ///< a: port. The cable carries no signal any more
  kJoin,         ///< a: port; value: seconds until the subnet manager has activated it
  kActivate,     ///< a: port
  kSetWidth,     ///< a: port; value: width bit
  kSetSpeed,     ///< a: port; value: speed bit
  kErrorRate,    ///< a: receiving port; value: errors per bit, 0 ends them
  kDrift,        ///< a: receiving port; value: decades in which the error rate grows per minute, 0 ends it
  kFade,         ///< a: receiving port; value: decades in which what correction repairs grows per minute, 0 ends it
  kBurst,        ///< a: receiving port; value: symbol errors at once
  kSink,         ///< a: endpoint; value: share of the line rate that its host takes in
  kSource,       ///< a: endpoint; value: share of what is asked of it that it offers
  kSlowCompute,  ///< a: endpoint; value: times as long
  kDeadlock,     ///< a: port; value: 1 begins, 0 ends
  kLoss,         ///< a: sending port; value: share of the packets lost on the cable
  kSwitchLoss,   ///< a: node; value: share of the packets lost in it
  kSwap,         ///< a, b: ports. The far ends of the two cables change places
  kClear,        ///< a: port. Somebody resets its counters
  kFreeze,       ///< a: port; value: 1 its counters stand still, 0 they move again
  kSaturate,     ///< a: port. Its symbol errors reach all ones
  kMute,         ///< a: node; value: 1 its agents answer nothing, 0 they do again
  kPower,        ///< a: node; value: 0 off, 1 on
  kMad,          ///< a: port; value: 1 its counters say anything, 0 no longer
  kStopSweeps,   ///< value: 1 no sweep is made, 0 they go on
  kClock,        ///< value: seconds by which the clock is set
  kFail,         ///< a: endpoint; value: requests per second whose retries are used up
  kManager,      ///< value: 0 the subnet manager is gone, 1 it runs; a: the port where it does
  kFlush,        ///< a: endpoint; value: requests that end because their queue pairs are destroyed
  kModule,       ///< a: port; value: number of the module that is plugged into it, 0 none; b: 1 with a fixed cable
  kTimeouts,     ///< a: endpoint; value: timeouts of its requests at once
  kRefuse,       ///< a: endpoint; value: packets per second that find no receive request
  kReroute,      ///< the subnet manager has computed new tables
};

struct Action {
  double at = 0;  ///< seconds
  ActionKind kind = ActionKind::kCut;
  std::uint32_t a = kNoIndex;
  std::uint32_t b = kNoIndex;
  double value = 0;
};

}  // namespace weft::scenarios
