// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the configuration says of remedies, made into what carries them out.

#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Modes, limits, lists and actuators as configured. Fails as the actuators' factories do. `clock` must outlive what is
/// made. Where `failures` is given, each of them is added to it, not the first alone.
Result<RemedyControllerOptions> make_remedy_options(const config::WeftdConfig& config, const Clock& clock,
                                                    std::vector<Error>* failures = nullptr);

}  // namespace weft::daemon
