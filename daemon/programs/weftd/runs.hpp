// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of weftd after the other: one that lost the lead goes on as a standby.

#include <cstdint>
#include <functional>

#include "fabric/result.hpp"

namespace weft::daemon {

/// How a run ended: weftd was stopped, another weftd has taken the database, or it is to take it.
enum class RunEnd : std::uint8_t { kStopped, kLost, kYielded };

/// So often in a row a run that follows another is tried while the database is away.
inline constexpr unsigned kMostTries = 60;

/// Calls `run` until it was stopped. `starts`: it is the first. One that cannot begin because the database is away
/// (kUnavailable, kTimeout) is tried again after `pause`, at most kMostTries times in a row: that is no reason for a
/// standby to end. The first one is not: who starts weftd is told. Fails as the run that is not tried again.
Result<void> run_until_stopped(const std::function<Result<RunEnd>(bool starts)>& run,
                               const std::function<void(const Error&)>& pause);

}  // namespace weft::daemon
