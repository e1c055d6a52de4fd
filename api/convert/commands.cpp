// SPDX-License-Identifier: Apache-2.0
#include "api/convert/commands.hpp"

#include <algorithm>
#include <string_view>

#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/incident.hpp"
#include "fabric/plan.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kLongestReason = 1024;
constexpr std::size_t kLongestName = 256;

}  // namespace

Result<std::uint64_t> plan_id(const std::string& text) {
  const auto id = parse_plan_name(text);
  if (!id) return fail(ErrorCode::kInvalidArgument, "a plan's id must be like PLAN-7");
  return *id;
}

Result<std::uint64_t> incident_id(const std::string& text) {
  const auto id = parse_incident_name(text);
  if (!id) return fail(ErrorCode::kInvalidArgument, "an incident's id must be like INC-17");
  return *id;
}

Result<std::string> short_enough_reason(const std::string& reason) {
  if (reason.size() > kLongestReason)
    return fail(ErrorCode::kInvalidArgument, "the reason has " + std::to_string(reason.size()) +
                                                 " bytes, the limit is " + std::to_string(kLongestReason));
  return reason;
}

Result<std::string> given_reason(const std::string& reason) {
  if (reason.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::kInvalidArgument, "a reason is required");
  return short_enough_reason(reason);
}

Result<TimePoint> silence_end(const v1::SilenceIncidentRequest& request, TimePoint now) {
  const TimePoint until = from_timestamp(request.until());
  if (!request.has_until() || until <= now) return fail(ErrorCode::kInvalidArgument, "until must be in the future");
  return until;
}

std::string for_the_record(const std::string& text, std::size_t longest) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::size_t more = utf8_sequence_length(std::string_view(text).substr(length));
    if (more == 0 || length + more > longest) break;
    length += more;
  }
  return text.substr(0, length);
}

std::string who_asks(const std::string& known, const std::string& claims, const std::string& address) {
  std::string name = claims.empty() ? known : known.empty() ? claims : known + ", for " + claims;
  if (name.empty()) name = address;
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return for_the_record(name, kLongestName);
}

}  // namespace weft::api
