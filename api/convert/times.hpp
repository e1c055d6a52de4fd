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
/// Whether from_timestamp() can tell it; kNever is one of those that it can.
bool is_representable(const google::protobuf::Timestamp& time);
/// kInvalidArgument for a time that from_timestamp() cannot tell; `name` is what it is called in the sentence.
Result<void> check_time(const char* name, const google::protobuf::Timestamp& time);
/// Zero for a duration outside of what a Duration holds (292 years either way).
Duration from_duration(const google::protobuf::Duration& from);

/// kInvalidArgument where `from` or `to` of the request is there and no time that can be told, or where both are there
/// and are no span of time.
template <typename Request>
Result<void> check_span(const Request& request) {
  if (request.has_from())
    if (auto good = check_time("from", request.from()); !good) return good;
  if (request.has_to())
    if (auto good = check_time("to", request.to()); !good) return good;
  if (request.has_from() && request.has_to() && from_timestamp(request.to()) <= from_timestamp(request.from()))
    return fail(ErrorCode::kInvalidArgument, "the time ends before it begins: from must be before to");
  return {};
}

}  // namespace weft::api
