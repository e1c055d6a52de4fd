// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-sweeper tells weftd, over the stream socket between them. Both are of one build; the reader trusts nothing
// all the same: every count is bounded and every graph is checked.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fabric/acting_weftds.hpp"
#include "fabric/result.hpp"
#include "fabric/sweep.hpp"

namespace weft::sweeper {

/// Bounds of what a frame may claim.
struct FrameLimits {
  static constexpr std::uint32_t kMostNodes = 131'072;
  static constexpr std::uint32_t kMostPorts = 4'000'000;
  static constexpr std::uint32_t kLongestText = 4'096;
  static constexpr std::uint32_t kMostRouteBlocks = 4'000'000;  ///< different ones, in all tables: 256 MB
};

/// The sweeper cannot go on; it exits after this. The message is for people: "cannot open mlx5_0 port 1: …".
struct Trouble {
  std::string message;
};

/// Writes bytes to the other side; false when it is gone.
using ByteSink = std::function<bool(std::span<const std::byte>)>;
/// Fills the whole span; false at the end of the stream.
using ByteSource = std::function<bool(std::span<std::byte>)>;

/// Writes sweeps. Keeps track of what the other side already has: the graph goes only when it changed, of the detail
/// table only the rows that were read since, of the forwarding tables only the blocks that are others now, one frame
/// for each switch.
class FrameWriter {
 public:
  explicit FrameWriter(ByteSink sink) : sink_(std::move(sink)) {}
  /// False when the other side is gone.
  /// Writes one sweep, as the difference to the one before.
  bool write(const Sweep& sweep);
  /// Writes who may act on the fabric, when that has changed. It goes before the sweep that it was learned in.
  bool write(const ActingWeftds& acting);
  /// Writes the sweeper's reason for ending.
  bool write(const Trouble& trouble);

 private:
  ByteSink sink_;
  const Topology* sent_topology_ = nullptr;
  std::shared_ptr<const Topology> keep_;  // so that the address above stays its own
  TimePoint details_sent_until_ = kNever;
  std::shared_ptr<const Routes> sent_routes_;
  ActingWeftds sent_acting_;
};

/// Reads what FrameWriter wrote and puts sweeps together again.
class FrameReader {
 public:
  explicit FrameReader(ByteSource source) : source_(std::move(source)) {}
  /// The next sweep or trouble; blocks as long as the source does. kUnavailable at the end of the stream, kCorrupt when
  /// what came is no frame: the stream is of no further use then.
  Result<std::variant<Sweep, Trouble>> read();
  /// Who may act on the fabric, as of what was read last.
  const ActingWeftds& acting() const { return acting_; }

 private:
  ByteSource source_;
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const SampleTable> details_;
  std::optional<RouteTables> routes_;
  ActingWeftds acting_;
};

}  // namespace weft::sweeper
