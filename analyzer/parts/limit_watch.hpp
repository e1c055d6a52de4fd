// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gauges of modules and adapters against the limits that these name themselves.

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/parts/part_trouble.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/part_limits.hpp"

namespace weft::analyzer {

/// Of each port: how warm its module and its adapter are, what its lasers draw and send. What is not read for a while
/// stays as it was read last; after kForgetUnread it is not known any more, for the module may be another one.
class LimitWatch {
 public:
  static constexpr Duration kForgetUnread = std::chrono::minutes(10);
  /// Does an incident of the process before tell of that sign at that port?
  using WasTold = std::function<bool(const PortWatch&, PartSign)>;

  /// `hold`: so long a gauge must be beyond a limit, and so long within it until that is over.
  explicit LimitWatch(Duration hold) : hold_(hold) {}

  /// The host's series or ports are others; `followed` gets the positions of what is asked for. What is known of a port
  /// stays.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// The limits that the parts at the port name now; those that are not told any more are none.
  void take_limits(const PortWatch& port, const PortFacts& facts);
  /// A reading that is no history.
  void take(const HostWatch& host, const HostMovement& movement, const WasTold& was_told);
  /// Adds what is wrong at the port with the parts that `kind` is about.
  void report(IncidentKind kind, const HostWatch& host, const PortWatch& port, TimePoint now,
              std::vector<PartTrouble>& troubles) const;
  /// The gauge of `sign` was read at the port, and compared with its limits.
  bool is_read(PartSign sign, const PortWatch& port) const;

 private:
  struct Followed {
    std::uint32_t series = 0;
    std::uint8_t rule = 0;
    std::uint8_t lane = kNoLane;
  };
  /// How long one limit has been exceeded.
  struct Excess {
    TimePoint since = kNever;  ///< kNever: it is not
    TimePoint last = kNever;   ///< in a reading
    std::int64_t value = 0;    ///< of that one
    std::int64_t limit = 0;
    std::uint8_t lane = kNoLane;
    bool is_low = false;
  };
  /// A gauge with limits.
  struct Limited {
    std::uint8_t rule = 0;
    PartLimits limits;
    Excess alarm;
    Excess warning;
    TimePoint read_at = kNever;
  };
  struct Gauges {
    std::vector<Followed> followed;
    std::vector<Limited> limited;
  };

  void compare(const PortWatch& port, const Gauges& gauges, const HostMovement& movement, const WasTold& was_told,
               Limited& limited) const;

  Duration hold_;
  PerPort<Gauges> gauges_;
};

}  // namespace weft::analyzer
