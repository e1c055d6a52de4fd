// SPDX-License-Identifier: Apache-2.0
#pragma once
// CONFIG_DRIFT: settings on which ports of one make, or the two ends of a link, do not agree, or which are not as a
// profile of the site wants them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/drift/cohorts.hpp"
#include "analyzer/drift/held_vote.hpp"
#include "analyzer/drift/link_ends.hpp"
#include "analyzer/drift/profile_votes.hpp"
#include "analyzer/thresholds/config_drift.hpp"
#include "fabric/drift_report.hpp"

namespace weft::analyzer {

/// All differences of configuration. Not thread-safe.
class ConfigDrift {
 public:
  /// Knows no host yet.
  explicit ConfigDrift(const ConfigDriftLimits& limits) : limits_(limits) {}

  /// What the site wants; null: nothing. Settings of which a profile speaks are compared with it, and not with what
  /// most have. Before the first reading.
  void set_profiles(std::shared_ptr<const SettingProfiles> profiles) { cohorts_.set_profiles(std::move(profiles)); }
  /// An incident that was open when the process before ended: it is not over before those that it affects have told.
  void remember(const Incident& incident);
  /// A reading of now.
  void take(const std::string& host, const HostReading& reading);
  /// Removes the host.
  void forget(const std::string& host);
  /// Adds what differs to `findings`. Votes are held again when something changed, every few seconds at most. Hosts
  /// whose collector is silent count with what they told last.
  void judge(const Hosts& hosts, const IsSwitch& is_switch, TimePoint now, std::vector<Finding>& findings);
  /// Would judge() have told of `cause`, were there still a difference? Of hosts in `hosts` that have not told yet
  /// since weftd was started nothing is known.
  bool observed(const Entity& cause, const Hosts& hosts) const;
  /// What judge() found last; the same object until it is another. Null before.
  const std::shared_ptr<const DriftReport>& report() const { return report_; }

 private:
  using Votes = std::vector<HeldVote>;

  void hold(TimePoint now);
  Votes hold(std::uint32_t cohort, ConfigFact fact, const Votes& before, TimePoint now) const;
  void tell(const Hosts& hosts, TimePoint now);
  void tell_votes(const Hosts& hosts, TimePoint now, DriftReport& report);
  void tell_cause(const Cohort& cohort, ConfigFact fact, std::span<const HeldVote> votes, const Hosts& hosts,
                  TimePoint now, DriftReport& report);
  bool is_young(const std::string& cause, const std::string& host, TimePoint old_at, TimePoint now);
  void forget_repaired(const std::string& cause, const std::set<std::string>& differing);
  void tell_links(TimePoint now, DriftReport& report);

  ConfigDriftLimits limits_;
  Cohorts cohorts_;
  LinkEnds ends_;
  std::map<std::pair<std::uint32_t, ConfigFact>, Votes> votes_;  ///< by cohort and fact
  std::vector<ProfileVote> profile_votes_;
  std::vector<Finding> findings_;
  std::set<std::pair<ConfigFact, FactHolder>> told_;  ///< who is in an incident of votes
  std::set<std::string, std::less<>> undecided_;  ///< identities of causes whose difference is neither told nor over
  using HostsOfCauses = std::map<std::string, std::set<std::string>, std::less<>>;  ///< by the identity of a cause
  HostsOfCauses awaited_;      ///< that are to tell before an incident of the process before is over
  HostsOfCauses told_before_;  ///< that differed then, and do so ever since: no rollout
  std::shared_ptr<const DriftReport> report_;
  bool round_goes_on_ = false;  ///< votes of this round are still to be held
  TimePoint held_at_ = kNever;
  TimePoint due_ = kNever;  ///< when the next young difference gets old; kNever: there is none
};

}  // namespace weft::analyzer
