// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DOWN, LINK_FLAP and LINK_DEGRADED of the ports of hosts, by what their collectors tell.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/links/flap_record.hpp"
#include "analyzer/links/ways_left.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// Whether the links of hosts' ports are up, keep falling, or run slower than they did.
class HostLinks {
 public:
  /// Keeps a copy of its limits.
  explicit HostLinks(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// LINK_DOWN of the port was open when the process before ended.
  void remember_down(const PortWatch& port) { links_[port.slot].down_reported = true; }
  /// Takes over the penalties that flaps() gave in the process before.
  void restore(const PortWatch& port, const FlapState& known);
  /// The port's flap penalties, or null while it has none.
  const FlapState* flaps(const PortWatch& port) const;

  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host, after its states. `is_late`: it is history and counts, but says nothing of now. True
  /// when a flap was counted.
  bool take(const HostWatch& host, const HostMovement& movement, bool is_late);
  /// Takes an event of a port, after its state. True when a flap was counted.
  bool take_event(const PortWatch& port, const LinkEvent& event, bool is_late);

  /// Has a port of the host something to be told at once?
  bool has_news(const HostWatch& host) const;
  /// Tells it, once.
  void report_news(const HostWatch& host, TimePoint now, std::vector<Finding>& findings);
  /// All that is wrong with the port's link. Where it stands on a watched subnet only what an event said just now: the
  /// sweeps go on from there.
  void report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings);

 private:
  enum class Counts : std::uint8_t { kCarrier, kLinkDowned, kLinkDownEvents };
  struct Link {
    bool set_down_lately = false;  ///< since the reading before
    bool down_reported = false;    ///< LINK_DOWN is open
    bool news = false;             ///< something to be told at once
    /// The kernel's count of carriers lost, as readings and events last told it.
    std::optional<std::uint64_t> carrier_downs;
    std::uint64_t best_rate = 0;  ///< bit/s
    unsigned slow_readings = 0;
    std::unique_ptr<FlapRecord> flaps;  ///< null while it never flapped
    std::vector<FollowedSeries<Counts>> followed;
  };

  static void went_down(const PortWatch& port, Link& link, unsigned source, std::uint64_t times, TimePoint at);
  static void take_carrier(const PortWatch& port, Link& link, std::uint64_t downs, TimePoint at);
  static bool is_slow(const PortWatch& port, const Link& link);
  bool is_down(const PortWatch& port, const Link& link, TimePoint now) const;
  WaysLeft ways_left(const HostWatch& host, const PortWatch& port) const;
  void report_down(const HostWatch& host, const PortWatch& port, std::vector<Finding>& findings) const;
  void report_slow(const HostWatch& host, const PortWatch& port, const Link& link, TimePoint now,
                   std::vector<Finding>& findings) const;

  Thresholds thresholds_;
  PerPort<Link> links_;
};

}  // namespace weft::analyzer
