// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as people read them in a terminal.

#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/platform/cli/terminal_text.hpp"
#include "fabric/clock.hpp"

namespace weft::ctl {

using usage::printable;
using usage::shortened;
using usage::width;
using usage::wrapped;

/// "1 node", "2 nodes".
std::string counted(std::uint64_t count, const char* one, const char* many);
/// "12.3 %".
std::string percent_text(double ratio);
/// "12 ms", "-3.2 s", "0": a difference of clocks.
std::string seconds_text(double seconds);
/// "3 min ago"; "-" when it is not set.
std::string age_text(bool is_set, const google::protobuf::Timestamp& when, TimePoint now);
/// "2026-01-31 12:00:00 UTC".
std::string time_text(const google::protobuf::Timestamp& when);
/// Writes a time, of which only whole seconds count.
void set_seconds(google::protobuf::Timestamp& to, TimePoint from);
/// As usage::parse_duration() reads it; nullopt for anything else, and for more than ten years: what is added to the
/// time of today must still be a time.
std::optional<Duration> parse_duration(std::string_view text);
/// "2026-01-31 14:00", "2026-01-31T14:00:30Z", always UTC; or a duration from `now` on; nullopt for anything else.
std::optional<TimePoint> parse_time(std::string_view text, TimePoint now);
/// `text` behind `head`, in lines of `columns` columns, the others below the first; 0: in one line.
void print_hanging(std::ostream& out, const std::string& head, const std::string& text, std::size_t columns);
/// Words for programs: a JSON array of texts, or one on each line.
std::string list_text(const std::vector<std::string>& words, bool json);
/// Protobuf's JSON mapping, fields that hold zero printed too; on one line or indented.
std::string json_text(const google::protobuf::Message& message, bool one_line);

}  // namespace weft::ctl
