// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is left of a fat tree when links are out, and whether that is enough.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/remedy/fabric_tree.hpp"
#include "analyzer/remedy/limits.hpp"
#include "fabric/plan.hpp"

namespace weft::analyzer {

/// How many of `designed` a share (0..1) of them is, rounded up.
std::uint64_t needed_of(std::uint64_t designed, double share);

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
  bool has_jobs = false;                             ///< of kLeafCapacity: jobs run below the leaf
};

/// The tree with some of its links out. Taking one out and putting it back costs as much as lies below it.
///
/// Two leaves lose a common switch only where one of them lost it: what each leaf lost in each tier, and the most that
/// a leaf of each group lost, tell of nearly all pairs that they have enough without a look at the pair. Groups are
/// leaves from which the same switches are reached by design, as those of one pod.
class LiveTree {
 public:
  /// `up`: by uplink, 1 where both ends are active. `tree` must outlive it.
  LiveTree(const FabricTree& tree, std::span<const std::uint8_t> up, std::span<const JobLeaves> jobs,
           const CapacityLimits& limits);

  /// False while the uplink is out or its link is down.
  bool is_up(UplinkIndex uplink) const { return up_[uplink] != 0; }
  /// Supposes that the uplink is out, until put_back(). Nothing when it is so already.
  void take_out(UplinkIndex uplink) { set(uplink, 0); }
  /// Takes the uplink as up again. Nothing when it is so already.
  void put_back(UplinkIndex uplink) { set(uplink, 1); }
  /// The link came up or went down, while nothing is supposed: what was remembered is no longer so.
  void change(UplinkIndex uplink, bool up);
  /// How often change() was called.
  std::uint64_t changes() const { return changes_; }

  /// What is too little of what the ways through `uplink`, which is out, served, as the tree is now: the first rule
  /// broken, in the order of the guards. Pairs of leaves that share nothing by design are no matter of ours.
  std::optional<Shortfall> shortfall(UplinkIndex uplink) const;
  /// There is a shortfall(): the same, the cheapest rules first.
  bool is_short(UplinkIndex uplink) const;
  /// shortfall() if `uplink` were out, while nothing is supposed. Remembered until the next change().
  const std::optional<Shortfall>& shortfall_without(UplinkIndex uplink);
  /// Which of `judged`, ascending, are short of something, or have a pair or a rail that is; by leaf, 0 for all others.
  /// Those of `cut_off`, ascending, were so before, and are judged by what they would have with their uplinks up. All,
  /// when another one of them is cut off.
  std::vector<std::uint8_t> short_leaves(std::span<const std::uint32_t> judged,
                                         std::span<const std::uint32_t> cut_off) const;
  /// Leaves whose ways up lead, or would lead, through it, ascending.
  std::vector<std::uint32_t> leaves_below(UplinkIndex uplink) const;
  /// Leaves that shortfall() looks at, ascending: those with a way to the lower end of `uplink`, and those that would
  /// have one if they were not cut off. What others have does not change with it.
  std::vector<std::uint32_t> leaves_served(UplinkIndex uplink) const;
  /// Ways up to the highest tier: of now, and when all links are up.
  std::uint64_t ways(NodeIndex node) const { return ways_[tree_.order_of(node)]; }
  /// Paths up to the highest tier when all links are up.
  std::uint64_t designed_ways(NodeIndex node) const { return designed_ways_[tree_.order_of(node)]; }
  /// Uplinks of a switch that are up.
  std::uint32_t uplinks_up(NodeIndex node) const;
  /// The leaf, a position in FabricTree::leaves(), has a way up. Else it is cut off.
  bool is_alive(std::uint32_t leaf) const { return ways(tree_.leaves()[leaf]) > 0; }
  const FabricTree& tree() const { return tree_; }

 private:
  using Word = std::uint64_t;
  static constexpr std::uint32_t kWordBits = 64;
  struct Group {
    std::vector<std::uint32_t> leaves;
  };
  struct Job {
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> parts;  // its leaves, by group
  };
  class Pairs;  // the rules for pairs of leaves

  void set(UplinkIndex uplink, std::uint8_t up);
  void refresh(NodeIndex node, std::span<const std::uint32_t> words, std::vector<std::uint64_t>& ways,
               std::vector<Word>& above, bool designed) const;
  template <typename Follow, typename Visit>
  void visit_below(NodeIndex node, Follow follow, Visit visit) const;
  void find_groups();
  void find_jobs(std::span<const JobLeaves> jobs);
  void measure(std::uint32_t leaf);
  void measure_group(std::uint32_t group);
  std::span<const Word> row(const std::vector<Word>& rows, std::uint32_t leaf) const {
    return std::span<const Word>(rows).subspan(tree_.order_of(tree_.leaves()[leaf]) * words_, words_);
  }
  std::uint32_t lost(std::uint32_t leaf, std::size_t tier) const { return lost_[leaf * tiers() + tier]; }
  std::uint32_t most_lost(std::uint32_t group, std::size_t tier) const { return most_lost_[group * tiers() + tier]; }
  std::size_t tiers() const { return tier_words_.size() - 1; }
  std::uint64_t shared_now(std::uint32_t leaf, std::uint32_t other, std::size_t tier) const;
  bool are_joined(std::uint32_t leaf, std::uint32_t other) const;
  std::vector<std::uint32_t> in_service(std::span<const std::uint32_t> served, UplinkIndex uplink) const;
  bool is_cut_off_below(std::uint32_t leaf, UplinkIndex uplink) const;  // and not by what is above that
  std::uint64_t ways_when_back(std::uint32_t leaf) const;
  std::optional<Shortfall> leaf_shortfall(std::uint32_t leaf, bool is_cut_off) const;
  std::optional<Shortfall> rail_shortfall(std::uint32_t rail) const;

  const FabricTree& tree_;
  CapacityLimits limits_;
  std::vector<std::uint8_t> up_;
  std::uint64_t changes_ = 0;
  std::unordered_map<UplinkIndex, std::optional<Shortfall>> remembered_;
  std::size_t words_ = 0;                            ///< of one switch's row in `above`
  std::vector<std::uint32_t> bit_of_;                ///< by order: its bit, if anything can be below it
  std::vector<std::uint32_t> tier_words_;            ///< where the words of each such tier begin, and the end
  std::vector<std::uint64_t> ways_, designed_ways_;  ///< by order
  std::vector<Word> above_, designed_above_;         ///< by order: switches that a way up leads to, and itself
  std::vector<std::uint32_t> rail_up_, rail_designed_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;   ///< by leaf
  std::vector<std::uint32_t> lost_;       ///< by leaf and tier: switches no longer reached there
  std::vector<std::uint32_t> most_lost_;  ///< by group and tier: the most of a leaf that is not cut off
  std::vector<Job> jobs_;
  std::vector<std::vector<std::uint32_t>> jobs_of_;  ///< by leaf: positions in jobs_
};

/// One sentence: "leaf-3 would keep 6 of 8 ways up; 7 are needed".
std::string describe(const Shortfall& shortfall, const FabricTree& tree, const Topology& topology);

}  // namespace weft::analyzer
