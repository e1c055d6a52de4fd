// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/local_stream.hpp"

#include <random>

namespace weft::daemon {

std::uint64_t LocalStream::new_spool() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32U) | random() | 1U;
}

}  // namespace weft::daemon
