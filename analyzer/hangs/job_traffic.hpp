// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which jobs use the fabric, and since when none of their hosts does.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/hangs.hpp"

namespace weft::analyzer {

/// What the hosts of a job that used the fabric do now.
struct JobSilence {
  std::vector<const HostWatch*> members{};  ///< that used the fabric for it and are heard, by name; valid in one call
  TimePoint since = kNever;                 ///< when any of its hosts was last seen to move data
  Duration longest{};                       ///< the longest silence of all of them that ended, as far as it was seen
  unsigned hosts = 0;                       ///< that are held by it, as their collectors last told
  unsigned unheard = 0;                     ///< hosts of it that were not read lately: nobody knows what they do
};

/// Watches what hosts send and receive, by job. A host counts for each of its jobs.
class JobTraffic {
 public:
  /// Keeps a copy of its limits.
  explicit JobTraffic(const HangLimits& limits) : limits_(limits) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host. True when it moved data.
  bool take(const HostWatch& host, const HostMovement& movement);
  /// The clock was set forward by `step`, or this process stood still for so long: silences do not count that time.
  void tolerate_clock_jump(Duration step, TimePoint now);
  /// The host is forgotten.
  void forget(const std::string& host) { hosts_.erase(host); }
  /// All jobs that hold hosts, by name, which is valid until the next reading. Bounded: O(hosts · log hosts).
  std::map<std::string_view, JobSilence> jobs(const Hosts& hosts, TimePoint now);

 private:
  struct Traffic {
    std::vector<std::string> jobs{};  ///< for which all of this counts
    std::vector<std::uint32_t> series{};
    double peak = 0;           ///< bytes per second of its busiest reading
    double total = 0;          ///< bytes while it moved data
    TimePoint moved = kNever;  ///< when it last did
    TimePoint read = kNever;   ///< the last reading that had all its series
  };
  struct Job {
    TimePoint since = kNever;
    Duration longest{};
    TimePoint seen = kNever;
  };

  HangLimits limits_;
  std::map<std::string, Traffic, std::less<>> hosts_;
  std::map<std::string, Job, std::less<>> jobs_;
};

}  // namespace weft::analyzer
