// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/live_tree.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <string_view>

namespace weft::analyzer {
LiveTree::LiveTree(const FabricTree& tree, std::span<const std::uint8_t> up, std::span<const JobLeaves> jobs,
                   const CapacityLimits& limits)
    : tree_(tree), limits_(limits), up_(up.begin(), up.end()) {
  const auto order = tree_.in_order();
  bit_of_.resize(order.size());
  tier_words_.assign(1, 0);
  std::uint32_t bit = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    bit_of_[i] = kNoIndex;
    if (tree_.tier(order[i]) < 2) continue;
    if (bit > 0 && tree_.tier(order[i]) != tree_.tier(order[i - 1])) {
      bit = (bit + kWordBits - 1) / kWordBits * kWordBits;
      tier_words_.push_back(bit / kWordBits);
    }
    bit_of_[i] = bit++;
  }
  words_ = (bit + kWordBits - 1) / kWordBits;
  tier_words_.push_back(static_cast<std::uint32_t>(words_));

  ways_.assign(order.size(), 0);
  designed_ways_ = ways_;
  above_.assign(order.size() * words_, 0);
  designed_above_ = above_;
  std::vector<std::uint32_t> words(words_);
  std::iota(words.begin(), words.end(), 0U);
  for (std::size_t i = order.size(); i-- > 0;) {  // from the top
    refresh(order[i], words, designed_ways_, designed_above_, true);
    refresh(order[i], words, ways_, above_, false);
  }

  rail_up_.assign(tree_.rail_count(), 0);
  rail_designed_ = rail_up_;
  for (UplinkIndex index = 0; index < up_.size(); ++index) {
    const std::uint32_t leaf = tree_.leaf_of(tree_.uplinks()[index].child);
    const std::uint32_t rail = leaf == kNoIndex ? kNoIndex : tree_.rail_of(leaf);
    if (rail == kNoIndex) continue;
    ++rail_designed_[rail];
    rail_up_[rail] += up_[index];
  }

  find_groups();
  find_jobs(jobs);
}

void LiveTree::find_groups() {
  const auto leaves = static_cast<std::uint32_t>(tree_.leaves().size());
  std::unordered_map<std::string_view, std::uint32_t> by_row;
  group_of_.resize(leaves);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    const auto bytes = std::as_bytes(row(designed_above_, leaf));
    const std::string_view key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::uint32_t group = by_row.emplace(key, static_cast<std::uint32_t>(groups_.size())).first->second;
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].leaves.push_back(leaf);
    group_of_[leaf] = group;
  }
  lost_.assign(leaves * tiers(), 0);
  most_lost_.assign(groups_.size() * tiers(), 0);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) measure(leaf);
  for (std::uint32_t group = 0; group < groups_.size(); ++group) measure_group(group);
}

void LiveTree::find_jobs(std::span<const JobLeaves> jobs) {
  jobs_of_.resize(tree_.leaves().size());
  for (const JobLeaves& of : jobs) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> parts;
    for (const std::uint32_t leaf : of.leaves) {
      parts[group_of_[leaf]].push_back(leaf);
      jobs_of_[leaf].push_back(static_cast<std::uint32_t>(jobs_.size()));
    }
    jobs_.push_back({{parts.begin(), parts.end()}});
  }
}

void LiveTree::measure(std::uint32_t leaf) {
  const auto now = row(above_, leaf), designed = row(designed_above_, leaf);
  for (std::size_t tier = 0; tier < tiers(); ++tier) {
    int count = 0;
    for (std::uint32_t word = tier_words_[tier]; word < tier_words_[tier + 1]; ++word)
      if (const Word gone = designed[word] & ~now[word]; gone != 0) count += std::popcount(gone);
    lost_[leaf * tiers() + tier] = static_cast<std::uint32_t>(count);
  }
}

void LiveTree::measure_group(std::uint32_t group) {
  for (std::size_t tier = 0; tier < tiers(); ++tier) {
    std::uint32_t most = 0;
    for (const std::uint32_t leaf : groups_[group].leaves)
      if (is_alive(leaf)) most = std::max(most, lost(leaf, tier));
    most_lost_[group * tiers() + tier] = most;
  }
}

// Of the row only `words`.
void LiveTree::refresh(NodeIndex node, std::span<const std::uint32_t> words, std::vector<std::uint64_t>& ways,
                       std::vector<Word>& above, bool designed) const {
  const std::uint32_t order = tree_.order_of(node);
  Word* const row = above.data() + order * words_;
  for (const std::uint32_t word : words) row[word] = 0;
  if (bit_of_[order] != kNoIndex) row[bit_of_[order] / kWordBits] |= Word{1} << (bit_of_[order] % kWordBits);
  const auto uplinks = tree_.up(node);
  // What ends below the highest tier, as an aggregation switch without a core, leads nowhere.
  std::uint64_t sum = tree_.is_top(node) ? 1 : 0;
  for (const UplinkIndex index : uplinks) {
    if (!designed && up_[index] == 0) continue;
    const std::uint32_t parent = tree_.order_of(tree_.uplinks()[index].parent);
    sum += ways[parent];
    // A parent without a way on is none for what lies beyond it, but joins its own children all the same.
    const Word* const other = above.data() + parent * words_;
    for (const std::uint32_t word : words) row[word] |= other[word];
  }
  ways[order] = sum;
}

template <typename Follow, typename Visit>
void LiveTree::visit_below(NodeIndex node, Follow follow, Visit visit) const {
  // Breadth first, then tier by tier: what a switch has follows from those above it.
  std::vector<NodeIndex> queue{node};
  std::vector<std::uint8_t> seen(tree_.in_order().size(), 0);
  seen[tree_.order_of(node)] = 1;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const UplinkIndex index : tree_.down(queue[head])) {
      const NodeIndex child = tree_.uplinks()[index].child;
      if (std::uint8_t& mark = seen[tree_.order_of(child)]; mark == 0 && follow(index)) {
        mark = 1;
        queue.push_back(child);
      }
    }
  std::ranges::stable_sort(queue, std::greater{}, [this](NodeIndex below) { return tree_.tier(below); });
  for (const NodeIndex below : queue) visit(below);
}

void LiveTree::set(UplinkIndex uplink, std::uint8_t up) {
  if (up_[uplink] == up) return;
  up_[uplink] = up;
  const NodeIndex child = tree_.uplinks()[uplink].child;
  if (const std::uint32_t leaf = tree_.leaf_of(child); leaf != kNoIndex && tree_.rail_of(leaf) != kNoIndex) {
    std::uint32_t& count = rail_up_[tree_.rail_of(leaf)];
    count = up != 0 ? count + 1 : count - 1;
  }
  // What changes in rows below is what lies above.
  const Word* const row_above = above_.data() + tree_.order_of(tree_.uplinks()[uplink].parent) * words_;
  std::vector<std::uint32_t> words, touched;
  for (std::uint32_t word = 0; word < words_; ++word)
    if (row_above[word] != 0) words.push_back(word);
  visit_below(
      child, [this](UplinkIndex index) { return up_[index] != 0; },
      [&](NodeIndex node) {
        refresh(node, words, ways_, above_, false);
        const std::uint32_t leaf = tree_.leaf_of(node);
        if (leaf == kNoIndex) return;
        measure(leaf);
        touched.push_back(group_of_[leaf]);
      });
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const std::uint32_t group : touched) measure_group(group);
}

void LiveTree::change(UplinkIndex uplink, bool up) {
  set(uplink, up ? 1 : 0);
  remembered_.clear();
  ++changes_;
}

std::vector<std::uint32_t> LiveTree::leaves_below(UplinkIndex uplink) const {
  std::vector<std::uint32_t> leaves;
  visit_below(
      tree_.uplinks()[uplink].child, [](UplinkIndex) { return true; },
      [&](NodeIndex node) {
        if (tree_.leaf_of(node) != kNoIndex) leaves.push_back(tree_.leaf_of(node));
      });
  std::ranges::sort(leaves);
  return leaves;
}

std::vector<std::uint32_t> LiveTree::leaves_served(UplinkIndex uplink) const {
  std::vector<std::uint32_t> leaves;
  visit_below(
      tree_.uplinks()[uplink].child,
      [this](UplinkIndex index) {
        if (up_[index] != 0) return true;
        const std::uint32_t leaf = tree_.leaf_of(tree_.uplinks()[index].child);
        return leaf != kNoIndex && !is_alive(leaf);
      },
      [&](NodeIndex node) {
        if (tree_.leaf_of(node) != kNoIndex) leaves.push_back(tree_.leaf_of(node));
      });
  std::ranges::sort(leaves);
  return leaves;
}

std::uint32_t LiveTree::uplinks_up(NodeIndex node) const {
  std::uint32_t count = 0;
  for (const UplinkIndex index : tree_.up(node)) count += up_[index];
  return count;
}

std::string describe(const Shortfall& shortfall, const FabricTree& tree, const Topology& topology) {
  const auto numbers = [&](const char* what, const char* key) {
    return std::to_string(shortfall.kept) + " of " + std::to_string(shortfall.designed) + ' ' + what + "; " +
           std::to_string(shortfall.needed) + " are needed (remedy.limits.capacity." + key + ')';
  };
  const auto name = [&](NodeIndex node) { return topology.node(node).name; };
  switch (shortfall.guard) {
    case Guard::kReachability:
      return name(shortfall.leaf) + " and " + name(shortfall.other) + " would have no path to each other";
    case Guard::kJobCapacity:
      return name(shortfall.leaf) + " and " + name(shortfall.other) + ", which share a job, would keep " +
             numbers("common spines", "job_share");
    case Guard::kRailCapacity:
      return "rail " + tree.rail_name(shortfall.rail) + " would keep " + numbers("uplinks", "rail_share");
    default:
      return name(shortfall.leaf) + " would keep " +
             numbers("uplink paths", shortfall.has_jobs ? "leaf_share_jobs" : "leaf_share_idle");
  }
}

}  // namespace weft::analyzer
