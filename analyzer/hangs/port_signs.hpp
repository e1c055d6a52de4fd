// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a port does while its host is silent: it goes on retrying, or its host takes nothing, or it is down.

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// What happened so long before a job was last seen to move, or after, may be why it moves no more.
inline constexpr Duration kHangTogether = std::chrono::minutes(2);

/// Why a port may be what a silent job waits for.
enum class HangSign : std::uint8_t {
  kDown,     ///< it is down, or its device is gone
  kRetries,  ///< its requests get no answer
  kRefuses,  ///< what comes for it finds no receive request: its software takes nothing
};

/// A port that is suspect.
struct HangSuspect {
  const HostWatch* host = nullptr;
  const PortWatch* port = nullptr;
  HangSign sign = HangSign::kRetries;
  std::uint64_t events = 0;  ///< of kRetries and kRefuses, since the host is silent
  TimePoint first = kNever;
  TimePoint last = kNever;
};

/// Watches the ports of all hosts. What a port counts while its host moves data says nothing of a hang.
class PortSigns {
 public:
  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host; `moves`: it moved data in it.
  void take(const HostWatch& host, const HostMovement& movement, bool moves);
  /// Adds the ports of the host that are suspect, of a job that is silent since then.
  void add_suspects(const HostWatch& host, TimePoint since, std::vector<HangSuspect>& suspects) const;

 private:
  /// What one sign counted since its host is silent.
  struct Run {
    std::uint64_t events = 0;
    unsigned readings = 0;  ///< in which it moved
    TimePoint first = kNever, last = kNever;
  };
  struct Signs {
    Run retries, refusals;
    std::vector<FollowedSeries<Run Signs::*>> followed{};
  };

  PerPort<Signs> signs_;
};

}  // namespace weft::analyzer
