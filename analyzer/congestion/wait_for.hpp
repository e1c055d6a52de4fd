// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who waits for whom: the graph of held-back and saturated links of one moment.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fabric/graph/multipath.hpp"
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
  float marked = -1;       ///< share of the packets behind it that carry a mark, where it is full and they do; else < 0
  bool tells_marks = false;  ///< the port's own counter says so
  bool notified = false;     ///< of a host: it sends less because notifications tell it to
};

/// What is known of the ways through a fabric; one of them at most.
struct KnownWays {
  std::shared_ptr<const Routes> routes;
  std::shared_ptr<const Multipath> multipath;
};

/// Edges from each held-back link to the links behind it that it may wait for: those that carry its traffic by the
/// forwarding tables or by equal-cost ways, or all that are hot where neither is known. On Ethernet there may be cables
/// that nobody reads: switches that hang together by such are one region, and who is held back into a region may wait
/// for any hot link out of it. A host that is notified may wait for any link that marks and lies on one of its ways.
/// A region, and the notified hosts of a switch, are positions of their own behind those of the links, so that edges
/// stay few.
class WaitForGraph {
 public:
  /// `links` ascending by egress.
  void build(std::shared_ptr<const Topology> topology, KnownWays ways, std::span<const HotLink> links);

  /// Of all positions, the first that is no link.
  std::uint32_t links() const { return links_; }
  /// All positions: those of links first, then those of regions and of switches with notified hosts.
  std::uint32_t positions() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  /// Links that wait for `link` directly, or through a region or a switch, up to some hundred; the link's own other
  /// direction is none.
  unsigned feeders(std::uint32_t link, std::span<const HotLink> links) const;

  /// Positions that position `link` waits for.
  std::span<const std::uint32_t> waits_for(std::uint32_t link) const {
    return std::span(edges_).subspan(first_[link], first_[link + 1] - first_[link]);
  }
  /// Positions of the links that wait for `link`.
  std::span<const std::uint32_t> waiting_for(std::uint32_t link) const {
    return std::span(reverse_).subspan(reverse_first_[link], reverse_first_[link + 1] - reverse_first_[link]);
  }
  /// Groups of positions that wait for each other in circles, largest first; only those that wait for nobody else.
  std::vector<std::vector<std::uint32_t>> closed_circles() const;

  /// Does what comes over the link of `egress` leave by the port `next` of the switch behind it, or may some of it
  /// where there are equal-cost ways? False where no ways are known. After build().
  bool carries(PortIndex egress, PortIndex next);

 private:
  using PortSet = std::vector<bool>;  ///< by port number
  const PortSet* carried(PortIndex egress);
  bool carried_by_tables(PortIndex egress, PortSet& ports) const;
  void find_regions();
  void find_marking(std::span<const HotLink> links);
  void add_links_behind(const HotLink& link, std::span<const HotLink> links);

  std::uint32_t links_ = 0;
  std::vector<std::uint32_t> first_, edges_, reverse_first_, reverse_;
  // What comes over a link leaves by which ports of the switch behind it; as long as tables and cables stay the same.
  std::shared_ptr<const Topology> topology_;
  KnownWays ways_;
  std::unordered_map<PortIndex, PortSet> carried_;
  unsigned scans_left_ = 0;
  // Of the same topology: switches that cables hold together which nobody reads.
  std::vector<std::uint32_t> region_;  ///< by node; kNoIndex: none
  std::uint32_t regions_ = 0;
  std::vector<std::uint32_t> hub_;  ///< by region: its position, or kNoIndex while nothing hot leads out of it
  /// Of a switch with notified hosts: the links that mark and that those may send over.
  struct Marking {
    NodeIndex node = kNoIndex;
    std::vector<std::uint32_t> links;
  };
  std::vector<Marking> marking_;     ///< ascending by node
  std::uint32_t first_marking_ = 0;  ///< position of the first of them
};

}  // namespace weft::analyzer
