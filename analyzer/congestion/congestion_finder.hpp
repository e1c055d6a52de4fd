#pragma once
// The congestion trees of one moment: which links are the roots, what kind each is, and who suffers.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/congestion/thresholds.hpp"
#include "analyzer/congestion/wait_for.hpp"
#include "fabric/incident.hpp"
#include "fabric/snapshot.hpp"

namespace weft::analyzer {

/// What a moment is judged by. The vectors have one entry for each port.
struct CongestionInput {
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Routes> routes;  ///< null where they are not known
  std::span<const PortRates> rates;
  std::span<const float> elapsed;          ///< seconds between the last two readings; 0: nothing new was read
  std::span<const float> line_rates;       ///< bits per second after line coding; 0 while down
  std::span<const std::uint8_t> suspects;  ///< not 0: a fault of the link itself is known; may be empty
};

/// Where waiting ends.
struct CongestionRoot {
  /// kCongestionIncast, kCongestionUnevenLoad, kCongestionOversubscribed, kSlowReceiver, kDeadlock; kLinkDegraded
  /// stands for a link whose own known fault is the cause, whatever that fault is.
  IncidentKind kind = IncidentKind::kCongestionIncast;
  PortIndex egress = kNoIndex;  ///< the sending port of the root link; of several the worst
  NodeIndex node = kNoIndex;    ///< of kCongestionOversubscribed: the switch whose links are too few
  float utilization = 0;        ///< of the root link
  float stall = 0;
  float worst_stall = 0;             ///< of any victim, or of the root itself where it is held back
  double lost_bits = 0;              ///< Σ stall × rate of all victims, bits per second
  unsigned feeders = 0;              ///< links that deliver into the root link's switch and wait for the root
  unsigned siblings = 0;             ///< links that could carry the same load, the root left out; up
  unsigned siblings_down = 0;        ///< of those there are, down or narrower and slower than they could be
  float sibling_median = 0;          ///< of their utilisation
  bool certain = true;               ///< the siblings' figures say it clearly
  std::vector<PortIndex> links;      ///< all root links: the circle of a deadlock, full uplinks; else one
  std::vector<PortIndex> victims;    ///< sending ports of links that wait for it, the worst first; at most kMostVictims
  std::vector<PortIndex> waits_for;  ///< by victim: the sending port of the link that it waits for
  std::size_t victim_count = 0;
};

inline constexpr std::size_t kMostVictims = 256;

class CongestionFinder {
 public:
  explicit CongestionFinder(const CongestionThresholds& thresholds) : thresholds_(thresholds) {}

  /// Roots, worst first. A link that is busy and holds nobody up is none.
  const std::vector<CongestionRoot>& find(const CongestionInput& input);

 private:
  void collect(const CongestionInput& input);
  void add_terminal(const CongestionInput& input, std::uint32_t link);
  void add_circle(const CongestionInput& input, const std::vector<std::uint32_t>& members);
  bool classify(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const;
  bool compare_siblings(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const;
  void gather_victims(std::span<const std::uint32_t> roots, CongestionRoot& root);
  void merge_by_node();

  const CongestionThresholds& thresholds_;
  std::shared_ptr<const Topology> topology_;
  std::vector<std::uint8_t> ranks_;
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
