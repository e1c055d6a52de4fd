// SPDX-License-Identifier: Apache-2.0
#pragma once
// What most adapters of a make have in common is no fault of one: a setting of the BIOS, or a slot that is wired so.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/thresholds/config_drift.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Counts adapters by make and by what is wrong with them. Count anew by begin(), add() of each, end().
class LikeAdapters {
 public:
  /// Who are most is decided as for CONFIG_DRIFT.
  explicit LikeAdapters(const ConfigDriftLimits& limits) : limits_(limits) {}

  /// What was added is forgotten; what end() found stays.
  void begin() { counting_.clear(); }
  /// One adapter: its make, and what is wrong with it as shortfall_text() says; empty: nothing.
  void add(const std::string& make, const std::string& shortfall, const std::string& host, const Entity& where);
  /// Decides from what was added since begin().
  void end();

  /// Most adapters of that make, on enough hosts, have that very shortfall.
  bool is_common(std::string_view make, std::string_view shortfall) const;
  /// HOST_DEGRADED with INFO of each make that has one in common.
  void report(TimePoint now, std::vector<Finding>& findings) const;

 private:
  struct Make {
    std::uint32_t adapters = 0;
    std::map<std::string, std::vector<Entity>> short_ones;  ///< by shortfall, kMostAffected of each
    std::map<std::string, std::uint32_t> counts;            ///< of the same, all
    std::set<std::string> hosts;
  };
  struct Common {
    std::uint32_t count = 0;
    std::uint32_t adapters = 0;
    std::vector<Entity> where;
  };

  ConfigDriftLimits limits_;
  std::map<std::string, Make> counting_;
  std::map<std::pair<std::string, std::string>, Common, std::less<>> common_;  ///< by make and shortfall
};

}  // namespace weft::analyzer
