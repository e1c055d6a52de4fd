// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cable_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <utility>

namespace weft::cabling {
namespace {

constexpr std::size_t kLongestLine = 16384;
constexpr std::size_t kMostColumns = 256;    ///< of a header
constexpr std::size_t kMostComments = 1000;  ///< that are looked at: they may be headers

enum Role : std::size_t { kNodeA, kPortA, kNodeB, kPortB, kRoles };
constexpr std::array<const char*, kRoles> kRoleNames{"the node of the first end", "the port of the first end",
                                                     "the node of the other end", "the port of the other end"};

struct Ends {
  std::string_view a, b;
};
constexpr std::array kEnds{Ends{"start", "end"},
                           Ends{"source", "destination"},
                           Ends{"source", "target"},
                           Ends{"src", "dst"},
                           Ends{"src", "dest"},
                           Ends{"from", "to"},
                           Ends{"local", "remote"},
                           Ends{"left", "right"},
                           Ends{"sidea", "sideb"},
                           Ends{"", "peer"},
                           Ends{"", "remote"},
                           Ends{"a", "b"},
                           Ends{"1", "2"}};
constexpr std::array<std::string_view, 9> kNodes{"node",     "device", "dev",    "host",      "hostname",
                                                 "nodename", "switch", "system", "devicename"};
constexpr std::array<std::string_view, 5> kPorts{"port", "interface", "intf", "if", "portname"};

/// A comma, semicolon or tab.
constexpr std::string_view kSeparators = ",;\t";

/// The fields of one line, without the blanks around them; nullopt when a quote is not closed.
std::optional<std::vector<std::string>> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::string field;
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && !line.substr(at + 1).starts_with('"')) break;
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at >= line.size()) return std::nullopt;
      line.remove_prefix(at + 1);
      line.remove_prefix(std::min(line.find(separator), line.size()));
    } else {
      const std::size_t end = std::min(line.find(separator), line.size());
      field = line.substr(0, end);
      line.remove_prefix(end);
    }
    field.erase(field.find_last_not_of(' ') + 1);
    fields.push_back(std::move(field));
    if (line.empty()) return fields;
    line.remove_prefix(1);
  }
}

/// "#Fields:StartDevice" and "Start device" → "startdevice".
std::string plain(std::string_view name) {
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  std::string letters;
  for (const char letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return letters;
}

bool is_thing_of(std::string_view name, std::string_view end, std::span<const std::string_view> things) {
  return std::ranges::any_of(things, [&](std::string_view thing) {
    return name.size() == end.size() + thing.size() &&
           ((name.starts_with(end) && name.ends_with(thing)) || (name.starts_with(thing) && name.ends_with(end)));
  });
}

bool is_node_of(std::string_view name, std::string_view end) {
  return (!end.empty() && name == end) || is_thing_of(name, end, kNodes);
}

bool is_port_of(std::string_view name, std::string_view end) {
  return is_thing_of(name, end, kPorts) || (end.starts_with("side") && name == std::string(end) + "name");
}

/// Where the columns stand, and those that the header names twice or not at all.
struct Header {
  char separator = ',';
  std::size_t columns = 0;
  std::array<std::size_t, kRoles> at{};
  std::optional<std::size_t> link_type;
  std::size_t named = 0;  ///< of the four columns, those that it names once
  std::string fault;      ///< empty: it has all columns
};

Header header_of(std::string_view line) {
  Header header;
  header.separator =
      *std::ranges::max_element(kSeparators, {}, [line](char letter) { return std::ranges::count(line, letter); });
  if (static_cast<std::size_t>(std::ranges::count(line, header.separator)) >= kMostColumns) {
    header.fault = "more than " + std::to_string(kMostColumns) + " columns";
    return header;
  }
  const auto fields = fields_of(line, header.separator);
  if (!fields) {
    header.fault = "a quote is not closed in this line";
    return header;
  }
  header.columns = fields->size();
  std::vector<std::string> names;
  for (const std::string& field : *fields) names.push_back(plain(field));
  // Of all words for the two ends those that fit most columns.
  bool first = true;
  for (const Ends& ends : kEnds) {
    std::array<std::vector<std::size_t>, kRoles> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (is_node_of(names[i], ends.a)) found[kNodeA].push_back(i);
      if (is_port_of(names[i], ends.a)) found[kPortA].push_back(i);
      if (is_node_of(names[i], ends.b)) found[kNodeB].push_back(i);
      if (is_port_of(names[i], ends.b)) found[kPortB].push_back(i);
    }
    const auto named = static_cast<std::size_t>(
        std::ranges::count_if(found, [](const std::vector<std::size_t>& columns) { return columns.size() == 1; }));
    if (!first && named <= header.named) continue;
    first = false;
    header.named = named;
    header.fault.clear();
    for (std::size_t role = 0; role < kRoles; ++role) {
      header.at[role] = found[role].empty() ? 0 : found[role].front();
      if (found[role].size() != 1 && header.fault.empty())
        header.fault = (found[role].empty() ? std::string("no column of the header is ")
                                            : std::string("more than one column of the header is ")) +
                       kRoleNames[role];
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == "linktype") header.link_type = i;
  return header;
}

/// The first line that is a header, or may be a wrong one.
struct FirstLine {
  std::size_t number = 0;  ///< 0: there is none
  std::string_view line;
  std::string_view rest;  ///< what follows
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t,;") == std::string_view::npos;
}

/// Of a line that begins with #, as UFM's headers do and comments: some words of a header are enough.
bool may_be_header(const Header& header) {
  return header.columns >= kRoles && header.named >= 2;
}

FirstLine first_line(std::string_view text) {
  std::size_t comments = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (is_blank(line)) continue;
    if (line.size() > kLongestLine) return {};
    if (line.starts_with('#') && (++comments > kMostComments || !may_be_header(header_of(line)))) continue;
    return {number, line, text};
  }
  return {};
}

bool is_data(std::string_view type) {
  return type.empty() || plain(type) == "data";
}

}  // namespace

bool is_cable_table(std::string_view text) {
  const FirstLine first = first_line(text);
  if (first.number == 0) return false;
  if (const Header header = header_of(first.line); header.fault.empty() || may_be_header(header)) return true;
  // Not in a comment behind a line of another format.
  const std::string_view line = first.line.substr(0, first.line.find("# "));
  return std::ranges::count(line, ',') >= 3 || std::ranges::count(line, ';') >= 3;
}

std::vector<CableLine> read_cable_table(std::string_view text, std::size_t most, Faults& faults) {
  std::vector<CableLine> cables;
  FirstLine first = first_line(text);
  if (first.number == 0) {
    faults.add(1, "it has no header");
    return cables;
  }
  const Header header = header_of(first.line);
  if (!header.fault.empty()) {
    faults.add(first.number, header.fault);
    return cables;
  }
  for (std::size_t number = first.number + 1; !first.rest.empty() && !faults.enough(number); ++number) {
    const std::string_view line = take_line(first.rest);
    if (is_blank(line) || line.starts_with('#')) continue;
    if (line.size() > kLongestLine) {
      faults.add(number, "longer than " + std::to_string(kLongestLine) + " characters");
      continue;
    }
    auto fields = fields_of(line, header.separator);
    if (!fields) {
      faults.add(number, "a quote is not closed in this line");
      continue;
    }
    if (const std::size_t needed = *std::ranges::max_element(header.at) + 1; fields->size() < needed) {
      faults.add(number, std::to_string(fields->size()) + (fields->size() == 1 ? " column" : " columns") +
                             "; the header needs " + std::to_string(needed));
      continue;
    }
    if (header.link_type && *header.link_type < fields->size() && !is_data((*fields)[*header.link_type])) continue;
    const auto field = [&](Role role) { return std::move((*fields)[header.at[role]]); };
    CableLine cable{number, {field(kNodeA), field(kPortA)}, {field(kNodeB), field(kPortB)}};
    if (cable.a == WrittenEnd{} || cable.b == WrittenEnd{}) continue;
    if (cables.size() == most) {
      faults.add(number, "more than " + std::to_string(most) + " lines with cables");
      return {};
    }
    cables.push_back(std::move(cable));
  }
  return cables;
}

}  // namespace weft::cabling
