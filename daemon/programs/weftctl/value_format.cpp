// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/value_format.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <cwchar>

#include "api/publication/age.hpp"
#include "daemon/platform/cli/duration.hpp"

namespace weft::ctl {
namespace {

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first character of a text that is not empty. Widths are the C library's, whatever the process's locale is.
Character next_character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {};
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (kUtf8 == nullptr) return {.bytes = 1, .columns = (static_cast<unsigned char>(text.front()) & 0xC0) != 0x80};
  const locale_t before = uselocale(kUtf8);
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  const bool good = bytes > 0 && bytes <= text.size();
  const int columns = good ? wcwidth(wide) : 1;
  uselocale(before);
  return {.bytes = good ? bytes : 1, .columns = columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  // The C1 control characters, U+0080 to U+009F, are C2 80 to C2 9F.
  for (std::size_t i = 0; i + 1 < result.size(); ++i)
    if (result[i] == '\xC2' && static_cast<unsigned char>(result[i + 1]) <= 0x9F) result.replace(i, 2, "?");
  return result;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); text.remove_prefix(next_character(text).bytes)) columns += next_character(text).columns;
  return columns;
}

std::string shortened(const std::string& text, std::size_t columns, bool plain) {
  if (width(text) <= columns) return text;
  const std::string_view gap = plain ? ".." : "…";
  const std::size_t room = columns > width(gap) ? columns - width(gap) : 0;
  std::string begin;
  std::string_view rest = text;
  for (std::size_t used = 0; !rest.empty();) {
    const Character next = next_character(rest);
    if ((used += next.columns) > (room + 1) / 2) break;
    begin += rest.substr(0, next.bytes);
    rest.remove_prefix(next.bytes);
  }
  while (!rest.empty() && width(begin) + width(rest) > room) rest.remove_prefix(next_character(rest).bytes);
  return begin + std::string(gap) + std::string(rest);
}

std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  do {
    std::size_t used = 0, end = 0, space = std::string_view::npos;
    while (end < rest.size()) {
      const Character next = next_character(rest.substr(end));
      if (end > 0 && used + next.columns > columns) break;
      if (rest[end] == ' ') space = end;
      used += next.columns;
      end += next.bytes;
    }
    if (end < rest.size() && rest[end] != ' ' && space != std::string_view::npos) end = space;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  } while (!rest.empty());
  return lines;
}

std::string percent_text(double ratio) {
  std::array<char, 48> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.1f %%", ratio * 100);
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-6) return "0";
  const double scale = size < 1e-3 ? 1e6 : size < 1 ? 1e3 : 1;
  std::array<char, 48> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.3g %s", seconds * scale,
                                   size < 1e-3 ? "us"
                                   : size < 1  ? "ms"
                                               : "s");
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string age_text(bool is_set, const google::protobuf::Timestamp& when, TimePoint now) {
  if (!is_set) return "-";
  return api::age_text(now - TimePoint(std::chrono::seconds(when.seconds()) + std::chrono::nanoseconds(when.nanos())));
}

std::string time_text(const google::protobuf::Timestamp& when) {
  const std::time_t seconds = when.seconds();
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "-";
  std::array<char, 64> buffer;
  const std::size_t length = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(buffer.data(), length);
}

void set_seconds(google::protobuf::Timestamp& to, TimePoint from) {
  to.set_seconds(std::chrono::floor<std::chrono::seconds>(from.time_since_epoch()).count());
}

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr std::chrono::hours kLongest{24 * 365 * 10};
  const auto duration = usage::parse_duration(text);
  if (!duration || *duration > kLongest) return std::nullopt;
  return *duration;
}

std::optional<TimePoint> parse_time(std::string_view text, TimePoint now) {
  if (const auto later = parse_duration(text)) return now + *later;
  const auto number = [&text](std::size_t digits, char before) -> std::optional<int> {
    if (before != 0) {
      if (text.empty() || (text.front() != before && !(before == ' ' && text.front() == 'T'))) return std::nullopt;
      text.remove_prefix(1);
    }
    int value = 0;
    if (text.size() < digits) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
    if (error != std::errc{} || end != text.data() + digits || value < 0) return std::nullopt;
    text.remove_prefix(digits);
    return value;
  };
  const auto year = number(4, 0), month = number(2, '-'), day = number(2, '-');
  const auto hour = number(2, ' '), minute = number(2, ':');
  const auto second = text.empty() || text == "Z" ? std::optional<int>(0) : number(2, ':');
  if (!year || !month || !day || !hour || !minute || !second || (!text.empty() && text != "Z")) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return TimePoint(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

std::string list_text(const std::vector<std::string>& words, bool json) {
  if (json) {
    google::protobuf::ListValue list;
    for (const std::string& word : words) list.add_values()->set_string_value(word);
    return json_text(list, true) + '\n';
  }
  std::string text;
  for (const std::string& word : words) text += printable(word) + '\n';
  return text;
}

std::string json_text(const google::protobuf::Message& message, bool one_line) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.add_whitespace = !one_line;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  while (!json.empty() && json.back() == '\n') json.pop_back();
  return json;
}

}  // namespace weft::ctl
