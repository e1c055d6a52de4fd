// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sql_store.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "daemon/adapters/store/acceptance_table.hpp"
#include "daemon/adapters/store/audit_table.hpp"
#include "daemon/adapters/store/clock_table.hpp"
#include "daemon/adapters/store/collector_table.hpp"
#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/enroll_table.hpp"
#include "daemon/adapters/store/history_hours.hpp"
#include "daemon/adapters/store/incident_table.hpp"
#include "daemon/adapters/store/maintenance_table.hpp"
#include "daemon/adapters/store/memory_table.hpp"
#include "daemon/adapters/store/plan_table.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/state_dir.hpp"
#include "daemon/adapters/store/store_check.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "daemon/adapters/store/use_marks.hpp"

namespace weft::store {
namespace {

constexpr std::size_t kMostWaitingEvents = 10'000;
/// Of one transaction: it holds the row that a takeover changes.
constexpr std::size_t kMostIncidentsAtOnce = 1'000;
constexpr std::int64_t kDeletedAtOnce = 200;

/// What was read, or why it could not be.
template <typename Value>
Result<Value> as_read(Database& database, Value value) {
  if (auto outcome = database.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return value;
}

/// How many of `records` are those that are stored already, from the first on.
std::size_t stored_in_front(std::span<const AuditRecord> records, std::span<const AuditRecord> stored) {
  // Their sequence and hash are made when they are added.
  const auto same = [](const AuditRecord& a, const AuditRecord& b) {
    return std::tie(a.at, a.who, a.what, a.plan, a.incident, a.detail) ==
           std::tie(b.at, b.who, b.what, b.plan, b.incident, b.detail);
  };
  std::size_t count = 0;
  while (count < records.size() && count < stored.size() && same(records[count], stored[count])) ++count;
  return count;
}

Result<Database> open_state(const std::filesystem::path& state_dir, const StoreOptions& options) {
  const std::string url = shard_url(options.url, options.shard);
  if (url.empty()) {
    if (auto checked = check_mark_for_file(state_dir); !checked) return tl::unexpected<Error>(checked.error());
    return open_database(state_dir / "weft.db", state_schema());
  }
  const auto found = wait_for_others(options.on_caution, [&] { return look_at_postgres(url, state_schema()); });
  if (!found) return tl::unexpected<Error>(found.error());
  if (auto checked = check_postgres(state_dir, options, *found); !checked)
    return tl::unexpected<Error>(checked.error());
  const auto moved = moved_from(state_dir, *found);
  if (moved && !moved->empty() && options.on_caution) options.on_caution(*moved);
  const Opening opening = options.stands_by ? Opening::kFollow : Opening::kTake;
  auto database = open_postgres(url, state_schema(), opening, options.on_caution);
  if (!database) return database;
  const std::string installation = read_installation(*database);
  if (auto outcome = database->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  const auto written = write_mark(state_dir, installation, database->name(), found->epoch);
  return written.map([&database] { return std::move(*database); });
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& state_dir, const StoreOptions& options) {
  return SqlStore::open(state_dir, options);
}

Result<std::unique_ptr<SqlStore>> SqlStore::open(const std::filesystem::path& state_dir, const StoreOptions& given) {
  StoreOptions options = given;
  options.shares_history = given.shares_history && !given.url.empty();
  auto lock = lock_state_dir(state_dir);
  if (!lock) return tl::unexpected<Error>(lock.error());
  SitePlace place;
  if (!options.url.empty() && !options.shard.empty()) {
    if (auto checked = check_new_shard(state_dir, options); !checked) return tl::unexpected<Error>(checked.error());
    auto joined = join_site(options.url, options.shard, options.on_caution);
    if (!joined) return tl::unexpected<Error>(joined.error());
    place = *joined;
  }
  auto state = open_state(state_dir, options);
  if (!state) return tl::unexpected<Error>(state.error());
  if (state->number("SELECT count(*) FROM copying") > 0) state->fail(ErrorCode::kFailedPrecondition, kUnfinishedCopy);
  if (auto outcome = state->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  std::vector<std::string> cautions;
  if (!options.url.empty()) cautions = cautions_of(*state);
  if (auto outcome = state->outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  auto history = options.shares_history ? open_postgres_history(shard_url(options.url, options.shard))
                                        : open_database(state_dir / "history.db", history_schema());
  if (!history) return tl::unexpected<Error>(history.error());
  std::unique_ptr<SqlStore> store(
      new SqlStore(std::move(*lock), state_dir, std::move(*state), std::move(*history), options, place));
  store->figures_.cautions = std::move(cautions);
  if (store->leads_ && options.shares_history)
    store->lead_history(store->state_.number("SELECT epoch FROM weft_store"));
  store->publish_status();
  return store;
}

void SqlStore::lead(std::int64_t epoch) {
  state_.connection().lead(epoch);
  leads_ = true;
  epoch_ = epoch;
  is_use_noted_ = false;
  lead_history(epoch);
}

// Incidents are led all the same: history says what is wrong in the status of the store.
void SqlStore::lead_history(std::int64_t epoch) {
  if (!options_.shares_history) return;
  history_.forget();
  history_.database().connection().lead(epoch);
  has_history_ = false;
  const auto made = make_history();
  history_problem_ = made ? "" : made.error().message;
  figures_.history_bytes = history_.bytes();
  static_cast<void>(history_.database().outcome());
}

Result<void> SqlStore::make_history() {
  if (!options_.shares_history || has_history_) return {};
  auto made = make_history_tables(history_.database());
  has_history_ = made.has_value();
  return made;
}

Result<std::optional<StandbyView>> SqlStore::standby() {
  if (options_.url.empty()) return std::nullopt;
  return as_read(state_, standby_of(state_));
}

Result<Restored> SqlStore::look(TimePoint resolved_since) {
  Restored restored{read_incidents(state_, resolved_since),
                    place_.ids(std::max(read_next_incident_id(state_), shown_before())),
                    read_opened(state_),
                    {},
                    read_collectors(state_),
                    read_maintenance(state_, resolved_since),
                    place_.ids(read_next_maintenance_id(state_))};
  acceptances_ = read_acceptances(state_, acceptances_);
  restored.acceptances = acceptances_;
  restored.acceptance_ids = place_.ids(read_next_acceptance_id(state_));
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return restored;
}

Result<Restored> SqlStore::restore(TimePoint resolved_since) {
  auto found = look(resolved_since);
  if (!found) return found;
  Restored& restored = *found;
  restored.fabrics = read_memories(state_);
  Statement told(state_, "SELECT receiver, text FROM told");
  told.query();
  while (told.next()) restored.told.emplace(told.text(0), told.text(1));
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  // Without them the rules learn anew.
  read_fec_baselines(history_.database(), restored.fabrics);
  static_cast<void>(history_.database().outcome());
  return found;
}

Result<void> SqlStore::save_incidents(std::span<const Incident> incidents, std::span<const Event> events) {
  for (const Incident& incident : incidents) waiting_.insert_or_assign(incident.id, incident);
  waiting_events_.insert(waiting_events_.end(), events.begin(), events.end());
  while (waiting_events_.size() > kMostWaitingEvents) {
    waiting_events_.pop_front();
    if (unsettled_events_ > 0) --unsettled_events_;
    ++figures_.events_dropped;
  }
  return write_waiting();
}

template <typename Body>
Result<void> SqlStore::write(const Body& body) {
  state_.require_in_place();
  Transaction transaction(state_);
  if (const auto stayed = state_.connection().take_settled()) take_account(*stayed);
  if (state_.connection().take_loss()) {
    ++figures_.losses;
    publish_status();
  }
  if (!is_use_noted_) note_use();
  body();
  auto done = transaction.commit();
  if (done) is_use_noted_ = true;
  if (!done && done.error().code == ErrorCode::kFailedPrecondition) {
    figures_.is_taken = true;
    publish_status();
  }
  return done;
}

// The directory knows the epoch, too: the database may be restored from a backup, and then knows a lesser one.
void SqlStore::note_use() {
  const std::string uses = add_use(read_uses(state_));
  Statement(state_, "UPDATE last_use SET mark = ?1, epoch = CASE WHEN epoch < ?2 THEN ?2 ELSE epoch END")
      .run(uses, epoch_);
  if (epoch_ == 0 || state_.failed()) return;
  const std::string installation = read_installation(state_);
  // Without room on its disk the world still has marks with the epoch.
  if (!state_.failed()) static_cast<void>(write_mark(state_dir_, installation, state_.name(), epoch_));
}

// Incidents and plans are written whole, so that writing them again is harmless. Events and records are added.
void SqlStore::take_account(bool stayed) {
  if (stayed) {
    waiting_events_.erase(waiting_events_.begin(),
                          waiting_events_.begin() + static_cast<std::ptrdiff_t>(unsettled_events_));
    stored_records_.insert(stored_records_.end(), unsettled_records_.begin(), unsettled_records_.end());
  }
  unsettled_events_ = 0;
  unsettled_records_.clear();
}

Result<void> SqlStore::write_waiting() {
  if (waiting_.empty() && waiting_events_.empty()) return {};
  Result<void> done;
  while (done && !(waiting_.empty() && waiting_events_.empty())) done = write_some();
  state_problem_ = done ? "" : done.error().message;
  if (!done) keep_id();
  publish_status();
  return done;
}

Result<void> SqlStore::catch_up() {
  if (!leads_) return {};
  if (!waiting_.empty() || !waiting_events_.empty()) return write_waiting();
  if (state_problem_.empty()) return {};
  // What failed was housekeeping, which is repeated: whether it could be done now.
  const Result<void> done = write([] {});
  state_problem_ = done ? "" : done.error().message;
  publish_status();
  return done;
}

// People were told of it: a restart before the database is back does not give its id again.
void SqlStore::keep_id() {
  if (options_.url.empty() || waiting_.empty() || waiting_.rbegin()->first < kept_id_) return;
  const std::uint64_t next = waiting_.rbegin()->first + 1;
  if (mark_next_incident(state_dir_, next)) kept_id_ = next;
}

std::uint64_t SqlStore::shown_before() {
  if (options_.url.empty()) return 1;
  return marked_next_incident(state_dir_, read_installation(state_)).value_or(1);
}

// No event is stored before its incident: without that the id would be given again.
Result<void> SqlStore::write_some() {
  std::vector<Incident> incidents;
  auto end = waiting_.begin();
  for (; end != waiting_.end() && incidents.size() < kMostIncidentsAtOnce; ++end) incidents.push_back(end->second);
  std::optional<std::size_t> events;  // none: the transaction did not begin
  Result<void> done = write([&] {
    if (state_.failed()) return;
    const auto later = std::stable_partition(waiting_events_.begin(), waiting_events_.end(), [&](const Event& event) {
      return end == waiting_.end() || event.incident < end->first;
    });
    write_incidents(state_, incidents);
    write_events(state_, std::vector<Event>(waiting_events_.begin(), later));
    events = static_cast<std::size_t>(later - waiting_events_.begin());
  });
  if (done) {
    waiting_.erase(waiting_.begin(), end);
    waiting_events_.erase(waiting_events_.begin(), waiting_events_.begin() + static_cast<std::ptrdiff_t>(*events));
  } else if (events && state_.connection().unsettled()) {
    unsettled_events_ = *events;
  }
  return done;
}

Result<std::vector<Event>> SqlStore::events(std::uint64_t incident) {
  std::vector<Event> events = read_events(state_, incident);
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  std::ranges::copy_if(waiting_events_, std::back_inserter(events),
                       [incident](const Event& event) { return event.incident == incident; });
  return events;
}

Result<void> SqlStore::save_maintenance(const MaintenanceWindow& window) {
  return write([&] { write_maintenance(state_, window); });
}

Result<void> SqlStore::save_acceptance(const AcceptanceRun& run, std::span<const std::uint64_t> forgotten) {
  return write([&] {
    write_acceptance(state_, run);
    delete_acceptances(state_, forgotten);
  });
}

Result<void> SqlStore::save_links(std::string_view fabric, std::span<const KnownLink> links) {
  return write([&] { write_links(state_, fabric, links); });
}

Result<void> SqlStore::save_conditions(std::string_view fabric, std::span<const FlapState> flaps,
                                       std::span<const ErrorState> errors) {
  return write([&] { write_conditions(state_, fabric, flaps, errors); });
}

Result<void> SqlStore::save_fec_baselines(std::string_view fabric, std::span<const FecBaseline> baselines) {
  if (options_.shares_history && !leads_) return {};
  Transaction transaction(history_.database());
  write_fec_baselines(history_.database(), fabric, baselines);
  return transaction.commit();
}

Result<void> SqlStore::save_nodes(std::string_view fabric, const Topology& topology, TimePoint now) {
  return write([&] { write_nodes(state_, fabric, topology, now); });
}

Result<void> SqlStore::keep_apart(std::string_view fabric, const FabricMemory& kept) {
  return write([&] { write_apart(state_, fabric, kept); });
}

Result<std::vector<KnownNode>> SqlStore::nodes(std::string_view fabric) {
  return as_read(state_, read_nodes(state_, fabric));
}

Result<void> SqlStore::save_collectors(std::span<const CollectorMark> marks, std::span<const std::string> forgotten) {
  // A collector that is told "safe" sends no more of it: what its batches led to goes first.
  if (auto waiting = write_waiting(); !waiting) return waiting;
  return write([&] {
    write_collectors(state_, marks);
    delete_collectors(state_, forgotten);
  });
}

Result<void> SqlStore::save_told(std::string_view receiver, std::string_view text) {
  return write([&] {
    Statement(state_, "INSERT INTO told VALUES (?, ?) ON CONFLICT (receiver) DO UPDATE SET text = excluded.text")
        .run(receiver, text);
  });
}

Result<RemedyMemory> SqlStore::restore_remedies(TimePoint ended_since) {
  RemedyMemory restored{read_plans(state_, ended_since), place_.ids(read_next_plan_id(state_)),
                        read_plans_ended(state_), read_remedy_state(state_), read_installation(state_)};
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return restored;
}

Result<ClockMemory> SqlStore::restore_clock() {
  return as_read(state_, read_clock(state_));
}

Result<void> SqlStore::save_clock(const ClockMemory& memory) {
  return write([&] { write_clock(state_, memory); });
}

Result<void> SqlStore::save_plans(std::span<const Plan> plans, const RemedyHolds* holds,
                                  std::span<const AuditRecord> records) {
  // An id of an incident that never reached the disk would be given to another one: what plans refer to goes first.
  Result<void> done = write_waiting();
  if (done) {
    std::span<const AuditRecord> added;
    bool begun = false;
    done = write([&] {
      begun = !state_.failed();
      added = records.subspan(stored_in_front(records, stored_records_));
      write_plans(state_, plans);
      if (holds) write_remedy_state(state_, *holds);
      append_audit(state_, added);
    });
    if (done)
      stored_records_.clear();
    else if (begun && state_.connection().unsettled())
      unsettled_records_.assign(added.begin(), added.end());
  }
  plan_problem_ = done ? "" : done.error().message;
  publish_status();
  return done;
}

Result<std::vector<EnrollToken>> SqlStore::enroll_tokens(TimePoint now) {
  return as_read(state_, read_enroll_tokens(state_, now));
}

Result<std::optional<EnrollToken>> SqlStore::find_enroll_token(std::string_view hash) {
  return as_read(state_, store::find_enroll_token(state_, hash));
}

Result<void> SqlStore::save_enroll_tokens(std::span<const EnrollToken> tokens, std::span<const std::string> revoked,
                                          std::span<const AuditRecord> records) {
  return write([&] {
    write_enroll_tokens(state_, tokens);
    delete_enroll_tokens(state_, revoked);
    append_audit(state_, records);
  });
}

Result<std::vector<AuditRecord>> SqlStore::audit(std::uint64_t before, std::size_t limit) {
  return as_read(state_, read_audit(state_, before, limit));
}

Result<AuditProof> SqlStore::verify_audit() {
  return as_read(state_, store::verify_audit(state_));
}

Result<void> SqlStore::append_history(std::shared_ptr<const Sweep> sweep, HostListPtr hosts, Duration heard) {
  if (options_.shares_history && !leads_) return {};
  const auto made = make_history();
  if (!made && sweep) history_.see(*sweep, heard);
  const Result<bool> written =
      made ? history_.append(std::move(sweep), hosts, heard) : tl::unexpected<Error>(made.error());
  if (written && !*written) return {};
  if (!written) has_history_ = false;  // a server that was killed may have lost the tables, too
  history_problem_ = written ? "" : written.error().message;
  ++(written ? figures_.history_written : figures_.history_dropped);
  publish_status();
  if (!written) return tl::unexpected<Error>(written.error());
  return {};
}

Result<bool> SqlStore::maintain(TimePoint now, const ClockMemory& clock) {
  // Each part is tried whatever became of the others; the first failure is the answer.
  const Result<void> saved = write_waiting();
  bool more = false;
  const Result<void> deleted = !leads_ ? Result<void>{} : write([&] {
    const TimePoint oldest = clock.before(now, options_.incident_retention);
    more = delete_old_incidents(state_, oldest, kDeletedAtOnce);
    more = delete_old_maintenance(state_, oldest, kDeletedAtOnce) || more;
    const Duration kept = std::max(options_.incident_retention, options_.plan_retention);
    more = delete_old_enroll_tokens(state_, now, kDeletedAtOnce) || more;
    more = delete_old_plans(state_, clock.before(now, kept), kDeletedAtOnce) || more;
  });
  if (saved) state_problem_ = deleted ? "" : deleted.error().message;
  const bool keeps_history = leads_ || !options_.shares_history;
  const Result<bool> shrunk =
      keeps_history ? history_.shrink(clock.before(now, options_.history_retention)) : Result<bool>(false);
  const Result<bool> added_up = keeps_history ? add_up_hours(history_.database()) : Result<bool>(false);
  if (options_.shares_history && keeps_history) figures_.history_bytes = history_.bytes();
  publish_status();
  if (!saved) return tl::unexpected<Error>(saved.error());
  if (!deleted) return tl::unexpected<Error>(deleted.error());
  if (!shrunk) return shrunk;
  if (!added_up) return added_up;
  return more || *shrunk || *added_up;
}

namespace {

/// Of the state, what is wrong when a write of it failed. Nothing waits where it was old that was to be deleted.
std::string unwritten(std::size_t incidents) {
  if (incidents == 0) return "the state cannot be written";
  return std::to_string(incidents) + (incidents == 1 ? " incident is" : " incidents are") + " not stored yet";
}

}  // namespace

void SqlStore::publish_status() {
  figures_.incidents_waiting = waiting_.size();
  if (!options_.shares_history) figures_.history_bytes = history_.bytes();
  static_cast<void>(history_.database().outcome());  // only a figure: a failure shows where it matters
  figures_.message.clear();
  const auto complain = [this](const std::string& what, const std::string& why) {
    if (!why.empty()) figures_.message += (figures_.message.empty() ? "" : "; ") + what + ": " + why;
  };
  complain(unwritten(waiting_.size()), state_problem_);
  complain("plans are not written", plan_problem_);
  complain("history is not written", history_problem_);
  figures_.ok = figures_.message.empty();
  if (figures_.ok) figures_.message = "ok";
  const std::lock_guard guard(status_mutex_);
  status_ = figures_;
}

StoreStatus SqlStore::status() const {
  const std::lock_guard guard(status_mutex_);
  return status_;
}

void SqlStore::limit_growth(std::uint32_t pages) {
  for (Database* database : {&state_, &history_.database()}) {
    const std::int64_t limit = pages == 0 ? 0xFFFFFFFE : database->number("PRAGMA page_count") + pages;
    database->run(("PRAGMA max_page_count = " + std::to_string(limit)).c_str());
  }
}

}  // namespace weft::store
