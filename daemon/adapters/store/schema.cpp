// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/schema.hpp"

#include <array>

namespace weft::store {
namespace {

// Times are nanoseconds since 1970 UTC, 0 is never. GUIDs are 64 bits in a signed column: printf('%016x', guid) shows
// them.
constexpr std::array kStateMigrations{R"sql(
CREATE TABLE number (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO number VALUES ('next_incident', 1);
CREATE TABLE opened (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE incident (
  id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, kind TEXT NOT NULL, severity TEXT NOT NULL, state TEXT NOT NULL,
  confidence REAL, summary TEXT NOT NULL, opened INTEGER NOT NULL, updated INTEGER NOT NULL, resolved INTEGER NOT NULL,
  occurrences INTEGER NOT NULL, acknowledged_by TEXT NOT NULL, silenced_until INTEGER NOT NULL) STRICT;
CREATE INDEX incident_by_state ON incident (state, resolved);
CREATE TABLE entity (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  role TEXT NOT NULL, -- cause, affected, evidence (where the piece of that position was read)
  position INTEGER NOT NULL, kind TEXT NOT NULL, fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL,
  peer_node INTEGER NOT NULL, peer_port INTEGER NOT NULL, label TEXT NOT NULL,
  PRIMARY KEY (incident, role, position)) STRICT, WITHOUT ROWID;
CREATE TABLE evidence (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, position INTEGER NOT NULL, signal TEXT NOT NULL,
  description TEXT NOT NULL, value REAL, threshold REAL, unit TEXT NOT NULL, observed INTEGER NOT NULL,
  PRIMARY KEY (incident, position)) STRICT, WITHOUT ROWID;
CREATE TABLE job (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, position INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (incident, position)) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, incident INTEGER NOT NULL, what TEXT NOT NULL,
  who TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE INDEX event_by_incident ON event (incident);

CREATE TABLE node (
  fabric TEXT NOT NULL, guid INTEGER NOT NULL, type INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, PRIMARY KEY (fabric, guid)) STRICT, WITHOUT ROWID;
CREATE TABLE link (
  fabric TEXT NOT NULL, low_node INTEGER NOT NULL, low_port INTEGER NOT NULL, high_node INTEGER NOT NULL,
  high_port INTEGER NOT NULL, low_name TEXT NOT NULL, low_type INTEGER NOT NULL, high_name TEXT NOT NULL,
  high_type INTEGER NOT NULL,
  PRIMARY KEY (fabric, low_node, low_port, high_node, high_port)) STRICT, WITHOUT ROWID;
CREATE TABLE flap (
  fabric TEXT NOT NULL, low_node INTEGER NOT NULL, low_port INTEGER NOT NULL, high_node INTEGER NOT NULL,
  high_port INTEGER NOT NULL, fast REAL, slow REAL, updated INTEGER NOT NULL, slow_counted INTEGER NOT NULL,
  last_flap INTEGER NOT NULL, flaps INTEGER NOT NULL, both_ends INTEGER NOT NULL, suppressed INTEGER NOT NULL,
  PRIMARY KEY (fabric, low_node, low_port, high_node, high_port)) STRICT, WITHOUT ROWID;
CREATE TABLE error_port (
  fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL, rate REAL,
  PRIMARY KEY (fabric, node, port)) STRICT, WITHOUT ROWID;
)sql",
                                      // Ports that only a collector sees; and how far each collector was heard.
                                      R"sql(
ALTER TABLE entity ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE entity ADD COLUMN device TEXT NOT NULL DEFAULT '';
CREATE TABLE collector (
  host TEXT PRIMARY KEY, spool INTEGER NOT NULL, -- of which the sequence numbers count
  sequence INTEGER NOT NULL, batches INTEGER NOT NULL, late INTEGER NOT NULL, lost INTEGER NOT NULL,
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)sql",
                                      // What evidence is counted over; and who waits for whom.
                                      R"sql(
ALTER TABLE evidence ADD COLUMN "window" INTEGER NOT NULL DEFAULT 0; -- nanoseconds
ALTER TABLE incident ADD COLUMN waiting_total INTEGER NOT NULL DEFAULT 0;
CREATE TABLE waiting ( -- the sending port is the entity of that position with the role 'waiting'
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  towards TEXT NOT NULL, waits_for INTEGER NOT NULL, -- a position, or -1
  stall REAL, utilization REAL,
  PRIMARY KEY (incident, position)) STRICT, WITHOUT ROWID;
)sql",
                                      R"sql(
CREATE TABLE host_flap (
  host TEXT NOT NULL, device TEXT NOT NULL, port INTEGER NOT NULL, fast REAL, slow REAL, updated INTEGER NOT NULL,
  slow_counted INTEGER NOT NULL, last_flap INTEGER NOT NULL, flaps INTEGER NOT NULL, suppressed INTEGER NOT NULL,
  PRIMARY KEY (host, device, port)) STRICT, WITHOUT ROWID;
)sql",
                                      // When the same trouble began, this time and before.
                                      R"sql(
CREATE TABLE beginning (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, at INTEGER NOT NULL,
  PRIMARY KEY (incident, at)) STRICT, WITHOUT ROWID;
)sql",
                                      // Plans, the trail of who did what, and how automation stands.
                                      R"sql(
INSERT INTO number VALUES ('next_plan', 1);
CREATE TABLE plan_ended (
  action TEXT NOT NULL, state TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (action, state)) STRICT, WITHOUT ROWID;
CREATE TABLE plan (
  id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, state TEXT NOT NULL, over INTEGER NOT NULL, -- is that state an end?
  action TEXT NOT NULL, actuator TEXT NOT NULL, incident INTEGER NOT NULL, undoes INTEGER NOT NULL,
  reason TEXT NOT NULL, requested_by TEXT NOT NULL, approved_by TEXT NOT NULL, created INTEGER NOT NULL,
  updated INTEGER NOT NULL, expires INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER NOT NULL,
  intent TEXT NOT NULL, in_force INTEGER NOT NULL, unresolved INTEGER NOT NULL, windows_good INTEGER NOT NULL,
  windows_needed INTEGER NOT NULL, outcome TEXT NOT NULL) STRICT;
CREATE INDEX plan_by_end ON plan (over, finished);
CREATE TABLE plan_entity (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
  role TEXT NOT NULL, -- target, candidate (the target of the candidate of that position)
  position INTEGER NOT NULL, kind TEXT NOT NULL, fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL,
  peer_node INTEGER NOT NULL, peer_port INTEGER NOT NULL, label TEXT NOT NULL, host TEXT NOT NULL, device TEXT NOT NULL,
  PRIMARY KEY (plan, role, position)) STRICT, WITHOUT ROWID;
CREATE TABLE plan_candidate (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE, position INTEGER NOT NULL, action TEXT NOT NULL,
  cost REAL, harm REAL, allowed INTEGER NOT NULL, explanation TEXT NOT NULL,
  PRIMARY KEY (plan, position)) STRICT, WITHOUT ROWID;
CREATE TABLE plan_guard (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE, position INTEGER NOT NULL, guard TEXT NOT NULL,
  result TEXT NOT NULL, explanation TEXT NOT NULL,
  PRIMARY KEY (plan, position)) STRICT, WITHOUT ROWID;
CREATE TABLE plan_step (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE, position INTEGER NOT NULL, at INTEGER NOT NULL,
  state TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
  PRIMARY KEY (plan, position)) STRICT, WITHOUT ROWID;
CREATE TABLE plan_job (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE, position INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (plan, position)) STRICT, WITHOUT ROWID;

CREATE TABLE audit ( -- what hash covers: daemon/adapters/store/audit_table.hpp
  sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, plan INTEGER NOT NULL,
  incident INTEGER NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TABLE audit_end ( -- how many records there are, and the hash of the last one
  one INTEGER PRIMARY KEY CHECK (one = 1), records INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
INSERT INTO audit_end VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE remedy (
  one INTEGER PRIMARY KEY CHECK (one = 1), hands_off INTEGER NOT NULL, hands_off_reason TEXT NOT NULL,
  breaker_tripped INTEGER NOT NULL, breaker_reason TEXT NOT NULL, breaker_since INTEGER NOT NULL) STRICT;
INSERT INTO remedy VALUES (1, 0, '', 0, '', 0);
)sql",
                                      // Planned work, and the incidents that it explains.
                                      R"sql(
ALTER TABLE incident ADD COLUMN maintenance INTEGER NOT NULL DEFAULT 0; -- 0: it is no planned work
INSERT INTO number VALUES ('next_maintenance', 1);
CREATE TABLE maintenance (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL,
  peer_node INTEGER NOT NULL, peer_port INTEGER NOT NULL, label TEXT NOT NULL, host TEXT NOT NULL,
  device TEXT NOT NULL, starts INTEGER NOT NULL, until INTEGER NOT NULL,
  ended INTEGER NOT NULL, -- 0: not before its time
  reason TEXT NOT NULL, added_by TEXT NOT NULL, ended_by TEXT NOT NULL, added INTEGER NOT NULL) STRICT;
CREATE TABLE maintenance_node (
  maintenance INTEGER NOT NULL REFERENCES maintenance (id) ON DELETE CASCADE, node INTEGER NOT NULL,
  PRIMARY KEY (maintenance, node)) STRICT, WITHOUT ROWID;
)sql",
                                      // What an incident said over time. Of those from before, only the last is known.
                                      R"sql(
ALTER TABLE incident ADD COLUMN worst_severity TEXT NOT NULL DEFAULT '';
ALTER TABLE incident ADD COLUMN headline TEXT NOT NULL DEFAULT '';
UPDATE incident SET worst_severity = severity, headline = summary;
CREATE TABLE timeline (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, position INTEGER NOT NULL, at INTEGER NOT NULL,
  change TEXT NOT NULL, severity TEXT NOT NULL, text TEXT NOT NULL, who TEXT NOT NULL, numbers_at INTEGER NOT NULL,
  left_out INTEGER NOT NULL, -- entries before this one that were dropped
  PRIMARY KEY (incident, position)) STRICT, WITHOUT ROWID;
)sql",
                                      // What takes back what a plan does. Of a return: what it took back, by the
                                      // chain of plans before it.
                                      R"sql(
ALTER TABLE plan ADD COLUMN inverse TEXT NOT NULL DEFAULT 'NOTHING';
UPDATE plan SET inverse = coalesce((
  WITH RECURSIVE before (id, action, undoes) AS (
    SELECT p.id, p.action, p.undoes FROM plan AS p WHERE p.id = plan.undoes
    UNION SELECT p.id, p.action, p.undoes FROM plan AS p JOIN before ON p.id = before.undoes
      WHERE before.action = 'RESTORE_LINK')
  SELECT action FROM before WHERE action <> 'RESTORE_LINK'), 'NOTHING') WHERE action = 'RESTORE_LINK';
)sql",
                                      // Who we are in the marks that we leave on the world, and whom else we saw there.
                                      // A copy of the database has the same id.
                                      R"sql(
CREATE TABLE installation (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;
INSERT INTO installation VALUES (1, lower(hex(randomblob(8))));
CREATE TABLE other_installation (
  id TEXT PRIMARY KEY, plan INTEGER NOT NULL -- the newest that a mark was seen of
  ) STRICT, WITHOUT ROWID;
)sql",
                                      // What the wall clock showed last, and its steps.
                                      R"sql(
CREATE TABLE clock_seen (one INTEGER PRIMARY KEY CHECK (one = 1), until INTEGER NOT NULL) STRICT;
CREATE TABLE clock_step (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, by INTEGER NOT NULL) STRICT;
)sql",
                                      // How it was before a plan that is under way acted.
                                      R"sql(
CREATE TABLE plan_neighbour (
  plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE, position INTEGER NOT NULL, node INTEGER NOT NULL,
  PRIMARY KEY (plan, position)) STRICT, WITHOUT ROWID;
CREATE TABLE plan_routes ( -- none where no tables were read
  plan INTEGER PRIMARY KEY REFERENCES plan (id) ON DELETE CASCADE, known INTEGER NOT NULL,
  lost INTEGER NOT NULL) STRICT;
)sql",
                                      // Which end of a link a plan sets. Of plans from before it is not known.
                                      R"sql(
CREATE TABLE plan_end (
  plan INTEGER PRIMARY KEY REFERENCES plan (id) ON DELETE CASCADE, node INTEGER NOT NULL,
  port INTEGER NOT NULL) STRICT;
)sql",
                                      // A row: this is a copy that is not whole yet, of a source that was like that.
                                      R"sql(
CREATE TABLE copying (one INTEGER PRIMARY KEY CHECK (one = 1), source TEXT NOT NULL) STRICT;
)sql",
                                      // What each receiver of events was told: for two weftd on one database. One that
                                      // is alone keeps it in a file.
                                      R"sql(
CREATE TABLE told (receiver TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
)sql",
                                      // Another mark with each weftd that wrote: a copy that was not used has that of
                                      // its source. The greatest epoch of those that led, on whatever database.
                                      R"sql(
CREATE TABLE last_use (
  one INTEGER PRIMARY KEY CHECK (one = 1), mark TEXT NOT NULL, epoch INTEGER NOT NULL) STRICT;
INSERT INTO last_use VALUES (1, lower(hex(randomblob(8))), 0);
)sql",
                                      // Which beginning of its incident a plan is for. Of plans from before it is not
                                      // known.
                                      R"sql(
ALTER TABLE plan ADD COLUMN incident_began INTEGER NOT NULL DEFAULT 0;
)sql",
                                      // Who ended the return of what a plan holds, and why.
                                      R"sql(
ALTER TABLE plan ADD COLUMN kept_out TEXT NOT NULL DEFAULT '';
)sql",
                                      // What the clock that nobody sets showed at the same moment, and which start of
                                      // the machine it counts from.
                                      R"sql(
ALTER TABLE clock_seen ADD COLUMN steady INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock_seen ADD COLUMN boot TEXT NOT NULL DEFAULT '';
)sql",
                                      // Of plans from before it is not known, and what was sent may still land.
                                      R"sql(
ALTER TABLE plan ADD COLUMN undone_once INTEGER NOT NULL DEFAULT 0;
)sql",
                                      // Jobs that hold the host, one a line. NULL: an older weftd wrote the mark.
                                      R"sql(
ALTER TABLE collector ADD COLUMN jobs TEXT;
)sql",
                                      // One-time tokens of nodes whose collectors have no certificate yet.
                                      R"sql(
CREATE TABLE enroll_token (
  node TEXT PRIMARY KEY, hash TEXT NOT NULL, made_by TEXT NOT NULL, made INTEGER NOT NULL, expires INTEGER NOT NULL,
  used INTEGER NOT NULL, -- 0: not yet
  key_hash TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX enroll_token_by_hash ON enroll_token (hash);
)sql",
                                      // What tells one machine from another, as HostView::adapters. 0: an older weftd
                                      // wrote the mark.
                                      R"sql(
ALTER TABLE collector ADD COLUMN adapters INTEGER NOT NULL DEFAULT 0;
)sql",
                                      // Names of the interfaces of an Ethernet fabric's links: what was found keeps its
                                      // ports' numbers.
                                      R"sql(
ALTER TABLE link ADD COLUMN low_interface TEXT NOT NULL DEFAULT '';
ALTER TABLE link ADD COLUMN high_interface TEXT NOT NULL DEFAULT '';
)sql",
                                      // What a person said of a plan; of those from before their outcome says it, or of
                                      // a return that was failing already who keeps its target out.
                                      R"sql(
ALTER TABLE plan ADD COLUMN aborted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plan ADD COLUMN left_in_service INTEGER NOT NULL DEFAULT 0;
UPDATE plan SET aborted = 1 WHERE outcome LIKE 'aborted by %' OR (action IN ('RESTORE_LINK', 'UNDRAIN_NODE') AND
  (kept_out LIKE '% aborted its return PLAN-' || id OR kept_out LIKE '% aborted its return PLAN-' || id || ': %'));
UPDATE plan SET left_in_service = 1 WHERE outcome LIKE 'left in service by %' OR outcome LIKE '%; left as it is by %';
)sql",
                                      // What is on probation, or failed on it, was read to be back, and so was what
                                      // was undone without a change that may land late.
                                      R"sql(
ALTER TABLE plan ADD COLUMN read_back INTEGER NOT NULL DEFAULT 0;
UPDATE plan SET read_back = 1 WHERE action IN ('RESTORE_LINK', 'UNDRAIN_NODE') AND (state = 'VERIFYING' OR
  (state = 'ROLLING_BACK' AND outcome NOT LIKE 'aborted by %'));
UPDATE plan SET read_back = 1 WHERE action NOT IN ('RESTORE_LINK', 'UNDRAIN_NODE') AND state = 'ROLLING_BACK' AND
  intent = 'NONE' AND unresolved = 0;
)sql",
                                      // Ports of the host that were up: see collector_table.cpp. NULL: an older weftd
                                      // wrote the mark.
                                      R"sql(
ALTER TABLE collector ADD COLUMN ports TEXT;
)sql",
                                      // Which part of a link to touch first. Of part FIRST: what to do, and whether
                                      // that is clear (share 1); of REASON: why; others are suspects, whose places are
                                      // entities.
                                      R"sql(
CREATE TABLE advice (
  incident INTEGER NOT NULL REFERENCES incident (id) ON DELETE CASCADE, position INTEGER NOT NULL, part TEXT NOT NULL,
  share REAL NOT NULL, text TEXT NOT NULL, PRIMARY KEY (incident, position)) STRICT, WITHOUT ROWID;
)sql",
                                      // Modules and cables of hosts' ports, as PortStay.
                                      R"sql(
CREATE TABLE port_stay (
  host TEXT NOT NULL, position INTEGER NOT NULL, device TEXT NOT NULL, port INTEGER NOT NULL, module TEXT NOT NULL,
  far_node INTEGER NOT NULL, far_port INTEGER NOT NULL, far_label TEXT NOT NULL, began INTEGER NOT NULL,
  ended INTEGER NOT NULL, trouble_first INTEGER NOT NULL, trouble_last INTEGER NOT NULL,
  PRIMARY KEY (host, position)) STRICT, WITHOUT ROWID;
)sql",
                                      // Acceptances, each with the last report that was stored; without one its
                                      // verdict is empty. Times are as of AcceptanceRun and AcceptanceReport.
                                      R"sql(
INSERT INTO number VALUES ('next_acceptance', 1);
CREATE TABLE acceptance (
  id INTEGER PRIMARY KEY, fabric TEXT NOT NULL, ber_limit REAL NOT NULL, started INTEGER NOT NULL,
  until INTEGER NOT NULL, length INTEGER NOT NULL, watched_since INTEGER NOT NULL, ended INTEGER NOT NULL,
  who TEXT NOT NULL, ended_by TEXT NOT NULL, verdict TEXT NOT NULL, made INTEGER NOT NULL,
  reading_since INTEGER NOT NULL, ports INTEGER NOT NULL) STRICT;
CREATE TABLE acceptance_target (
  acceptance INTEGER NOT NULL REFERENCES acceptance (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL,
  PRIMARY KEY (acceptance, position)) STRICT, WITHOUT ROWID;
CREATE TABLE acceptance_check (
  acceptance INTEGER NOT NULL REFERENCES acceptance (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  kind TEXT NOT NULL, verdict TEXT NOT NULL, most TEXT NOT NULL, source TEXT NOT NULL, told TEXT NOT NULL,
  passed INTEGER NOT NULL, failed INTEGER NOT NULL, unfinished INTEGER NOT NULL, unmeasured INTEGER NOT NULL,
  judged_at INTEGER NOT NULL, PRIMARY KEY (acceptance, position)) STRICT, WITHOUT ROWID;
CREATE TABLE acceptance_port ( -- that did not pass the check of that position
  acceptance INTEGER NOT NULL REFERENCES acceptance (id) ON DELETE CASCADE, check_position INTEGER NOT NULL,
  position INTEGER NOT NULL, verdict TEXT NOT NULL, port TEXT NOT NULL, host TEXT NOT NULL, told TEXT NOT NULL,
  judged_at INTEGER NOT NULL, PRIMARY KEY (acceptance, check_position, position)) STRICT, WITHOUT ROWID;
CREATE TABLE acceptance_host (
  acceptance INTEGER NOT NULL REFERENCES acceptance (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  name TEXT NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (acceptance, position)) STRICT, WITHOUT ROWID;
)sql"};

constexpr std::array kHistoryMigrations{R"sql(
CREATE TABLE port (
  slot INTEGER PRIMARY KEY, fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL, seen INTEGER NOT NULL,
  UNIQUE (fabric, node, port)) STRICT;
CREATE TABLE moment (id INTEGER PRIMARY KEY AUTOINCREMENT, fabric TEXT NOT NULL, at INTEGER NOT NULL,
  span INTEGER NOT NULL) STRICT;
CREATE INDEX moment_by_time ON moment (fabric, at);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT; -- id = moment << 24 | slot / 256
)sql",
                                        // What error correction usually repairs: learned anew where it is lost.
                                        R"sql(
CREATE TABLE fec_baseline (
  fabric TEXT NOT NULL, node INTEGER NOT NULL, port INTEGER NOT NULL, rate REAL NOT NULL, taken INTEGER NOT NULL,
  mean REAL NOT NULL, squares REAL NOT NULL, sum REAL NOT NULL, last REAL NOT NULL, recent REAL NOT NULL,
  readings INTEGER NOT NULL, drifting INTEGER NOT NULL, PRIMARY KEY (fabric, node, port)) STRICT, WITHOUT ROWID;
)sql",
                                        // Whole hours, added up from their moments. next_chunk: those below are added
                                        // up; NULL: all are.
                                        R"sql(
CREATE TABLE hour (id INTEGER PRIMARY KEY AUTOINCREMENT, fabric TEXT NOT NULL, at INTEGER NOT NULL,
  span INTEGER NOT NULL, next_chunk INTEGER) STRICT;
CREATE INDEX hour_by_time ON hour (fabric, at);
CREATE TABLE hour_chunk (id INTEGER PRIMARY KEY, sums BLOB NOT NULL, peaks BLOB NOT NULL) STRICT; -- id as of chunk
)sql",
                                        // Optical power, bias and temperature, where a collector reads any: of some
                                        // moments, and the time that each speaks of; and of whole hours.
                                        R"sql(
CREATE TABLE gauge_chunk (id INTEGER PRIMARY KEY, span INTEGER NOT NULL, data BLOB NOT NULL) STRICT; -- id as of chunk
CREATE TABLE hour_gauge (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT; -- id as of hour_chunk
)sql"};

}  // namespace

Schema state_schema() {
  return {.application_id = 0x57656674,  // "Weft"
          .migrations = kStateMigrations,
          .creation = "PRAGMA journal_mode = WAL",
          .connection = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216",
          .verify = true};
}

Schema history_schema() {
  return {.application_id = 0x57656668,  // "Wefh"
          .migrations = kHistoryMigrations,
          // Chunks are two or three thousand bytes: large pages waste less of their ends.
          .creation = "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL",
          .connection = "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192",
          .verify = false};
}

}  // namespace weft::store
