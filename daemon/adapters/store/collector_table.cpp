// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/collector_table.hpp"

#include <algorithm>
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

}  // namespace

void write_collectors(Database& database, std::span<const CollectorMark> marks) {
  Statement put(database,
                "INSERT INTO collector (host, spool, sequence, batches, late, lost, first_seen, last_seen, adapters) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (host) DO UPDATE SET spool = excluded.spool, "
                "sequence = excluded.sequence, batches = excluded.batches, late = excluded.late, "
                "lost = excluded.lost, last_seen = excluded.last_seen, adapters = excluded.adapters");
  Statement put_jobs(database, "UPDATE collector SET jobs = ? WHERE host = ?");
  Statement drop_flaps(database, "DELETE FROM host_flap WHERE host = ?");
  Statement put_flap(database, "INSERT INTO host_flap VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const CollectorMark& mark : marks) {
    put.run(mark.host, mark.spool, mark.sequence, mark.batches, mark.late, mark.lost, mark.first_seen, mark.last_seen,
            mark.adapters);
    if (mark.jobs) {
      std::string jobs;
      for (const std::string& job : *mark.jobs) jobs += job + '\n';
      put_jobs.run(jobs, mark.host);
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
  for (const std::string& host : hosts) {
    drop.run(host);
    drop_flaps.run(host);
  }
}

std::vector<CollectorMark> read_collectors(Database& database) {
  std::vector<CollectorMark> marks;
  Statement rows(database,
                 "SELECT host, spool, sequence, batches, late, lost, first_seen, last_seen, jobs, adapters FROM "
                 "collector ORDER BY "
                 "host");
  rows.query();
  while (rows.next()) {
    marks.push_back({rows.text(0), rows.bits(1), rows.bits(2), rows.bits(3), rows.bits(4), rows.bits(5), rows.time(6),
                     rows.time(7), std::nullopt});
    if (!rows.null(8)) marks.back().jobs = lines(rows.text(8));
    marks.back().adapters = rows.bits(9);
  }
  read_flaps(database, marks);
  return marks;
}

}  // namespace weft::store
