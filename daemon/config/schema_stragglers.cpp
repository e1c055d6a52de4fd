// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// Every number of analyzer/thresholds/stragglers.hpp as a key of its own name.

namespace weft::config {

std::vector<Key> straggler_schema() {
  static constexpr Bounds kBytes{1, 1e12};
  return {
      {"analyzer.straggler_first_send", [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.first_send; },
       kBytes, "bytes",
       "Data sent from one reading to the next, above what the port sends all the time, from which on it has started a "
       "collective: NCCL's first chunk on a channel is half of its buffer (NCCL_BUFFSIZE, 4 MiB), and some have "
       "smaller buffers. What management traffic varies by must stay below it."},
      {"analyzer.straggler_transfer", [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.transfer; }, kBytes,
       "bytes",
       "Data sent between two readings from which on it is the transfer itself, not the part that a member of a "
       "collective sends before it depends on the others: sixteen NCCL channels with a buffer of 4 MiB each. The "
       "larger, the more often a transfer that has just started counts as waiting."},
      {"analyzer.straggler_score",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.score; },
       {1, 1000},
       "",
       "Robust z-score, 0.6745 (x - median) / max(MAD, 1.5 % of median) of the time from the end of a transfer to the "
       "start of the next, above which a port starts late. 3.5 is from Iglewicz and Hoaglin; if hosts agree within "
       "1.5 % it means 8 % later than the others."},
      {"analyzer.straggler_beginnings",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.beginnings; },
       {2, 100},
       "beginnings",
       "Consecutive observed starts in which a port must be late before STRAGGLER. A single late start is a "
       "checkpoint, logging or garbage collection."},
      {"analyzer.straggler_least_delay",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.least_delay; },
       {0.001, 60},
       "",
       "Minimum delay. The clocks of hosts agree only within some milliseconds."},
      {"analyzer.straggler_small_cohort",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.small_cohort; },
       {0, 1e6},
       "ports",
       "With fewer ports of a job on a rail, a port must have been on time for a while before its first late start: a "
       "comparison with few others is weak, its own past adds to it."},
      {"analyzer.straggler_own_share",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.own_share; },
       {0.1, 1},
       "share",
       "Of the last eight starts in which any member of the job was late, how many must be this port's. If different "
       "members are late in turn, the work is uneven and no host is slow."},
      {"analyzer.straggler_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.hold; },
       {1, 86400},
       "",
       "STRAGGLER resolves after this time without a late start, or after three times the usual interval between late "
       "starts, whichever is longer."},
  };
}

}  // namespace weft::config
