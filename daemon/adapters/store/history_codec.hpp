// SPDX-License-Identifier: Apache-2.0
#pragma once
// One chunk of history: what the counters of up to 256 ports grew by in one interval, packed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fabric/counters.hpp"
#include "fabric/result.hpp"

namespace weft::store {

inline constexpr std::size_t kChunkPorts = 256;
/// A chunk's id is that of its moment or hour, shifted by so many bits, and its number, slot / kChunkPorts. Statements
/// have the 24 written out.
inline constexpr std::int64_t kChunkBits = 24;
inline constexpr std::int64_t kLastChunk = (std::int64_t{1} << kChunkBits) - 1;
/// The first and the last id of the chunks of a moment or hour.
constexpr std::pair<std::int64_t, std::int64_t> chunk_ids(std::int64_t of) {
  return {of << kChunkBits, of << kChunkBits | kLastChunk};
}
/// The counters kept, in the order of a chunk. The first kDenseCounters move on every busy port and are rounded to 9
/// significant bits (0.2 %); the others are errors, mostly still, and kept exactly.
inline constexpr std::array kHistoryCounters{
    CounterId::kTransmitBytes,
    CounterId::kReceiveBytes,
    CounterId::kTransmitPackets,
    CounterId::kReceivePackets,
    CounterId::kTransmitWait,
    CounterId::kSymbolErrors,
    CounterId::kLinkErrorRecovery,
    CounterId::kLinkDowned,
    CounterId::kReceiveErrors,
    CounterId::kReceiveRemotePhysicalErrors,
    CounterId::kReceiveSwitchRelayErrors,
    CounterId::kTransmitDiscards,
    CounterId::kTransmitConstraintErrors,
    CounterId::kReceiveConstraintErrors,
    CounterId::kLocalLinkIntegrityErrors,
    CounterId::kExcessiveBufferOverrunErrors,
    CounterId::kQp1Dropped,
    CounterId::kVl15Dropped,
};
inline constexpr std::size_t kDenseCounters = 5;

/// One port in one interval. Bit i of the masks speaks of kHistoryCounters[i].
struct ChunkPort {
  std::uint32_t present = 0;   ///< it was read at both ends of the interval
  std::uint32_t at_least = 0;  ///< and stuck at its top
  std::array<std::uint64_t, kHistoryCounters.size()> increase{};
  bool operator==(const ChunkPort&) const = default;
};

/// `value` as it comes back from history: within 0.2 %, exact below 512.
std::uint64_t round_dense(std::uint64_t value);

/// From 1 to kChunkPorts ports.
std::vector<std::byte> encode_chunk(std::span<const ChunkPort> ports);
/// kCorrupt for anything that encode_chunk did not make.
Result<std::vector<ChunkPort>> decode_chunk(std::span<const std::byte> data);

/// Chunks, one after the other in the same memory, of which single values are read: a question is of few ports or of
/// one counter, and nothing else is decoded.
class ChunkReader {
 public:
  /// What was read before is gone. kCorrupt for anything that encode_chunk did not make; it has no ports then.
  Result<void> read(std::span<const std::byte> data);
  /// How many ports the chunk has.
  std::size_t ports() const { return ports_; }
  /// Of a port below ports(): whether the counter, by its place in kHistoryCounters, was read at both ends.
  bool present(std::size_t port, std::size_t counter) const { return bit(0, port, counter); }
  /// The same: whether it stuck at its top.
  bool at_least(std::size_t port, std::size_t counter) const { return bit(kMaskBytes, port, counter); }
  /// The same: what it grew by.
  std::uint64_t increase(std::size_t port, std::size_t counter) const;

 private:
  static constexpr std::size_t kMaskBytes = sizeof(ChunkPort::present);
  /// An increase that is not 0 of a counter that is not dense.
  struct Sparse {
    std::size_t place = 0;  ///< place_of()
    std::uint64_t increase = 0;
  };
  static constexpr std::size_t place_of(std::size_t port, std::size_t counter) {
    return port * kHistoryCounters.size() + counter;
  }
  const std::uint8_t* plane(std::size_t number) const { return raw_.data() + 2 + number * ports_; }
  bool bit(std::size_t first_plane, std::size_t port, std::size_t counter) const {
    return (plane(first_plane + counter / 8)[port] >> (counter % 8) & 1) != 0;
  }

  std::vector<std::uint8_t> raw_;
  std::size_t ports_ = 0;
  std::vector<Sparse> sparse_;  ///< ascending
};

}  // namespace weft::store
