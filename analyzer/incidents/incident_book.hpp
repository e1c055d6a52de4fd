#pragma once
// The life of incidents: findings of successive sweeps become one incident that opens, changes, resolves and re-opens.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/detect/coverage.hpp"
#include "analyzer/detect/thresholds.hpp"
#include "fabric/incident.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

using IncidentPtr = std::shared_ptr<const Incident>;
using IncidentList = std::vector<IncidentPtr>;

class IncidentBook {
 public:
  /// `restored` are the incidents of the store (open ones and recently resolved ones, any order); `next_id` is the id
  /// that the next new incident gets, raised where a restored one is not below it.
  IncidentBook(IncidentPolicy policy, std::vector<Incident> restored, std::uint64_t next_id);

  /// Takes the findings of one sweep of `fabric` (or of silence, with a blind coverage) and gives the incidents that a
  /// person would see changed, each with its revision grown by one. Persist them before showing them.
  std::vector<Incident> update(std::string_view fabric, std::vector<Finding> findings, const Coverage& coverage,
                               TimePoint now);

  /// Somebody looks after it. kNotFound; kFailedPrecondition when it is already resolved.
  Result<Incident> acknowledge(std::uint64_t id, std::string_view who, TimePoint now);
  /// No notifications until `until`; a time not after `now` ends a silence. kNotFound.
  Result<Incident> silence(std::uint64_t id, TimePoint until, TimePoint now);

  /// All open incidents and those resolved within the retention, ascending by id: as Snapshot::incidents wants them.
  /// The same pointer as before when nothing changed.
  std::shared_ptr<const IncidentList> all() const;
  /// The incident, or null.
  IncidentPtr find(std::uint64_t id) const;
  std::uint64_t next_id() const { return next_id_; }
  /// How many incidents of each kind were opened or re-opened by this object.
  std::uint64_t opened(IncidentKind kind) const { return opened_[static_cast<std::size_t>(kind)]; }

 private:
  struct Entry {
    IncidentPtr incident;
    std::string key;                    ///< kind and identity of the cause
    unsigned clean_sweeps = 0;          ///< consecutive observed sweeps without the finding
    TimePoint evidence_shown = kNever;  ///< when evidence last made a revision
  };

  Entry* find_entry(std::uint64_t id);
  void change(Entry& entry, Incident next, TimePoint now, std::vector<Incident>& changed);
  void take(Finding finding, TimePoint now, std::vector<Incident>& changed);
  void open(Finding finding, std::string key, TimePoint now, std::vector<Incident>& changed);
  void resolve(Entry& entry, std::string why, TimePoint now, std::vector<Incident>& changed);
  void expire(TimePoint now);

  IncidentPolicy policy_;
  std::uint64_t next_id_ = 1;
  std::vector<Entry> entries_;                             ///< ascending by id
  std::unordered_map<std::string, std::uint64_t> newest_;  ///< key → id of the newest incident with it
  std::uint64_t opened_[static_cast<std::size_t>(IncidentKind::kCount)]{};
  mutable std::shared_ptr<const IncidentList> all_;  ///< null when it must be made again
};

}  // namespace weft::analyzer
