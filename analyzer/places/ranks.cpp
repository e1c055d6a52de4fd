// SPDX-License-Identifier: Apache-2.0
#include "analyzer/places/ranks.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace weft::analyzer {
namespace {

using Bits = std::uint64_t;  // one for each switch of a sample
constexpr std::uint32_t kSample = 64;

bool is_end(const Node& node) {
  return node.type != NodeType::kSwitch && !node.aggregation_node;
}

// Steps from the nearest adapter.
std::vector<std::uint8_t> steps_from_adapters(const Topology& topology) {
  std::vector<std::uint8_t> ranks(topology.nodes().size(), kNoTier);
  std::vector<NodeIndex> queue;
  for (NodeIndex index = 0; index < ranks.size(); ++index) {
    if (!is_end(topology.node(index))) continue;
    ranks[index] = 0;
    queue.push_back(index);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint8_t next = ranks[queue[head]] < kNoTier - 1 ? ranks[queue[head]] + std::uint8_t{1} : kNoTier;
    for (const Port& port : topology.ports_of(topology.node(queue[head]))) {
      if (port.peer == kNoIndex) continue;
      const NodeIndex other = topology.port(port.peer).node;
      if (ranks[other] != kNoTier || topology.node(other).type != NodeType::kSwitch) continue;
      ranks[other] = next;
      queue.push_back(other);
    }
  }
  return ranks;
}

// The switches that have a tier, with the cables between them.
class Switches {
 public:
  Switches(const Topology& topology, const std::vector<std::uint8_t>& ranks) : first_(1, 0) {
    position_.assign(topology.nodes().size(), kNoIndex);
    for (NodeIndex node = 0; node < position_.size(); ++node) {
      if (topology.node(node).type != NodeType::kSwitch || ranks[node] == kNoTier) continue;
      position_[node] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(node);
    }
    for (const NodeIndex node : nodes_) {
      std::uint32_t adapters = 0;
      for (const Port& port : topology.ports_of(topology.node(node))) {
        if (port.peer == kNoIndex) continue;
        const NodeIndex other = topology.port(port.peer).node;
        if (position_[other] != kNoIndex)
          next_.push_back(position_[other]);
        else
          adapters += is_end(topology.node(other));
      }
      first_.push_back(static_cast<std::uint32_t>(next_.size()));
      adapters_.push_back(adapters);
    }
    find_parts();
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NodeIndex node(std::uint32_t at) const { return nodes_[at]; }
  std::span<const std::uint32_t> next(std::uint32_t at) const {
    return std::span<const std::uint32_t>(next_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  std::uint32_t adapters(std::uint32_t at) const { return adapters_[at]; }
  std::uint32_t part(std::uint32_t at) const { return part_[at]; }
  std::uint32_t parts() const { return static_cast<std::uint32_t>(members_.size()); }
  const std::vector<std::uint32_t>& members(std::uint32_t part) const { return members_[part]; }

 private:
  void find_parts() {
    part_.assign(nodes_.size(), kNoIndex);
    for (std::uint32_t start = 0; start < part_.size(); ++start) {
      if (part_[start] != kNoIndex) continue;
      std::vector<std::uint32_t>& members = members_.emplace_back(1, start);
      part_[start] = parts() - 1;
      for (std::size_t head = 0; head < members.size(); ++head)
        for (const std::uint32_t other : next(members[head]))
          if (part_[other] == kNoIndex) {
            part_[other] = part_[start];
            members.push_back(other);
          }
    }
  }

  std::vector<std::uint32_t> position_;  // by node
  std::vector<NodeIndex> nodes_;
  std::vector<std::uint32_t> first_, next_, adapters_, part_;
  std::vector<std::vector<std::uint32_t>> members_;
};

struct Sample {
  std::vector<Bits> own;               // by switch
  std::vector<std::uint32_t> of_part;  // how many in each part
};

// Of each part up to 64 switches with adapters, evenly spread; `by_adapters`: those with many adapters more often.
Sample sample(const Switches& switches, bool by_adapters) {
  Sample sample{std::vector<Bits>(switches.count(), 0), {}};
  for (std::uint32_t part = 0; part < switches.parts(); ++part) {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t at : switches.members(part))
      all.insert(all.end(), by_adapters ? switches.adapters(at) : std::min(switches.adapters(at), 1U), at);
    const auto count = std::min<std::uint32_t>(kSample, static_cast<std::uint32_t>(all.size()));
    for (std::uint32_t bit = 0; bit < count; ++bit)
      sample.own[all[std::size_t{bit} * all.size() / count]] |= Bits{1} << bit;
    sample.of_part.push_back(count);
  }
  return sample;
}

// By switch: how far nine tenths of its part's sample are at most.
std::vector<std::uint32_t> reach(const Switches& switches, const Sample& sample) {
  std::vector<std::uint32_t> far(switches.count(), kNoIndex);
  std::vector<Bits> seen = sample.own, grown = seen;
  bool grows = true;
  for (std::uint32_t step = 0; grows && step < kNoTier; ++step) {
    grows = false;
    for (std::uint32_t at = 0; at < far.size(); ++at) {
      if (far[at] == kNoIndex &&
          static_cast<std::uint32_t>(std::popcount(seen[at])) * 10 >= sample.of_part[switches.part(at)] * 9)
        far[at] = step;
      for (const std::uint32_t other : switches.next(at)) grown[at] |= seen[other];
      grows = grows || grown[at] != seen[at];
    }
    seen = grown;
  }
  return far;
}

// Counted down from the topmost. What lies beyond the lowest tier, as an aggregation switch without cables upwards, is
// above that through which it was met.
std::vector<std::uint8_t> tiers_from(const Switches& switches, const std::vector<std::uint32_t>& far) {
  std::vector<std::uint32_t> least(switches.parts(), kNoIndex);
  for (std::uint32_t at = 0; at < far.size(); ++at)
    least[switches.part(at)] = std::min(least[switches.part(at)], far[at]);
  std::vector<std::uint8_t> tiers(switches.count(), kNoTier);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t at = 0; at < far.size(); ++at)
    if (far[at] == least[switches.part(at)] && far[at] < kNoTier - 2) {
      tiers[at] = static_cast<std::uint8_t>(far[at] + 1);
      queue.push_back(at);
    }
  std::vector<std::uint8_t> is_beyond(switches.count(), 0);
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t at = queue[head];
    for (const std::uint32_t other : switches.next(at)) {
      if (tiers[other] != kNoTier) continue;
      is_beyond[other] = is_beyond[at] != 0 || tiers[at] == 1;
      tiers[other] = is_beyond[other] != 0 ? std::min<std::uint8_t>(tiers[at] + 1, kNoTier - 1) : tiers[at] - 1;
      queue.push_back(other);
    }
  }
  return tiers;
}

// A switch without adapters in the lowest tier is a leaf that waits for them, or one of the topmost switches that lost
// its cables to some pods: only those join several.
void lift_partly_cabled(const Switches& switches, std::vector<std::uint8_t>& tiers) {
  std::vector<std::uint8_t> top(switches.parts(), 0);
  for (std::uint32_t at = 0; at < tiers.size(); ++at)
    if (tiers[at] != kNoTier) top[switches.part(at)] = std::max(top[switches.part(at)], tiers[at]);
  const auto is_empty = [&](std::uint32_t at) { return tiers[at] == 1 && switches.adapters(at) == 0; };
  std::vector<std::uint32_t> pod(tiers.size(), kNoIndex);
  for (std::uint32_t start = 0; start < tiers.size(); ++start) {
    if (pod[start] != kNoIndex || is_empty(start) || tiers[start] >= top[switches.part(start)]) continue;
    std::vector<std::uint32_t> queue{start};
    pod[start] = start;
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (const std::uint32_t other : switches.next(queue[head]))
        if (pod[other] == kNoIndex && !is_empty(other) && tiers[other] < top[switches.part(other)]) {
          pod[other] = start;
          queue.push_back(other);
        }
  }
  std::vector<std::uint32_t> lifted;
  for (std::uint32_t at = 0; at < tiers.size(); ++at) {
    if (!is_empty(at)) continue;
    std::uint32_t first = kNoIndex;
    for (const std::uint32_t other : switches.next(at)) {
      if (pod[other] == kNoIndex) continue;
      if (first == kNoIndex) first = pod[other];
      if (pod[other] == first) continue;
      lifted.push_back(at);
      break;
    }
  }
  for (const std::uint32_t at : lifted) {
    std::uint8_t highest = 0;
    for (const std::uint32_t other : switches.next(at)) highest = std::max(highest, tiers[other]);
    tiers[at] = std::max<std::uint8_t>(1, std::min<std::uint8_t>(highest + 1, top[switches.part(at)]));
  }
}

// Switches without adapters that are cabled to the topmost ones only are spare ones of the tier below, as a rule. Where
// they have less than half as many neighbours as those in use have there, and together join nearly all of the topmost,
// they are a tier above: the cores of a fabric with one pod.
void lift_cores_of_one_pod(const Switches& switches, std::vector<std::uint8_t>& tiers) {
  for (std::uint32_t part = 0; part < switches.parts(); ++part) {
    std::uint8_t top = 0;
    for (const std::uint32_t at : switches.members(part)) top = std::max(top, tiers[at]);
    std::vector<std::uint32_t> lifted;
    std::set<std::uint32_t> joined;
    std::size_t least_in_use = kNoIndex, most_of_lifted = 0, tops = 0;
    for (const std::uint32_t at : switches.members(part)) {
      tops += tiers[at] == top;
      if (tiers[at] + 1 != top) continue;
      const std::set<std::uint32_t> next(switches.next(at).begin(), switches.next(at).end());
      const auto above =
          static_cast<std::size_t>(std::ranges::count_if(next, [&](auto other) { return tiers[other] == top; }));
      if (switches.adapters(at) > 0 || above < next.size()) {
        least_in_use = std::min(least_in_use, above);
        continue;
      }
      lifted.push_back(at);
      joined.insert(next.begin(), next.end());
      most_of_lifted = std::max(most_of_lifted, above);
    }
    if (most_of_lifted * 2 >= least_in_use || joined.size() * 10 < tops * 9) continue;
    for (const std::uint32_t at : lifted) tiers[at] = static_cast<std::uint8_t>(top + 1);
  }
}

// Of the sample: which of them lead up to each switch, then which lead up and down to it.
std::vector<Bits> joined(const Switches& switches, const std::vector<std::uint8_t>& tiers, const Sample& sample) {
  std::vector<std::uint32_t> order(tiers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t at) { return tiers[at]; });
  std::vector<Bits> bits = sample.own;
  for (const std::uint32_t at : order)
    for (const std::uint32_t other : switches.next(at))
      if (tiers[other] < tiers[at]) bits[at] |= bits[other];
  for (std::size_t i = order.size(); i-- > 0;)
    for (const std::uint32_t other : switches.next(order[i]))
      if (tiers[other] > tiers[order[i]]) bits[order[i]] |= bits[other];
  return bits;
}

// The one other leaf that each leaf is cabled to, where the two have the same switches above them, as a pair of
// Ethernet leaves that share hosts (MLAG); kNoIndex for all others.
std::vector<std::uint32_t> partners(const Switches& switches, const std::vector<std::uint8_t>& tiers) {
  std::vector<std::uint32_t> partner(switches.count(), kNoIndex);
  std::vector<std::set<std::uint32_t>> above(switches.count());
  for (std::uint32_t at = 0; at < switches.count(); ++at) {
    if (tiers[at] != 1) continue;
    bool has_several = false;
    for (const std::uint32_t other : switches.next(at)) {
      if (tiers[other] != 1) {
        above[at].insert(other);
        continue;
      }
      has_several = has_several || (partner[at] != kNoIndex && partner[at] != other);
      partner[at] = other;
    }
    if (has_several) partner[at] = kNoIndex;
  }
  const auto is_pair = [&](std::uint32_t at, std::uint32_t other) {
    return other != kNoIndex && partner[other] == at && !above[at].empty() && above[at] == above[other];
  };
  std::vector<std::uint32_t> pairs(switches.count(), kNoIndex);
  for (std::uint32_t at = 0; at < switches.count(); ++at)
    if (is_pair(at, partner[at])) pairs[at] = partner[at];
  return pairs;
}

std::vector<TierFit> fits_of(const Switches& switches, const std::vector<std::uint8_t>& tiers, const Sample& sample) {
  const std::vector<Bits> leads = joined(switches, tiers, sample);
  const std::vector<std::uint32_t> partner = partners(switches, tiers);
  std::vector<TierFit> fits;
  for (std::uint32_t part = 0; part < switches.parts(); ++part) {
    std::uint64_t cables = 0, steps = 0, adapters = 0, bottom = 0, pairs = 0, joins = 0;
    for (const std::uint32_t at : switches.members(part)) {
      for (const std::uint32_t other : switches.next(at)) {
        if (partner[at] == other) continue;
        ++cables;
        steps += tiers[at] + 1 == tiers[other] || tiers[other] + 1 == tiers[at];
      }
      if (switches.adapters(at) == 0) continue;
      adapters += switches.adapters(at);
      if (tiers[at] == 1) bottom += switches.adapters(at);
      pairs += sample.of_part[part];
      joins += static_cast<std::uint64_t>(std::popcount(leads[at]));
    }
    const auto share = [](std::uint64_t of, std::uint64_t all) {
      return all == 0 ? 1 : static_cast<double>(of) / static_cast<double>(all);
    };
    fits.push_back({share(steps, cables), share(bottom, adapters), share(joins, pairs)});
  }
  return fits;
}

}  // namespace

Tiers find_tiers(const Topology& topology) {
  Tiers tiers{steps_from_adapters(topology), std::vector<std::uint32_t>(topology.nodes().size(), kNoIndex), {}};
  const Switches switches(topology, tiers.of);
  const Sample by_switches = sample(switches, false);
  std::vector<std::uint8_t> nearest;
  for (std::uint32_t at = 0; at < switches.count(); ++at) {
    nearest.push_back(tiers.of[switches.node(at)]);
    tiers.parts[switches.node(at)] = switches.part(at);
  }
  tiers.fits = fits_of(switches, nearest, by_switches);
  std::vector<std::uint8_t> is_taken(switches.parts(), 0);
  for (const Sample& of : {by_switches, sample(switches, true)}) {
    std::vector<std::uint8_t> counted = tiers_from(switches, reach(switches, of));
    lift_partly_cabled(switches, counted);
    lift_cores_of_one_pod(switches, counted);
    const std::vector<TierFit> fits = fits_of(switches, counted, by_switches);
    for (std::uint32_t part = 0; part < switches.parts(); ++part) {
      if (is_taken[part] != 0 || !fits[part].is_tree()) continue;
      is_taken[part] = 1;
      tiers.fits[part] = fits[part];
      for (const std::uint32_t at : switches.members(part)) tiers.of[switches.node(at)] = counted[at];
    }
  }
  return tiers;
}

std::vector<std::uint8_t> node_ranks(const Topology& topology) {
  return find_tiers(topology).of;
}

}  // namespace weft::analyzer
