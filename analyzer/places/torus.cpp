// SPDX-License-Identifier: Apache-2.0
#include "analyzer/places/torus.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostDimensions = 6;  // three rings of four switches are six pairs

using Next = std::vector<std::vector<std::uint32_t>>;

// The dimension of each cable, by its end: those of a switch stand together, in the order of its neighbours.
class Dimensions {
 public:
  explicit Dimensions(const Next& next) : next_(next), first_(next.size() + 1, 0) {
    for (std::size_t at = 0; at < next.size(); ++at)
      first_[at + 1] = first_[at] + static_cast<std::uint32_t>(next[at].size());
    joined_.resize(first_.back());
    std::iota(joined_.begin(), joined_.end(), 0U);
    for (std::uint32_t at = 0; at < next.size(); ++at) join_cables_of(at);
    of_.resize(joined_.size());
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t end = 0; end < joined_.size(); ++end)
      of_[end] = numbers.try_emplace(root(end), static_cast<std::uint32_t>(numbers.size())).first->second;
    count_ = numbers.size();
  }

  std::size_t count() const { return count_; }
  std::uint32_t of(std::uint32_t at, std::size_t neighbour) const { return of_[first_[at] + neighbour]; }

 private:
  void join_cables_of(std::uint32_t at) {
    std::vector<std::uint32_t> common;
    const auto& all = next_[at];
    for (std::size_t i = 0; i < all.size(); ++i) {
      join(end(at, all[i]), end(all[i], at));
      for (std::size_t j = 0; j < i; ++j) {
        common.clear();
        std::ranges::set_intersection(next_[all[i]], next_[all[j]], std::back_inserter(common));
        // A square has cables of two dimensions, those of one opposite each other.
        for (const std::uint32_t far : common) {
          if (far == at) continue;
          join(end(at, all[i]), end(all[j], far));
          join(end(at, all[j]), end(all[i], far));
        }
        if (common.size() == 1) join(end(at, all[i]), end(at, all[j]));
      }
    }
  }
  std::uint32_t end(std::uint32_t from, std::uint32_t to) const {
    return first_[from] + static_cast<std::uint32_t>(std::ranges::lower_bound(next_[from], to) - next_[from].begin());
  }
  std::uint32_t root(std::uint32_t at) {
    while (joined_[at] != at) at = joined_[at] = joined_[joined_[at]];
    return at;
  }
  void join(std::uint32_t a, std::uint32_t b) { joined_[root(a)] = root(b); }

  const Next& next_;
  std::vector<std::uint32_t> first_, joined_, of_;
  std::size_t count_ = 0;
};

// What is left in one piece without the cables of the dimension: switches at one place in their rings of it.
std::vector<std::uint32_t> planes_of(const Next& next, const Dimensions& dimensions, std::uint32_t dimension,
                                     std::uint32_t& count) {
  std::vector<std::uint32_t> plane(next.size(), kNoIndex);
  count = 0;
  for (std::uint32_t start = 0; start < next.size(); ++start) {
    if (plane[start] != kNoIndex) continue;
    std::vector<std::uint32_t> queue{start};
    plane[start] = count;
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (std::size_t i = 0; i < next[queue[head]].size(); ++i)
        if (const std::uint32_t other = next[queue[head]][i];
            plane[other] == kNoIndex && dimensions.of(queue[head], i) != dimension) {
          plane[other] = plane[start];
          queue.push_back(other);
        }
    ++count;
  }
  return plane;
}

// Planes in the order in which rings pass them; empty unless each is cabled, switch by switch, with the one before and
// the one after, and the last with the first.
std::vector<std::uint32_t> ring_of(const Next& next, const std::vector<std::uint32_t>& plane, std::uint32_t count) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> cables;
  for (std::uint32_t at = 0; at < next.size(); ++at)
    for (const std::uint32_t other : next[at])
      if (plane[at] != plane[other]) ++cables[{plane[at], plane[other]}];
  std::vector<std::vector<std::uint32_t>> beside(count);
  for (const auto& [pair, number] : cables) {
    if (number != next.size() / count) return {};
    beside[pair.first].push_back(pair.second);
  }
  const std::size_t sides = count == 2 ? 1 : 2;
  if (!std::ranges::all_of(beside, [&](const auto& planes) { return planes.size() == sides; })) return {};
  std::vector<std::uint32_t> ring{0, beside[0].front()};
  while (ring.size() < count) {
    const auto& sides_of = beside[ring.back()];
    const std::uint32_t onward = sides_of[0] == ring[ring.size() - 2] ? sides_of[1] : sides_of[0];
    if (onward == 0) return {};  // a shorter ring
    ring.push_back(onward);
  }
  return ring;
}

}  // namespace

std::optional<TorusGrid> find_torus(const std::vector<std::vector<std::uint32_t>>& next) {
  if (next.size() < 3) return std::nullopt;
  const Dimensions dimensions(next);
  if (dimensions.count() == 0 || dimensions.count() > kMostDimensions) return std::nullopt;
  TorusGrid grid;
  grid.position.resize(next.size() * dimensions.count());
  std::vector<std::size_t> place(next.size(), 0);
  std::size_t places = 1;
  for (std::uint32_t dimension = 0; dimension < dimensions.count(); ++dimension) {
    std::uint32_t count = 0;
    const std::vector<std::uint32_t> plane = planes_of(next, dimensions, dimension, count);
    if (count < 2 || next.size() % count != 0) return std::nullopt;
    const std::vector<std::uint32_t> ring = ring_of(next, plane, count);
    if (ring.empty()) return std::nullopt;
    std::vector<std::uint32_t> in_ring(count);
    for (std::uint32_t i = 0; i < count; ++i) in_ring[ring[i]] = i;
    for (std::uint32_t at = 0; at < next.size(); ++at) {
      grid.position[at * dimensions.count() + dimension] = in_ring[plane[at]];
      place[at] = place[at] * count + plane[at];
    }
    grid.radix.push_back(count);
    places *= count;
    if (places > next.size()) return std::nullopt;
  }
  // One switch at each place.
  std::ranges::sort(place);
  if (places != next.size() || std::ranges::adjacent_find(place) != place.end()) return std::nullopt;
  return grid;
}

}  // namespace weft::analyzer
