// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/incident_table.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {
namespace {

constexpr const char* kCause = "cause";
constexpr const char* kAffected = "affected";
constexpr const char* kEvidence = "evidence";
constexpr const char* kWaiting = "waiting";
constexpr const char* kSuspect = "suspect";
// Parts of the table advice that are no LinkPart.
constexpr const char* kFirst = "FIRST";
constexpr const char* kReason = "REASON";
constexpr std::int64_t kNobody = -1;

/// The statements that write one incident, prepared once for many.
struct IncidentWriter {
  explicit IncidentWriter(Database& database)
      : incident(database,
                 "INSERT INTO incident (id, revision, kind, severity, state, confidence, summary, opened, updated, "
                 "resolved, "
                 "occurrences, acknowledged_by, silenced_until, waiting_total, maintenance, worst_severity, headline) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        clear(database, "DELETE FROM incident WHERE id = ?"),
        entity(database, "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        evidence(database, "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        waiting(database, "INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?)"),
        advice(database, "INSERT INTO advice VALUES (?, ?, ?, ?, ?)"),
        job(database, "INSERT INTO job VALUES (?, ?, ?)"),
        beginning(database, "INSERT INTO beginning VALUES (?, ?) ON CONFLICT DO NOTHING"),
        timeline(database, "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

  void write_entity(std::uint64_t id, const char* role, std::size_t position, const Entity& e) {
    entity.run(id, role, position, to_string(e.kind), e.fabric, e.port.node.value, e.port.port.value, e.peer.node.value,
               e.peer.port.value, e.label, e.host, e.device);
  }

  void write_advice(std::uint64_t id, const Advice& told) {
    if (told.suspects.empty()) return;
    std::size_t position = 0;
    for (; position < told.suspects.size(); ++position) {
      const Suspect& suspect = told.suspects[position];
      advice.run(id, position, to_string(suspect.part), suspect.share, std::string());
      write_entity(id, kSuspect, position, suspect.where);
    }
    advice.run(id, position++, kFirst, told.is_clear ? 1.0 : 0.0, told.first);
    for (const std::string& reason : told.reasons) advice.run(id, position++, kReason, 0.0, reason);
  }

  void write(const Incident& i, bool is_stored) {
    if (is_stored) clear.run(i.id);  // its entities, evidence and jobs go with it
    incident.run(i.id, i.revision, to_string(i.finding.kind), to_string(i.finding.severity), to_string(i.state),
                 i.finding.confidence, i.finding.summary, i.opened, i.updated, i.resolved, i.occurrences,
                 i.acknowledged_by, i.silenced_until, i.finding.waiting.total, i.finding.maintenance,
                 to_string(i.worst_severity), i.headline);
    write_entity(i.id, kCause, 0, i.finding.cause);
    for (std::size_t n = 0; n < i.finding.affected.size(); ++n) write_entity(i.id, kAffected, n, i.finding.affected[n]);
    for (std::size_t n = 0; n < i.finding.evidence.size(); ++n) {
      const Evidence& e = i.finding.evidence[n];
      evidence.run(i.id, n, e.signal, e.description, e.value, e.threshold, e.unit, e.observed, e.window.count());
      write_entity(i.id, kEvidence, n, e.where);
    }
    for (std::size_t n = 0; n < i.finding.waiting.links.size(); ++n) {
      const WaitingLink& link = i.finding.waiting.links[n];
      waiting.run(i.id, n, link.towards, link.waits_for ? std::int64_t{*link.waits_for} : kNobody, link.stall_ratio,
                  link.utilization_ratio);
      write_entity(i.id, kWaiting, n, link.sender);
    }
    write_advice(i.id, i.finding.advice);
    for (std::size_t n = 0; n < i.finding.jobs.size(); ++n) job.run(i.id, n, i.finding.jobs[n]);
    for (const TimePoint at : i.beginnings) beginning.run(i.id, at);
    for (std::size_t n = 0; n < i.timeline.size(); ++n) {
      const TimelineEntry& e = i.timeline[n];
      timeline.run(i.id, n, e.at, to_string(e.change), to_string(e.severity), e.text, e.who, e.numbers_at, e.left_out);
    }
  }

  Statement incident, clear, entity, evidence, waiting, advice, job, beginning, timeline;
};

Incident read_incident_row(Database& database, const Statement& row) {
  Incident incident;
  incident.id = row.bits(0);
  incident.revision = row.bits(1);
  incident.finding.kind = named(database, row.text(2), parse_incident_kind);
  incident.finding.severity = named(database, row.text(3), parse_severity);
  incident.state = named(database, row.text(4), parse_incident_state);
  incident.finding.confidence = row.real(5);
  incident.finding.summary = row.text(6);
  incident.opened = row.time(7);
  incident.updated = row.time(8);
  incident.resolved = row.time(9);
  incident.occurrences = static_cast<std::uint32_t>(row.integer(10));
  incident.acknowledged_by = row.text(11);
  incident.silenced_until = row.time(12);
  incident.finding.waiting.total = row.bits(13);
  incident.finding.maintenance = row.bits(14);
  incident.worst_severity = named(database, row.text(15), parse_severity);
  incident.headline = row.text(16);
  return incident;
}

constexpr const char* kRecent = " FROM incident WHERE state <> 'RESOLVED' OR resolved > ?";

/// What belongs to all incidents that were read, with a statement for each kind: their number costs no round trips.
struct IncidentPartsReader {
  Database& database;
  std::vector<Incident>& incidents;
  TimePoint resolved_since;

  /// Gives `take` each row with its incident. `columns` begin with that.
  template <typename Take>
  void read(const std::string& columns, const std::string& order, const Take& take) {
    Statement row(database,
                  "SELECT " + columns + " WHERE incident IN (SELECT id" + kRecent + ") ORDER BY incident, " + order);
    row.query(resolved_since);
    while (row.next())
      if (Incident* const incident = find_by_id(incidents, row.bits(0))) take(*incident, row);
  }

  void read_all() {
    read("incident, signal, description, value, threshold, unit, observed, \"window\" FROM evidence", "position",
         [](Incident& incident, const Statement& row) {
           incident.finding.evidence.push_back({row.text(1),
                                                row.text(2),
                                                row.real(3),
                                                row.real(4),
                                                row.text(5),
                                                row.time(6),
                                                {},
                                                Duration(row.integer(7))});
         });
    read("incident, towards, waits_for, stall, utilization FROM waiting", "position",
         [](Incident& incident, const Statement& row) {
           WaitingLink& link = incident.finding.waiting.links.emplace_back();
           link.towards = row.text(1);
           if (const std::int64_t on = row.integer(2); on != kNobody) link.waits_for = static_cast<std::uint32_t>(on);
           link.stall_ratio = row.real(3);
           link.utilization_ratio = row.real(4);
         });
    read("incident, part, share, text FROM advice", "position", [this](Incident& incident, const Statement& row) {
      Advice& advice = incident.finding.advice;
      const std::string part = row.text(1);
      if (part == kReason) {
        advice.reasons.push_back(row.text(3));
      } else if (part == kFirst) {
        advice.is_clear = row.real(2) > 0;
        advice.first = row.text(3);
      } else {
        advice.suspects.push_back({named(database, part, parse_link_part), {}, row.real(2)});
      }
    });
    read("incident, role, position, kind, fabric, node, port, peer_node, peer_port, label, host, device FROM entity",
         "role, position", [this](Incident& incident, const Statement& row) {
           const std::string role = row.text(1);
           const auto position = static_cast<std::size_t>(row.integer(2));
           if (role == kCause) incident.finding.cause = read_entity(database, row, 3);
           if (role == kAffected) incident.finding.affected.push_back(read_entity(database, row, 3));
           if (role == kEvidence && position < incident.finding.evidence.size())
             incident.finding.evidence[position].where = read_entity(database, row, 3);
           if (role == kSuspect && position < incident.finding.advice.suspects.size())
             incident.finding.advice.suspects[position].where = read_entity(database, row, 3);
           if (role == kWaiting && position < incident.finding.waiting.links.size())
             incident.finding.waiting.links[position].sender = read_entity(database, row, 3);
         });
    read("incident, name FROM job", "position",
         [](Incident& incident, const Statement& row) { incident.finding.jobs.push_back(row.text(1)); });
    read("incident, at FROM beginning", "at",
         [](Incident& incident, const Statement& row) { incident.beginnings.push_back(row.time(1)); });
    read("incident, at, change, severity, text, who, numbers_at, left_out FROM timeline", "position",
         [this](Incident& incident, const Statement& row) {
           incident.timeline.push_back({.at = row.time(1),
                                        .change = named(database, row.text(2), parse_incident_change),
                                        .severity = named(database, row.text(3), parse_severity),
                                        .text = row.text(4),
                                        .who = row.text(5),
                                        .numbers_at = row.time(6),
                                        .left_out = static_cast<std::uint32_t>(row.integer(7))});
         });
  }
};

/// How often each was opened, as stored; by id.
std::map<std::uint64_t, std::int64_t> read_occurrences(Database& database, std::span<const Incident> incidents) {
  constexpr std::size_t kAtOnce = 1000;
  std::map<std::uint64_t, std::int64_t> known;
  while (!incidents.empty()) {
    const auto some = incidents.first(std::min(kAtOnce, incidents.size()));
    std::string ids;  // they are numbers: they may stand in the statement
    for (const Incident& incident : some) ids += (ids.empty() ? "" : ",") + std::to_string(incident.id);
    Statement row(database, "SELECT id, occurrences FROM incident WHERE id IN (" + ids + ")");
    row.query();
    while (row.next()) known.emplace(row.bits(0), row.integer(1));
    incidents = incidents.subspan(some.size());
  }
  return known;
}

}  // namespace

void write_incidents(Database& database, std::span<const Incident> incidents) {
  if (incidents.empty()) return;
  const auto before = read_occurrences(database, incidents);
  IncidentWriter writer(database);
  std::uint64_t last_id = 0;
  std::map<IncidentKind, std::int64_t> openings;
  for (const Incident& incident : incidents) {
    const auto known = before.find(incident.id);
    writer.write(incident, known != before.end());
    last_id = std::max(last_id, incident.id);
    const std::int64_t times = known == before.end() ? 0 : known->second;
    if (incident.occurrences > times && incident.finding.maintenance == 0)
      openings[incident.finding.kind] += incident.occurrences - times;
  }
  // Once for all. PostgreSQL walks over each earlier version of a row that the same transaction wrote.
  Statement(database, "UPDATE number SET value = ?1 WHERE name = 'next_incident' AND value < ?1").run(last_id + 1);
  Statement opened(
      database,
      "INSERT INTO opened VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET count = opened.count + excluded.count");
  for (const auto& [kind, times] : openings) opened.run(to_string(kind), times);
}

void write_events(Database& database, std::span<const Event> events) {
  Statement insert(database, "INSERT INTO event (at, incident, what, who, detail) VALUES (?, ?, ?, ?, ?)");
  for (const Event& event : events) insert.run(event.at, event.incident, event.what, event.who, event.detail);
}

std::vector<Incident> read_incidents(Database& database, TimePoint resolved_since) {
  std::vector<Incident> incidents;
  Statement rows(
      database,
      std::string(
          "SELECT id, revision, kind, severity, state, confidence, summary, opened, updated, resolved, "
          "occurrences, acknowledged_by, silenced_until, waiting_total, maintenance, worst_severity, headline") +
          kRecent + " ORDER BY id");
  rows.query(resolved_since);
  while (rows.next()) incidents.push_back(read_incident_row(database, rows));
  IncidentPartsReader{database, incidents, resolved_since}.read_all();
  return incidents;
}

std::vector<Event> read_events(Database& database, std::uint64_t incident) {
  std::vector<Event> events;
  Statement rows(database, "SELECT at, incident, what, who, detail FROM event WHERE incident = ? ORDER BY sequence");
  rows.query(incident);
  while (rows.next()) events.push_back({rows.time(0), rows.bits(1), rows.text(2), rows.text(3), rows.text(4)});
  return events;
}

std::uint64_t read_next_incident_id(Database& database) {
  return static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_incident'"));
}

decltype(Restored::opened) read_opened(Database& database) {
  decltype(Restored::opened) counts{};
  Statement rows(database, "SELECT kind, count FROM opened");
  rows.query();
  while (rows.next())
    counts[static_cast<std::size_t>(named(database, rows.text(0), parse_incident_kind))] = rows.bits(1);
  return counts;
}

bool delete_old_incidents(Database& database, TimePoint before, std::int64_t limit) {
  Statement incidents(
      database,
      "DELETE FROM incident WHERE id IN (SELECT id FROM incident WHERE state = 'RESOLVED' AND resolved < ? "
      "LIMIT ?)");
  incidents.run(before, limit);
  const bool more_incidents = database.changes() >= limit;
  // Events of an incident that is still kept stay with it, however old.
  Statement events(database,
                   "DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE at < ? AND NOT EXISTS "
                   "(SELECT 1 FROM incident WHERE incident.id = event.incident) LIMIT ?)");
  events.run(before, limit);
  return more_incidents || database.changes() >= limit;
}

}  // namespace weft::store
