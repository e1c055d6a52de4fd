// SPDX-License-Identifier: Apache-2.0
#pragma once
// The life of incidents: findings of successive sweeps become one incident that opens, changes, resolves and re-opens.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/incidents/coverage.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/clock_memory.hpp"
#include "fabric/id_series.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

/// An incident that is shared with snapshots. Immutable.
using IncidentPtr = std::shared_ptr<const Incident>;
/// Incidents, ascending by id.
using IncidentList = std::vector<IncidentPtr>;

/// Kind and cause make the identity of trouble: the same trouble is one incident that re-opens, not many. An incident
/// changes visibly (its revision grows) when something changed that a person should see, not because a number moved a
/// little. Trouble that turns out to be part of something greater — a link of a switch that is down, a link that keeps
/// flapping — is folded into that: resolved with a pointer to it.
class IncidentManager {
 public:
  /// `restored` are the incidents of the store (open ones and recently resolved ones, any order); `ids` are those
  /// of new incidents, raised where a restored one is not below them.
  IncidentManager(IncidentPolicy policy, std::vector<Incident> restored, IdSeries ids);

  /// Takes the findings of one sweep of `fabric` (or of silence, with a blind coverage) and gives the incidents that a
  /// person would see changed, each with its revision grown. Persist them before showing them.
  std::vector<Incident> update(std::string_view fabric, std::vector<Finding> findings, const Coverage& coverage,
                               TimePoint now);

  /// The windows of planned work, from now on. What begins within one is kept apart from trouble: it is INFO, pages
  /// nobody and counts neither as opened nor as a beginning; what is still wrong when the window is over begins then.
  void set_maintenance_windows(MaintenanceListPtr windows) { windows_ = std::move(windows); }

  /// What is known of the wall clock's steps, from now on: by them what is resolved becomes too old to be kept. Without
  /// them the clock is taken at its word.
  void set_clock(ClockMemory clock) { clock_ = std::move(clock); }

  /// Nobody looks at `fabric` any more: what is open there resolves, saying `why`, for nothing else ever would do it.
  std::vector<Incident> give_up(std::string_view fabric, const std::string& why, TimePoint now);
  /// Whether that port of a host is up where nobody sweeps, as its collector has said since then; port 0: any port of
  /// that adapter.
  using UpSince = std::function<bool(PortKey, TimePoint)>;
  /// What is up is no part any more of a switch's outage, whose other parts may be down; a host that has such a port is
  /// not down.
  std::vector<Incident> take_up(const UpSince& is_up_since, TimePoint now);
  /// The subnet that was called `from` is called `to` now: what is open there stays open under that name. Where `to`
  /// has the same trouble open already, one of the two ends. `is_meant`: of these causes only; empty: of all.
  std::vector<Incident> rename(std::string_view from, const std::string& to, TimePoint now,
                               const std::function<bool(const Entity&)>& is_meant = {});

  /// Somebody looks after it; saying so again changes nothing. kNotFound; kInvalidArgument without a name;
  /// kFailedPrecondition when it is already resolved.
  Result<Incident> acknowledge(std::uint64_t id, std::string_view who, TimePoint now);
  /// Nobody looks after it any more, and `why`: it is open again. Nothing when it is not acknowledged. kNotFound.
  Result<Incident> take_back_acknowledgement(std::uint64_t id, std::string why, TimePoint now);
  /// No notifications until `until`; a time not after `now` ends a silence. `who` is noted, it may be empty. kNotFound.
  Result<Incident> silence(std::uint64_t id, TimePoint until, TimePoint now, std::string_view who = {});

  /// All open incidents and those resolved within the retention, ascending by id: as Snapshot::incidents wants them.
  /// The same pointer as before when nothing changed.
  std::shared_ptr<const IncidentList> all() const;
  /// The incident, or null.
  IncidentPtr find(std::uint64_t id) const;
  /// The id of the next new incident, to be saved.
  std::uint64_t next_id() const { return ids_.next(); }
  /// Open incidents, ascending by id, with the time of the newest evidence for each that any finding brought. What is
  /// shown may lag behind it by IncidentPolicy::evidence_refresh.
  std::vector<std::pair<std::uint64_t, TimePoint>> last_evidence() const;
  /// How many incidents of each kind were opened or re-opened by this object.
  std::uint64_t opened(IncidentKind kind) const { return opened_[static_cast<std::size_t>(kind)]; }

 private:
  struct Entry {
    IncidentPtr incident;
    std::string key;                    ///< kind and identity of the cause
    unsigned clean_sweeps = 0;          ///< consecutive observed sweeps without the finding
    std::uint64_t seen_in = 0;          ///< the last update that had the finding
    TimePoint evidence_seen = kNever;   ///< newest that a finding brought
    TimePoint evidence_shown = kNever;  ///< when its evidence last made a revision
  };
  using Changed = std::vector<Incident>;

  std::size_t position(std::uint64_t id) const;
  void change(Entry& entry, Incident next, TimePoint now, Changed& changed);
  std::uint64_t ingest(const Finding& finding, TimePoint now, Changed& changed);
  void refresh(Entry& entry, const Finding& finding, TimePoint now, Changed& changed);
  void reopen(Entry& entry, const Finding& finding, TimePoint now, Changed& changed);
  void open(const Finding& finding, std::string key, std::vector<TimePoint> beginnings, TimePoint now,
            Changed& changed);
  static std::string key_of(IncidentKind kind, const Entity& cause);
  /// Planned work is never the same incident as trouble of the same kind: neither re-opens the other.
  static std::string key_of(const Finding& finding);
  void hold_back(Finding& finding, TimePoint now) const;
  void apply(Incident& incident, const Finding& finding) const;
  void begin(Incident& incident, const Finding& finding, TimePoint now);
  std::string summary_of(const Finding& finding, const Incident& incident) const;
  void resolve(Entry& entry, const std::string& why, TimePoint now, Changed& changed, bool part_of_another = false);
  void close(std::string_view fabric, const std::unordered_map<std::string, std::uint64_t>& wholes,
             const Coverage& coverage, TimePoint now, Changed& changed);
  IncidentPtr seen(const std::string& key) const;
  void leave_out_parts(std::vector<Finding>& findings, std::string_view fabric) const;
  void expire(TimePoint now);

  IncidentPolicy policy_;
  MaintenanceListPtr windows_;
  ClockMemory clock_;
  IdSeries ids_;
  std::uint64_t updates_ = 0;
  std::vector<Entry> entries_;                             ///< ascending by id
  std::unordered_map<std::string, std::uint64_t> newest_;  ///< key → id of the newest incident with it
  std::array<std::uint64_t, static_cast<std::size_t>(IncidentKind::kCount)> opened_{};
  mutable std::shared_ptr<const IncidentList> all_;  ///< null when it must be made again
};

}  // namespace weft::analyzer
