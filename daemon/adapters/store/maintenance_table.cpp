// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/maintenance_table.hpp"

#include <utility>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {

void write_maintenance(Database& database, const MaintenanceWindow& window) {
  const Entity& what = window.entity;
  Statement(database, "DELETE FROM maintenance WHERE id = ?").run(window.id);  // its nodes go with it
  Statement put(database,
                "INSERT INTO maintenance (id, kind, fabric, node, port, peer_node, peer_port, label, host, "
                "device, starts, until, ended, reason, added_by, ended_by, added) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  put.run(window.id, to_string(what.kind), what.fabric, what.port.node.value, what.port.port.value,
          what.peer.node.value, what.peer.port.value, what.label, window.host, what.device, window.from, window.until,
          window.ended, window.reason, window.added_by, window.ended_by, window.added);
  Statement node(database, "INSERT INTO maintenance_node VALUES (?, ?) ON CONFLICT DO NOTHING");
  for (const NodeGuid guid : window.nodes) node.run(window.id, guid.value);
  Statement next(database, "UPDATE number SET value = ?1 WHERE name = 'next_maintenance' AND value < ?1");
  next.run(window.id + 1);
}

MaintenanceList read_maintenance(Database& database, TimePoint over_since) {
  MaintenanceList windows;
  Statement rows(database,
                 "SELECT id, kind, fabric, node, port, peer_node, peer_port, label, host, device, starts, until, "
                 "ended, reason, added_by, ended_by, added FROM maintenance WHERE until > ?1 AND (ended = 0 OR ended > "
                 "?1) ORDER BY id");
  rows.query(over_since);
  while (rows.next()) {
    MaintenanceWindow window;
    window.id = rows.bits(0);
    const auto kind = parse_entity_kind(rows.text(1));
    if (!kind) database.fail(ErrorCode::kCorrupt, "holds the unknown word \"" + rows.text(1) + "\"");
    window.entity.kind = kind.value_or(EntityKind::kFabric);
    window.entity.fabric = rows.text(2);
    window.entity.port = read_port_key(database, rows, 3);
    window.entity.peer = read_port_key(database, rows, 5);
    window.entity.label = rows.text(7);
    window.host = rows.text(8);
    const bool by_host = window.entity.kind == EntityKind::kCollector || window.entity.kind == EntityKind::kHostPort;
    if (by_host) window.entity.host = window.host;
    window.entity.device = rows.text(9);
    window.from = rows.time(10);
    window.until = rows.time(11);
    window.ended = rows.time(12);
    window.reason = rows.text(13);
    window.added_by = rows.text(14);
    window.ended_by = rows.text(15);
    window.added = rows.time(16);
    windows.push_back(std::move(window));
  }
  Statement nodes(database, "SELECT node FROM maintenance_node WHERE maintenance = ? ORDER BY node");
  for (MaintenanceWindow& window : windows) {
    nodes.query(window.id);
    while (nodes.next()) window.nodes.push_back(NodeGuid{nodes.bits(0)});
  }
  return windows;
}

std::uint64_t read_next_maintenance_id(Database& database) {
  return static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_maintenance'"));
}

bool delete_old_maintenance(Database& database, TimePoint before, std::int64_t limit) {
  Statement drop(database,
                 "DELETE FROM maintenance WHERE id IN (SELECT id FROM maintenance WHERE until < ?1 OR (ended > 0 AND "
                 "ended < ?1) LIMIT ?2)");
  drop.run(before, limit);
  return database.changes() >= limit;
}

}  // namespace weft::store
