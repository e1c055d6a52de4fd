// SPDX-License-Identifier: Apache-2.0
#include "fabric/sight.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t kMostSwitchesTold = 4, kDigits = 16;

bool has(std::span<const FabricSight> fabrics, const FabricSight& wanted, bool must_see) {
  return std::ranges::any_of(fabrics, [&](const FabricSight& each) {
    return (each.is_seen || !must_see) && are_one_subnet(wanted.switches, each.switches);
  });
}

std::size_t common(std::span<const NodeGuid> sorted, std::span<const NodeGuid> other) {
  return static_cast<std::size_t>(
      std::ranges::count_if(other, [&](NodeGuid guid) { return has_switch(sorted, guid); }));
}

/// Switches of each that are told where there are so many fabrics.
std::size_t told_of_each(std::size_t fabrics) {
  return std::clamp<std::size_t>(kLongestSight / (kDigits + 1) / std::max<std::size_t>(fabrics, 1), 1,
                                 kMostSwitchesTold);
}

/// Whether one of `other`, as sight_text() tells of it, is not only a fragment of the subnet, which a weftd sees whose
/// own switch is cut off from the others. Who sees the same switches chooses the same; some are dead to one of the two.
bool is_seen_as_well(const FabricSight& wanted, std::span<const FabricSight> other) {
  const auto chosen = choose_switches(wanted.switches, told_of_each(other.size()));
  return std::ranges::any_of(other, [&](const FabricSight& each) {
    const std::size_t both = common(each.switches, chosen);
    return each.is_seen && both > 0 && 2 * both >= chosen.size();
  });
}

}  // namespace

bool has_switch(std::span<const NodeGuid> sorted, NodeGuid guid) {
  return std::ranges::binary_search(sorted, guid.value, {}, &NodeGuid::value);
}

bool are_one_subnet(std::span<const NodeGuid> sorted, std::span<const NodeGuid> other) {
  return 2 * common(sorted, other) > std::min(sorted.size(), other.size());
}

bool have_half(std::span<const NodeGuid> sorted, std::span<const NodeGuid> other) {
  const std::size_t smaller = std::min(sorted.size(), other.size());
  return smaller > 0 && 2 * common(sorted, other) >= smaller;
}

bool has_most_of(std::span<const NodeGuid> sorted, std::span<const NodeGuid> whole) {
  return 2 * common(sorted, whole) > whole.size();
}

SightChange compare_sight(std::span<const FabricSight> own, std::span<const FabricSight> other) {
  SightChange change;
  for (const FabricSight& fabric : own) {
    if (!fabric.is_seen && (fabric.switches.empty() || has(own, fabric, true))) continue;
    const bool is_seen_there = is_seen_as_well(fabric, other);
    if (!fabric.is_seen && is_seen_there) change.gained.push_back(fabric.name);
    if (!is_seen_there && (fabric.is_seen || !has(other, fabric, false))) change.lost.push_back(fabric.name);
  }
  return change;
}

std::vector<NodeGuid> choose_switches(std::span<const NodeGuid> switches, std::size_t most) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> chosen;  // by a hash: neighbours in number are of one delivery
  for (const NodeGuid guid : switches) {
    chosen.emplace(guid.value * 0x9e3779b97f4a7c15ULL, guid.value);
    if (chosen.size() > most) chosen.erase(std::prev(chosen.end()));
  }
  std::vector<NodeGuid> few;
  for (const auto& [hash, guid] : chosen) few.push_back(NodeGuid{guid});
  std::ranges::sort(few, {}, &NodeGuid::value);
  return few;
}

std::string sight_text(std::span<const FabricSight> fabrics) {
  const std::size_t each = told_of_each(fabrics.size());
  std::string text;
  for (const FabricSight& fabric : fabrics) {
    const auto chosen = choose_switches(fabric.switches, each);
    if (text.size() + chosen.size() * (kDigits + 1) > kLongestSight) break;
    char before = fabric.is_seen ? '+' : '-';
    for (const NodeGuid guid : chosen) {
      text += std::exchange(before, ',');
      for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(guid.value >> shift) & 15];
    }
  }
  return text;
}

std::vector<FabricSight> parse_sight(std::string_view text) {
  if (text.size() > kLongestSight || text.size() % (kDigits + 1) != 0) return {};
  std::vector<FabricSight> fabrics;
  for (; !text.empty(); text.remove_prefix(kDigits + 1)) {
    const char before = text.front();
    std::uint64_t guid = 0;
    const char* const begin = text.data() + 1;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, guid, 16);
    if (error != std::errc{} || end != begin + kDigits) return {};
    if (before == '+' || before == '-') fabrics.push_back({.is_seen = before == '+'});
    if (fabrics.empty() || (before != '+' && before != '-' && before != ',')) return {};
    fabrics.back().switches.push_back(NodeGuid{guid});
  }
  return fabrics;
}

}  // namespace weft
