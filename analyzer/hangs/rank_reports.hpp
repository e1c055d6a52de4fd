// SPDX-License-Identifier: Apache-2.0
#pragma once
// What NCCL on the hosts of a silent job says of ranks that do not answer, or are behind; and on which hosts those are.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/stuck_ranks.hpp"

namespace weft::analyzer {

/// The host that NCCL has most to say of.
struct RankSuspect {
  StuckRank rank;                   ///< the worst of it
  const HostWatch* host = nullptr;  ///< null: no host with a collector has that address, or several have
  std::size_t hosts = 0;            ///< that are in the same trouble, this one too
  Evidence evidence{};
};

/// Keeps the facts "host_addresses" and "nccl_ranks" of all hosts. Claims: whoever sends another host's address takes
/// it for its own, so that one of two hosts is never chosen.
class RankReports {
 public:
  /// The facts of a reading that is no history.
  void take(const std::string& host, const HostReading& reading);
  /// The host is forgotten.
  void forget(const std::string& host);
  /// What `members` of the job say of its hosts; nullopt: nothing is wrong, or NCCL was not asked. `hosts` are all.
  /// Only a host that the job holds is named: of others a member has nothing to say.
  std::optional<RankSuspect> find(std::string_view job, const std::vector<const HostWatch*>& members,
                                  const Hosts& hosts) const;

 private:
  struct Told {
    std::shared_ptr<const FactTable> facts;
    std::vector<std::string> addresses{};
    std::optional<StuckRanks> ranks{};
    std::string text{};  ///< the same, as it was told
    TimePoint at = kNever;
  };

  void set_addresses(const std::string& host, Told& told, std::vector<std::string> addresses);

  std::map<std::string, Told, std::less<>> told_;                               ///< by host, of those that told any
  std::map<std::string, std::set<std::string>, std::less<>> hosts_of_address_;  ///<
};

}  // namespace weft::analyzer
