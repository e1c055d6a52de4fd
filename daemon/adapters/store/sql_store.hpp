// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Store on SQL: weft.db or a database of PostgreSQL for what must not be lost, the file history.db for what may.

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "daemon/adapters/store/history.hpp"
#include "daemon/adapters/store/site_table.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::store {

/// See Store for what its members promise.
class SqlStore final : public Store {
 public:
  /// See open_store().
  static Result<std::unique_ptr<SqlStore>> open(const std::filesystem::path& state_dir, const StoreOptions& options);

  Result<Restored> restore(TimePoint resolved_since) override;
  Result<void> save_incidents(std::span<const Incident> incidents, std::span<const Event> events) override;
  Result<std::vector<Event>> events(std::uint64_t incident) override;
  Result<void> save_maintenance(const MaintenanceWindow& window) override;
  Result<void> save_acceptance(const AcceptanceRun& run, std::span<const std::uint64_t> forgotten) override;
  Result<void> save_links(std::string_view fabric, std::span<const KnownLink> links) override;
  Result<void> save_conditions(std::string_view fabric, std::span<const FlapState> flaps,
                               std::span<const ErrorState> errors) override;
  Result<void> save_fec_baselines(std::string_view fabric, std::span<const FecBaseline> baselines) override;
  Result<void> save_nodes(std::string_view fabric, const Topology& topology, TimePoint now) override;
  Result<void> keep_apart(std::string_view fabric, const FabricMemory& kept) override;
  Result<std::vector<KnownNode>> nodes(std::string_view fabric) override;
  Result<void> save_collectors(std::span<const CollectorMark> marks, std::span<const std::string> forgotten) override;
  Result<void> save_told(std::string_view receiver, std::string_view text) override;
  Result<RemedyMemory> restore_remedies(TimePoint ended_since) override;
  Result<ClockMemory> restore_clock() override;
  Result<void> save_clock(const ClockMemory& memory) override;
  Result<void> save_plans(std::span<const Plan> plans, const RemedyHolds* holds,
                          std::span<const AuditRecord> records) override;
  Result<std::vector<EnrollToken>> enroll_tokens(TimePoint now) override;
  Result<std::optional<EnrollToken>> find_enroll_token(std::string_view hash) override;
  Result<void> save_enroll_tokens(std::span<const EnrollToken> tokens, std::span<const std::string> revoked,
                                  std::span<const AuditRecord> records) override;
  Result<std::vector<AuditRecord>> audit(std::uint64_t before, std::size_t limit) override;
  Result<AuditProof> verify_audit() override;
  using Store::append_history;
  Result<void> append_history(std::shared_ptr<const Sweep> sweep, HostListPtr hosts, Duration heard) override;
  Result<void> catch_up() override;
  Result<bool> maintain(TimePoint now, const ClockMemory& clock) override;
  void lead(std::int64_t epoch) override;
  Result<Restored> look(TimePoint resolved_since) override;
  Result<std::optional<StandbyView>> standby() override;
  StoreStatus status() const override;

  /// Without PostgreSQL. Lets neither file grow beyond its present size plus `pages` (0: no limit): a full disk for
  /// tests.
  void limit_growth(std::uint32_t pages);

 private:
  SqlStore(runtime::UniqueFd lock, std::filesystem::path state_dir, Database state, Database history,
           const StoreOptions& options, SitePlace place)
      : lock_(std::move(lock)),
        state_dir_(std::move(state_dir)),
        options_(options),
        place_(place),
        state_(std::move(state)),
        history_(std::move(history), options) {}
  Result<void> write_waiting();
  /// The first of them, in one transaction.
  Result<void> write_some();
  /// One transaction that stays when this returns success. `body` is called when it has begun.
  template <typename Body>
  Result<void> write(const Body& body);
  /// In the transaction of the first write: whoever copied this before finds that it was used.
  void note_use();
  void take_account(bool stayed);
  /// Notes the greatest id that waits beside the database, on our disk.
  void keep_id();
  /// The least id of an incident that was not shown while the database was away, as our disk knows.
  std::uint64_t shown_before();
  void publish_status();
  /// Begins or goes on with the shared history, if there is one.
  void lead_history(std::int64_t epoch);
  /// The tables of a shared history, where they are not known to be there.
  Result<void> make_history();

  runtime::UniqueFd lock_;  ///< first, so that it is given up last
  std::filesystem::path state_dir_;
  StoreOptions options_;
  SitePlace place_;
  bool leads_ = !(options_.stands_by && !options_.url.empty());
  std::int64_t epoch_ = 0;     ///< with which it leads
  bool has_history_ = false;   ///< see make_history()
  bool is_use_noted_ = false;  ///< see note_use()
  Database state_;
  History history_;
  std::map<std::uint64_t, Incident> waiting_;  ///< not on disk yet, by id
  std::uint64_t kept_id_ = 0;                  ///< see keep_id(): those below it are noted
  AcceptanceList acceptances_;                 ///< as they were last read
  std::deque<Event> waiting_events_;
  std::size_t unsettled_events_ = 0;            ///< of those in front: it is not known whether they are stored
  std::vector<AuditRecord> unsettled_records_;  ///< the same of a save_plans() that will be called again
  std::vector<AuditRecord> stored_records_;     ///< of those, what was found to be stored
  std::string state_problem_;                   ///< why incidents are not written; empty when they are
  std::string plan_problem_;                    ///< the same of plans and the audit trail
  std::string history_problem_;                 ///< the same of history
  StoreStatus figures_;                         ///< the lane's own copy
  mutable std::mutex status_mutex_;
  StoreStatus status_;  ///< for everybody
};

}  // namespace weft::store
