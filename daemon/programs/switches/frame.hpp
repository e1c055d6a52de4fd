// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-switches tells weftd, over the stream socket between them. Both are of one build; the reader trusts nothing
// all the same: every length is bounded, and a reading is decoded as if a collector far away had sent it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/telemetry/batch_codec.hpp"
#include "fabric/host.hpp"
#include "fabric/result.hpp"
#include "fabric/switch_target.hpp"

namespace weft::switches {

/// Bounds of what a frame may claim.
struct FrameLimits {
  static constexpr std::uint32_t kMostBytes = 16U << 20;
  static constexpr std::uint32_t kMostTargets = 10'000;
  static constexpr std::uint32_t kLongestText = 4'096;
};

/// What a body of one switch's reading may hold.
api::BatchLimits batch_limits();

/// A reading of one switch.
struct SwitchReading {
  std::string target;
  HostReading reading;
};
/// All targets, and how reading them goes.
struct TargetStates {
  std::vector<SwitchTarget> targets;
};
/// weft-switches cannot go on; it exits after this. The message is for people.
struct Trouble {
  std::string message;
};

/// Writes bytes to the other side; false when it is gone.
using ByteSink = std::function<bool(std::span<const std::byte>)>;
/// Fills the whole span; false at the end of the stream.
using ByteSource = std::function<bool(std::span<std::byte>)>;

/// Writes frames. Of a reading goes what differs from the target's reading before.
class FrameWriter {
 public:
  /// Writes to `sink`.
  explicit FrameWriter(ByteSink sink) : sink_(std::move(sink)) {}
  /// False when the other side is gone. A reading that is beyond the limits is left out.
  bool write(const std::string& target, const HostReading& reading);
  /// Writes them all.
  bool write(const TargetStates& states);
  /// Writes the reason for ending.
  bool write(const Trouble& trouble);
  /// The target is read no more.
  void forget(const std::string& target) { encoders_.erase(target); }

 private:
  bool send(std::uint32_t type, std::span<const std::byte> content);

  ByteSink sink_;
  std::map<std::string, api::BatchEncoder> encoders_;
};

/// Reads what FrameWriter wrote.
class FrameReader {
 public:
  /// Reads from `source`.
  explicit FrameReader(ByteSource source) : source_(std::move(source)), pool_(std::make_shared<api::SeriesPool>()) {}
  /// The next frame; blocks as long as the source does. kUnavailable at the end of the stream, kCorrupt when what came
  /// is no frame: the stream is of no further use then.
  Result<std::variant<SwitchReading, TargetStates, Trouble>> read();

 private:
  ByteSource source_;
  std::shared_ptr<api::SeriesPool> pool_;
  std::map<std::string, api::BatchDecoder> decoders_;
};

}  // namespace weft::switches
