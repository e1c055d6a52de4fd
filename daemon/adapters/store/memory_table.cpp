// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/memory_table.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {
namespace {

/// "Last seen" is rewritten this often, not with each sweep.
constexpr Duration kSeenStep = std::chrono::hours(1);

LinkKey read_link_key(Database& database, const Statement& row, int first) {
  return {read_port_key(database, row, first), read_port_key(database, row, first + 2)};
}

KnownEnd read_end(const Statement& row, int first, int port_name) {
  return {row.text(first), static_cast<NodeType>(row.integer(first + 1)), row.text(port_name)};
}

bool same(const KnownEnd& a, const KnownEnd& b) {
  return a.node_name == b.node_name && a.type == b.type && a.port_name == b.port_name;
}

std::vector<KnownLink> read_links(Database& database, std::string_view fabric) {
  std::vector<KnownLink> links;
  Statement rows(database,
                 "SELECT low_node, low_port, high_node, high_port, low_name, low_type, high_name, high_type, "
                 "low_interface, high_interface FROM link WHERE fabric = ?");
  rows.query(fabric);
  while (rows.next()) links.push_back({read_link_key(database, rows, 0), read_end(rows, 4, 8), read_end(rows, 6, 9)});
  return links;
}

std::vector<FlapState> read_flaps(Database& database, std::string_view fabric) {
  std::vector<FlapState> flaps;
  Statement rows(
      database,
      "SELECT low_node, low_port, high_node, high_port, fast, slow, updated, slow_counted, last_flap, flaps, "
      "both_ends, suppressed FROM flap WHERE fabric = ?");
  rows.query(fabric);
  while (rows.next()) {
    FlapState flap;
    flap.link = read_link_key(database, rows, 0);
    flap.fast = rows.real(4);
    flap.slow = rows.real(5);
    flap.updated = rows.time(6);
    flap.slow_counted = rows.time(7);
    flap.last_flap = rows.time(8);
    flap.flaps = static_cast<std::uint32_t>(rows.integer(9));
    flap.both_ends = rows.integer(10) != 0;
    flap.suppressed = rows.integer(11) != 0;
    flaps.push_back(flap);
  }
  return flaps;
}

std::vector<ErrorState> read_errors(Database& database, std::string_view fabric) {
  std::vector<ErrorState> errors;
  Statement rows(database, "SELECT node, port, rate FROM error_port WHERE fabric = ?");
  rows.query(fabric);
  while (rows.next()) errors.push_back({read_port_key(database, rows, 0), rows.real(2)});
  return errors;
}

}  // namespace

void write_links(Database& database, std::string_view fabric, std::span<const KnownLink> links) {
  std::unordered_map<LinkKey, KnownLink> stored;
  for (KnownLink& link : read_links(database, fabric)) stored.emplace(link.key, std::move(link));
  Statement put(database, "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement drop(
      database,
      "DELETE FROM link WHERE fabric = ? AND low_node = ? AND low_port = ? AND high_node = ? AND high_port = ?");
  const auto remove = [&](const LinkKey& key) {
    drop.run(fabric, key.low.node.value, key.low.port.value, key.high.node.value, key.high.port.value);
  };
  for (const KnownLink& link : links) {
    const auto found = stored.find(link.key);
    const bool unchanged =
        found != stored.end() && same(found->second.low, link.low) && same(found->second.high, link.high);
    if (found != stored.end()) stored.erase(found);
    if (unchanged) continue;
    remove(link.key);
    put.run(fabric, link.key.low.node.value, link.key.low.port.value, link.key.high.node.value,
            link.key.high.port.value, link.low.node_name, static_cast<int>(link.low.type), link.high.node_name,
            static_cast<int>(link.high.type), link.low.port_name, link.high.port_name);
  }
  for (const auto& [key, link] : stored) remove(key);
}

void write_conditions(Database& database, std::string_view fabric, std::span<const FlapState> flaps,
                      std::span<const ErrorState> errors) {
  Statement(database, "DELETE FROM flap WHERE fabric = ?").run(fabric);
  Statement(database, "DELETE FROM error_port WHERE fabric = ?").run(fabric);
  Statement flap(database, "INSERT INTO flap VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const FlapState& f : flaps)
    flap.run(fabric, f.link.low.node.value, f.link.low.port.value, f.link.high.node.value, f.link.high.port.value,
             f.fast, f.slow, f.updated, f.slow_counted, f.last_flap, f.flaps, f.both_ends, f.suppressed);
  Statement error(database, "INSERT INTO error_port VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const ErrorState& e : errors) error.run(fabric, e.port.node.value, e.port.port.value, e.rate);
}

void write_nodes(Database& database, std::string_view fabric, const Topology& topology, TimePoint now) {
  std::unordered_map<NodeGuid, KnownNode> stored;
  for (KnownNode& node : read_nodes(database, fabric)) stored.emplace(node.guid, std::move(node));
  Statement put(database,
                "INSERT INTO node VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (fabric, guid) DO UPDATE SET "
                "type = excluded.type, name = excluded.name, description = excluded.description, "
                "last_seen = excluded.last_seen");
  for (const Node& node : topology.nodes()) {
    if (!node.reachable) continue;
    const auto found = stored.find(node.guid);
    if (found != stored.end() && found->second.type == node.type && found->second.name == node.name &&
        found->second.description == node.description && now - found->second.last_seen < kSeenStep)
      continue;
    put.run(fabric, node.guid.value, static_cast<int>(node.type), node.name, node.description, now);
  }
}

void write_apart(Database& database, std::string_view fabric, const FabricMemory& kept) {
  write_links(database, kept.fabric, kept.state.links);
  write_conditions(database, kept.fabric, kept.state.flaps, kept.state.errors);
  const std::string at_links =
      " AND guid IN (SELECT low_node FROM link WHERE fabric = ?1 UNION SELECT high_node FROM link WHERE fabric = ?1)";
  // Of one that was kept before.
  Statement(database,
            "DELETE FROM node WHERE fabric = ?1 AND guid IN (SELECT guid FROM node WHERE fabric = ?2)" + at_links)
      .run(kept.fabric, fabric);
  Statement(database, "UPDATE node SET fabric = ?1 WHERE fabric = ?2" + at_links).run(kept.fabric, fabric);
}

std::vector<FabricMemory> read_memories(Database& database) {
  std::vector<FabricMemory> memories;
  Statement fabrics(database,
                    "SELECT fabric FROM link UNION SELECT fabric FROM flap UNION SELECT fabric FROM error_port");
  fabrics.query();
  while (fabrics.next()) memories.push_back({fabrics.text(0), {}});
  for (FabricMemory& memory : memories)
    memory.state = {read_links(database, memory.fabric),
                    read_flaps(database, memory.fabric),
                    read_errors(database, memory.fabric),
                    {}};
  Statement seen(database, "SELECT fabric, max(last_seen) FROM node GROUP BY fabric");
  seen.query();
  while (seen.next()) {
    const auto memory = std::ranges::find(memories, seen.text(0), &FabricMemory::fabric);
    if (memory != memories.end()) memory->seen = seen.time(1);
  }
  return memories;
}

void write_fec_baselines(Database& history, std::string_view fabric, std::span<const FecBaseline> baselines) {
  Statement(history, "DELETE FROM fec_baseline WHERE fabric = ?").run(fabric);
  Statement put(history, "INSERT INTO fec_baseline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const FecBaseline& b : baselines)
    put.run(fabric, b.port.node.value, b.port.port.value, b.rate, b.taken, double{b.drift.mean},
            double{b.drift.squares}, double{b.drift.sum}, double{b.drift.last}, double{b.drift.recent},
            b.drift.readings, b.drift.drifting);
}

void read_fec_baselines(Database& history, std::vector<FabricMemory>& memories) {
  Statement rows(history,
                 "SELECT fabric, node, port, rate, taken, mean, squares, sum, last, recent, readings, drifting FROM "
                 "fec_baseline ORDER BY fabric");
  rows.query();
  FabricMemory* memory = nullptr;
  while (rows.next()) {
    const std::string fabric = rows.text(0);
    if (!memory || memory->fabric != fabric) {
      const auto known = std::ranges::find(memories, fabric, &FabricMemory::fabric);
      memory = known != memories.end() ? &*known : &memories.emplace_back(FabricMemory{fabric, {}});
    }
    const auto real = [&rows](int column) { return static_cast<float>(rows.real(column)); };
    memory->state.fec_baselines.push_back({.port = read_port_key(history, rows, 1),
                                           .rate = rows.real(3),
                                           .taken = rows.time(4),
                                           .drift = {.mean = real(5),
                                                     .squares = real(6),
                                                     .sum = real(7),
                                                     .last = real(8),
                                                     .recent = real(9),
                                                     .readings = static_cast<std::uint16_t>(rows.integer(10)),
                                                     .drifting = rows.integer(11) != 0}});
  }
}

std::vector<KnownNode> read_nodes(Database& database, std::string_view fabric) {
  std::vector<KnownNode> nodes;
  Statement rows(
      database, "SELECT guid, type, name, description, first_seen, last_seen FROM node WHERE fabric = ? ORDER BY guid");
  rows.query(fabric);
  while (rows.next())
    nodes.push_back({NodeGuid{rows.bits(0)}, static_cast<NodeType>(rows.integer(1)), rows.text(2), rows.text(3),
                     rows.time(4), rows.time(5)});
  return nodes;
}

}  // namespace weft::store
