#pragma once
// Who waits for whom: the graph of held-back and saturated links of one moment.

#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/routes.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// A directed link, named by the port that sends.
struct HotLink {
  PortIndex egress = kNoIndex;
  float utilization = 0;   ///< of the present rate, 0..1
  float stall = 0;         ///< share of time with data and no credit, 0..1; 0 when it is not known
  float rate = 0;          ///< bits per second
  float active = 1;        ///< share of time in which there was anything to send; 1 when it is not known
  bool saturated = false;  ///< it is at its own limit
  bool held_back = false;  ///< it wants for credit: by what is behind it, even where it is full as well
};

/// Edges from each held-back link to the links behind it that it may wait for: those that carry its traffic by the
/// forwarding tables, or all that are hot where the tables are not known.
class WaitForGraph {
 public:
  /// `links` ascending by egress.
  void build(std::shared_ptr<const Topology> topology, std::shared_ptr<const Routes> routes,
             std::span<const HotLink> links);

  /// Positions in `links` that position `link` waits for.
  std::span<const std::uint32_t> waits_for(std::uint32_t link) const {
    return std::span(edges_).subspan(first_[link], first_[link + 1] - first_[link]);
  }
  /// Positions of the links that wait for `link`.
  std::span<const std::uint32_t> waiting_for(std::uint32_t link) const {
    return std::span(reverse_).subspan(reverse_first_[link], reverse_first_[link + 1] - reverse_first_[link]);
  }
  /// Groups of links that wait for each other in circles, largest first; only those that wait for nobody else.
  std::vector<std::vector<std::uint32_t>> closed_circles() const;

  /// Does what comes over the link of `egress` leave by the port `next` of the switch behind it? False where the tables
  /// are not known. After build().
  bool carries(PortIndex egress, PortIndex next);

 private:
  using PortSet = std::bitset<256>;
  const PortSet* carried(PortIndex egress);

  std::vector<std::uint32_t> first_, edges_, reverse_first_, reverse_;
  // What comes over a link leaves by which ports of the switch behind it; as long as tables and cables stay the same.
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const Routes> routes_;
  std::unordered_map<PortIndex, PortSet> carried_;
  unsigned scans_left_ = 0;
};

}  // namespace weft::analyzer
