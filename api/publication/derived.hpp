// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all readers derive from a snapshot in the same way: readiness, staleness, names.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The shard that this weftd belongs to; empty: it is no part of a site.
std::string own_shard(const Snapshot& snapshot);

/// There is a complete first sweep of every fabric that a port of this host leads to, of one at least, and an analysis
/// of it. Where no subnet is to be watched nothing is missing.
bool is_ready(const Snapshot& snapshot);
/// Why is_ready() is false and what to do about it, without a capital letter and a full stop; empty when it is true.
std::string not_ready_text(const Snapshot& snapshot);

/// Fabrics are to be watched, and none has a complete sweep yet: no node and no port is known.
bool is_before_first_sweep(const Snapshot& snapshot);
/// "leaf-1 is not known yet: the first sweep of the fabric is not complete".
std::string not_swept_text(std::string_view name);
/// kNotFound of a name: not_swept_text() before the first sweep, else `unknown`. In a site always that: another shard
/// may know it.
Error unknown_name(const Snapshot& snapshot, std::string_view name, std::string unknown);
/// Why a shard says nothing of names and cables.
inline constexpr const char* kNotSwept = "its first sweep is not complete";
/// The answer is empty, or does not know a name, before the first sweep: it says nothing of what is there.
template <typename Message>
bool is_before_it_knows(const Snapshot& snapshot, const Result<Message>& answer) {
  const bool is_nothing = answer ? answer->ByteSizeLong() == 0 : answer.error().code == ErrorCode::kNotFound;
  return is_nothing && is_before_first_sweep(snapshot);
}

/// Names the own shard of a site in an answer of before the first sweep: what is not in there may exist all the same.
template <typename Message>
void say_if_unswept(const Snapshot& snapshot, Message& message) {
  if (snapshot.site && is_before_first_sweep(snapshot)) message.add_missing_shards(snapshot.site->own);
}

/// "leader: host, process 123" or "standby: host, process 123 leads at host:50051", and what is wrong about it. Only
/// for a weftd that shares its database. Clients and collectors know a standby by its first word.
std::string leadership_text(const Leadership& leadership);

/// In the initial metadata of gRPC, and in the headers of HTTP, of each answer of such a weftd: role_name().
inline constexpr const char* kRole = "weft-role";
/// Of a standby's answer beside it: incidents and plans of the leader may be so old, in whole seconds.
inline constexpr const char* kBehind = "weft-behind";
/// Beside it, with the value 1: the standby could not take over now (knows_too_little()).
inline constexpr const char* kTroubled = "weft-troubled";
/// "leader" or "standby".
const char* role_name(const Leadership& leadership);
/// A standby that could not take over now, for its database or what that waits for: a leader may know more than it
/// could store.
bool knows_too_little(const Leadership& leadership);
/// For kBehind.
std::string seconds_behind(const Leadership& leadership);

/// Nothing is known of the port: never read, state unknown. Such a port has no series. (The second port of an adapter
/// whose ports sit in two subnets is listed in both and known in one.)
bool never_seen(const Sweep& sweep, PortIndex port);

/// When the port's counters were last read; kNever when they never were.
TimePoint counters_read_at(const Sweep& sweep, PortIndex port);

/// The last reading of the port is older than the fabric's limit. Of a port that is up both its state and, where it has
/// any, its counters must be fresh; of one that is not, the state: its counters do not move.
bool is_stale(const FabricView& fabric, PortIndex port, TimePoint now);

/// How many nodes, ports and links a topology has.
struct FabricCounts {
  std::array<std::uint32_t, 4> nodes{};  ///< by NodeType
  std::array<std::uint32_t, 5> ports{};  ///< external ports, by PortState
  std::uint32_t unreachable_nodes = 0;
  std::uint32_t links = 0;          ///< cables seen now or before
  std::uint32_t links_up = 0;       ///< both ends active
  std::uint32_t links_unknown = 0;  ///< the state of neither end is known
};
/// Counts nodes, external ports and links. O(ports).
FabricCounts count(const Topology& topology);

/// Bytes of a node's or host's name, as a map of names may have it (its longest line); nothing has a longer one.
inline constexpr std::size_t kLongestNodeName = 4096;
/// The most nodes of one name that are looked at.
inline constexpr std::size_t kMostNodes = 4096;

/// A node of one of the fabrics.
struct FoundNode {
  const FabricView* fabric;
  NodeIndex node;
};
/// Nodes of that GUID, node name, host name, name of the same host (same_host()), or name in other case, at most
/// `limit`; of whichever of these first gives any. None of a name longer than kLongestNodeName.
std::vector<FoundNode> find_nodes(const Snapshot& snapshot, std::string_view name, std::size_t limit);
/// "'leaf' matches several nodes: 0x2c5eab0300b87b40 (leaf), 0x2c5eab0300b87b41 (LEAF): use a GUID". At most five are
/// listed.
std::string several_nodes_text(std::string_view name, std::span<const FoundNode> nodes);
/// "leaf-1 has no port 99: its ports are 1 to 40".
std::string no_such_port_text(const Node& node, std::string_view number);

/// Health of the host or switch of that name, of the one that the node of that name or GUID belongs to, or of the same
/// host under its short or qualified name, but for another full name than its collector has told; or nullptr.
const NodeHealth* find_health(const Snapshot& snapshot, std::string_view name);
/// The same for many names: one entry or nullptr for each, in their order. O(names × log(hosts)), and one look at every
/// node when some are not names of hosts or switches.
std::vector<const NodeHealth*> find_health(const Snapshot& snapshot, std::span<const std::string_view> names);

/// The incident of that id, or nullptr.
std::shared_ptr<const Incident> find_incident(const Snapshot& snapshot, std::uint64_t id);

}  // namespace weft::api
