#pragma once
// What the configuration says of remedies, made into what carries them out.

#include "daemon/config/config.hpp"
#include "daemon/weftd/remedy_desk.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Modes, limits, lists and actuators as configured. kInvalidArgument: an actuator cannot be made of its options.
Result<RemedyDeskOptions> make_remedy_options(const config::WeftdConfig& config);

}  // namespace weft::daemon
