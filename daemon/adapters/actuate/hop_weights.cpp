// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/hop_weights.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {
namespace {

constexpr std::size_t kMostLine = 200;  // OpenSM reads 256 bytes at once and takes the rest for another line

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

/// As strtoul() with base 0 does it, for hexadecimal and decimal numbers.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* first = text.data() + (hexadecimal ? 2 : 0);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Line {
  std::string_view whole;  ///< with its line end
  std::size_t number = 0;  ///< from 1
  bool is_entry = false;
  bool readable = true;
  PortKey port;
  std::uint64_t weight = 0;
  std::string_view comment;

  bool is_of(const MarkOwner& owner) const { return is_entry && owner.owns_reason(comment); }
};

Line parse(std::string_view whole) {
  Line line;
  line.whole = whole;
  std::string_view rest = whole;
  skip_spaces(rest);
  if (rest.empty() || rest.front() == '#') return line;
  const auto guid = take_number(rest);
  line.readable = guid && (rest.empty() || is_space(rest.front()) || rest.front() == '#');
  if (!line.readable) return line;
  skip_spaces(rest);
  const auto port = take_number(rest);
  skip_spaces(rest);
  const auto weight = take_number(rest);
  // OpenSM passes over an entry that names no port or no weight of 1..255.
  if (!port || !weight || *port == 0 || *port > 254 || *weight == 0 || *weight > 255) return line;
  line.is_entry = true;
  line.port = {{*guid}, {static_cast<std::uint8_t>(*port)}};
  line.weight = *weight;
  skip_spaces(rest);
  if (rest.starts_with('#')) rest.remove_prefix(1);
  skip_spaces(rest);
  while (!rest.empty() && is_space(rest.back())) rest.remove_suffix(1);
  line.comment = rest;
  return line;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view whole = text.substr(0, end == std::string_view::npos ? end : end + 1);
    text.remove_prefix(whole.size());
    Line line = parse(whole);
    line.number = number;
    visit(line);
  }
}

/// Begins the line with the epoch of `owner`.
constexpr std::string_view kEpochLine = "# weft epoch ";

/// In a line with the epoch of `owner`, the epoch; nullopt for any other line.
std::optional<std::int64_t> epoch_in(std::string_view line, const MarkOwner& owner) {
  if (!line.starts_with(kEpochLine)) return std::nullopt;
  line.remove_prefix(kEpochLine.size());
  std::int64_t epoch = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), epoch);
  if (error != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line == " of " + owner.installation ? std::optional(epoch) : std::nullopt;
}

std::string entry(PortKey port, unsigned weight, std::string_view mark) {
  std::string line =
      to_string(port.node) + ' ' + std::to_string(port.port.value) + ' ' + std::to_string(weight) + " # ";
  for (const char c : mark.substr(0, kMostLine - line.size())) line += c >= ' ' && c <= '~' ? c : '?';
  return line + '\n';
}

}  // namespace

HopWeight hop_weight_of(std::string_view text, PortKey port, const MarkOwner& owner) {
  HopWeight found;
  for_each_line(text, [&](const Line& line) {
    if (line.is_entry && line.port == port)
      found = {static_cast<unsigned>(line.weight), line.is_of(owner), std::string(line.comment)};
  });
  return found;
}

std::vector<PortKey> heavy_ports(std::string_view text, unsigned least) {
  std::map<PortKey, std::uint64_t> last;  // as OpenSM takes it
  for_each_line(text, [&](const Line& line) {
    if (line.is_entry) last[line.port] = line.weight;
  });
  std::vector<PortKey> heavy;
  for (const auto& [port, weight] : last)
    if (weight >= least) heavy.push_back(port);
  return heavy;
}

std::string with_hop_weight(std::string_view text, LinkKey link, unsigned weight, std::string_view mark,
                            const MarkOwner& owner) {
  std::string result = without_hop_weight(text, link, owner);
  if (!result.empty() && result.back() != '\n') result += '\n';
  return result + entry(link.low, weight, mark) + entry(link.high, weight, mark);
}

std::string without_hop_weight(std::string_view text, LinkKey link, const MarkOwner& owner) {
  std::string result;
  for_each_line(text, [&](const Line& line) {
    if (!line.is_of(owner) || (line.port != link.low && line.port != link.high)) result += line.whole;
  });
  return result;
}

std::int64_t hop_weights_epoch(std::string_view text, const MarkOwner& owner) {
  std::int64_t newest = 0;
  for_each_line(text, [&](const Line& line) { newest = std::max(newest, epoch_in(line.whole, owner).value_or(0)); });
  return newest;
}

std::string with_hop_weights_epoch(std::string_view text, std::int64_t epoch, const MarkOwner& owner) {
  std::string result = std::string(kEpochLine) + std::to_string(epoch) + " of " + owner.installation + '\n';
  for_each_line(text, [&](const Line& line) {
    if (!epoch_in(line.whole, owner)) result += line.whole;
  });
  return result;
}

void add_other_marks(std::string_view text, const MarkOwner& owner, TargetReading& seen) {
  for_each_line(text, [&](const Line& line) {
    if (const auto mark = line.is_entry ? owner.others_mark(line.comment) : std::nullopt) seen.add_other(*mark);
  });
}

std::optional<std::size_t> unreadable_hop_weight_line(std::string_view text) {
  std::optional<std::size_t> found;
  for_each_line(text, [&](const Line& line) {
    if (!line.readable && !found) found = line.number;
  });
  return found;
}

}  // namespace weft::actuate
