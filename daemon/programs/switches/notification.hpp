// SPDX-License-Identifier: Apache-2.0
#pragma once
// From messages of gNMI to what collectors/gnmi understands, and the other way round. Nothing of protobuf leaves here.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectors/gnmi/leaf_table.hpp"
#include "collectors/gnmi/switch_state.hpp"
#include "collectors/gnmi/value.hpp"
#include "fabric/clock.hpp"
#include "gnmi/gnmi.pb.h"

namespace weft::switches {

/// Of one message; further values are not taken.
inline constexpr std::size_t kMostUpdates = 100'000;

/// The value; it has views of `from`.
gnmi::Value value_of(const ::gnmi::TypedValue& from);

/// Appends the elements of `from` to `to`, which has views of it; false when that passes PathLimits.
bool append(const ::gnmi::Path& from, gnmi::Path& to);

/// The same the other way round; without the origin.
void append(const gnmi::Path& from, ::gnmi::Path& to);

/// What became of the values of one message.
struct Taken {
  std::size_t values = 0;    ///< that it had, at most kMostUpdates
  std::size_t left_out = 0;  ///< beyond that, or at paths that are too long
};
/// Takes what `from` deletes, then what it tells.
Taken take(const ::gnmi::Notification& from, gnmi::SwitchState& state, TimePoint now);

/// The request for one group of paths, told in `encoding`. `heartbeat`: at the latest so often what only changes is
/// told.
::gnmi::SubscribeRequest request_for(const gnmi::Group& group, gnmi::Pace pace, Duration sample_interval,
                                     Duration heartbeat, ::gnmi::Encoding encoding);

/// The encoding to ask for: values by type where the target has them, else JSON as RFC 7951 has it, else JSON.
::gnmi::Encoding encoding_of(const ::gnmi::CapabilityResponse& capabilities);

}  // namespace weft::switches
