// SPDX-License-Identifier: Apache-2.0
#pragma once
// RDMA_ERRORS of one port: errors that end a connection or a request.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// Counts the failed transfers of each port, by kind. What was flushed as its queue pair ended is none.
class RdmaErrors {
 public:
  /// Keeps a copy of its limits.
  explicit RdmaErrors(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host.
  void take(const HostWatch& host, const HostMovement& movement);
  /// Adds a finding if transfers of the port fail; forgets what has been quiet for long.
  void report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings);

 private:
  static constexpr std::size_t kKinds = 4;

  struct Count {
    std::uint64_t total = 0;   ///< since it became trouble, or in the window that may make it so
    unsigned readings = 0;     ///< in which it moved, of these
    TimePoint began = kNever;  ///< when the window began
    TimePoint moved = kNever;  ///< the last movement
    bool confirmed = false;    ///< RDMA_ERRORS is open for it
  };
  struct Errors {
    std::array<Count, kKinds> counts;
    std::array<std::uint64_t, kKinds> flushed{};  ///< by kind: flushes that no error has shown yet
    std::vector<FollowedSeries<std::uint8_t>> followed;
  };

  void count(Count& count, std::uint64_t moved, bool at_once, TimePoint at) const;

  Thresholds thresholds_;
  PerPort<Errors> errors_;
};

}  // namespace weft::analyzer
