// SPDX-License-Identifier: Apache-2.0
#include "api/convert/commands.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/incident.hpp"
#include "fabric/plan.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kLongestReason = 1024;
constexpr std::size_t kLongestName = 256;
/// Who acts by itself, and what it acts through: names that the record gives to them alone. Beside those "weftd" and
/// all that begins with "weft-", with whatever behind them.
constexpr std::array<std::string_view, 10> kComponents{
    "weft",    "file",   "slurm", "slurmrestd",      "kubernetes",
    "webhook", "opensm", "ufm",   "infiniband_port", "opensm_weights"};

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

Result<void> plain_text(std::string_view what, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || is_c1)
      return fail(ErrorCode::kInvalidArgument, std::string(what) + " has a control character at byte " +
                                                   std::to_string(i + 1) + ": write it as one line of plain text");
  }
  return {};
}

Result<void> check_claim(std::string_view who) {
  if (auto plain = plain_text("the name of who asks", who); !plain) return plain;
  if (!who.empty() && who.find_first_not_of(' ') == std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument, "the name of who asks is empty");
  std::string name(who.substr(std::min(who.find_first_not_of(' '), who.size())));
  name.resize(name.find_last_not_of(' ') + 1);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // An account of the system may be called weft: "weft@mgmt-1" is a person's shell.
  const std::string_view head = std::string_view(name).substr(0, name.find_first_of(" @("));
  const bool is_ours = head == "weftd" || head.starts_with("weft-") || name.starts_with("plan-") ||
                       std::ranges::find(kComponents, name) != kComponents.end();
  if (is_ours)
    return fail(ErrorCode::kInvalidArgument,
                "'" + name + "' is a name of Weft's own parts: name the person or the script that asks");
  return {};
}

Result<std::string> short_enough_reason(const std::string& reason) {
  if (const auto plain = plain_text("the reason", reason); !plain) return tl::unexpected(plain.error());
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
