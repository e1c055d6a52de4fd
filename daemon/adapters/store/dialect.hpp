// SPDX-License-Identifier: Apache-2.0
#pragma once
// All SQL that differs between the engines. The tables' own statements are the same for both, and so are the
// migrations: they are written for SQLite, and what PostgreSQL calls otherwise is replaced.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::store::postgres {

/// A migration as PostgreSQL understands it: types, keys that count by themselves, random ids. Texts are compared byte
/// by byte there too (collation "C").
std::string migration(std::string_view sqlite);
/// A statement with `$1`, `$2` in place of `?` or `?1`, `?2`.
std::string statement(std::string_view sql);

/// Texts hold any bytes; PostgreSQL takes no zero byte, and UTF-8 alone. Bytes that are neither become code points from
/// U+10FF00 on (a private plane that nobody uses), and so do the bytes of such code points: nothing is lost.
std::string to_text(std::string_view bytes);
/// What to_text() was given.
std::string from_text(std::string_view text);

/// Whose database it is, in its own schema of PostgreSQL: what PRAGMA application_id and user_version are in SQLite.
/// `epoch` counts the weftd that have taken it, `holder` names the last; empty: it was given back. `mark` is of the
/// last transaction.
inline constexpr const char* kCreateOwner =
    "CREATE TABLE weft_store (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL, epoch BIGINT NOT NULL, "
    "holder TEXT NOT NULL, mark TEXT NOT NULL); INSERT INTO weft_store VALUES (1, 0, 0, '', '')";
/// 1 when it is there.
inline constexpr const char* kHasOwner = "SELECT CASE WHEN to_regclass('weft_store') IS NULL THEN 0 ELSE 1 END";
/// Tables and views of anybody where ours would be made, also those that the role may not read; but for what an
/// extension brought.
inline constexpr const char* kCountTables =
    "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = "
    "current_schema() AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = "
    "'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')";
/// Where tables are looked for and made; empty when that is not there.
inline constexpr const char* kOwnSchema = "SELECT coalesce(current_schema(), '')";
/// The first schema that search_path names, as SQL writes it, and 1 where it is there.
inline constexpr const char* kFirstOfPath =
    "SELECT quote_ident(name), CASE WHEN EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = name) THEN 1 ELSE 0 END "
    "FROM (SELECT CASE first WHEN '$user' THEN current_user::TEXT ELSE first END AS name FROM (SELECT "
    "btrim(split_part(current_setting('search_path'), ',', 1), ' \"') AS first) AS path) AS named";
/// The role that the connection acts as.
inline constexpr const char* kRole = "SELECT current_user";
/// What the role may do beyond its own schema: "SUPERUSER, CREATEDB"; empty: nothing.
inline constexpr const char* kMoreRights =
    "SELECT concat_ws(', ', CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END, "
    "CASE WHEN rolcreatedb THEN 'CREATEDB' END, CASE WHEN rolreplication THEN 'REPLICATION' END, "
    "CASE WHEN rolbypassrls THEN 'BYPASSRLS' END) FROM pg_roles WHERE rolname = current_user";
/// 1 where the server's list of connections has ours by the name that name_connection() gave it.
inline constexpr const char* kIsNamed =
    "SELECT CASE WHEN current_setting('application_name') LIKE 'weftd %/% store' THEN 1 ELSE 0 END";
/// The lease's connection of another weftd of the same shard, or of none: "host/123", and the seconds since it last
/// asked anything, and what kSees had then. The newest of several.
inline constexpr const char* kStandby =
    "SELECT split_part(application_name, ' ', 2), greatest(extract(epoch FROM clock_timestamp() - state_change), "
    "0)::DOUBLE PRECISION, coalesce(substring(query from ' /[*] sees ([-+,0-9a-f]+) [*]/$'), '') FROM "
    "pg_stat_activity, "
    "(SELECT current_setting('application_name')) AS own (name) WHERE "
    "datname = current_database() AND usename = current_user AND state_change IS NOT NULL AND application_name LIKE "
    "'weftd %/% lease' AND split_part(application_name, ' ', 2) <> split_part(own.name, ' ', 2) AND "
    "regexp_replace(application_name, '^weftd [^ ]+ (.*)lease$', '\\1') = regexp_replace(own.name, '^weftd [^ ]+ "
    "(.*)store$', '\\1') ORDER BY state_change DESC LIMIT 1";
/// The server's version as 150007, and as people know it.
inline constexpr const char* kServerVersion = "SELECT current_setting('server_version_num')::bigint";
inline constexpr const char* kServerVersionText = "SELECT current_setting('server_version')";
/// 1 when texts are kept as UTF-8.
inline constexpr const char* kIsUtf8 = "SELECT CASE current_setting('server_encoding') WHEN 'UTF8' THEN 1 ELSE 0 END";
/// 1 where a commit waits until a standby has it, as far as the server's settings tell.
inline constexpr const char* kWaitsForStandby =
    "SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN 0 ELSE 1 END";
/// What it means where it does not.
inline constexpr const char* kNoStandby =
    "synchronous_standby_names is empty: a commit waits for no standby, so a fail-over of the database may lose what "
    "weftd has confirmed in the last moments";
/// Of the migrations.
inline constexpr const char* kVersion = "SELECT version FROM weft_store";
/// See kVersion.
inline constexpr const char* kSetVersion = "UPDATE weft_store SET version = ?";
/// The beat of the weftd that has the database, in a row of its own: it waits for no transaction. `n` grows each
/// second; `since` is when it took the database, in nanoseconds since 1970 by its clock; `address` is where it is
/// asked.
inline constexpr const char* kCreateBeat =
    "CREATE TABLE weft_beat (one BIGINT PRIMARY KEY CHECK (one = 1), epoch BIGINT NOT NULL, n BIGINT NOT NULL, "
    "since BIGINT NOT NULL, address TEXT NOT NULL); INSERT INTO weft_beat SELECT 1, epoch, 0, 0, '' FROM weft_store";
/// 1 when it is there.
inline constexpr const char* kHasBeat = "SELECT CASE WHEN to_regclass('weft_beat') IS NULL THEN 0 ELSE 1 END";
/// A weftd takes the database, whoever has it. Both rows change together, always in this order.
inline constexpr const char* kTakeBeat = "UPDATE weft_beat SET epoch = epoch + 1, n = n + 1, since = 0, address = ''";
/// See kTakeBeat.
inline constexpr const char* kTake = "UPDATE weft_store SET epoch = epoch + 1, holder = ? RETURNING epoch";
/// The same, only if nobody did or beat meanwhile: parameters new epoch, since, address, epoch, n.
inline constexpr const char* kTakeBeatIf =
    "UPDATE weft_beat SET epoch = ?, n = n + 1, since = ?, address = ? WHERE epoch = ? AND n = ?";
/// See kTakeBeatIf. Parameters: new epoch, holder, epoch.
inline constexpr const char* kTakeIf = "UPDATE weft_store SET epoch = ?, holder = ? WHERE epoch = ?";
/// The weftd that has it gives itself a greater epoch. Parameters: new epoch, epoch.
inline constexpr const char* kRaiseBeatIf = "UPDATE weft_beat SET epoch = ?, n = n + 1 WHERE epoch = ?";
/// See kRaiseBeatIf.
inline constexpr const char* kRaiseIf = "UPDATE weft_store SET epoch = ? WHERE epoch = ?";
/// A database that nobody has gets an epoch that is not below the parameter.
inline constexpr const char* kLiftBeat = "UPDATE weft_beat SET epoch = ?1 WHERE epoch < ?1";
/// See kLiftBeat.
inline constexpr const char* kLift = "UPDATE weft_store SET epoch = ?1 WHERE epoch < ?1";
/// One more beat; no row is changed when another weftd has taken the database. Parameters: epoch, since. Where two
/// servers took writes each may have been taken with the same epoch: `since` tells whose this one is.
inline constexpr const char* kBeat = "UPDATE weft_beat SET n = n + 1 WHERE epoch = ? AND since = ?";
/// The weftd of that epoch gives the database back.
inline constexpr const char* kRelease = "UPDATE weft_store SET holder = '' WHERE epoch = ?";
/// Another text for each database, also for a copy of it, but the same on all servers that replicate it (PostgreSQL 15
/// documentation, 9.27.12, pg_control_system()).
inline constexpr const char* kIdentity =
    "SELECT system_identifier || '.' || oid FROM pg_control_system(), pg_database WHERE datname = current_database()";
/// The first column of kIdentity without the database, and the timeline in eight hexadecimal digits: it is another
/// after each promotion (PostgreSQL 15 documentation, 26.3.5 and 9.27.3).
inline constexpr const char* kTimeline =
    "SELECT system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()";
/// Who has it, how far it has beaten, and the mark of the last transaction.
inline constexpr const char* kLook =
    "SELECT weft_beat.epoch, n, holder, address, since, mark FROM weft_store, weft_beat";
/// Behind kLook, with sight_text() of a standby: the leader reads that in the server's list of connections. No feature
/// of a session is used (see postgres_connection.hpp). An older weftd said "sees the fabrics" in its place, which told
/// nobody which: that counts for nothing.
inline constexpr std::array<std::string_view, 2> kSees{" /* sees ", " */"};
/// Who has it now.
inline constexpr const char* kHolder = "SELECT holder FROM weft_store";
/// The mark of the last transaction of the epoch that follows here; no row: the database is of another one.
inline constexpr std::string_view kMarkOfEpoch = "SELECT mark FROM weft_store WHERE epoch = ";
/// The mark of the last transaction that stayed. Waits for one that is still being committed; and because it writes,
/// its own COMMIT waits until a standby has that one, too.
inline constexpr const char* kLastMark = "UPDATE weft_store SET mark = mark RETURNING mark";

/// A transaction waits until no other has said this; a lock of the transaction, so that a pooler may stand between.
inline constexpr const char* kOneAtATime = "SELECT pg_advisory_xact_lock(8313759)";
/// How many schemas have that name.
inline constexpr const char* kHasSchema = "SELECT count(*) FROM pg_namespace WHERE nspname = ?";
/// 1 when there is a table of that name.
inline constexpr const char* kHasTable = "SELECT CASE WHEN to_regclass(?) IS NULL THEN 0 ELSE 1 END";
/// The tables of a site: see site_table.hpp. `given` has every number that was given, with the shard that has or had
/// it, also of one that was taken out; no shard: nobody ever used it. `last_number` is never lowered. `has_led`: a
/// weftd of the shard has led; those of a site that is older have. `seat` is where a weftd is, `machine` see
/// loopback_name().
inline constexpr const char* kCreateSite =
    "CREATE TABLE IF NOT EXISTS weft_site.site (one BIGINT PRIMARY KEY CHECK (one = 1), first_id BIGINT NOT NULL, "
    "elder TEXT NOT NULL, last_number BIGINT NOT NULL); "
    "INSERT INTO weft_site.site VALUES (1, 1, '', 0) ON CONFLICT DO NOTHING; "
    "CREATE TABLE IF NOT EXISTS weft_site.shard (name TEXT COLLATE \"C\" PRIMARY KEY, number BIGINT NOT NULL UNIQUE, "
    "has_led BOOLEAN NOT NULL DEFAULT true); "
    "CREATE TABLE IF NOT EXISTS weft_site.given (number BIGINT PRIMARY KEY, shard TEXT COLLATE \"C\" UNIQUE); "
    "INSERT INTO weft_site.given SELECT number, name FROM weft_site.shard ON CONFLICT DO NOTHING; "
    "CREATE TABLE IF NOT EXISTS weft_site.weftd (shard TEXT COLLATE \"C\" NOT NULL REFERENCES weft_site.shard ON "
    "DELETE CASCADE, seat TEXT NOT NULL, machine TEXT NOT NULL, address TEXT NOT NULL, holder TEXT NOT NULL, epoch "
    "BIGINT NOT NULL, fabrics TEXT NOT NULL, collectors TEXT NOT NULL, updated TIMESTAMPTZ NOT NULL, switches TEXT NOT "
    "NULL DEFAULT '', PRIMARY KEY (shard, seat))";
/// Columns that the tables of an older weftd lack: the table, the statement that adds it, and 1 where the role may.
/// Even where it is there ALTER TABLE ... IF NOT EXISTS waits until nobody reads the table, as a backup does, and all
/// others wait behind it.
inline constexpr const char* kMissingOfSite =
    "SELECT 'weft_site.' || wanted.name, 'ALTER TABLE weft_site.' || wanted.name || ' ADD COLUMN IF NOT EXISTS ' || "
    "wanted.field || wanted.kind, CASE WHEN pg_has_role(pg_class.relowner, 'USAGE') THEN 1 ELSE 0 END FROM (VALUES "
    "('shard', 'has_led', ' BOOLEAN NOT NULL DEFAULT true'), ('weftd', 'switches', ' TEXT NOT NULL DEFAULT ''''')) AS "
    "wanted (name, field, kind) JOIN pg_class ON pg_class.oid = to_regclass('weft_site.' || wanted.name) WHERE NOT "
    "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = wanted.field AND NOT attisdropped)";
/// For ALTER TABLE: who waits for it holds up all others. And for whoever only looks.
inline constexpr const char* kWaitShortly = "SET LOCAL lock_timeout = '500ms'";
/// What commits wait for, in words, where one of this database has waited for half a second for a standby, as far as
/// the role is told of other sessions (pg_monitor tells it of all). Parameter: 1 where that is known. No row: none
/// does.
inline constexpr const char* kAwaitedStandby =
    "SELECT CASE WHEN (SELECT count(*) FROM pg_stat_replication) = 0 THEN 'its commits wait for a synchronous standby "
    "that is not connected (pg_stat_replication): start it' ELSE 'its commits wait for a synchronous standby, and none "
    "that is connected confirms them (pg_stat_replication, synchronous_standby_names)' END WHERE "
    "current_setting('synchronous_standby_names') <> '' AND (?::BIGINT = 1 OR EXISTS (SELECT 1 FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval "
    "'500 ms'))";
/// Who uses tables of the own schema, and of the site, or holds the lock of kOneAtATime: "its tables are in use:
/// pg_dump, process 123; …". Parameters: the process of the server that waited for a lock; the schema: a shard's, that
/// of the site, or empty for a weftd of no site; the table with the row that it waited for, empty: not known; 1 where
/// it changes tables. Who only reads is named when nobody does more: only a change of tables waits for that. Who only
/// writes rows is in the way of such a change, and of whoever wants one of these rows: named, else, when nobody locks a
/// whole table (PostgreSQL 15 documentation, table 13.2). Who waits for one of these locks himself is not named, also
/// where he holds the place of the next (a lock of a tuple, 53.13 pg_locks): who has that lock is. A row is waited for
/// as the transaction that has it, which does not tell the table: it is one of these if the other one uses them. Who
/// waits for anything else holds up all others as long, and is named. Who waits for a standby is not: what it did is
/// done here, and to end it loses that there.
inline constexpr const char* kUsers =
    "WITH locks AS MATERIALIZED (SELECT pid, granted, locktype, mode, transactionid, relname, nspname, classid, objid "
    "FROM pg_locks LEFT JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_namespace ON pg_namespace.oid = "
    "relnamespace), ours AS (SELECT * FROM locks WHERE (?3::TEXT = '' OR relname = ?3) AND ((?2::TEXT <> 'weft_site' "
    "AND nspname = current_schema()) OR (?2 <> '' AND (nspname = 'weft_site' OR (locktype = 'advisory' AND classid = 0 "
    "AND objid = 8313759))))), waiting AS (SELECT pid FROM ours WHERE NOT granted UNION SELECT awaited.pid FROM locks "
    "AS awaited JOIN locks AS held ON held.transactionid = awaited.transactionid AND held.granted JOIN ours ON "
    "ours.pid = held.pid AND ours.granted WHERE NOT awaited.granted) "
    "SELECT string_agg(said, '; ' ORDER BY said) FROM (SELECT what || ' in use: ' || string_agg(DISTINCT who, '; ') AS "
    "said FROM (SELECT CASE WHEN nspname = current_schema() THEN 'its tables are' ELSE 'the tables of the site are' "
    "END AS what, coalesce(nullif(left(application_name, 64), ''), 'somebody') || ', process ' || ours.pid AS who, "
    "mode = 'AccessShareLock' AS reads, bool_and(mode = 'AccessShareLock') OVER () AS all_read, "
    "mode ~ '^(Share|ShareRowExclusive|Exclusive|AccessExclusive)Lock$' AS of_table, "
    "bool_or(mode ~ '^(Share|ShareRowExclusive|Exclusive|AccessExclusive)Lock$') OVER () AS any_of_table FROM ours "
    "JOIN pg_stat_activity ON pg_stat_activity.pid = ours.pid WHERE granted AND datname = current_database() AND "
    "ours.pid NOT IN (pg_backend_pid(), ?1::BIGINT) AND wait_event IS DISTINCT FROM 'SyncRep' AND locktype <> 'tuple' "
    "AND ours.pid NOT IN (SELECT pid FROM waiting WHERE pid IS NOT NULL)) AS held WHERE "
    "(all_read OR NOT reads) AND (?4::BIGINT = 1 OR of_table OR NOT any_of_table) GROUP BY what) AS all_of_them";
/// Parameters: seat, machine, address, holder, epoch, fabrics, collectors, switches, shard, number. Changes no row
/// where the site does not list that shard. Times are the server's.
inline constexpr const char* kTellSite =
    "INSERT INTO weft_site.weftd (shard, seat, machine, address, holder, epoch, fabrics, collectors, switches, "
    "updated) "
    "SELECT name, ?::TEXT, ?::TEXT, ?::TEXT, ?::TEXT, ?::BIGINT, ?::TEXT, ?::TEXT, ?::TEXT, now() FROM weft_site.shard "
    "WHERE name = ? AND number = ? ON CONFLICT (shard, seat) DO UPDATE SET machine = "
    "excluded.machine, address = excluded.address, holder = excluded.holder, epoch = excluded.epoch, fabrics = "
    "excluded.fabrics, collectors = excluded.collectors, switches = excluded.switches, updated = excluded.updated";
/// The weftd at that seat of the shard has ended: what it owned counts no more. Parameters: shard, seat.
inline constexpr const char* kLeaveSite =
    "UPDATE weft_site.weftd SET updated = least(updated, now() - interval '150 seconds') WHERE shard = ? AND seat = ?";
/// Parameters: name, epoch.
inline constexpr const char* kNoteLeader =
    "UPDATE weft_site.shard SET has_led = true WHERE name = ? AND NOT has_led AND ?::BIGINT > 0";
/// Of that shard, but never all: a shard that is stopped stays known.
inline constexpr const char* kForgetMembers =
    "DELETE FROM weft_site.weftd WHERE shard = ? AND updated < now() - interval '1 hour'";
/// Takes a shard out, unless a weftd at another seat has told of it. Parameters: name, number, seat.
inline constexpr const char* kTakeOut =
    "DELETE FROM weft_site.shard WHERE name = ? AND number = ? AND NOT EXISTS (SELECT 1 FROM weft_site.weftd WHERE "
    "shard = name AND seat <> ?)";
/// All shards with what their weftd tell, a leader's first, the newest of those that led; then those that spoke last.
/// What is longer than a weftd would tell is not read, and of a shard 64 weftd are: name, number, address, holder,
/// epoch, fabrics, collectors, machine, 1 where no weftd of the shard has led yet, 1 where that weftd spoke lately,
/// switches, 1 where something was too long. Two columns may be missing in the tables of an older weftd.
inline constexpr const char* kReadMembers =
    "SELECT s.name, s.number, CASE WHEN octet_length(m.address) <= 300 THEN m.address ELSE '' END, "
    "coalesce(left(m.holder, 300), ''), coalesce(m.epoch, 0), "
    "CASE WHEN octet_length(m.fabrics) <= 65536 THEN m.fabrics ELSE '' END, "
    "CASE WHEN octet_length(m.collectors) <= 2560000 THEN m.collectors ELSE '' END, "
    "coalesce(left(m.machine, 300), ''), CASE WHEN to_jsonb(s) ->> 'has_led' = 'false' THEN 1 ELSE 0 END, "
    "CASE WHEN m.updated > now() - interval '150 seconds' THEN 1 ELSE 0 END, "
    "coalesce(left(to_jsonb(m) ->> 'switches', 65536), ''), "
    "CASE WHEN octet_length(m.address) > 300 OR octet_length(m.fabrics) > 65536 OR octet_length(m.collectors) > "
    "2560000 "
    "THEN 1 ELSE 0 END FROM weft_site.shard s LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY shard ORDER BY "
    "epoch "
    "DESC, updated DESC) AS place FROM weft_site.weftd) m ON m.shard = s.name AND m.place <= 64 ORDER BY s.name, "
    "m.place";
/// The shard whose schema is the own one; see shard_schema().
inline constexpr const char* kShardOfSchema =
    "SELECT shard FROM weft_site.given WHERE 'weft_shard_' || shard = current_schema()";
/// 1 where tables may be made in the own schema.
inline constexpr const char* kMayMakeTables =
    "SELECT CASE WHEN has_schema_privilege(current_schema(), 'CREATE') THEN 1 ELSE 0 END";

/// Version of the tables of a history that is shared, beside those of the state; see history_schema().
inline constexpr const char* kCreateHistoryVersion =
    "CREATE TABLE IF NOT EXISTS weft_history (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL); "
    "INSERT INTO weft_history VALUES (1, 0) ON CONFLICT DO NOTHING";
/// See kCreateHistoryVersion.
inline constexpr const char* kHistoryVersion = "SELECT version FROM weft_history";
/// See kCreateHistoryVersion.
inline constexpr const char* kSetHistoryVersion = "UPDATE weft_history SET version = ?";
/// 1 where a shared history has its tables.
inline constexpr const char* kHasHistory = "SELECT CASE WHEN to_regclass('weft_history') IS NULL THEN 0 ELSE 1 END";
/// Room that a shared history takes, with what deleted rows leave until the server cleans up.
inline constexpr const char* kHistoryBytes =
    "SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::BIGINT FROM (VALUES ('port'), ('moment'), "
    "('chunk'), ('gauge_chunk'), ('hour'), ('hour_chunk'), ('hour_gauge'), ('fec_baseline')) AS history (name)";
/// Behind kBegin, in a transaction of history: it may lose its last moments. A row: the epoch that follows here is that
/// of the database.
inline constexpr const char* kBeginHistory =
    "SET LOCAL synchronous_commit = off; SELECT 1 FROM weft_store WHERE epoch = ";

/// After a copy: events are numbered from behind the last one.
inline constexpr const char* kCountOn =
    "SELECT setval(pg_get_serial_sequence('event', 'sequence'), coalesce(max(sequence), 0) + 1, false) FROM event";

/// As kBegin, while tables are made, or changed: a weftd that hangs meanwhile holds up the starts of others for so long
/// at most. The server gives up before we do (PostgresConnection::kLongestAtFirst), and leaves nobody waiting.
inline constexpr const char* kBeginSetUp =
    "BEGIN; SET LOCAL statement_timeout = '55s'; SET LOCAL lock_timeout = '3s'; SET LOCAL "
    "idle_in_transaction_session_timeout = '10s'; "
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', "
    "'local')";
/// Begins a transaction that ends with the server, too, when we do not end it; what it writes is on disk when it is
/// committed, even if the server's own setting says otherwise. Bounds are of the connection: see
/// postgres_connection.hpp.
/// A weftd that hangs within a transaction holds the row that a takeover changes: for a shorter time than that waits.
inline constexpr const char* kBegin =
    "BEGIN; SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '3s'; SET LOCAL "
    "idle_in_transaction_session_timeout = '4s'; "
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', "
    "'local')";
/// The same bounds in a transaction that is one statement and comes with it: the server gives up before we do, so that
/// it says why, and nothing of ours is left in the queue of a lock.
inline constexpr const char* kBoundAlone =
    "SELECT set_config('statement_timeout', '5s', true), set_config('lock_timeout', '3s', true)";
/// See kBoundAlone; as kBeginSetUp.
inline constexpr const char* kBoundSetUp =
    "SELECT set_config('statement_timeout', '55s', true), set_config('lock_timeout', '3s', true)";
/// The same for what the lease asks, also behind kBegin: two locks within PostgresConnection::kLongestOfLease.
inline constexpr const char* kBoundOfLease =
    "SELECT set_config('statement_timeout', '5s', true), set_config('lock_timeout', '800ms', true)";
/// The first statement of a transaction that writes, behind kBegin. No row is changed when another weftd has taken the
/// database. `mark` has digits and dots alone.
std::string mark(std::string_view mark, std::int64_t epoch);

}  // namespace weft::store::postgres
