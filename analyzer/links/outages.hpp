// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is to blame when links are down and nodes do not answer: the nearest culprit, with all that it took along inside.

#include <cstdint>
#include <vector>

#include "analyzer/links/link_groups.hpp"
#include "analyzer/links/manager_patience.hpp"
#include "analyzer/links/outage.hpp"
#include "analyzer/links/returns.hpp"
#include "analyzer/links/unread_counters.hpp"
#include "analyzer/ports/link_table.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// Frontier analysis. Nodes that do not answer are `dark`. A dark node that an answering neighbour sees directly
/// decides what happened: its link is up, or has trained and waits for the subnet manager, which cannot configure a
/// node that does not answer — it is silent; two or more of its links are down — it is gone; one link is down — that
/// link is. Dark nodes without such a neighbour are out of reach behind the nearest of those, and no trouble of their
/// own.
class OutageFinder {
 public:
  explicit OutageFinder(const Thresholds& thresholds)
      : thresholds_(thresholds),
        patience_(thresholds),
        returns_(thresholds.activation_grace_sweeps),
        groups_(thresholds),
        counters_(thresholds) {}

  /// An incident that was open when the process before ended, once `table` knows its links.
  void remember(LinkTable& table, const Incident& incident);
  /// Judges the sweep that `table` has just observed, and marks the links that are part of an outage.
  OutageReport find(LinkTable& table, const Sweep& sweep, TimePoint now);

 private:
  struct Work;

  bool is_dead(const LinkState& link, const Work& work) const;
  bool has_waited(const LinkState& link, const Work& work) const;
  void survey(LinkTable& table, Work& work);
  bool mass(const LinkTable& table, const Sweep& sweep, const Work& work, std::size_t culprits, TimePoint now,
            Outage& fabric);
  void blame_nodes(LinkTable& table, bool ethernet, Work& work) const;
  void blame_returns(const LinkTable& table, Work& work);
  void blame_manager(const LinkTable& table, Work& work);
  bool is_manager_busy(const LinkTable& table, const Work& work);
  void blame_links(const LinkTable& table, bool ethernet, Work& work) const;
  void group_hosts(const LinkTable& table, Work& work) const;
  void attribute(const LinkTable& table, Work& work) const;
  void blame_hubs(const LinkTable& table, Work& work) const;
  void merge_silent(const LinkTable& table, Work& work) const;
  void mark(LinkTable& table, const Work& work);

  const Thresholds& thresholds_;
  ManagerPatience patience_;
  Returns returns_;
  LinkGroups groups_;
  UnreadCounters counters_;
  TimePoint mass_since_ = kNever;
  TimePoint busy_at_ = kNever;  ///< when the subnet manager was last seen at work
  bool many_waiting_ = false;   ///< links that are not activated are told as one
  std::vector<LinkId> marked_;  ///< links with `reported` set
};

}  // namespace weft::analyzer
