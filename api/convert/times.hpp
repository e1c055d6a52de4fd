// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time to and from protobuf's.

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Writes a time, exact to the nanosecond.
void set_timestamp(google::protobuf::Timestamp& to, TimePoint from);
/// Writes a duration, exact to the nanosecond.
void set_duration(google::protobuf::Duration& to, Duration from);
/// kNever for a time outside of what a TimePoint holds (1677 to 2262) or with nanoseconds out of range.
TimePoint from_timestamp(const google::protobuf::Timestamp& from);
/// Zero for a duration outside of what a Duration holds (292 years either way).
Duration from_duration(const google::protobuf::Duration& from);

/// kInvalidArgument where `from` and `to` of the request are both there and are no span of time.
template <typename Request>
Result<void> check_span(const Request& request) {
  if (request.has_from() && request.has_to() && from_timestamp(request.to()) <= from_timestamp(request.from()))
    return fail(ErrorCode::kInvalidArgument, "the time ends before it begins: from must be before to");
  return {};
}

}  // namespace weft::api
