// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tables have in common: words of enumerations, texts of several lines, and the nine columns of an entity.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "fabric/incident.hpp"

namespace weft::store {

/// An enumeration by its stored name; a name that we do not know is damage (kCorrupt in `database`).
template <typename Enum>
Enum named(Database& database, const std::string& text, std::optional<Enum> (*parse)(std::string_view)) {
  const std::optional<Enum> value = parse(text);
  if (!value) database.fail(ErrorCode::kCorrupt, "holds the unknown word \"" + text + "\"");
  return value.value_or(Enum{});
}

/// The lines of a column that holds one thing a line, without the empty ones.
inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

/// From the columns node and port, of which `first` is the first; a number that no port can have is damage (kCorrupt in
/// `database`).
inline PortKey read_port_key(Database& database, const Statement& row, int first) {
  const std::int64_t number = row.integer(first + 1);
  if (number < 0 || number > kMostPorts)
    database.fail(ErrorCode::kCorrupt, "holds the port number " + std::to_string(number));
  return {NodeGuid{row.bits(first)}, PortNum{static_cast<std::uint16_t>(number)}};
}

/// The one of that id, in a list that is sorted by id; null: none.
template <typename Row>
Row* find_by_id(std::vector<Row>& sorted, std::uint64_t id) {
  const auto found = std::ranges::lower_bound(sorted, id, {}, &Row::id);
  return found == sorted.end() || found->id != id ? nullptr : &*found;
}

/// From the columns kind, fabric, node, port, peer_node, peer_port, label, host, device, of which `first` is the first.
inline Entity read_entity(Database& database, const Statement& row, int first) {
  Entity entity;
  entity.kind = named(database, row.text(first), parse_entity_kind);
  entity.fabric = row.text(first + 1);
  entity.port = read_port_key(database, row, first + 2);
  entity.peer = read_port_key(database, row, first + 4);
  entity.label = row.text(first + 6);
  entity.host = row.text(first + 7);
  entity.device = row.text(first + 8);
  return entity;
}

}  // namespace weft::store
