// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clock of leases.

#include <time.h>

#include "fabric/clock.hpp"

namespace weft::runtime {

/// Time since the machine started, also while it slept: CLOCK_BOOTTIME (clock_gettime(2)).
inline Duration boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace weft::runtime
