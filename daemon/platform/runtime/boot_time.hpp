// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clock of leases, and which start of the machine it counts from.

#include <time.h>

#include <fstream>
#include <string>

#include "fabric/clock.hpp"

namespace weft::runtime {

/// Time since the machine started, also while it slept: CLOCK_BOOTTIME (clock_gettime(2)).
inline Duration boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Another with each start of the machine: random(4). Empty where it cannot be read.
inline std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace weft::runtime
