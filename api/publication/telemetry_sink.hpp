// SPDX-License-Identifier: Apache-2.0
#pragma once
// How what collectors tell reaches the daemon, and how the daemon answers them. The daemon implements TelemetrySink;
// the server of the streams implements CollectorStream.

#include <cstdint>
#include <memory>
#include <string>

#include "fabric/host.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Who begins a stream.
struct CollectorHello {
  std::string host;                   ///< 1 to 255 bytes of UTF-8 without control characters
  std::uint64_t spool = 0;            ///< of which the sequence numbers count; not 0
  std::string version;                ///< at most 64 bytes
  Duration interval{};                ///< between its readings, 1 ms to 1 h
  std::uint64_t oldest_sequence = 0;  ///< the oldest batch that it can still send; 0 when it has none
  std::string address{};              ///< where it is connected from, "192.0.2.7:4242"
};

/// One collector's stream, as the daemon sees it. Members return at once and may be called from any thread; after the
/// stream's end they do nothing.
class CollectorStream {
 public:
  virtual ~CollectorStream() = default;
  /// The answer to the Hello: batches up to `sequence` are safe.
  virtual void welcome(std::uint64_t sequence) = 0;
  /// All batches up to `sequence` are on disk.
  virtual void acknowledge(std::uint64_t sequence) = 0;
  /// The last batch was taken: the next one may come.
  virtual void proceed() = 0;
  /// Ends the stream with this error.
  virtual void end(Error why) = 0;
};

/// Takes what collectors tell. Members are called from any thread, for one stream one after the other: hello(), then
/// batch() with at most one batch under way, then gone(), after which nothing follows. They return at once.
class TelemetrySink {
 public:
  /// A stream; the daemon may keep it after the stream's end.
  using Stream = std::shared_ptr<CollectorStream>;

  virtual ~TelemetrySink() = default;
  /// Answered by welcome() or end().
  virtual void hello(const Stream& stream, CollectorHello hello) = 0;
  /// Times in `batch` are on our clock, none in the future. `clock_offset` is ours minus the host's, zero while not
  /// known. Answered by proceed() or end().
  virtual void batch(const Stream& stream, HostBatch batch, Duration clock_offset) = 0;
  /// The stream has ended.
  virtual void gone(const Stream& stream) = 0;
};

}  // namespace weft::api
