// SPDX-License-Identifier: Apache-2.0
// What there is too little of: the rules for leaves, for pairs of leaves and for rails.

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "analyzer/remedy/live_tree.hpp"

namespace weft::analyzer {

std::uint64_t needed_of(std::uint64_t designed, double share) {
  // 0.9 · 10 is 9, not 10: a share in binary is a little off what was written.
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(designed) * share - 1e-9));
}

// All pairs of one leaf, where most need no look: for leaves of one group it is worked out once with which groups a
// pair may be short at all.
class LiveTree::Pairs {
 public:
  /// `judged`, ascending, must outlive it: a leaf that is cut off concerns nobody else unless it is one of them.
  Pairs(const LiveTree& tree, std::span<const std::uint32_t> judged) : tree_(tree), judged_(judged) {}

  std::optional<Shortfall> reach_shortfall(std::uint32_t leaf) {
    look_at(tree_.group_of_[leaf]);
    if (tree_.is_alive(leaf)) {
      for (const std::uint32_t group : reach_suspects_)
        if (auto found = reach_shortfall(leaf, group)) return found;
    } else {
      for (std::uint32_t group = 0; group < tree_.groups_.size(); ++group)
        if (auto found = reach_shortfall(leaf, group)) return found;
    }
    return std::nullopt;
  }

  std::optional<Shortfall> job_shortfall(std::uint32_t leaf) {
    if (tree_.jobs_of_[leaf].empty()) return std::nullopt;
    look_at(tree_.group_of_[leaf]);
    const bool is_alive = tree_.is_alive(leaf);
    if (is_alive && !has_job_suspects_) return std::nullopt;
    for (const std::uint32_t job : tree_.jobs_of_[leaf])
      for (const auto& [group, leaves] : tree_.jobs_[job].parts)
        if (!is_alive || joins_[group].is_job_suspect)
          if (auto found = job_shortfall(leaf, joins_[group], leaves)) return found;
    return std::nullopt;
  }

 private:
  // What two groups share by design: in the highest tier where they share any, and in the lowest, which carries what
  // they send each other.
  struct Join {
    std::size_t top = 0, low = 0;
    std::uint32_t at_top = 0, at_low = 0;
    bool is_job_suspect = false;
  };

  void look_at(std::uint32_t group) {
    if (group == group_) return;
    group_ = group;
    joins_.assign(tree_.groups_.size(), {});
    reach_suspects_.clear();
    has_job_suspects_ = false;
    const auto own = tree_.row(tree_.designed_above_, tree_.groups_[group].leaves.front());
    for (std::uint32_t other = 0; other < joins_.size(); ++other) {
      const auto theirs = tree_.row(tree_.designed_above_, tree_.groups_[other].leaves.front());
      Join& join = joins_[other];
      for (std::size_t tier = 0; tier < tree_.tiers(); ++tier) {
        int shared = 0;
        for (std::uint32_t word = tree_.tier_words_[tier]; word < tree_.tier_words_[tier + 1]; ++word)
          if (const Word both = own[word] & theirs[word]; both != 0) shared += std::popcount(both);
        if (shared == 0) continue;
        join.top = tier;
        join.at_top = static_cast<std::uint32_t>(shared);
        if (join.at_low > 0) continue;
        join.low = tier;
        join.at_low = join.at_top;
      }
      if (join.at_top == 0) continue;
      if (join.at_top <= tree_.most_lost(group, join.top) + tree_.most_lost(other, join.top))
        reach_suspects_.push_back(other);
      const std::uint64_t lost = tree_.most_lost(group, join.low) + tree_.most_lost(other, join.low);
      join.is_job_suspect = join.at_low < lost + needed_of(join.at_low, tree_.limits_.job_share);
      has_job_suspects_ = has_job_suspects_ || join.is_job_suspect;
    }
  }

  bool concerns(std::uint32_t other) const {
    return tree_.is_alive(other) || std::ranges::binary_search(judged_, other);
  }

  std::optional<Shortfall> reach_shortfall(std::uint32_t leaf, std::uint32_t group) const {
    const Join& join = joins_[group];
    if (join.at_top == 0) return std::nullopt;
    const std::uint32_t lost = tree_.lost(leaf, join.top);
    for (const std::uint32_t other : tree_.groups_[group].leaves) {
      if (other == leaf || join.at_top > lost + tree_.lost(other, join.top)) continue;
      if (!tree_.are_joined(leaf, other) && concerns(other))
        return Shortfall{Guard::kReachability, node(leaf), node(other), kNoIndex, 0, 1, 1};
    }
    return std::nullopt;
  }

  std::optional<Shortfall> job_shortfall(std::uint32_t leaf, const Join& join,
                                         std::span<const std::uint32_t> others) const {
    const std::uint64_t needed = needed_of(join.at_low, tree_.limits_.job_share);
    const std::uint32_t lost = tree_.lost(leaf, join.low);
    for (const std::uint32_t other : others) {
      if (other == leaf || join.at_low >= needed + lost + tree_.lost(other, join.low)) continue;
      const std::uint64_t kept = tree_.shared_now(leaf, other, join.low);
      if (kept < needed && concerns(other))
        return Shortfall{Guard::kJobCapacity, node(leaf), node(other), kNoIndex, kept, needed, join.at_low};
    }
    return std::nullopt;
  }

  NodeIndex node(std::uint32_t leaf) const { return tree_.tree_.leaves()[leaf]; }

  const LiveTree& tree_;
  std::span<const std::uint32_t> judged_;
  std::uint32_t group_ = kNoIndex;  // that joins_ and the suspects are of
  std::vector<Join> joins_;         // by group
  std::vector<std::uint32_t> reach_suspects_;
  bool has_job_suspects_ = false;
};

std::uint64_t LiveTree::shared_now(std::uint32_t leaf, std::uint32_t other, std::size_t tier) const {
  const auto a = row(above_, leaf), b = row(above_, other);
  std::uint64_t shared = 0;
  for (std::uint32_t word = tier_words_[tier]; word < tier_words_[tier + 1]; ++word)
    shared += static_cast<std::uint64_t>(std::popcount(a[word] & b[word]));
  return shared;
}

bool LiveTree::are_joined(std::uint32_t leaf, std::uint32_t other) const {
  const auto a = row(above_, leaf), b = row(above_, other);
  for (std::size_t word = words_; word-- > 0;)  // leaves of different pods meet at the top only
    if ((a[word] & b[word]) != 0) return true;
  return false;
}

// A leaf that is switched off is judged by what it would have with its own uplinks up: it comes back.
std::uint64_t LiveTree::ways_when_back(std::uint32_t leaf) const {
  std::uint64_t sum = 0;
  for (const UplinkIndex index : tree_.up(tree_.leaves()[leaf])) sum += ways(tree_.uplinks()[index].parent);
  return sum;
}

bool LiveTree::is_cut_off_below(std::uint32_t leaf, UplinkIndex uplink) const {
  const NodeIndex child = tree_.uplinks()[uplink].child;
  if (is_alive(leaf) || tree_.leaves()[leaf] == child) return false;
  const std::uint32_t bit = bit_of_[tree_.order_of(child)];
  return (row(above_, leaf)[bit / kWordBits] >> (bit % kWordBits) & 1U) == 0;
}

std::optional<Shortfall> LiveTree::leaf_shortfall(std::uint32_t leaf, bool is_cut_off) const {
  const NodeIndex node = tree_.leaves()[leaf];
  const std::uint64_t designed = designed_ways(node);
  const std::uint64_t needed =
      needed_of(designed, jobs_of_[leaf].empty() ? limits_.leaf_share_idle : limits_.leaf_share_jobs);
  const std::uint64_t kept = is_cut_off ? ways_when_back(leaf) : ways(node);
  if (kept >= needed) return std::nullopt;
  return Shortfall{Guard::kLeafCapacity, node, kNoIndex, kNoIndex, kept, needed, designed, !jobs_of_[leaf].empty()};
}

std::optional<Shortfall> LiveTree::rail_shortfall(std::uint32_t rail) const {
  if (rail == kNoIndex) return std::nullopt;
  const std::uint64_t needed = needed_of(rail_designed_[rail], limits_.rail_share);
  if (rail_up_[rail] >= needed) return std::nullopt;
  return Shortfall{Guard::kRailCapacity, kNoIndex, kNoIndex, rail, rail_up_[rail], needed, rail_designed_[rail]};
}

// Of the leaves served those whose ways and pairs are judged as they are.
std::vector<std::uint32_t> LiveTree::in_service(std::span<const std::uint32_t> served, UplinkIndex uplink) const {
  std::vector<std::uint32_t> leaves;
  for (const std::uint32_t leaf : served)
    if (!is_cut_off_below(leaf, uplink)) leaves.push_back(leaf);
  return leaves;
}

std::optional<Shortfall> LiveTree::shortfall(UplinkIndex uplink) const {
  const std::vector<std::uint32_t> served = leaves_served(uplink), judged = in_service(served, uplink);
  Pairs pairs(*this, judged);
  for (const std::uint32_t leaf : judged)
    if (auto found = pairs.reach_shortfall(leaf)) return found;
  for (const std::uint32_t leaf : served)
    if (auto found = leaf_shortfall(leaf, !std::ranges::binary_search(judged, leaf))) return found;
  for (const std::uint32_t leaf : judged)
    if (auto found = pairs.job_shortfall(leaf)) return found;
  for (const std::uint32_t leaf : served)
    if (auto found = rail_shortfall(tree_.rail_of(leaf))) return found;
  return std::nullopt;
}

bool LiveTree::is_short(UplinkIndex uplink) const {
  const std::vector<std::uint32_t> served = leaves_served(uplink), judged = in_service(served, uplink);
  const bool all_judged = judged.size() == served.size();
  for (const std::uint32_t leaf : served)
    if (leaf_shortfall(leaf, !all_judged && !std::ranges::binary_search(judged, leaf)) ||
        rail_shortfall(tree_.rail_of(leaf)))
      return true;
  Pairs pairs(*this, judged);
  return std::ranges::any_of(
      judged, [&](std::uint32_t leaf) { return pairs.job_shortfall(leaf) || pairs.reach_shortfall(leaf); });
}

const std::optional<Shortfall>& LiveTree::shortfall_without(UplinkIndex uplink) {
  const auto [at, is_new] = remembered_.try_emplace(uplink);
  if (is_new) {
    const bool was_up = is_up(uplink);
    take_out(uplink);
    at->second = shortfall(uplink);
    if (was_up) put_back(uplink);
  }
  return at->second;
}

std::vector<std::uint8_t> LiveTree::short_leaves(std::span<const std::uint32_t> judged,
                                                 std::span<const std::uint32_t> cut_off) const {
  std::vector<std::uint8_t> is_short(tree_.leaves().size(), 0);
  std::vector<std::uint32_t> in_service;
  std::ranges::set_difference(judged, cut_off, std::back_inserter(in_service));
  // Whoever has a pair with a leaf that is cut off now is short with it.
  if (!std::ranges::all_of(in_service, [this](std::uint32_t leaf) { return is_alive(leaf); })) {
    for (const std::uint32_t leaf : judged) is_short[leaf] = 1;
    return is_short;
  }
  Pairs pairs(*this, in_service);
  for (const std::uint32_t leaf : judged) {
    const bool was_cut_off = std::ranges::binary_search(cut_off, leaf);
    is_short[leaf] = leaf_shortfall(leaf, was_cut_off) || rail_shortfall(tree_.rail_of(leaf)) ||
                     (!was_cut_off && (pairs.job_shortfall(leaf) || pairs.reach_shortfall(leaf)));
  }
  return is_short;
}

}  // namespace weft::analyzer
