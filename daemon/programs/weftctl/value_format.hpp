// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as people read them in a terminal.

#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"

namespace weft::ctl {

/// Control characters replaced by '?': a node's description comes from the fabric and must not steer the terminal.
std::string printable(std::string_view text);
/// Columns of a terminal that UTF-8 text takes: two for a wide East Asian character, none for one that combines. What
/// is not UTF-8 counts a column for each byte.
std::size_t width(std::string_view text);
/// The text in `columns` columns at most: its middle gives way to an ellipsis, for names differ at their ends.
std::string shortened(const std::string& text, std::size_t columns, bool plain);
/// The text in lines of `columns` columns at most, broken at spaces, within a word only when that alone is longer.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);
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
/// Words for programs: a JSON array of texts, or one on each line.
std::string list_text(const std::vector<std::string>& words, bool json);
/// Protobuf's JSON mapping, fields that hold zero printed too; on one line or indented.
std::string json_text(const google::protobuf::Message& message, bool one_line);

}  // namespace weft::ctl
