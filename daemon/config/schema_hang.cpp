// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// hang.*: every number of analyzer/thresholds/hangs.hpp as a key of its own name.

namespace weft::config {

std::vector<Key> hang_schema() {
  return {
      {"hang.enabled",
       [](WeftdConfig& c) -> Field { return &c.analyzer.hang.enabled; },
       {},
       "",
       "Judge jobs whose hosts have collectors: one that used the fabric, and all of whose hosts are silent, is "
       "JOB_HANG, or is named by the incident of what it waits for."},
      {"hang.silence",
       [](WeftdConfig& c) -> Field { return &c.analyzer.hang.silence; },
       {10, kDay},
       "",
       "A job hangs when all its hosts were silent for so long, and for twice as long as they were before, and a port "
       "of theirs is suspect. NCCL's retries are used up after half a minute; PyTorch's watchdog waits for ten."},
      {"hang.silence_without_suspect",
       [](WeftdConfig& c) -> Field { return &c.analyzer.hang.silence_without_suspect; },
       {0, kDay},
       "",
       "The same where nothing is suspect, and the silence is five times as long as those before. It is INFO and pages "
       "nobody: checkpoints and compilers are silent, too. 0: such silences are not told."},
      {"hang.silent_share",
       [](WeftdConfig& c) -> Field { return &c.analyzer.hang.silent_share; },
       {0, 0.1},
       "",
       "A host is silent while it moves less than this share of what its ports can: its system talks as well. The "
       "default is 10 MB/s at 400 Gb/s. Never below 1 MB/s."},
  };
}

}  // namespace weft::config
