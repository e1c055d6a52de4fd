// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// Entries of the present occurrence that stay, however many follow: how it began.
constexpr std::size_t kFirstKept = 8;
/// Bytes of an entry's text. Summaries are one line; the names in them come from the fabric.
constexpr std::size_t kLongestText = 1000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

/// Bytes of the number at the beginning of `text`; 0: there is none.
std::size_t number_length(std::string_view text) {
  std::size_t length = 0;
  const auto digit_at = [text](std::size_t at) { return at < text.size() && is_digit(text[at]); };
  while (digit_at(length) ||
         (length > 0 && length < text.size() && (text[length] == '.' || text[length] == ',') && digit_at(length + 1)))
    ++length;
  if (length == 0 || length >= text.size() || text[length] != 'e') return length;
  const std::size_t sign = length + 1;
  std::size_t end = sign < text.size() && (text[sign] == '-' || text[sign] == '+') ? sign + 1 : sign;
  if (!digit_at(end)) return length;
  while (digit_at(end)) ++end;
  return end;
}

/// The text with each number replaced by one character that no text has.
std::string without_numbers(std::string_view text) {
  std::string result;
  char before = ' ';
  while (!text.empty()) {
    const bool in_name = is_letter(before) || is_digit(before) || before == '-' || before == '_';
    const std::size_t number = in_name ? 0 : number_length(text);
    result += number > 0 ? '\0' : text.front();
    before = text[number > 0 ? number - 1 : 0];
    text.remove_prefix(number > 0 ? number : 1);
  }
  return result;
}

bool is_beginning(const TimelineEntry& entry) {
  return entry.change == IncidentChange::kOpened || entry.change == IncidentChange::kReopened;
}
/// Does its text say what the incident says?
bool says(const TimelineEntry& entry) {
  return is_beginning(entry) || entry.change == IncidentChange::kUpdated ||
         entry.change == IncidentChange::kSeverityChanged;
}

std::string cut(std::string text) {
  if (text.size() <= kLongestText) return text;
  std::size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a UTF-8 character
  text.resize(end);
  return text;
}

void add(Incident& incident, TimelineEntry entry) {
  std::vector<TimelineEntry>& timeline = incident.timeline;
  entry.text = cut(std::move(entry.text));
  timeline.push_back(std::move(entry));
  while (timeline.size() > kMostTimelineEntries) {
    // What went before the present occurrence goes first, then its middle.
    const bool began_before = std::find_if(timeline.begin() + 1, timeline.end(), is_beginning) != timeline.end();
    const auto gone = timeline.begin() + static_cast<std::ptrdiff_t>(began_before ? 0 : kFirstKept);
    std::next(gone)->left_out += gone->left_out + 1;
    timeline.erase(gone);
  }
}

}  // namespace

bool differ_in_numbers_only(std::string_view one, std::string_view other) {
  return without_numbers(one) == without_numbers(other);
}

void note_beginning(Incident& incident, TimePoint now) {
  incident.worst_severity = incident.finding.severity;
  incident.headline = incident.finding.summary;
  const bool again = incident.occurrences > 1;
  note_change(incident, again ? IncidentChange::kReopened : IncidentChange::kOpened, incident.finding.summary, {}, now);
}

void note_update(Incident& incident, TimePoint now) {
  incident.worst_severity = std::max(incident.worst_severity, incident.finding.severity);
  const std::string text = cut(incident.finding.summary);
  const auto found = std::find_if(incident.timeline.rbegin(), incident.timeline.rend(), says);
  if (found == incident.timeline.rend())  // one that was stored without a timeline
    return note_change(incident, IncidentChange::kUpdated, text, {}, now);
  TimelineEntry& known = *found;
  if (known.severity != incident.finding.severity)
    return note_change(incident, IncidentChange::kSeverityChanged, text, {}, now);
  if (known.text == text) return;
  if (!differ_in_numbers_only(known.text, text)) return note_change(incident, IncidentChange::kUpdated, text, {}, now);
  known.text = text;
  known.numbers_at = now;
}

void note_change(Incident& incident, IncidentChange change, std::string text, std::string who, TimePoint now) {
  add(incident, {.at = now,
                 .change = change,
                 .severity = incident.finding.severity,
                 .text = std::move(text),
                 .who = std::move(who)});
}

void note_silence(Incident& incident, TimePoint until, std::string who, TimePoint now) {
  if (until <= now) return note_change(incident, IncidentChange::kSilenceEnded, {}, std::move(who), now);
  // Whole minutes from one on: the request took a moment to arrive.
  constexpr std::chrono::minutes kMinute{1};
  const Duration length = until - now;
  const std::string text = short_duration(length < kMinute ? length : std::chrono::round<std::chrono::minutes>(length));
  note_change(incident, IncidentChange::kSilenced, "for " + text, std::move(who), now);
}

}  // namespace weft::analyzer
