// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/runs.hpp"

namespace weft::daemon {

Result<void> run_until_stopped(const std::function<Result<RunEnd>(bool starts)>& run,
                               const std::function<void(const Error&)>& pause) {
  bool starts = true;
  unsigned tries = 0;
  while (true) {
    const auto ended = run(starts);
    if (ended) {
      if (*ended == RunEnd::kStopped) return {};
      starts = false;
      tries = 0;
      continue;
    }
    const ErrorCode code = ended.error().code;
    const bool is_away = code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout;
    if (starts || !is_away || tries == kMostTries) return tl::unexpected<Error>(ended.error());
    ++tries;
    pause(ended.error());
  }
}

}  // namespace weft::daemon
