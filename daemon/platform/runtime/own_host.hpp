// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of the machine that we run on.

#include <unistd.h>

#include <array>
#include <string>

namespace weft::runtime {

/// As gethostname(2) tells it; empty where it cannot be read.
inline std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace weft::runtime
