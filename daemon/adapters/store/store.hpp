// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftd remembers across restarts. One small interface; SQLite or PostgreSQL stands behind it.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/acceptance.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/clock_memory.hpp"
#include "fabric/counters.hpp"
#include "fabric/enroll_token.hpp"
#include "fabric/id_series.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/plan.hpp"
#include "fabric/port_gauges.hpp"
#include "fabric/result.hpp"
#include "fabric/standby_view.hpp"
#include "fabric/sweep.hpp"

namespace weft::store {

/// Something that happened to an incident. Only ever added.
struct Event {
  TimePoint at = kNever;
  std::uint64_t incident = 0;
  std::string what;  ///< "opened", "updated", "severity raised", "resolved", "reopened", "acknowledged", "silenced"
  std::string who;   ///< a person's name; empty for weftd itself
  std::string detail;
  bool operator==(const Event&) const = default;
};

/// A node that was seen at some time.
struct KnownNode {
  NodeGuid guid;
  NodeType type = NodeType::kUnknown;
  std::string name;
  std::string description;
  TimePoint first_seen = kNever;
  TimePoint last_seen = kNever;  ///< to the hour
};

/// How far the collector of a host was heard, and what must not be forgotten of what it told.
struct CollectorMark {
  std::string host;
  std::uint64_t spool = 0;     ///< of which `sequence` counts
  std::uint64_t sequence = 0;  ///< of the last batch taken
  std::uint64_t batches = 0;   ///< taken, ever
  std::uint64_t late = 0;      ///< of those, late
  std::uint64_t lost = 0;      ///< that never came
  TimePoint first_seen = kNever;
  TimePoint last_seen = kNever;
  std::optional<std::vector<HostFlapState>> flaps;  ///< of its ports; none: as they are stored, if any are
  /// That hold its host; none: as they are stored, or not known.
  std::optional<std::vector<std::string>> jobs{};
  std::uint64_t adapters = 0;  ///< of adapters_of(); 0: not known
  /// Ports of its host that were up; none: as they are stored, if any are.
  std::optional<std::vector<HostPortSeen>> ports{};
  /// What was in its ports; none: as it is stored, if anything is.
  std::optional<std::vector<PortStay>> stays{};
  bool operator==(const CollectorMark&) const = default;
};

/// What FabricAnalyzer::restore() wants, for one fabric.
struct FabricMemory {
  std::string fabric;
  AnalyzerState state;
  TimePoint seen = kNever;  ///< when a sweep last reached one of its nodes, some hours ago at most where one did since
};

/// What Store::restore() gives.
struct Restored {
  std::vector<Incident> incidents;  ///< ascending by id
  IdSeries incident_ids{};          ///< of those to come, even if their predecessors are deleted
  std::array<std::uint64_t, static_cast<std::size_t>(IncidentKind::kCount)> opened{};  ///< opened or re-opened, ever
  std::vector<FabricMemory> fabrics;
  std::vector<CollectorMark> collectors;      ///< sorted by host
  MaintenanceList maintenance{};              ///< ascending by id
  IdSeries maintenance_ids{};                 ///< of those to come
  std::map<std::string, std::string> told{};  ///< by receiver of events, as save_told() was given it; not of look()
  AcceptanceList acceptances{};               ///< ascending by id
  IdSeries acceptance_ids{};                  ///< of those to come
};

/// The audit trail as it was found whole.
struct AuditProof {
  std::uint64_t records = 0;
  std::string last_hash;  ///< of the last record; 64 zeros when there is none
  bool operator==(const AuditProof&) const = default;
};

/// How the store itself is doing. Readable from any thread.
struct StoreStatus {
  bool ok = true;
  std::string message = "ok";         ///< "ok", or what is not written and why
  std::size_t incidents_waiting = 0;  ///< not on disk yet; tried again with each save, catch_up and maintain
  std::uint64_t history_written = 0;  ///< moments written since start
  std::uint64_t history_dropped = 0;  ///< moments that could not be written
  std::uint64_t history_bytes = 0;    ///< room that history takes now
  std::uint64_t events_dropped = 0;   ///< events given up because too many waited
  /// What a person should know of how the database is set up, one text for each thing. As it was at the start.
  std::vector<std::string> cautions{};
  /// How often the database was found without what it had confirmed: what is in memory is to be stored once more.
  std::uint64_t losses = 0;
  bool is_taken =
      false;  ///< another weftd leads with this database: a write was refused for that, and so is each later
};

/// Everything blocks: call it on one lane. status() alone may be called from anywhere.
class Store {
 public:
  virtual ~Store() = default;

  /// All that a new weftd needs: incidents that are open or were resolved after `resolved_since`, planned work that is
  /// not over or was over after it, and the rest.
  virtual Result<Restored> restore(TimePoint resolved_since) = 0;

  /// When this returns success they are on disk for good, whatever happens to the process or the machine. On failure
  /// they are kept in memory, newest revision of each, and written by the next call that succeeds; it is fine to go on.
  virtual Result<void> save_incidents(std::span<const Incident> incidents, std::span<const Event> events) = 0;
  /// What happened to one incident, oldest first.
  virtual Result<std::vector<Event>> events(std::uint64_t incident) = 0;

  /// Adds the window, or replaces the one of its id. When this returns success it is on disk for good; on failure
  /// nothing changed.
  virtual Result<void> save_maintenance(const MaintenanceWindow& window) = 0;

  /// Adds the run with its report, or replaces the one of its id; `forgotten` ones are not there any more. When this
  /// returns success it is on disk for good; on failure nothing changed.
  virtual Result<void> save_acceptance(const AcceptanceRun& run, std::span<const std::uint64_t> forgotten) = 0;

  /// Replace what is stored of a fabric by this; only differences are written. On failure nothing changed: call again.
  virtual Result<void> save_links(std::string_view fabric, std::span<const KnownLink> links) = 0;
  /// See save_links().
  virtual Result<void> save_conditions(std::string_view fabric, std::span<const FlapState> flaps,
                                       std::span<const ErrorState> errors) = 0;
  /// Replaces the baselines of the fabric. They are with the history: it may lose its last moments.
  virtual Result<void> save_fec_baselines(std::string_view fabric, std::span<const FecBaseline> baselines) = 0;
  /// Adds the nodes of `topology` to the inventory, or notes that they were seen at `now`.
  virtual Result<void> save_nodes(std::string_view fabric, const Topology& topology, TimePoint now) = 0;
  /// Stores `kept` under its name, but for its baselines; nodes at its links are no longer of `fabric`, but of that. On
  /// failure call again: it may be called any number of times.
  virtual Result<void> keep_apart(std::string_view fabric, const FabricMemory& kept) = 0;
  /// The inventory of a fabric: every node that was ever seen there.
  virtual Result<std::vector<KnownNode>> nodes(std::string_view fabric) = 0;

  /// When this returns success the marks are on disk for good, and so is every incident that save_incidents() was given
  /// before; `forgotten` hosts are not there any more. On failure nothing changed: call again.
  virtual Result<void> save_collectors(std::span<const CollectorMark> marks,
                                       std::span<const std::string> forgotten) = 0;

  /// What that receiver of events was told, in place of what was stored. On failure that stays.
  virtual Result<void> save_told(std::string_view receiver, std::string_view text) = 0;

  /// Plans that are not over, that ended after `ended_since`, that are in force or unresolved, or whose incident is
  /// open, however old.
  virtual Result<RemedyMemory> restore_remedies(TimePoint ended_since) = 0;
  /// All that changed about remedies, at once: writes each plan whole, in place of its older revision; how automation
  /// stands, unless `holds` is null; and adds the records to the audit trail, whose `sequence` and `hash` are not read
  /// but made here. When this returns success all of it is on disk for good, whatever happens to the process or the
  /// machine, and so is every incident that save_incidents() was given before. On failure nothing changed: call again.
  /// kCorrupt when the end of the trail is not what it was.
  virtual Result<void> save_plans(std::span<const Plan> plans, const RemedyHolds* holds,
                                  std::span<const AuditRecord> records) = 0;
  /// What the wall clock showed when save_clock() was last called; ClockMemory{} when it never was.
  virtual Result<ClockMemory> restore_clock() = 0;
  /// Takes the place of what was stored. On failure that stays.
  virtual Result<void> save_clock(const ClockMemory& memory) = 0;
  /// The tokens of collectors that expire after `now`, sorted by node.
  virtual Result<std::vector<EnrollToken>> enroll_tokens(TimePoint now) = 0;
  /// The token whose secret has that hash, expired or not; none: there is no such token.
  virtual Result<std::optional<EnrollToken>> find_enroll_token(std::string_view hash) = 0;
  /// Adds the tokens, each in place of the one of its node, deletes those of `revoked` nodes, and adds the records to
  /// the audit trail as save_plans() does. When this returns success all of it is on disk for good; on failure nothing
  /// changed, or it is not known whether all of it did: the call may be made again.
  virtual Result<void> save_enroll_tokens(std::span<const EnrollToken> tokens, std::span<const std::string> revoked,
                                          std::span<const AuditRecord> records) = 0;
  /// The newest `limit` records (at most kMostAuditRecords) with a sequence below `before` (0: the newest of all),
  /// ascending. What is read is checked against its hashes, its neighbours and the trail's end (see audit_table.hpp for
  /// what that proves): kCorrupt names the first bad sequence.
  virtual Result<std::vector<AuditRecord>> audit(std::uint64_t before, std::size_t limit) = 0;
  /// The same check of the whole trail: some microseconds for each record.
  virtual Result<AuditProof> verify_audit() = 0;

  /// Of a shared history a standby writes nothing.
  /// Offer every sweep: one in each history interval is taken, the others cost nothing. Gauges of its ports are those
  /// that the collectors on `hosts` (may be null) read. `heard`: when the sweep came, on a steady clock. A failure is
  /// counted in status() and the next moment covers the longer span. Time without sweeps is a gap.
  virtual Result<void> append_history(std::shared_ptr<const Sweep> sweep, HostListPtr hosts, Duration heard) = 0;
  /// The same where nobody sets the clock.
  Result<void> append_history(std::shared_ptr<const Sweep> sweep, HostListPtr hosts = nullptr) {
    const Duration heard = sweep ? sweep->finished.time_since_epoch() : Duration{};
    return append_history(std::move(sweep), std::move(hosts), heard);
  }

  /// Writes what waits; where nothing does but the last write failed, finds out whether it would now. For as soon as a
  /// database that was away answers again, and before the end. A standby does nothing.
  virtual Result<void> catch_up() { return {}; }

  /// Housekeeping in small steps: retries what waits, deletes what is too old or too much. True: there is more to do,
  /// call again soon. Call it once a minute otherwise.
  /// `clock`: the steps of the clock that `now` is of. Without them a clock that is set forward makes all old.
  virtual Result<bool> maintain(TimePoint now, const ClockMemory& clock) = 0;

  /// It was opened with StoreOptions::stands_by, and the lease was taken with this epoch: from now on it writes.
  virtual void lead(std::int64_t epoch) = 0;
  /// The part of restore() that a weftd that stands by shows: without what rules remember.
  virtual Result<Restored> look(TimePoint resolved_since) = 0;

  /// Who stands by for this weftd, as the database's server tells of its connections. None: there is no such server, or
  /// it does not tell, as behind a pooler. Fails as the database does.
  virtual Result<std::optional<StandbyView>> standby() { return std::nullopt; }

  /// May be called from any thread.
  virtual StoreStatus status() const = 0;
};

/// Records of one audit() at most.
inline constexpr std::size_t kMostAuditRecords = 10'000;

/// Intervals, retention and size limits of the store.
struct StoreOptions {
  Duration history_interval = std::chrono::seconds(60);
  Duration history_retention = std::chrono::hours(30 * 24);
  std::uint64_t max_history_bytes = 8ULL << 30;
  Duration incident_retention = std::chrono::hours(365 * 24);  ///< of plans that are over too; audit records are kept
  /// Plans that are over are kept at least so long, however short `incident_retention` is: some limit counts them.
  Duration plan_retention{};
  /// Where incidents, plans and the audit trail are: postgresql://… (see postgres_address.hpp), or empty for weft.db.
  std::string url{};
  /// With `url`: the database is not taken but read, and nothing is written there before Store::lead().
  bool stands_by = false;
  /// With `url`: port history is in that database, too, where the leader writes it; else in history.db. It is kept for
  /// `history_retention`, whatever room it takes.
  bool shares_history = false;
  /// With `url`: the part of the database that is this shard's (see site_table.hpp); empty: all of it is ours.
  std::string shard{};
  /// Told of what is no reason to refuse, of who is waited for, and of what people must know; may be empty.
  std::function<void(const std::string&)> on_caution{};
};

/// Opens history.db and, without `options.url`, weft.db in `state_dir`, made when missing, and keeps every other weftd
/// out of it while it lives. With `options.url`, and without `options.stands_by`, it takes that database: what another
/// weftd writes there afterwards fails. Refuses, with a sentence for the operator: a directory in use, unreadable or
/// unwritable; a database that is damaged, is none of ours or is newer than we are; a server that does not answer; a
/// directory that was used with another store (see store_mark.hpp). Nothing refused is changed.
Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& state_dir, const StoreOptions& options);

/// Whether open_store() could take the database of `options.url`, in words: "postgresql://… is reachable, with schema
/// version 14", with what a person should know: a server of several that could not be used is no failure, for it may be
/// down on purpose. Empty without an url. Nothing is changed. kTimeout, after some seconds, says who holds a lock that
/// it needs.
Result<std::string> check_store(const std::filesystem::path& state_dir, const StoreOptions& options);

/// One database, as a start of this weftd would find it.
struct DatabaseVersion {
  std::string name;         ///< a path, or an address without a password
  std::uint32_t found = 0;  ///< version of its schema; 0: it is not there yet
  std::uint32_t known = 0;  ///< what this weftd brings it to
  bool has_log = false;     ///< of a file: it may be in use, so that nobody looked for damage in it
};

/// Those that open_store() would open, weft.db or the database of `options.url` first. Fails as open_store(), also for
/// damage, but of a file that has a log; kUnavailable where we may not look whether there is a file. Nothing is
/// changed; a weftd may be using them.
Result<std::vector<DatabaseVersion>> database_versions(const std::filesystem::path& state_dir,
                                                       const StoreOptions& options);

}  // namespace weft::store
