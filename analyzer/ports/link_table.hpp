// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every node and link that was ever known, and what this sweep says of each: the ground all link rules stand on.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

class DoubleGuids;
class OtherSubnets;

/// Position in LinkTable::nodes(); stays the same as long as the process lives, whatever the topology's epoch.
using NodeId = std::uint32_t;
/// Position in LinkTable::links(); stays the same as long as the process lives.
using LinkId = std::uint32_t;

/// A node that was seen at some time, with what the present sweep says of it.
struct KnownNode {
  NodeGuid guid;
  std::string name;
  NodeType type = NodeType::kUnknown;
  bool aggregation_node = false;
  NodeIndex index = kNoIndex;            ///< in the present topology, kNoIndex when it is not there
  std::uint32_t host = kNoIndex;         ///< which host an adapter belongs to: position in LinkTable::hosts()
  bool lost = true;                      ///< it does not answer: unreachable, or all its states are stale
  bool quiet = true;                     ///< lost, or no state of it was read in this very sweep
  bool unread = false;                   ///< on Ethernet: nobody reads it, which says nothing of it; lost and quiet too
  std::uint8_t silent_sweeps = 0;        ///< consecutive sweeps lost while a neighbour saw its link up
  std::uint8_t counterless_sweeps = 0;   ///< consecutive sweeps in which it answered, but none of its counters was read
  TimePoint counterless_since = kNever;  ///< since the first of them
};

/// What one end says.
enum class EndView : std::uint8_t {
  kUnseen,     ///< no fresh reading of its own
  kUp,         ///< Active
  kTraining,   ///< Initialize or Armed: the cable works, the subnet manager has not activated the port
  kDown,       ///< Down
  kDisabled,   ///< Down, and its physical state says Disabled: somebody's decision
  kElsewhere,  ///< connected with another port
};

/// What both ends say together.
enum class LinkView : std::uint8_t { kUnknown, kUp, kTraining, kDisagreement, kDown };

/// A link that was seen or is expected, with what the present sweep says of both ends.
struct LinkState {
  LinkKey key;
  NodeId low_node = 0;
  NodeId high_node = 0;
  PortIndex low = kNoIndex;  ///< in the present topology
  PortIndex high = kNoIndex;
  EndView low_view = EndView::kUnseen;
  EndView high_view = EndView::kUnseen;
  LinkView view = LinkView::kUnknown;
  std::uint8_t sweeps_in_view = 0;  ///< consecutive sweeps with this view, at most 255
  TimePoint view_since = kNever;    ///< end of the first of them; of kTraining since both ends answer
  Duration activated_in{};          ///< time from kTraining to kUp; of the sweep that first saw it up, else 0
  bool was_up = false;              ///< seen up, by this process or an earlier one
  bool expected = false;            ///< the expected topology has it
  bool reported = false;            ///< was part of an outage in the last sweep
  bool covered = false;             ///< and that was a switch's or a host's outage
  TimePoint down_since = kNever;    ///< when the view left kUp, or when it was first seen in another
  bool fell = false;                ///< this process saw it leave kUp, and it is not up again
  /// When it was up for the first time, of a link that came while we watched; kNever once Thresholds::bring_up is over.
  /// A cable that is found on Ethernet within Thresholds::telemetry_start_grace of the first sweep was there before.
  /// Who brings a machine into service trains its links more than once.
  TimePoint brought_up = kNever;

  /// Its being down is trouble.
  bool counts() const { return (was_up || expected) && !recabled; }
  /// Somebody switched one of its ends off.
  bool is_disabled() const { return low_view == EndView::kDisabled || high_view == EndView::kDisabled; }
  bool recabled = false;       ///< an end was seen connected with another port, or in another subnet
  TimePoint up_read = kNever;  ///< of the last reading that said it is up; kNever: of before this process
  /// Of the interfaces, as they were called last; empty where ports have numbers only.
  std::string low_name{}, high_name{};
};

/// Links and nodes with stable ids over all epochs of the topology.
class LinkTable {
 public:
  /// No links yet, and none expected. `thresholds` must outlive it.
  explicit LinkTable(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// The links of `expected`, and no others, are expected from now on; null: none.
  void expect(const Topology* expected);
  /// Adds links that an earlier process saw up. Before the first observe().
  void restore(std::span<const KnownLink> links);
  /// All links that were seen up, to be saved and handed to restore() by the next process.
  std::vector<KnownLink> known_links() const;
  /// The switches at those, sorted. O(links).
  std::vector<NodeGuid> known_switches() const;
  /// Grows when known_links() changes.
  std::uint64_t revision() const { return revision_; }

  /// Links whose absence is trouble, and of which the present topology does not have both ends.
  std::vector<AbsentLink> absent_links() const;

  /// Takes the states of one sweep, which must have a topology. A cable that is lost has left where its adapter is up
  /// in one of `others`, or its switch answers there, and the other end is known to be somewhere; where that is not,
  /// the cable is down at its switch. Of GUIDs in `doubles` nothing is inferred.
  void observe(const Sweep& sweep, const OtherSubnets& others, const DoubleGuids& doubles);

  /// Of the last sweep; null before.
  const std::shared_ptr<const Topology>& topology() const { return topology_; }
  const std::vector<KnownNode>& nodes() const { return nodes_; }
  std::vector<KnownNode>& nodes() { return nodes_; }
  const std::vector<LinkState>& links() const { return links_; }
  std::vector<LinkState>& links() { return links_; }
  /// The adapters of each host; a host is known by its name.
  const std::vector<std::vector<NodeId>>& hosts() const { return hosts_; }
  /// Name of a host; `host` is a position in hosts().
  const std::string& host_name_of(std::uint32_t host) const { return host_names_[host]; }

  /// The link at a port of the present topology, or kNoIndex.
  LinkId link_at(PortIndex port) const { return port < link_at_.size() ? link_at_[port] : kNoIndex; }
  /// The known node, or kNoIndex.
  NodeId find_node(NodeGuid guid) const;
  /// The known link, or kNoIndex.
  LinkId find_link(const LinkKey& key) const;
  /// None of its links that count is up, or may be; those of one that is not known, too. What is down is told as such.
  bool is_cut_off(NodeGuid node) const;
  /// A cable that counts is known at that port.
  bool is_expected_at(PortKey port) const;
  /// The links at a node.
  std::span<const LinkId> links_of(NodeId node) const;
  /// Its PortInfo is not stale and its node answers; on Ethernet: its collector, or that of the other end, tells.
  bool state_fresh(PortIndex port) const { return fresh_[port] != 0; }

  /// "leaf-1 port 12"
  std::string end_label(NodeId node, PortNum port) const;

 private:
  NodeId add_node(NodeGuid guid);
  void name_node(NodeId id, const std::string& name, NodeType type, bool aggregation_node);
  LinkId add_link(LinkKey key);
  void synchronise(const Topology& topology);
  void observe_nodes(const Sweep& sweep);
  void tolerate_clock(TimePoint now);
  void observe_links(const Sweep& sweep, const OtherSubnets& others, const DoubleGuids& doubles);
  EndView view_of(const Topology& topology, PortIndex port, PortIndex other) const;
  bool has_left(LinkState& link, const OtherSubnets& others, const DoubleGuids& doubles);
  void recable(LinkState& link);
  void note_up(LinkState& link, const Sweep& sweep);

  const Thresholds& thresholds_;
  std::vector<KnownNode> nodes_;
  std::vector<LinkState> links_;
  std::unordered_map<NodeGuid, NodeId> node_ids_;
  std::unordered_map<LinkKey, LinkId> link_ids_;
  std::vector<std::string> host_names_;
  std::vector<std::vector<NodeId>> hosts_;
  std::unordered_map<std::string, std::uint32_t> host_ids_;

  std::shared_ptr<const Topology> topology_;
  std::vector<LinkId> link_at_;        ///< by port
  std::vector<std::uint8_t> fresh_;    ///< by port
  std::vector<std::uint8_t> by_peer_;  ///< by port: as Sweep::inferred_from_peer
  std::uint64_t revision_ = 0;
  TimePoint began_ = kNever;  ///< end of the first sweep that was observed

  // Adjacency in compressed rows, made again when links were added.
  mutable std::vector<std::uint32_t> first_link_;
  mutable std::vector<LinkId> adjacent_;
  mutable std::size_t adjacency_links_ = 0;
};

}  // namespace weft::analyzer
