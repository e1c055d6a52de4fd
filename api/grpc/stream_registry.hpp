// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all streams of collectors share: limits, figures, and one thread that starts what the daemon's answers and the
// passing of time ask for, so that the daemon's own thread never does gRPC's work.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api/access/gate.hpp"
#include "api/publication/telemetry_sink.hpp"
#include "api/telemetry/batch_codec.hpp"
#include "fabric/clock.hpp"

namespace weft::api {

/// Limits of the collectors' streams.
struct TelemetryLimits {
  unsigned max_collectors = 12'000;                  ///< streams at once; further ones get RESOURCE_EXHAUSTED
  std::chrono::milliseconds hello_timeout{10'000};   ///< from the stream's beginning to its Hello
  std::chrono::milliseconds probe_interval{30'000};  ///< between two looks at the host's clock
  double batches_per_second = 50;  ///< of one stream; a faster one is read from so slowly, and nothing of it is lost
  double batch_burst = 200;        ///< batches that may come faster, after a pause
  std::uint64_t max_values = 20'000'000;  ///< series of all streams together; who passes it gets RESOURCE_EXHAUSTED
  BatchLimits batch;
};

/// Figures of the collectors' streams.
struct TelemetryFigures {
  std::uint64_t streams = 0;    ///< open now
  std::uint64_t refused = 0;    ///< streams ended for a limit or for breaking the rules, ever
  std::uint64_t throttled = 0;  ///< batches after which a stream had to wait for its rate, ever
  std::uint64_t values = 0;     ///< series of all streams together, now
};

class TelemetryStream;

/// All streams of collectors on this server. May be used from any thread.
class StreamRegistry {
 public:
  using Steady = std::chrono::steady_clock;
  using Stream = std::shared_ptr<TelemetryStream>;

  StreamRegistry(TelemetrySink& the_sink, const Clock& the_clock, const TelemetryLimits& the_limits,
                 access::Gate& the_gate);
  ~StreamRegistry();
  StreamRegistry(const StreamRegistry&) = delete;
  StreamRegistry& operator=(const StreamRegistry&) = delete;

  /// False when there are too many, or the hall is closing.
  bool admit(const Stream& stream);
  /// Removes a stream that has ended.
  void leave(const TelemetryStream* stream);
  /// The stream has something to do: soon, or at `when`.
  void wake(Stream stream);
  /// Calls TelemetryStream::turn() at `when`.
  void wake_at(Steady::time_point when, const Stream& stream);
  /// A stream's number of series changes; false, and nothing changes, when all together would be too many.
  bool change_values(std::size_t before, std::size_t now);
  /// Counts a stream that was refused.
  void count_refused() { ++refused_; }
  /// Counts a stream that had to wait for its rate.
  void count_throttled() { ++throttled_; }

  /// The figures as of now.
  TelemetryFigures figures() const;
  /// Ends all streams and joins the thread.
  void stop();

  TelemetrySink& sink;
  const Clock& clock;
  const TelemetryLimits limits;
  access::Gate& gate;
  const std::shared_ptr<SeriesPool> series = std::make_shared<SeriesPool>();

 private:
  struct Timer {
    Steady::time_point when;
    std::weak_ptr<TelemetryStream> stream;
    bool operator>(const Timer& other) const { return when > other.when; }
  };

  void run();

  mutable std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;
  std::vector<Stream> ready_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::unordered_map<const TelemetryStream*, std::weak_ptr<TelemetryStream>> streams_;
  std::atomic<std::uint64_t> values_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> throttled_{0};
  std::thread thread_;
};

}  // namespace weft::api
