// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/bounded_exit.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>

namespace weft::runtime {

int leave(int code) {
  std::thread([code] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    ::_exit(code);
  }).detach();
  return code;
}

}  // namespace weft::runtime
