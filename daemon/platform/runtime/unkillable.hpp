// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waiting for children within a bound. A process in uninterruptible sleep (state D of proc(5)) does not even end by
// SIGKILL before the kernel lets it go; whoever waited for it goes on, and it is reaped later.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::runtime {

struct ChildExit;

/// A child that was killed and has not ended.
struct Unkillable {
  pid_t pid = -1;
  std::string program;
};

/// How long a child that was killed may take to end.
inline constexpr Duration kKillPatience = std::chrono::seconds(1);
/// With so many of one program on the list no more of it is started.
inline constexpr std::size_t kMostUnkillable = 16;

/// Waits for the end of a child of ours for at most `patience` and reaps it. nullopt: it has not ended. The exit code
/// is 255 when somebody else has reaped it.
std::optional<ChildExit> wait_for_child(pid_t pid, int pidfd, Duration patience);

/// Sends SIGKILL, to the whole process group that it leads if `group`, and waits for kKillPatience. nullopt: it has not
/// ended, and is on the list until it has.
std::optional<ChildExit> kill_child(pid_t pid, UniqueFd pidfd, const std::string& program, bool group);

/// Puts a child that was killed on the list.
void leave_behind(pid_t pid, const std::string& program);

/// The list. Those that have ended by now are reaped and no longer on it. Any thread; does not block.
std::vector<Unkillable> unkillable();

/// kResourceExhausted while kMostUnkillable processes of that program are on the list.
Result<void> may_start(const std::string& program);

}  // namespace weft::runtime
