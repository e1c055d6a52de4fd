// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that STRAGGLER is judged by. Each is bound to a config key.

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// Thresholds of the rule STRAGGLER.
struct StragglerThresholds {
  /// A port that sent at least so many bytes from one reading to the next, above what it sends all the time, has begun:
  /// NCCL's first chunk on a channel is half of its buffer (NCCL_BUFFSIZE, 4 MiB), and some have smaller buffers.
  double first_send = 1 << 20;
  /// More than so many bytes are the transfer itself, and not what a member sends before it needs something from the
  /// others: with a buffer of 4 MiB each, what sixteen channels of NCCL through one adapter hold.
  double transfer = 64 << 20;
  /// Robust score (Iglewicz and Hoaglin's) above which a member begins later than its cohort.
  double score = 3.5;
  /// CollectiveStarts in a row in which it must be so.
  unsigned beginnings = 3;
  /// A delay below this is no matter, and hosts' clocks agree no better than some milliseconds.
  Duration least_delay = std::chrono::milliseconds(50);
  /// In a smaller cohort a port must have begun with the others before, in its own past.
  unsigned small_cohort = 8;
  /// Of the late beginnings of a cohort that were seen last, the share that must be this one's: where now this and now
  /// that member is late, the work is uneven, and no host is slow.
  double own_share = 2.0 / 3;
  /// STRAGGLER ends when its port was not seen to be late for so long, or for three times as long as is usual between
  /// two of its late beginnings.
  Duration hold = std::chrono::seconds(30);
};

}  // namespace weft::analyzer
