// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/collector_table.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {
namespace {

void read_flaps(Database& database, std::vector<CollectorMark>& marks) {
  Statement rows(database,
                 "SELECT host, device, port, fast, slow, updated, slow_counted, last_flap, flaps, suppressed "
                 "FROM host_flap ORDER BY host, device, port");
  rows.query();
  while (rows.next()) {
    const std::string host = rows.text(0);
    const auto mark = std::ranges::lower_bound(marks, host, {}, &CollectorMark::host);
    if (mark == marks.end() || mark->host != host) continue;
    HostFlapState flap;
    flap.device = rows.text(1);
    flap.port = static_cast<std::uint16_t>(rows.integer(2));
    flap.state.fast = rows.real(3);
    flap.state.slow = rows.real(4);
    flap.state.updated = rows.time(5);
    flap.state.slow_counted = rows.time(6);
    flap.state.last_flap = rows.time(7);
    flap.state.flaps = static_cast<std::uint32_t>(rows.integer(8));
    flap.state.suppressed = rows.integer(9) != 0;
    if (!mark->flaps) mark->flaps.emplace();
    mark->flaps->push_back(std::move(flap));
  }
}

void read_stays(Database& database, std::vector<CollectorMark>& marks) {
  Statement rows(database,
                 "SELECT host, device, port, module, far_node, far_port, far_label, began, ended, trouble_first, "
                 "trouble_last FROM port_stay ORDER BY host, position");
  rows.query();
  while (rows.next()) {
    const std::string host = rows.text(0);
    const auto mark = std::ranges::lower_bound(marks, host, {}, &CollectorMark::host);
    if (mark == marks.end() || mark->host != host) continue;
    if (!mark->stays) mark->stays.emplace();
    mark->stays->push_back({.device = rows.text(1),
                            .port = static_cast<std::uint16_t>(rows.integer(2)),
                            .module = rows.text(3),
                            .far = {{rows.bits(4)}, {static_cast<std::uint16_t>(rows.integer(5))}},
                            .far_label = rows.text(6),
                            .from = rows.time(7),
                            .to = rows.time(8),
                            .trouble_first = rows.time(9),
                            .trouble_last = rows.time(10)});
  }
}

/// One a line: device, port, interface, GUID, rate and node GUID, between tabs. Names that would break that are left
/// out.
std::string text_of(std::span<const HostPortSeen> ports) {
  const auto is_plain = [](const std::string& name) { return name.find_first_of("\t\n") == std::string::npos; };
  std::string text;
  for (const HostPortSeen& port : ports)
    if (!port.device.empty() && is_plain(port.device) && is_plain(port.netdev))
      text += port.device + '\t' + std::to_string(port.port) + '\t' + port.netdev + '\t' +
              std::to_string(port.guid.value) + '\t' + std::to_string(port.rate) + '\t' +
              std::to_string(port.node.value) + '\n';
  return text;
}

/// The reverse; what is damaged is left out.
std::vector<HostPortSeen> ports_of(const std::string& text) {
  std::vector<HostPortSeen> ports;
  for (const std::string& line : lines(text)) {
    if (ports.size() == kMostPortsSeen) break;
    std::istringstream words(line);
    HostPortSeen port;
    std::string number, guid, rate, node, more;
    const auto next = [&words](std::string& word) { return static_cast<bool>(std::getline(words, word, '\t')); };
    if (!next(port.device) || port.device.empty() || !next(number) || !next(port.netdev) || !next(guid) || !next(rate))
      continue;
    if (!next(node)) node = "0";  // of an older weftd
    const auto read = [](const std::string& digits, auto& value) {
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return error == std::errc() && end == digits.data() + digits.size();
    };
    if (!next(more) && read(number, port.port) && read(guid, port.guid.value) && read(rate, port.rate) &&
        read(node, port.node.value))
      ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace

void write_collectors(Database& database, std::span<const CollectorMark> marks) {
  Statement put(database,
                "INSERT INTO collector (host, spool, sequence, batches, late, lost, first_seen, last_seen, adapters) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (host) DO UPDATE SET spool = excluded.spool, "
                "sequence = excluded.sequence, batches = excluded.batches, late = excluded.late, "
                "lost = excluded.lost, last_seen = excluded.last_seen, adapters = excluded.adapters");
  Statement put_jobs(database, "UPDATE collector SET jobs = ? WHERE host = ?");
  Statement put_ports(database, "UPDATE collector SET ports = ? WHERE host = ?");
  Statement drop_flaps(database, "DELETE FROM host_flap WHERE host = ?");
  Statement put_flap(database, "INSERT INTO host_flap VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement drop_stays(database, "DELETE FROM port_stay WHERE host = ?");
  Statement put_stay(database, "INSERT INTO port_stay VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const CollectorMark& mark : marks) {
    put.run(mark.host, mark.spool, mark.sequence, mark.batches, mark.late, mark.lost, mark.first_seen, mark.last_seen,
            mark.adapters);
    if (mark.jobs) {
      std::string jobs;
      for (const std::string& job : *mark.jobs) jobs += job + '\n';
      put_jobs.run(jobs, mark.host);
    }
    if (mark.ports) put_ports.run(text_of(*mark.ports), mark.host);
    if (mark.stays) {
      drop_stays.run(mark.host);
      for (std::size_t n = 0; n < mark.stays->size(); ++n) {
        const PortStay& stay = (*mark.stays)[n];
        put_stay.run(mark.host, n, stay.device, stay.port, stay.module, stay.far.node.value, stay.far.port.value,
                     stay.far_label, stay.from, stay.to, stay.trouble_first, stay.trouble_last);
      }
    }
    if (!mark.flaps) continue;
    drop_flaps.run(mark.host);
    for (const auto& [device, port, flap] : *mark.flaps)
      put_flap.run(mark.host, device, port, flap.fast, flap.slow, flap.updated, flap.slow_counted, flap.last_flap,
                   flap.flaps, flap.suppressed);
  }
}

void delete_collectors(Database& database, std::span<const std::string> hosts) {
  Statement drop(database, "DELETE FROM collector WHERE host = ?");
  Statement drop_flaps(database, "DELETE FROM host_flap WHERE host = ?");
  Statement drop_stays(database, "DELETE FROM port_stay WHERE host = ?");
  for (const std::string& host : hosts) {
    drop.run(host);
    drop_stays.run(host);
    drop_flaps.run(host);
  }
}

std::vector<CollectorMark> read_collectors(Database& database) {
  std::vector<CollectorMark> marks;
  Statement rows(database,
                 "SELECT host, spool, sequence, batches, late, lost, first_seen, last_seen, jobs, adapters, ports FROM "
                 "collector ORDER BY "
                 "host");
  rows.query();
  while (rows.next()) {
    marks.push_back({rows.text(0), rows.bits(1), rows.bits(2), rows.bits(3), rows.bits(4), rows.bits(5), rows.time(6),
                     rows.time(7), std::nullopt});
    if (!rows.null(8)) marks.back().jobs = lines(rows.text(8));
    marks.back().adapters = rows.bits(9);
    if (!rows.null(10)) marks.back().ports = ports_of(rows.text(10));
  }
  read_flaps(database, marks);
  read_stays(database, marks);
  return marks;
}

}  // namespace weft::store
