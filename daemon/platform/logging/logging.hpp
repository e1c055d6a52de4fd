// SPDX-License-Identifier: Apache-2.0
#pragma once
// One named logger for each part of a program, to standard error: the journal adds the time.

#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace weft::daemon {

/// The logger of that name, made when it is new. Thread-safe.
std::shared_ptr<spdlog::logger> logger(const std::string& name);

/// Level of all loggers, present and future: "trace", "debug", "info", "warning", "error", "critical" or "off".
void set_log_level(const std::string& level);

}  // namespace weft::daemon
