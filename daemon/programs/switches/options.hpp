// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-switches is told to do, in one message (daemon/platform/runtime, send_options()). Secrets are in files.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::switches {

/// Which switches to read, and how.
struct Options {
  std::string targets;                          ///< lines as target_list.hpp has them
  std::filesystem::path targets_file;           ///< more such lines, read again when they change; empty: none
  std::filesystem::path credentials_directory;  ///< empty: no target has credentials
  Duration sample_interval = std::chrono::seconds(5);
  Duration reconnect_limit = std::chrono::seconds(60);  ///< longest wait between two connection attempts
  std::uint64_t max_message_bytes = 4ULL << 20;         ///< of one message of a target
  unsigned max_values_per_second = 100'000;             ///< of one target; more wait in it
  unsigned max_ports = 1'024;                           ///< of one target
  unsigned max_targets = 1'000;

  /// The fields of the message.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit(self.targets, self.targets_file, self.credentials_directory, self.sample_interval, self.reconnect_limit,
          self.max_message_bytes, self.max_values_per_second, self.max_ports, self.max_targets);
  }

  /// kInvalidArgument names the first value that is out of its bounds.
  Result<void> check() const;
};

}  // namespace weft::switches
