// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time to and from protobuf's.

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "fabric/clock.hpp"

namespace weft::api {

/// Writes a time, exact to the nanosecond.
void set_timestamp(google::protobuf::Timestamp& to, TimePoint from);
/// Writes a duration, exact to the nanosecond.
void set_duration(google::protobuf::Duration& to, Duration from);
/// kNever for a time outside of what a TimePoint holds (1677 to 2262) or with nanoseconds out of range.
TimePoint from_timestamp(const google::protobuf::Timestamp& from);
/// Zero for a duration outside of what a Duration holds (292 years either way).
Duration from_duration(const google::protobuf::Duration& from);

}  // namespace weft::api
