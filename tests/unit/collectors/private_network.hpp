// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network namespace of the test's own with veth pairs in it, made with the machine's kernel.

#include <sched.h>

#include <cstdlib>
#include <string>

namespace weft::tests {

/// Runs ip(8); false when it fails or is not there.
inline bool ip(const std::string& arguments) {
  return std::system(("ip " + arguments + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT: one thread
}

/// Leaves the machine's network for good and brings up v0 — v1 in a new one. False when that is not permitted here.
inline bool enter_private_network() {
  return ::unshare(CLONE_NEWNET) == 0 && ip("link add v0 type veth peer name v1") && ip("link set v0 up") &&
         ip("link set v1 up");
}

}  // namespace weft::tests
