// SPDX-License-Identifier: Apache-2.0
#pragma once
// The congestion trees of one moment: which links are the roots, what kind each is, and who suffers.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/congestion/congestion_input.hpp"
#include "analyzer/congestion/wait_for.hpp"
#include "analyzer/thresholds/congestion.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Where waiting ends.
struct CongestionRoot {
  /// kCongestionIncast, kCongestionUnevenLoad, kCongestionOversubscribed, kSlowReceiver, kPfcStorm, kDeadlock;
  /// kLinkDegraded stands for a link whose own known fault is the cause, whatever that fault is.
  IncidentKind kind = IncidentKind::kCongestionIncast;
  PortIndex egress = kNoIndex;  ///< the sending port of the root link; of several the worst
  NodeIndex node = kNoIndex;    ///< of kCongestionOversubscribed: the switch whose links are too few
  float utilization = 0;        ///< of the root link
  float stall = 0;              ///< of the root link
  float own_stall = 0;          ///< the same where it is held back and not full: it suffers itself; else 0
  float marked = -1;         ///< share of the packets behind it that carry a mark, where that is what tells; else < 0
  bool tells_marks = false;  ///< the root port's own counter says so
  bool phased = false;       ///< it was full only while others had something to send over it
  float worst_stall = 0;     ///< of any victim, or of the root itself where it is held back
  double lost_bits = 0;      ///< Σ stall × rate of all victims, bits per second
  unsigned feeders = 0;      ///< links that deliver into the root link's switch and wait for the root
  float from_others = 0;     ///< of an incast with one feeder: share of its rate that others send, who do not wait
  unsigned siblings = 0;     ///< links that could carry the same load, the root left out; up
  /// Ports at the switch that the siblings share: down, coming and going, or narrower and slower than they could be.
  std::vector<PortIndex> lost;
  float sibling_median = 0;          ///< of their utilisation
  bool certain = true;               ///< the siblings' figures say it clearly
  std::vector<PortIndex> links;      ///< all root links: the circle of a deadlock, full uplinks; else one
  std::vector<PortIndex> victims;    ///< sending ports of links that wait for it, the worst first; at most kMostVictims
  std::vector<PortIndex> waits_for;  ///< by victim: the sending port of the link that it waits for
  std::size_t victim_count = 0;
};

inline constexpr std::size_t kMostVictims = 256;

/// Finds and classifies the congestion roots of one sweep. It keeps no state that influences the next call.
class CongestionFinder {
 public:
  explicit CongestionFinder(const CongestionThresholds& thresholds) : thresholds_(thresholds) {}

  /// Roots, worst first. A link that is busy and holds nobody up is none.
  const std::vector<CongestionRoot>& find(const CongestionInput& input);

 private:
  void collect(const CongestionInput& input);
  void find_marked_ways(const CongestionInput& input);
  void weigh_marks(const CongestionInput& input, HotLink& link) const;
  bool ends_at_a_host(PortIndex egress) const;
  bool is_fed(const CongestionInput& input, PortIndex egress, std::span<const PortIndex> roots);
  bool collect_phased(const CongestionInput& input);
  void add_terminal(const CongestionInput& input, std::uint32_t link);
  void add_circle(const CongestionInput& input, const std::vector<std::uint32_t>& members);
  bool classify(const CongestionInput& input, const HotLink& link, CongestionRoot& root);
  bool compare_siblings(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const;
  float sent_by_others(const CongestionInput& input, const HotLink& link) const;
  NodeIndex shared_switch(PortIndex egress) const;
  void find_bereft(const CongestionInput& input);
  float least_through(const CongestionInput& input, PortIndex at, PortIndex next);
  PortIndex follow(const CongestionInput& input, const HotLink& first, float sure, CongestionRoot& root);
  bool name_inner(const CongestionInput& input, const HotLink& link, CongestionRoot& root);
  void explain(const CongestionInput& input);
  float own_feeders_stall(const CongestionInput& input, const CongestionRoot& root) const;
  void gather_victims(std::span<const std::uint32_t> roots, CongestionRoot& root);
  void merge_by_node();

  const CongestionThresholds& thresholds_;
  std::shared_ptr<const Topology> topology_;
  std::vector<std::uint8_t> ranks_;
  std::vector<std::uint8_t> bereft_;  ///< by node
  std::vector<float> marked_ways_;    ///< by node: what hosts of a switch receive marked, and not for their own link
  std::vector<HotLink> hot_;
  WaitForGraph graph_;
  std::vector<std::uint32_t> visited_;  ///< by hot link: the last search that reached it
  std::uint32_t search_ = 0;
  std::size_t steps_left_ = 0;  ///< of all searches of one moment together
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint32_t> awaited_;  ///< by hot link: the one by which the last search reached it
  std::vector<CongestionRoot> roots_;
};

}  // namespace weft::analyzer
