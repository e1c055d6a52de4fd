// SPDX-License-Identifier: Apache-2.0
#pragma once
// weftd store …: what is done with a store while no weftd uses it.

namespace weft::daemon {

/// Runs the words behind "weftd"; `argv[0]` is "store". The exit code: 0 done, 1 it failed, 2 wrong usage.
int run_store_command(int argc, char** argv);

}  // namespace weft::daemon
