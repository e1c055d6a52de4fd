// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links and hosts plans of Weft hold.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// The plans of one snapshot whose action is in force, by what they hold, and those that return it. The snapshot must
/// outlive it.
class Holds {
 public:
  /// Of the snapshot, in O(plans).
  explicit Holds(const Snapshot& snapshot);
  /// Sets `hold` of the link of that fabric, `plan_id` where it is out of service, `returning` and `may_hold`; clears
  /// `disabled`
  /// where a plan gave the link back after the sweep that read it so.
  void add_to(std::string_view fabric, const LinkKey& link, v1::Link& to) const;
  /// The same of a link of which only one end is known, where a plan knows both.
  void add_to(std::string_view fabric, PortKey end, v1::Link& to) const;
  /// Sets `hold` of an adapter whose host was drained.
  void add_to(const Node& node, v1::Node& to) const;

 private:
  struct OfLink {
    const Plan* holds = nullptr;      ///< took it out, or raised its cost
    std::string kept_out{};           ///< as Plan::kept_out, of the plan in force
    const Plan* returning = nullptr;  ///< is to take that back, or failed to
    const Plan* may_hold = nullptr;   ///< unresolved: it may have disabled the link, or may still do so
    bool is_given_back = false;       ///< by a plan, since the last sweep of its fabric began
  };

  struct OfHost {
    const Plan* holds = nullptr;  ///< drained it
    std::string kept_out{};       ///< as of links
  };

  /// GUIDs are the same under each name of a subnet, which may be watched by another of our ports now; those of an
  /// Ethernet fabric are made of names. Empty: any InfiniBand subnet.
  std::string_view scope_of(std::string_view fabric) const;

  std::set<std::string_view> ethernet_;
  std::map<std::pair<std::string_view, LinkKey>, OfLink> links_;  ///< by scope_of()
  std::map<std::pair<std::string_view, PortKey>, LinkKey> ends_;  ///< of those
  std::unordered_map<std::string, std::vector<OfHost>> hosts_;    ///< by short name
};

}  // namespace weft::api
