// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file that stops all automation while it exists: the brake for whoever cannot reach weftd.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "fabric/clock.hpp"

namespace weft::daemon {

/// Why the file stops automation, by one look at it: "PATH exists", or why that is not known. Empty only when there is
/// no such file: ENOENT of the file, or of a folder on the way to it (path_resolution(7)); any other error stops.
std::string probe_hands_off_file(const std::filesystem::path& file);

/// Looks at the file on a thread of its own, so that a file system that hangs holds up nobody for longer than a bound.
class HandsOffFile {
 public:
  /// What a look found. Of two looks the one with the higher number began later.
  struct Look {
    std::uint64_t number = 0;
    std::string why;  ///< as probe_hands_off_file(), or that there was no answer in time; empty: it does not stop
  };
  /// Takes one look, as probe_hands_off_file(). It may hang.
  using Probe = std::function<std::string(const std::filesystem::path&)>;

  /// An empty path never stops anything. `patience`: how long look() waits.
  explicit HandsOffFile(std::filesystem::path file, Duration patience = std::chrono::seconds(2),
                        Probe probe = probe_hands_off_file);
  HandsOffFile(const HandsOffFile&) = delete;
  HandsOffFile& operator=(const HandsOffFile&) = delete;
  /// Leaves a look that hangs behind.
  ~HandsOffFile();

  /// Looks; the look began after this was called. Any thread; blocks for `patience` at most.
  Look look();
  /// False when the path is empty.
  bool is_configured() const;

 private:
  struct Shared;
  const Duration patience_;
  std::shared_ptr<Shared> shared_;  ///< with the thread, which may outlive this
};

}  // namespace weft::daemon
