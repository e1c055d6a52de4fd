// SPDX-License-Identifier: Apache-2.0
#pragma once
// weftd, put together: every lane, server and child is made, named and ended here.

#include "daemon/config/config.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Runs until SIGTERM or SIGINT. Fails with a sentence for the operator when something needed at start cannot be had:
/// the state directory, a listening address, the expected topology.
Result<void> run(const config::WeftdConfig& config);

}  // namespace weft::daemon
