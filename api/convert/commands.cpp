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

/// Characters that show nothing, or turn what follows around, in UTF-8: soft hyphen, Arabic letter mark, Mongolian
/// vowel separator, zero width spaces, joiners and marks, line and paragraph separators, embeddings, overrides and
/// isolates, word joiner and invisible operators, byte order mark (Unicode 15, general categories Cf, Zl and Zp).
constexpr std::array<std::string_view, 30> kUnseen{
    "\u00AD", "\u061C", "\u180E", "\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u2028", "\u2029",
    "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2060", "\u2061", "\u2062", "\u2063", "\u2064",
    "\u2066", "\u2067", "\u2068", "\u2069", "\u206A", "\u206B", "\u206C", "\u206D", "\u206E", "\uFEFF"};
constexpr std::string_view kWordCharacters = "abcdefghijklmnopqrstuvwxyz0123456789";

/// The code point at the front of `text`, of `length` bytes of UTF-8.
char32_t code_point(std::string_view text, std::size_t length) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (length == 1) return first;
  char32_t point = first & (0xFFU >> (length + 1));
  for (const char byte : text.substr(1, length - 1)) point = point << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  return point;
}

/// In small letters, with full-width letters and other blanks (U+FF01 to U+FF5E, U+00A0, U+3000) as those of ASCII.
std::string folded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text.substr(at)), 1);
    const char32_t point = code_point(text.substr(at), length);
    if (point < 0x80)
      plain += static_cast<char>(std::tolower(static_cast<int>(point)));
    else if (point >= 0xFF01 && point <= 0xFF5E)
      plain += static_cast<char>(std::tolower(static_cast<int>(point - 0xFF01 + '!')));
    else if (point == 0xA0 || point == 0x3000)
      plain += ' ';
    else
      plain += text.substr(at, length);
    at += length;
  }
  return plain;
}

/// Whether a word has both letters of ASCII and Greek, Cyrillic, Armenian or Cherokee ones, many of which look alike
/// (Unicode Technical Standard 39, section 5.1).
bool mixes_alphabets(std::string_view text) {
  bool has_ascii = false;
  bool has_other = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text.substr(at)), 1);
    const char32_t point = code_point(text.substr(at), length);
    if (point < 0x80 && !std::isalpha(static_cast<int>(point))) has_ascii = has_other = false;
    has_ascii = has_ascii || (point < 0x80 && std::isalpha(static_cast<int>(point)) != 0);
    has_other = has_other || (point >= 0x370 && point <= 0x58F) || (point >= 0x13A0 && point <= 0x13FF);
    if (has_ascii && has_other) return true;
    at += length;
  }
  return false;
}

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
    const std::string_view rest = text.substr(i);
    const bool is_unseen =
        std::ranges::any_of(kUnseen, [&](std::string_view character) { return rest.starts_with(character); });
    if (byte < 0x20 || byte == 0x7F || is_c1 || is_unseen)
      return fail(ErrorCode::kInvalidArgument, std::string(what) + " has a control character at byte " +
                                                   std::to_string(i + 1) + ": write it as one line of plain text");
  }
  return {};
}

Result<void> check_claim(std::string_view who) {
  if (auto plain = plain_text("the name of who asks", who); !plain) return plain;
  if (!who.empty() && who.find_first_not_of(' ') == std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument, "the name of who asks is empty");
  const std::string name = folded(who);
  const std::string_view ends =
      std::string_view(name).substr(std::min(name.find_first_of(kWordCharacters), name.size()));
  const std::string_view core = ends.substr(0, ends.find_last_of(kWordCharacters) + 1);
  bool is_ours = core.starts_with("weft-") || core.starts_with("plan-") ||
                 std::ranges::find(kComponents, core) != kComponents.end() || core == "the file";
  // An account of the system may be called weft: "weft@mgmt-1" is a person's shell. None is called weftd.
  for (std::size_t from = 0; from < core.size() && !is_ours;) {
    const std::size_t to = std::min(core.find_first_not_of(kWordCharacters, from), core.size());
    is_ours = core.substr(from, to - from) == "weftd";
    from = std::min(core.find_first_of(kWordCharacters, to), core.size());
  }
  if (mixes_alphabets(who))
    return fail(ErrorCode::kInvalidArgument, "the name of who asks mixes letters of several alphabets in a word");
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
  if (const auto good = check_time("until", request.until()); !good) return tl::unexpected(good.error());
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
