// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sqlite_store.hpp"

#include <algorithm>

#include "daemon/adapters/store/audit_table.hpp"
#include "daemon/adapters/store/collector_table.hpp"
#include "daemon/adapters/store/incident_table.hpp"
#include "daemon/adapters/store/maintenance_table.hpp"
#include "daemon/adapters/store/memory_table.hpp"
#include "daemon/adapters/store/plan_table.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/state_dir.hpp"

namespace weft::store {
namespace {

constexpr std::size_t kMostWaitingEvents = 10'000;
constexpr std::int64_t kDeletedAtOnce = 200;

}  // namespace

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& state_dir, const StoreOptions& options) {
  return SqliteStore::open(state_dir, options);
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::filesystem::path& state_dir,
                                                       const StoreOptions& options) {
  auto lock = lock_state_dir(state_dir);
  if (!lock) return tl::unexpected<Error>(lock.error());
  auto state = open_database(state_dir / "weft.db", state_schema());
  if (!state) return tl::unexpected<Error>(state.error());
  auto history = open_database(state_dir / "history.db", history_schema());
  if (!history) return tl::unexpected<Error>(history.error());
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(*lock), std::move(*state), std::move(*history), options));
  store->publish_status();
  return store;
}

Result<Restored> SqliteStore::restore(TimePoint resolved_since) {
  Restored restored{read_incidents(state_, resolved_since),
                    read_next_incident_id(state_),
                    read_opened(state_),
                    read_memories(state_),
                    read_collectors(state_),
                    read_maintenance(state_, resolved_since),
                    read_next_maintenance_id(state_)};
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  // Without them the rules learn anew.
  read_fec_baselines(history_.database(), restored.fabrics);
  static_cast<void>(history_.database().outcome());
  return restored;
}

Result<void> SqliteStore::save_incidents(std::span<const Incident> incidents, std::span<const Event> events) {
  for (const Incident& incident : incidents) waiting_.insert_or_assign(incident.id, incident);
  waiting_events_.insert(waiting_events_.end(), events.begin(), events.end());
  while (waiting_events_.size() > kMostWaitingEvents) {
    waiting_events_.pop_front();
    ++figures_.events_dropped;
  }
  return write_waiting();
}

Result<void> SqliteStore::write_waiting() {
  if (waiting_.empty() && waiting_events_.empty()) return {};
  std::vector<Incident> incidents;
  incidents.reserve(waiting_.size());
  for (const auto& [id, incident] : waiting_) incidents.push_back(incident);
  state_.require_in_place();
  Transaction transaction(state_);
  write_incidents(state_, incidents);
  write_events(state_, std::vector<Event>(waiting_events_.begin(), waiting_events_.end()));
  Result<void> done = transaction.commit();
  if (done) {
    waiting_.clear();
    waiting_events_.clear();
  }
  state_problem_ = done ? "" : done.error().message;
  publish_status();
  return done;
}

Result<std::vector<Event>> SqliteStore::events(std::uint64_t incident) {
  std::vector<Event> events = read_events(state_, incident);
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  std::ranges::copy_if(waiting_events_, std::back_inserter(events),
                       [incident](const Event& event) { return event.incident == incident; });
  return events;
}

Result<void> SqliteStore::save_maintenance(const MaintenanceWindow& window) {
  state_.require_in_place();
  Transaction transaction(state_);
  write_maintenance(state_, window);
  return transaction.commit();
}

Result<void> SqliteStore::save_links(std::string_view fabric, std::span<const KnownLink> links) {
  Transaction transaction(state_);
  write_links(state_, fabric, links);
  return transaction.commit();
}

Result<void> SqliteStore::save_conditions(std::string_view fabric, std::span<const FlapState> flaps,
                                          std::span<const ErrorState> errors) {
  Transaction transaction(state_);
  write_conditions(state_, fabric, flaps, errors);
  return transaction.commit();
}

Result<void> SqliteStore::save_fec_baselines(std::string_view fabric, std::span<const FecBaseline> baselines) {
  Transaction transaction(history_.database());
  write_fec_baselines(history_.database(), fabric, baselines);
  return transaction.commit();
}

Result<void> SqliteStore::save_nodes(std::string_view fabric, const Topology& topology, TimePoint now) {
  Transaction transaction(state_);
  write_nodes(state_, fabric, topology, now);
  return transaction.commit();
}

Result<std::vector<KnownNode>> SqliteStore::nodes(std::string_view fabric) {
  std::vector<KnownNode> nodes = read_nodes(state_, fabric);
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return nodes;
}

Result<void> SqliteStore::save_collectors(std::span<const CollectorMark> marks,
                                          std::span<const std::string> forgotten) {
  // A collector that is told "safe" sends no more of it: what its batches led to goes first.
  if (auto waiting = write_waiting(); !waiting) return waiting;
  state_.require_in_place();
  Transaction transaction(state_);
  write_collectors(state_, marks);
  delete_collectors(state_, forgotten);
  return transaction.commit();
}

Result<RemedyMemory> SqliteStore::restore_remedies(TimePoint ended_since) {
  RemedyMemory restored{read_plans(state_, ended_since), read_next_plan_id(state_), read_plans_ended(state_),
                        read_remedy_state(state_), read_installation(state_)};
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return restored;
}

Result<void> SqliteStore::save_plans(std::span<const Plan> plans, const RemedyHolds* holds,
                                     std::span<const AuditRecord> records) {
  // An id of an incident that never reached the disk would be given to another one: what plans refer to goes first.
  Result<void> done = write_waiting();
  if (done) {
    state_.require_in_place();
    Transaction transaction(state_);
    write_plans(state_, plans);
    if (holds) write_remedy_state(state_, *holds);
    append_audit(state_, records);
    done = transaction.commit();
  }
  plan_problem_ = done ? "" : done.error().message;
  publish_status();
  return done;
}

Result<std::vector<AuditRecord>> SqliteStore::audit(std::uint64_t before, std::size_t limit) {
  std::vector<AuditRecord> records = read_audit(state_, before, limit);
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return records;
}

Result<AuditProof> SqliteStore::verify_audit() {
  AuditProof proof = store::verify_audit(state_);
  if (auto outcome = state_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return proof;
}

Result<void> SqliteStore::append_history(std::shared_ptr<const Sweep> sweep) {
  const Result<bool> written = history_.append(std::move(sweep));
  if (written && !*written) return {};
  history_problem_ = written ? "" : written.error().message;
  ++(written ? figures_.history_written : figures_.history_dropped);
  publish_status();
  if (!written) return tl::unexpected<Error>(written.error());
  return {};
}

Result<std::vector<HistoryPoint>> SqliteStore::history(std::string_view fabric, PortKey port, CounterId counter,
                                                       TimePoint from, TimePoint to) {
  return history_.read(fabric, port, counter, from, to);
}

Result<bool> SqliteStore::maintain(TimePoint now) {
  // Each part is tried whatever became of the others; the first failure is the answer.
  const Result<void> saved = write_waiting();
  state_.require_in_place();
  Transaction transaction(state_);
  const TimePoint oldest = now - options_.incident_retention;
  bool more = delete_old_incidents(state_, oldest, kDeletedAtOnce);
  more = delete_old_maintenance(state_, oldest, kDeletedAtOnce) || more;
  more = delete_old_plans(state_, oldest, kDeletedAtOnce) || more;
  const Result<void> deleted = transaction.commit();
  if (saved) state_problem_ = deleted ? "" : deleted.error().message;
  const Result<bool> shrunk = history_.shrink(now);
  publish_status();
  if (!saved) return tl::unexpected<Error>(saved.error());
  if (!deleted) return tl::unexpected<Error>(deleted.error());
  if (!shrunk) return shrunk;
  return more || *shrunk;
}

void SqliteStore::publish_status() {
  figures_.incidents_waiting = waiting_.size();
  figures_.history_bytes = history_.bytes();
  static_cast<void>(history_.database().outcome());  // only a figure: a failure shows where it matters
  figures_.message.clear();
  const auto complain = [this](const std::string& what, const std::string& why) {
    if (!why.empty()) figures_.message += (figures_.message.empty() ? "" : "; ") + what + ": " + why;
  };
  complain(std::to_string(waiting_.size()) + " incidents are not stored yet", state_problem_);
  complain("plans are not written", plan_problem_);
  complain("history is not written", history_problem_);
  figures_.ok = figures_.message.empty();
  if (figures_.ok) figures_.message = "ok";
  const std::lock_guard guard(status_mutex_);
  status_ = figures_;
}

StoreStatus SqliteStore::status() const {
  const std::lock_guard guard(status_mutex_);
  return status_;
}

void SqliteStore::limit_growth(std::uint32_t pages) {
  for (Database* database : {&state_, &history_.database()}) {
    const std::int64_t limit = pages == 0 ? 0xFFFFFFFE : database->number("PRAGMA page_count") + pages;
    database->run(("PRAGMA max_page_count = " + std::to_string(limit)).c_str());
  }
}

}  // namespace weft::store
