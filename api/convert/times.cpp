// SPDX-License-Identifier: Apache-2.0
#include "api/convert/times.hpp"

#include <string>

namespace weft::api {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
/// Seconds before and after 1970 that a TimePoint holds, with any nanoseconds.
constexpr std::int64_t kMost = 9'223'372'035;

}  // namespace

void set_timestamp(google::protobuf::Timestamp& to, TimePoint from) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(from);
  to.set_seconds(seconds.time_since_epoch().count());
  to.set_nanos(static_cast<std::int32_t>((from - seconds).count()));
}

void set_duration(google::protobuf::Duration& to, Duration from) {
  to.set_seconds(from.count() / kGiga);
  to.set_nanos(static_cast<std::int32_t>(from.count() % kGiga));
}

bool is_representable(const google::protobuf::Timestamp& time) {
  return time.seconds() >= -kMost && time.seconds() <= kMost && time.nanos() >= 0 && time.nanos() < kGiga;
}

Result<void> check_time(const char* name, const google::protobuf::Timestamp& time) {
  if (is_representable(time)) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " must lie between the years 1678 and 2262");
}

TimePoint from_timestamp(const google::protobuf::Timestamp& from) {
  if (!is_representable(from)) return kNever;
  return TimePoint(std::chrono::seconds(from.seconds()) + Duration(from.nanos()));
}

Duration from_duration(const google::protobuf::Duration& from) {
  if (from.seconds() < -kMost || from.seconds() > kMost) return Duration::zero();
  return std::chrono::seconds(from.seconds()) + Duration(from.nanos());
}

}  // namespace weft::api
