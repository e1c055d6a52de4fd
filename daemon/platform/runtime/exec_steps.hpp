// SPDX-License-Identifier: Apache-2.0
#pragma once
// From fork to the new program. A program may lie on a file system that hangs: only the child waits for it. (vfork(2),
// and posix_spawn(3), which uses it, keep the caller waiting until the program has begun.)

#include <optional>

#include "fabric/clock.hpp"

namespace weft::runtime {

/// In the child: every signal at its default and none blocked. Async-signal-safe, as what follows.
void default_signals();
/// In the child: closes every descriptor from `first` on but `report`, now and not only when the program begins: others
/// that were started at the same moment wait for the end of their pipes. False with errno when it cannot.
bool close_others(int first, int report);
/// In the child, after a call that failed: writes errno to `report` and ends.
[[noreturn]] void give_up_becoming(int report);
/// In the parent: how the child fared, which holds the other end of `outcome` close-on-exec. 0: it has become the
/// program; else the errno of what failed. nullopt: it is not known after `patience`.
std::optional<int> exec_outcome(int outcome, Duration patience);

}  // namespace weft::runtime
