// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DEGRADED: a link that runs narrower or slower than it could.

#include <string>
#include <vector>

#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/link_table.hpp"

namespace weft::analyzer {

/// The best that both ends support and have enabled is what a link should run at. Enabled masks that exclude more are a
/// decision and no trouble, with one exception: a link that is held to fewer lanes than most other links of its
/// switches, and whose ends both support those lanes, is reported as held back by its configuration.
class DegradedLinks {
 public:
  /// Finds them all; needed only when the topology changed.
  void update(const Topology& topology, const LinkTable& table);
  /// Those whose ends were both read.
  void report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
              std::vector<Finding>& findings) const;
  /// It is held back by what its ends have enabled.
  bool is_by_configuration(LinkId link) const;

 private:
  struct Degraded {
    LinkId link = kNoIndex;
    int lanes = 0;  ///< active
    int best_lanes = 0;
    SpeedMask speed = 0;  ///< active
    SpeedMask best_speed = 0;
    bool by_configuration = false;
  };
  std::vector<Degraded> degraded_;
};

}  // namespace weft::analyzer
