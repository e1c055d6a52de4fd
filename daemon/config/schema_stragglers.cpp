#include "daemon/config/schema.hpp"

// Every number of analyzer/thresholds/stragglers.hpp as a key of its own name.

namespace weft::config {

std::vector<Key> straggler_schema() {
  static constexpr Bounds kBytes{1, 1e12};
  return {
      {"analyzer.straggler_first_send", [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.first_send; },
       kBytes, "bytes",
       "A port that sends at least so much from one reading to the next has begun: NCCL's first chunk on a channel is "
       "half of its buffer (NCCL_BUFFSIZE, 4 MiB). Keep-alives and management must stay below it."},
      {"analyzer.straggler_transfer", [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.transfer; }, kBytes,
       "bytes",
       "More than so much between two readings is the transfer itself, and not what a member of a collective sends "
       "before it needs something from the others: sixteen channels of NCCL with a buffer of 4 MiB each. The larger, "
       "the more often a transfer that has just begun is taken for waiting."},
      {"analyzer.straggler_score",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.score; },
       {1, 1000},
       "",
       "Robust z-score, 0.6745 (x - median) / max(MAD, 1 % of median) of the time from the end of a transfer to the "
       "beginning of the next, above which a port begins late. 3.5 is Iglewicz and Hoaglin's; with hosts that agree "
       "better than 1 % it means 5 % later than the others."},
      {"analyzer.straggler_beginnings",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.beginnings; },
       {2, 100},
       "beginnings",
       "Beginnings that were seen, one after the other, in which a port must be late before it is STRAGGLER. What "
       "happens once is a checkpoint, a log, a collection of garbage."},
      {"analyzer.straggler_least_delay",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.least_delay; },
       {0.001, 60},
       "",
       "A smaller delay is no matter, and clocks of hosts agree no better than some milliseconds."},
      {"analyzer.straggler_small_cohort",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.small_cohort; },
       {0, 1e6},
       "ports",
       "With fewer ports of a job on a rail, one must have worked for a while before it was late for the first time: "
       "few others are a weak comparison, its own past is one more."},
      {"analyzer.straggler_own_share",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.own_share; },
       {0.1, 1},
       "share",
       "Of the last eight beginnings in which anybody of its job was late, so many must be this one's. Where now this "
       "and now that member is late, the work is uneven and no host is slow."},
      {"analyzer.straggler_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.straggler.hold; },
       {1, 86400},
       "",
       "STRAGGLER ends when its port was not seen to be late for so long, or for three times as long as is usual from "
       "one of its late beginnings to the next, whichever is longer."},
  };
}

}  // namespace weft::config
