// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/value_format.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "api/publication/age.hpp"
#include "daemon/platform/cli/duration.hpp"
#include "fabric/minute_text.hpp"

namespace weft::ctl {

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

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

std::string time_text(const google::protobuf::Timestamp& when) {
  constexpr std::int64_t kLast = 9'000'000'000;  // in the year 2255: what a TimePoint holds
  if (when.seconds() < -kLast || when.seconds() > kLast) return "-";
  return second_text(TimePoint(std::chrono::seconds(when.seconds())));
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

void print_hanging(std::ostream& out, const std::string& head, const std::string& text, std::size_t columns) {
  const std::size_t begins = width(head);
  constexpr std::size_t kLeast = 24;  // narrower than this the terminal breaks lines as well as we do
  std::string before = head;
  const bool fits = columns > begins + kLeast;
  for (const std::string& line : wrapped(text, fits ? columns - begins : std::string::npos)) {
    out << before << line << '\n';
    before.assign(begins, ' ');
  }
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
