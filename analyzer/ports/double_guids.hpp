// SPDX-License-Identifier: Apache-2.0
#pragma once
// DUPLICATE_GUID over two subnets: two nodes have one GUID, so that what one does says nothing of the other.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/elsewhere.hpp"
#include "analyzer/ports/link_table.hpp"
#include "fabric/incident.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// Switches, and ports of adapters, that answer here and in another subnet at once, and still do after both were read
/// again: what is moved may be so for a moment. They count as double until the other subnet, which is read, has had
/// none for ten minutes, or nobody has seen it there for a week: while one of the two is away nobody knows which.
class DoubleGuids {
 public:
  /// An open DUPLICATE_GUID of any subnet, of the process before. `fabric`: the name of this one.
  void remember(const Incident& incident, std::string_view fabric);
  /// The other subnet has another name from now on.
  void rename_subnet(std::string_view before, const std::string& since);
  /// Takes in one sweep of this subnet. O(nodes) where a graph is another than last time.
  void observe(const Sweep& sweep, const OtherSubnets& others);
  /// It is known that two nodes have it.
  bool has(NodeGuid guid) const;
  /// One finding for each: where it is open, else in that of the two subnets whose name is the lower one, and where it
  /// is missing.
  void report(const Describe& describe, const LinkTable& table, TimePoint now, std::vector<Finding>& findings) const;

 private:
  struct Double {
    std::string other{};              ///< the other subnet, where it was seen there
    TimePoint since = kNever;         ///< it was first seen in both
    TimePoint last = kNever;          ///< it was last seen in both; kNever: not by this process
    TimePoint away_since = kNever;    ///< it was not seen in the other subnet since then; kNever: it is
    TimePoint single_since = kNever;  ///< the same, while that is read
    unsigned sweeps = 0;              ///< in a row that it was in both
    bool is_known = false;
    bool is_ours = false;     ///< it is told here
    bool is_missing = false;  ///< it is in the other subnet alone: then it is told here, too
  };
  void look(const Sweep& sweep, const OtherSubnets& others, NodeIndex node);

  std::map<NodeGuid, Double> doubles_;
  std::vector<std::shared_ptr<const Topology>> graphs_;  ///< of the last sweeps, this subnet's at the end
};

}  // namespace weft::analyzer
