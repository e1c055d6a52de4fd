// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/logging/logging.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdlib>

namespace weft::daemon {

std::shared_ptr<spdlog::logger> logger(const std::string& name) {
  if (auto known = spdlog::get(name)) return known;
  try {
    auto made = spdlog::stderr_color_mt(name);
    // Under systemd the journal has the time and the program's name.
    made->set_pattern(std::getenv("JOURNAL_STREAM") ? "%l %n: %v" : "%Y-%m-%d %H:%M:%S.%e %^%l%$ %n: %v");
    made->set_level(spdlog::get_level());
    return made;
  } catch (const spdlog::spdlog_ex&) {
    return spdlog::get(name);  // another thread made it first
  }
}

void set_log_level(const std::string& level) {
  spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace weft::daemon
