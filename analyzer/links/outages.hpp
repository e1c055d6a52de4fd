// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is to blame when links are down and nodes do not answer: the nearest culprit, with all that it took along inside.

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ports/link_table.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// What failed.
enum class OutageKind : std::uint8_t {
  kLink,            ///< one cable is down
  kSwitch,          ///< a switch is gone: it does not answer and none of its links is up
  kHost,            ///< a host is gone: all of its two or more links are down
  kNodeSilent,      ///< a node does not answer management requests, but its neighbours see its links up
  kCountersSilent,  ///< a node answers, but its counters can no longer be read
  kFabric,          ///< so much is missing that our own sight is suspected
};

/// One outage with all that it explains.
struct Outage {
  OutageKind kind = OutageKind::kLink;
  LinkId link = kNoIndex;         ///< of kLink
  NodeId node = kNoIndex;         ///< of kSwitch, kNodeSilent and kCountersSilent
  std::uint32_t host = kNoIndex;  ///< of kHost
  std::vector<LinkId> links{};    ///< down with it
  std::vector<NodeId> nodes{};    ///< out of reach behind it
  std::string reason{};           ///< of kFabric: one sentence
};

/// All outages of one sweep.
struct OutageReport {
  std::vector<Outage> outages;
  /// What was read in this sweep says more about us than about the fabric: nothing is to be concluded from it.
  bool blind = false;
};

/// Frontier analysis. Nodes that do not answer are `dark`. A dark node that an answering neighbour sees directly
/// decides what happened: its link is up — it is silent; two or more of its links are down — it is gone; one link is
/// down — that link is. Dark nodes without such a neighbour are out of reach behind the nearest of those, and no
/// trouble of their own.
class OutageFinder {
 public:
  explicit OutageFinder(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// Judges the sweep that `table` has just observed, and marks the links that are part of an outage.
  OutageReport find(LinkTable& table, const Sweep& sweep, TimePoint now);

 private:
  struct Work;

  bool is_dead(const LinkState& link) const;
  void survey(LinkTable& table, Work& work) const;
  bool mass(const LinkTable& table, const Sweep& sweep, const Work& work, std::size_t culprits, TimePoint now,
            Outage& fabric);
  void blame_nodes(LinkTable& table, bool ethernet, Work& work) const;
  void blame_counters(LinkTable& table, const Sweep& sweep, Work& work) const;
  void blame_links(const LinkTable& table, bool ethernet, Work& work) const;
  void hold_back(LinkTable& table, Work& work);
  void group_hosts(const LinkTable& table, Work& work) const;
  void attribute(const LinkTable& table, Work& work) const;
  void blame_hubs(const LinkTable& table, Work& work) const;
  void merge_silent(const LinkTable& table, Work& work) const;
  void mark(LinkTable& table, const Work& work);

  const Thresholds& thresholds_;
  TimePoint mass_since_ = kNever;
  std::vector<LinkId> marked_;  ///< links with `reported` set
  bool recovering_ = false;     ///< some link is held back, or was inside an outage of the last sweep
};

}  // namespace weft::analyzer
