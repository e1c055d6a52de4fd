// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a job is said to hang (analyzer/hangs). Each number is bound to a config key.

#include <chrono>

#include "fabric/clock.hpp"
#include "fabric/quiet_rate.hpp"

namespace weft::analyzer {

/// Limits of JOB_HANG.
struct HangLimits {
  bool enabled = true;
  /// All hosts of a job that used the fabric are silent for so long, and one port is suspect: with NCCL's defaults (7
  /// retries, each after 4.3 s: NCCL_IB_RETRY_CNT, NCCL_IB_TIMEOUT) retries are used up after half a minute, and
  /// PyTorch's watchdog waits for ten.
  Duration silence = std::chrono::minutes(2);
  /// The same where nothing is suspect: then it is INFO, for a checkpoint, a compiler and a debugger look alike. 0:
  /// never.
  Duration silence_without_suspect = std::chrono::minutes(15);
  /// What a host sends and receives below this share (0..1) of what its ports can is silence, for its system talks too:
  /// 10 MB/s at 400 Gb/s.
  double silent_share = kQuietShare;
};

}  // namespace weft::analyzer
