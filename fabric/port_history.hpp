// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports counted over hours and days: the question and its answer, in buckets of equal length.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/counters.hpp"
#include "fabric/ids.hpp"
#include "fabric/port_gauges.hpp"

namespace weft {

/// Bucket `i` of an answer covers the times after `from` + `i` × `step`, up to `from` + (`i` + 1) × `step`.
struct HistoryQuestion {
  std::string fabric;
  std::vector<PortKey> ports;         ///< none: those of `gone`
  std::vector<CounterId> counters{};  ///< none, nor gauges: all that history keeps
  TimePoint from = kNever;
  TimePoint to = kNever;
  Duration step{};                  ///< at least 1 s
  std::vector<PortGauge> gauges{};  ///< none, nor counters: all that history keeps
  /// A node that no fabric has now. Of port 0 all its ports that history keeps; of no fabric that where it was last.
  std::optional<PortKey> gone{};
};

/// What a counter grew by in one bucket. A bucket of which no reading speaks is absent. The increase of an interval
/// that reaches into several buckets is shared among them by time.
struct HistoryBucket {
  std::uint32_t index = 0;
  double increase = 0;
  Duration covered{};  ///< the part of the time that readings speak of; increase ÷ covered is the mean rate
  double peak = 0;  ///< greatest rate of one interval of the history whose middle is in the bucket, in units a second
};

/// One counter of one port.
struct CounterHistory {
  CounterId counter = CounterId::kCount;
  bool at_least = false;    ///< it was stuck at its top for some of the time
  std::uint64_t total = 0;  ///< of all intervals that ended in the time; traffic and waits within 0.2 %, errors exact
  std::vector<HistoryBucket> buckets{};
};

/// What a gauge was in one bucket, in the unit of gauge_info(): power within 0.15 dB, bias within 3 %, temperature
/// within 0.75 degrees. Gauges are kept for every fifth moment of the counters, and what is said of one stretch of
/// time is said of all buckets that it reaches into. A bucket of which no reading speaks is absent.
struct GaugeBucket {
  std::uint32_t index = 0;
  std::int64_t last = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// One gauge of one port.
struct GaugeHistory {
  PortGauge gauge = PortGauge::kCount;
  std::vector<GaugeBucket> buckets{};  ///< ascending
};

/// One port; only counters and gauges with a reading are there.
struct PortHistory {
  PortKey port;
  std::vector<CounterHistory> counters{};
  std::vector<GaugeHistory> gauges{};
};

/// The answer. Ports without a history in that time have no counters and no gauges.
struct HistoryAnswer {
  Duration step{};  ///< of the question, or an hour: of more than three days only hours are read
  std::vector<PortHistory> ports{};
  std::string fabric{};  ///< where a node is gone
};

/// How long the ports of each switch waited to send: one row for each switch, so that a whole fabric is one answer.
struct StallQuestion {
  /// One port, the row that it belongs to, and what a tick of its transmit_wait is, in seconds.
  struct Port {
    PortKey port;
    std::uint32_t row = 0;
    float tick_seconds = 0;
  };
  std::string fabric;
  std::vector<Port> ports{};
  std::uint32_t rows = 0;
  TimePoint from = kNever;
  TimePoint to = kNever;
  Duration step{};  ///< at least 1 s
};

/// Of each interval of the history, the port of the row counts that waited most. Shares of time, 0 to 1. A bucket of
/// which no reading speaks is absent.
struct StallBucket {
  std::uint32_t index = 0;
  double share = 0;  ///< mean over the intervals
};

/// One switch.
struct StallRow {
  double share = 0;                    ///< mean over all intervals; 0 where there are none
  PortKey worst{};                     ///< the port that waited most in all that time; none: none waited
  std::vector<StallBucket> buckets{};  ///< ascending
};

/// The answer, a row for each that was asked for.
struct StallAnswer {
  Duration step{};               ///< of the question, or longer
  std::uint32_t read_every = 1;  ///< there is so much that only one of so many intervals was read
  std::vector<StallRow> rows{};
};

}  // namespace weft
