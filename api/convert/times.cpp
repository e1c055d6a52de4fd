// SPDX-License-Identifier: Apache-2.0
#include "api/convert/times.hpp"

namespace weft::api {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

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

TimePoint from_timestamp(const google::protobuf::Timestamp& from) {
  constexpr std::int64_t kMost = 9'223'372'035;
  if (from.seconds() < -kMost || from.seconds() > kMost || from.nanos() < 0 || from.nanos() >= kGiga) return kNever;
  return TimePoint(std::chrono::seconds(from.seconds()) + Duration(from.nanos()));
}

Duration from_duration(const google::protobuf::Duration& from) {
  constexpr std::int64_t kMost = 9'223'372'035;
  if (from.seconds() < -kMost || from.seconds() > kMost) return Duration::zero();
  return std::chrono::seconds(from.seconds()) + Duration(from.nanos());
}

}  // namespace weft::api
