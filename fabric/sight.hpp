// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each weftd of a pair sees of InfiniBand subnets, so that the two can be compared.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/ids.hpp"

namespace weft {

/// One subnet of a weftd. Its name is that weftd's own, and two subnets may have one prefix (fe80::, the default: IBA
/// volume 1, 4.1.1), so switches tell which one it is: each is in one subnet only.
struct FabricSight {
  std::string name{};                ///< empty: another weftd told of it
  bool is_seen = false;              ///< it is swept now; false: it was, or is to be
  std::vector<NodeGuid> switches{};  ///< that are known there, sorted; of what another told, some; empty: none is
  bool operator==(const FabricSight&) const = default;
};

/// Is it one of them? `sorted` is so by value.
bool has_switch(std::span<const NodeGuid> sorted, NodeGuid guid);
/// Have the two most switches of the smaller one in common? `sorted` is so by value. Single ones may have been moved; a
/// fragment is the whole.
bool are_one_subnet(std::span<const NodeGuid> sorted, std::span<const NodeGuid> other);
/// Have they half of them in common, or more? Not where one has none.
bool have_half(std::span<const NodeGuid> sorted, std::span<const NodeGuid> other);

/// Are most of `whole` among `sorted`? Not where it is empty. A fragment has not most of the whole.
bool has_most_of(std::span<const NodeGuid> sorted, std::span<const NodeGuid> whole);

/// What would change if the other weftd led.
struct SightChange {
  std::vector<std::string> gained;  ///< own subnets that are not seen, and that the other one sees
  /// Own subnets that the other one does not see, and those neither sees and the other one does not watch.
  std::vector<std::string> lost;
};

/// Compares what a weftd sees with what another told. A subnet that is seen through another port as well is not
/// gained; one that was never seen, so that nobody knows which it is, is neither.
SightChange compare_sight(std::span<const FabricSight> own, std::span<const FabricSight> other);

/// At most `most` of them, sorted. Of the same subnet two weftd choose the same, but for those that one does not know.
std::vector<NodeGuid> choose_switches(std::span<const NodeGuid> switches, std::size_t most);

/// Characters of sight_text() at most: a query with it stays below 1,024 bytes, which PostgreSQL shows by default
/// (track_activity_query_size, PostgreSQL 15 documentation, 20.9.1).
inline constexpr std::size_t kLongestSight = 800;
/// "+0002c90300000001,0002c90300000002-0002c90300000003": the first is seen, the other one is not; four switches of
/// each at most, less where there are many subnets. What has no switch, or finds no room, is left out.
std::string sight_text(std::span<const FabricSight> fabrics);
/// The reverse; empty where it is no such text, or longer.
std::vector<FabricSight> parse_sight(std::string_view text);

}  // namespace weft
