// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/acceptance_table.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {
namespace {

std::uint32_t read_count(const Statement& rows, int column) {
  return static_cast<std::uint32_t>(rows.bits(column));
}

void write_report(Database& database, std::uint64_t id, const AcceptanceReport& report) {
  Statement put_check(database, "INSERT INTO acceptance_check VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement put_port(database, "INSERT INTO acceptance_port VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  std::uint64_t place = 0;
  for (const AcceptanceCheck& check : report.checks) {
    put_check.run(id, place, to_string(check.kind), to_string(check.verdict), check.limit, check.source, check.told,
                  check.passed, check.failed, check.unfinished, check.unmeasured, check.judged_at);
    std::uint64_t position = 0;
    for (const AcceptancePort& port : check.ports)
      put_port.run(id, place, position++, to_string(port.verdict), port.port, port.host, port.told, port.judged_at);
    ++place;
  }
  Statement put_host(database, "INSERT INTO acceptance_host VALUES (?, ?, ?, ?)");
  std::uint64_t position = 0;
  for (const AcceptanceHost& host : report.hosts) put_host.run(id, position++, host.name, to_string(host.verdict));
}

std::vector<AcceptanceTarget> read_targets(Database& database, std::uint64_t id) {
  std::vector<AcceptanceTarget> targets;
  Statement rows(database,
                 "SELECT kind, name, node, port FROM acceptance_target WHERE acceptance = ? ORDER BY position");
  rows.query(id);
  while (rows.next()) {
    targets.push_back(
        {named(database, rows.text(0), parse_acceptance_target_kind), rows.text(1), read_port_key(database, rows, 2)});
  }
  return targets;
}

/// `report` has what stands in the row of the run.
void read_parts(Database& database, std::uint64_t id, AcceptanceReport& report) {
  Statement checks(database,
                   "SELECT kind, verdict, most, source, told, passed, failed, unfinished, unmeasured, judged_at FROM "
                   "acceptance_check WHERE acceptance = ? ORDER BY position");
  checks.query(id);
  while (checks.next()) {
    AcceptanceCheck& check = report.checks.emplace_back();
    check.kind = named(database, checks.text(0), parse_acceptance_kind);
    check.verdict = named(database, checks.text(1), parse_acceptance_verdict);
    check.limit = checks.text(2);
    check.source = checks.text(3);
    check.told = checks.text(4);
    check.passed = read_count(checks, 5);
    check.failed = read_count(checks, 6);
    check.unfinished = read_count(checks, 7);
    check.unmeasured = read_count(checks, 8);
    check.judged_at = checks.time(9);
  }
  Statement ports(database,
                  "SELECT check_position, verdict, port, host, told, judged_at FROM acceptance_port WHERE acceptance = "
                  "? ORDER BY check_position, position");
  ports.query(id);
  while (ports.next()) {
    if (ports.bits(0) >= report.checks.size()) {
      database.fail(ErrorCode::kCorrupt, "holds a port of an acceptance without its check");
      continue;
    }
    report.checks[ports.bits(0)].ports.push_back({named(database, ports.text(1), parse_acceptance_verdict),
                                                  ports.text(2), ports.text(3), ports.text(4), ports.time(5)});
  }
  Statement hosts(database, "SELECT name, verdict FROM acceptance_host WHERE acceptance = ? ORDER BY position");
  hosts.query(id);
  while (hosts.next())
    report.hosts.push_back({hosts.text(0), named(database, hosts.text(1), parse_acceptance_verdict)});
}

AcceptancePtr known_run(const AcceptanceList& known, const AcceptanceRun& run, TimePoint made) {
  const auto found = std::ranges::lower_bound(known, run.id, {}, &AcceptanceRun::id);
  if (found == known.end() || (*found)->id != run.id) return nullptr;
  const AcceptanceRun& before = **found;
  const TimePoint made_before = before.report ? before.report->made : kNever;
  return before.ended == run.ended && before.watched_since == run.watched_since && made_before == made ? *found
                                                                                                       : nullptr;
}

}  // namespace

void write_acceptance(Database& database, const AcceptanceRun& run) {
  Statement(database, "DELETE FROM acceptance WHERE id = ?").run(run.id);  // all of it goes with it
  const AcceptanceReport none;
  const AcceptanceReport& report = run.report ? *run.report : none;
  Statement(database, "INSERT INTO acceptance VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(run.id, run.fabric, run.ber_limit, run.started, run.until, run.length.count(), run.watched_since, run.ended,
           run.who, run.ended_by, run.report ? to_string(report.verdict) : "", report.made, report.watched_since,
           report.ports);
  Statement put_target(database, "INSERT INTO acceptance_target VALUES (?, ?, ?, ?, ?, ?)");
  std::uint64_t position = 0;
  for (const AcceptanceTarget& target : run.targets)
    put_target.run(run.id, position++, to_string(target.kind), target.name, target.port.node.value,
                   target.port.port.value);
  if (run.report) write_report(database, run.id, report);
  Statement(database, "UPDATE number SET value = ?1 WHERE name = 'next_acceptance' AND value < ?1").run(run.id + 1);
}

AcceptanceList read_acceptances(Database& database, const AcceptanceList& known) {
  struct Row {
    AcceptanceRun run;
    AcceptanceReport report;
    std::string verdict;
  };
  std::vector<Row> found;
  Statement rows(database,
                 "SELECT id, fabric, ber_limit, started, until, length, watched_since, ended, who, ended_by, verdict, "
                 "made, reading_since, ports FROM acceptance ORDER BY id");
  rows.query();
  while (rows.next()) {
    Row& row = found.emplace_back();
    row.run.id = rows.bits(0);
    row.run.fabric = rows.text(1);
    row.run.ber_limit = rows.real(2);
    row.run.started = rows.time(3);
    row.run.until = rows.time(4);
    row.run.length = Duration(rows.integer(5));
    row.run.watched_since = rows.time(6);
    row.run.ended = rows.time(7);
    row.run.who = rows.text(8);
    row.run.ended_by = rows.text(9);
    row.verdict = rows.text(10);
    if (!row.verdict.empty()) row.report.verdict = named(database, row.verdict, parse_acceptance_verdict);
    row.report.made = rows.time(11);
    row.report.watched_since = rows.time(12);
    row.report.ports = read_count(rows, 13);
  }
  AcceptanceList all;
  for (Row& row : found) {
    AcceptancePtr run = known_run(known, row.run, row.verdict.empty() ? kNever : row.report.made);
    if (!run) {
      row.run.targets = read_targets(database, row.run.id);
      if (!row.verdict.empty()) {
        read_parts(database, row.run.id, row.report);
        row.run.report = std::make_shared<const AcceptanceReport>(std::move(row.report));
      }
      run = std::make_shared<const AcceptanceRun>(std::move(row.run));
    }
    all.push_back(std::move(run));
  }
  return all;
}

std::uint64_t read_next_acceptance_id(Database& database) {
  return static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_acceptance'"));
}

void delete_acceptances(Database& database, std::span<const std::uint64_t> ids) {
  Statement drop(database, "DELETE FROM acceptance WHERE id = ?");
  for (const std::uint64_t id : ids) drop.run(id);
}

}  // namespace weft::store
