// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/live_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::analyzer {
namespace {

constexpr std::uint32_t kWordBits = 64;

std::uint64_t needed_of(std::uint64_t designed, double share) {
  // 0.9 · 10 is 9, not 10: a share in binary is a little off what was written.
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(designed) * share - 1e-9));
}

}  // namespace

LiveTree::LiveTree(const FabricTree& tree, std::span<const std::uint8_t> up, std::span<const JobLeaves> jobs,
                   const CapacityLimits& limits)
    : tree_(tree), limits_(limits), up_(up.begin(), up.end()) {
  const auto order = tree_.in_order();
  bit_of_.resize(order.size());
  tier_words_.assign(1, 0);
  std::uint32_t bit = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (i > 0 && tree_.tier(order[i]) != tree_.tier(order[i - 1])) {
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
  for (std::size_t i = order.size(); i-- > 0;) {  // from the top
    refresh(order[i], designed_ways_, designed_above_, true);
    refresh(order[i], ways_, above_, false);
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

  mates_.resize(tree_.leaves().size());
  has_job_.assign(tree_.leaves().size(), 0);
  for (const JobLeaves& job : jobs)
    for (const std::uint32_t leaf : job.leaves) {
      has_job_[leaf] = 1;
      auto& mates = mates_[leaf];
      mates.insert(mates.end(), job.leaves.begin(), job.leaves.end());
    }
  for (std::uint32_t leaf = 0; leaf < mates_.size(); ++leaf) {
    auto& mates = mates_[leaf];
    std::ranges::sort(mates);
    mates.erase(std::unique(mates.begin(), mates.end()), mates.end());
    std::erase(mates, leaf);
  }
}

void LiveTree::refresh(NodeIndex node, std::vector<std::uint64_t>& ways, std::vector<Word>& above,
                       bool designed) const {
  const std::uint32_t order = tree_.order_of(node);
  Word* const row = above.data() + order * words_;
  std::fill(row, row + words_, Word{0});
  row[bit_of_[order] / kWordBits] |= Word{1} << (bit_of_[order] % kWordBits);
  const auto uplinks = tree_.up(node);
  std::uint64_t sum = uplinks.empty() ? 1 : 0;
  for (const UplinkIndex index : uplinks) {
    if (!designed && up_[index] == 0) continue;
    const std::uint32_t parent = tree_.order_of(tree_.uplinks()[index].parent);
    sum += ways[parent];
    // A parent without a way on is none for what lies beyond it, but joins its own children all the same.
    const Word* const other = above.data() + parent * words_;
    for (std::size_t word = 0; word < words_; ++word) row[word] |= other[word];
  }
  ways[order] = sum;
}

template <typename Visit>
void LiveTree::visit_below(NodeIndex node, Visit visit) const {
  // Breadth first, tier by tier: what a switch has follows from those above it. Links that are out lead down as well:
  // what hangs below them is concerned by what happens above.
  std::vector<NodeIndex> queue{node};
  std::vector<std::uint8_t> seen(tree_.in_order().size(), 0);
  seen[tree_.order_of(node)] = 1;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const UplinkIndex index : tree_.down(queue[head])) {
      const NodeIndex child = tree_.uplinks()[index].child;
      if (std::uint8_t& mark = seen[tree_.order_of(child)]; mark == 0) {
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
  visit_below(child, [this](NodeIndex node) { refresh(node, ways_, above_, false); });
}

std::vector<std::uint32_t> LiveTree::leaves_below(UplinkIndex uplink) const {
  std::vector<std::uint32_t> leaves;
  visit_below(tree_.uplinks()[uplink].child, [&](NodeIndex node) {
    if (tree_.leaf_of(node) != kNoIndex) leaves.push_back(tree_.leaf_of(node));
  });
  return leaves;
}

std::uint32_t LiveTree::uplinks_up(NodeIndex node) const {
  std::uint32_t count = 0;
  for (const UplinkIndex index : tree_.up(node)) count += up_[index];
  return count;
}

LiveTree::Common LiveTree::common(std::uint32_t leaf, std::uint32_t other) const {
  const std::size_t a = tree_.order_of(tree_.leaves()[leaf]) * words_;
  const std::size_t b = tree_.order_of(tree_.leaves()[other]) * words_;
  // The lowest tier that joins them by design carries what they send each other.
  for (std::size_t tier = 0; tier + 1 < tier_words_.size(); ++tier) {
    Common count;
    for (std::uint32_t word = tier_words_[tier]; word < tier_words_[tier + 1]; ++word) {
      count.now += static_cast<std::uint64_t>(std::popcount(above_[a + word] & above_[b + word]));
      count.designed +=
          static_cast<std::uint64_t>(std::popcount(designed_above_[a + word] & designed_above_[b + word]));
    }
    if (count.designed > 0) return count;
  }
  return {};
}

// A leaf that is cut off already, and not by what is judged, concerns nobody else.
bool LiveTree::concerns(std::uint32_t other, std::span<const std::uint32_t> judged) const {
  return ways(tree_.leaves()[other]) > 0 || judged.empty() || std::ranges::find(judged, other) != judged.end();
}

std::optional<Shortfall> LiveTree::reach_shortfall(std::uint32_t leaf, std::span<const std::uint32_t> judged) const {
  const NodeIndex node = tree_.leaves()[leaf];
  const std::size_t a = tree_.order_of(node) * words_;
  for (std::uint32_t other = 0; other < tree_.leaves().size(); ++other) {
    if (other == leaf) continue;
    const std::size_t b = tree_.order_of(tree_.leaves()[other]) * words_;
    Word joined = 0, designed = 0;
    for (std::size_t word = 0; word < words_; ++word) {
      joined |= above_[a + word] & above_[b + word];
      designed |= designed_above_[a + word] & designed_above_[b + word];
      if (joined != 0) break;
    }
    if (joined == 0 && designed != 0 && concerns(other, judged))
      return Shortfall{Guard::kReachability, node, tree_.leaves()[other], kNoIndex, 0, 1, 1};
  }
  return std::nullopt;
}

std::optional<Shortfall> LiveTree::leaf_shortfall(std::uint32_t leaf) const {
  const NodeIndex node = tree_.leaves()[leaf];
  const std::uint64_t designed = designed_ways(node);
  const std::uint64_t needed =
      needed_of(designed, has_job_[leaf] != 0 ? limits_.leaf_share_jobs : limits_.leaf_share_idle);
  if (ways(node) >= needed) return std::nullopt;
  return Shortfall{Guard::kLeafCapacity, node, kNoIndex, kNoIndex, ways(node), needed, designed};
}

std::optional<Shortfall> LiveTree::job_shortfall(std::uint32_t leaf, std::span<const std::uint32_t> judged) const {
  for (const std::uint32_t mate : mates_[leaf]) {
    const Common spines = common(leaf, mate);
    const std::uint64_t needed = needed_of(spines.designed, limits_.job_share);
    if (spines.now < needed && concerns(mate, judged))
      return Shortfall{Guard::kJobCapacity, tree_.leaves()[leaf], tree_.leaves()[mate], kNoIndex, spines.now, needed,
                       spines.designed};
  }
  return std::nullopt;
}

std::optional<Shortfall> LiveTree::rail_shortfall(std::uint32_t rail) const {
  if (rail == kNoIndex) return std::nullopt;
  const std::uint64_t needed = needed_of(rail_designed_[rail], limits_.rail_share);
  if (rail_up_[rail] >= needed) return std::nullopt;
  return Shortfall{Guard::kRailCapacity, kNoIndex, kNoIndex, rail, rail_up_[rail], needed, rail_designed_[rail]};
}

std::optional<Shortfall> LiveTree::shortfall(UplinkIndex uplink) const {
  const std::vector<std::uint32_t> below = leaves_below(uplink);
  for (const std::uint32_t leaf : below)
    if (auto found = reach_shortfall(leaf, below)) return found;
  for (const std::uint32_t leaf : below)
    if (auto found = leaf_shortfall(leaf)) return found;
  for (const std::uint32_t leaf : below)
    if (auto found = job_shortfall(leaf, below)) return found;
  for (const std::uint32_t leaf : below)
    if (auto found = rail_shortfall(tree_.rail_of(leaf))) return found;
  return std::nullopt;
}

std::vector<std::uint8_t> LiveTree::short_leaves(std::span<const std::uint32_t> judged) const {
  std::vector<std::uint8_t> is_short(tree_.leaves().size(), 0);
  for (const std::uint32_t leaf : judged)
    is_short[leaf] = leaf_shortfall(leaf) || rail_shortfall(tree_.rail_of(leaf)) || job_shortfall(leaf, {}) ||
                     reach_shortfall(leaf, {});
  return is_short;
}

std::string describe(const Shortfall& shortfall, const FabricTree& tree, const Topology& topology) {
  const auto numbers = [&](const char* what) {
    return std::to_string(shortfall.kept) + " of " + std::to_string(shortfall.designed) + ' ' + what + "; " +
           std::to_string(shortfall.needed) + " are needed";
  };
  const auto name = [&](NodeIndex node) { return topology.node(node).name; };
  switch (shortfall.guard) {
    case Guard::kReachability:
      return name(shortfall.leaf) + " and " + name(shortfall.other) + " would have no path to each other";
    case Guard::kJobCapacity:
      return name(shortfall.leaf) + " and " + name(shortfall.other) + ", which share a job, would keep " +
             numbers("common spines");
    case Guard::kRailCapacity:
      return "rail " + tree.rail_name(shortfall.rail) + " would keep " + numbers("uplinks");
    default:
      return name(shortfall.leaf) + " would keep " + numbers("uplink paths");
  }
}

}  // namespace weft::analyzer
