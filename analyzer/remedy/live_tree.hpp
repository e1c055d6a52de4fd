// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is left of a fat tree when links are out, and whether that is enough.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/remedy/fabric_tree.hpp"
#include "analyzer/remedy/limits.hpp"
#include "fabric/plan.hpp"

namespace weft::analyzer {

/// The leaves that a job's adapters end at, as positions in FabricTree::leaves(), ascending.
struct JobLeaves {
  std::string job;
  std::vector<std::uint32_t> leaves;
};

/// Something there would be too little of.
struct Shortfall {
  Guard guard = Guard::kLeafCapacity;  ///< kReachability, kLeafCapacity, kJobCapacity or kRailCapacity
  NodeIndex leaf = kNoIndex;           ///< kNoIndex: of a rail
  NodeIndex other = kNoIndex;          ///< the second one of a pair
  std::uint32_t rail = kNoIndex;
  std::uint64_t kept = 0, needed = 0, designed = 0;  ///< ways up, common spines or uplinks
};

/// The tree with some of its links out. Taking one out and putting it back costs as much as lies below it.
class LiveTree {
 public:
  /// `up`: by uplink, 1 where both ends are active. `tree` must outlive it.
  LiveTree(const FabricTree& tree, std::span<const std::uint8_t> up, std::span<const JobLeaves> jobs,
           const CapacityLimits& limits);

  /// False while the uplink is out or its link is down.
  bool is_up(UplinkIndex uplink) const { return up_[uplink] != 0; }
  /// Nothing when it is so already.
  void take_out(UplinkIndex uplink) { set(uplink, 0); }
  /// Takes the uplink as up again. Nothing when it is so already.
  void put_back(UplinkIndex uplink) { set(uplink, 1); }

  /// What is too little of what the ways through `uplink` serve, as the tree is now: the first rule broken, in the
  /// order of the guards. Pairs of leaves that share nothing by design are no matter of ours.
  std::optional<Shortfall> shortfall(UplinkIndex uplink) const;
  /// Which of `judged` are short of something, or have a pair or a rail that is; by leaf, 0 for all others.
  std::vector<std::uint8_t> short_leaves(std::span<const std::uint32_t> judged) const;
  /// Leaves whose ways up lead, or would lead, through it.
  std::vector<std::uint32_t> leaves_below(UplinkIndex uplink) const;
  /// Ways up to the highest tier: of now, and when all links are up.
  std::uint64_t ways(NodeIndex node) const { return ways_[tree_.order_of(node)]; }
  /// Paths up to the highest tier when all links are up.
  std::uint64_t designed_ways(NodeIndex node) const { return designed_ways_[tree_.order_of(node)]; }
  /// Uplinks of a switch that are up.
  std::uint32_t uplinks_up(NodeIndex node) const;
  const FabricTree& tree() const { return tree_; }

 private:
  using Word = std::uint64_t;
  struct Common {
    std::uint64_t now = 0, designed = 0;
  };

  void set(UplinkIndex uplink, std::uint8_t up);
  void refresh(NodeIndex node, std::vector<std::uint64_t>& ways, std::vector<Word>& above, bool designed) const;
  template <typename Visit>
  void visit_below(NodeIndex node, Visit visit) const;
  Common common(std::uint32_t leaf, std::uint32_t other) const;
  std::optional<Shortfall> leaf_shortfall(std::uint32_t leaf) const;
  bool concerns(std::uint32_t other, std::span<const std::uint32_t> judged) const;
  std::optional<Shortfall> reach_shortfall(std::uint32_t leaf, std::span<const std::uint32_t> judged) const;
  std::optional<Shortfall> job_shortfall(std::uint32_t leaf, std::span<const std::uint32_t> judged) const;
  std::optional<Shortfall> rail_shortfall(std::uint32_t rail) const;

  const FabricTree& tree_;
  CapacityLimits limits_;
  std::vector<std::uint8_t> up_;
  std::size_t words_ = 0;                            ///< of one switch's row in `above`
  std::vector<std::uint32_t> bit_of_;                ///< by order: its bit; bits of a tier begin at a new word
  std::vector<std::uint32_t> tier_words_;            ///< where the words of each tier begin, and the end
  std::vector<std::uint64_t> ways_, designed_ways_;  ///< by order
  std::vector<Word> above_, designed_above_;         ///< by order: switches that a way up leads to, and itself
  std::vector<std::uint32_t> rail_up_, rail_designed_;
  std::vector<std::vector<std::uint32_t>> mates_;  ///< by leaf: leaves that share a job with it, ascending
  std::vector<std::uint8_t> has_job_;              ///< by leaf
};

/// One sentence: "leaf-3 would keep 6 of 8 ways up; 7 are needed".
std::string describe(const Shortfall& shortfall, const FabricTree& tree, const Topology& topology);

}  // namespace weft::analyzer
