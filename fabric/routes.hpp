// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the switches of one subnet send what is addressed to a LID: their linear forwarding tables (InfiniBand
// Architecture Specification, vol. 1, 14.2.5.10), as last read.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/ids.hpp"

namespace weft {

/// Entries of one LinearForwardingTable attribute: LIDs 64·n … 64·n + 63.
inline constexpr std::size_t kRouteBlockSize = 64;
/// One block of a linear forwarding table: the egress port of 64 consecutive LIDs.
using RouteBlock = std::array<std::uint8_t, kRouteBlockSize>;
/// Blocks that hold all unicast LIDs, 0 … 0xBFFF (4.1.3).
inline constexpr std::uint16_t kMostRouteBlocks = 0xC000 / kRouteBlockSize;
/// The port that a table names for a LID that it does not forward.
inline constexpr PortNum kNoEgress{255};

/// Forwarding tables of all switches of a Topology of the same epoch. Immutable. Equal blocks stand in memory once:
/// switches of one tier have most of theirs in common.
class Routes {
 public:
  /// Entry of RouteTable::blocks of a block that was never read.
  static constexpr std::uint32_t kNotRead = 0xFFFFFFFF;
  /// The linear forwarding table of one switch.
  struct Table {
    Lid top;                            ///< SwitchInfo.LinearFDBTop (14.2.5.4): LIDs above it are not forwarded
    std::vector<std::uint32_t> blocks;  ///< position of each block in the pool; as many as `top` needs
  };

  /// Topology::epoch() of the topology whose node indices these tables use.
  std::uint64_t epoch() const { return epoch_; }
  /// Grows with each change of any table.
  std::uint64_t revision() const { return revision_; }
  /// How many entries tables() has: switches beyond were never asked.
  std::size_t nodes() const { return tables_.size(); }
  /// Null where nothing was ever read: no switch, or one that did not answer.
  const Table* table(NodeIndex node) const { return node < tables_.size() ? tables_[node].get() : nullptr; }
  /// The port by which `node` sends what is addressed to `lid`; port 0 is the switch itself, kNoEgress: it drops it.
  /// nullopt when that part of its table was not read.
  std::optional<PortNum> egress(NodeIndex node, Lid lid) const;
  /// Block `number` of a node's table, or null when it was not read.
  const RouteBlock* block(NodeIndex node, std::uint16_t number) const;
  /// Blocks in memory, for figures and limits.
  std::size_t pooled_blocks() const { return pooled_; }

 private:
  friend class RouteTables;
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<RouteBlock, kChunk>;
  const RouteBlock& pooled(std::uint32_t position) const { return (*chunks_[position / kChunk])[position % kChunk]; }

  std::uint64_t epoch_ = 0;
  std::uint64_t revision_ = 0;
  std::size_t pooled_ = 0;
  std::vector<std::shared_ptr<const Table>> tables_;  ///< by node
  std::vector<std::shared_ptr<const Chunk>> chunks_;
};

/// Gathers tables block by block and gives them out as values. Not thread-safe; what it gave out is, for what it adds
/// later stands beside it in memory.
class RouteTables {
 public:
  /// `epoch` is Topology::epoch() of the topology whose node indices will be used.
  explicit RouteTables(std::uint64_t epoch) : epoch_(epoch) {}
  RouteTables(RouteTables&&) = default;
  RouteTables& operator=(RouteTables&&) = default;

  /// The table of `node` reaches up to `top`; what it had beyond is forgotten. True when that is news.
  bool set_top(NodeIndex node, Lid top);
  /// True when that is news. Ignored beyond the top.
  bool set_block(NodeIndex node, std::uint16_t number, std::span<const std::uint8_t, kRouteBlockSize> entries);
  /// How many blocks the table of `node` has; 0 before set_top().
  std::uint16_t blocks(NodeIndex node) const;
  /// Different blocks that stand in memory.
  std::size_t pooled_blocks() const { return references_.size(); }

  /// The tables as they are now; the same pointer as before when nothing changed, null while there is nothing.
  std::shared_ptr<const Routes> publish();

 private:
  using Table = Routes::Table;
  Table& own_table(NodeIndex node);
  const RouteBlock& pooled(std::uint32_t position) const {
    return (*chunks_[position / Routes::kChunk])[position % Routes::kChunk];
  }
  std::uint32_t intern(const RouteBlock& block);
  void release(std::uint32_t position);
  void rehash(std::size_t slots);
  void compact();

  std::uint64_t epoch_;
  std::uint64_t revision_ = 0;
  bool changed_ = false;
  std::vector<std::shared_ptr<Table>> tables_;
  std::vector<bool> given_out_;  ///< by node: somebody else reads the table, so it is copied before it is changed
  std::vector<std::shared_ptr<Routes::Chunk>> chunks_;
  std::vector<std::uint32_t> references_;  ///< for each block of the pool
  std::size_t unused_ = 0;                 ///< blocks without a reference: they stay for those who read old values
  std::vector<std::uint32_t> index_;       ///< open-addressed hash table of positions
  std::shared_ptr<const Routes> published_;
};

}  // namespace weft
