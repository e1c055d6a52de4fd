// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links of one switch that go down together: one trouble, not as many as there are links.

#include <vector>

#include "analyzer/links/outage.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Finds such groups and keeps each until all of its links are up again.
class LinkGroups {
 public:
  /// `thresholds` must outlive the object.
  explicit LinkGroups(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// An incident that was open when the process before ended: a group of it goes on. Once `table` knows its links.
  void remember(const LinkTable& table, const Incident& incident);
  /// Replaces the outages of single links that belong together by one of their switch. A link that somebody disabled
  /// belongs to nobody.
  void gather(const LinkTable& table, std::vector<Outage>& outages);

 private:
  struct Group {
    NodeId node = kNoIndex;
    std::vector<LinkId> links;  ///< sorted
  };

  void form(const LinkTable& table, const std::vector<Outage>& outages);

  const Thresholds& thresholds_;
  std::vector<Group> groups_;
};

}  // namespace weft::analyzer
