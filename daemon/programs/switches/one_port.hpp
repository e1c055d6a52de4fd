// SPDX-License-Identifier: Apache-2.0
#pragma once
// One port of one switch, read once, or set once and read back: a process lives for one step of a remedy, so that no
// right to write to a switch lives longer.

#include "daemon/adapters/switch_port/messages.hpp"

namespace weft::switches {

/// Finds the target in its list, connects to it, reads the port and, where that is wanted, sets it. What is so already
/// is not sent. A Set goes out once; one without a clear answer is kUnclear, and whoever asked reads again. Blocks for
/// Question::timeout at most.
switch_port::Answer ask_port(const switch_port::Question& question);

}  // namespace weft::switches
