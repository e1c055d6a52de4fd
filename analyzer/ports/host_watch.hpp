// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hosts with a collector and their ports: who they are, where they stand and how they are. What rules remember of a
// port they keep themselves, see per_port.hpp.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ports/per_port.hpp"
#include "analyzer/ports/series_movement.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/host.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Readings in a row in which a device is missing, or a port slower than it was, before that is believed.
inline constexpr unsigned kHostReadingsToBelieve = 3;
/// Entities and jobs that one incident of hosts names at most; more are only counted.
inline constexpr std::size_t kMostAffected = 64;
inline constexpr std::size_t kMostJobs = 64;

/// Where a host's port stands on a watched subnet.
struct SubnetPlace {
  Entity port;                 ///< the port
  Entity link;                 ///< its cable, or the port again where no other end is known
  std::uint32_t subnet = 0;    ///< position of it among those that are watched
  PortIndex index = kNoIndex;  ///< of the port in the subnet's topology
  bool is_up = true;           ///< as the subnet was last seen
  bool is_ethernet = false;    ///< its sweeps are what collectors read: they know no rates, light or error correction
  bool is_blind = false;       ///< as is_blind() of its fabric: the collector alone tells what is down
};

/// Where a port stood on an InfiniBand subnet that no sweep finds it on.
struct PlaceBefore {
  Entity link;            ///< its cable, as the last sweep that found it named it, or the ledger
  bool is_swept = false;  ///< sweeps tell how well it works, or are about to
};

/// One port of a host, as its collector and the watched subnets tell.
struct PortWatch {
  PortSlot slot;
  std::string device;
  std::uint16_t number = 0;
  std::string netdev;  ///< "eth0"; empty where it has none, or as long as only an incident told of it
  std::string label;   ///< "gpu-0001 mlx5_0 port 1"
  PortGuid guid;
  NodeGuid node;  ///< as HostPortSeen::node
  bool is_virtual = false;

  bool present = true;               ///< in the last inventory
  bool known = false;                ///< its state was told at all
  bool up = false;                   ///< as it was last told
  bool was_up = false;               ///< at some time, also before weftd was started
  bool by_history = false;           ///< only what waited on its host's disk said so
  bool fell = false;                 ///< the last reading or event found it down that was up before
  bool fell_late = false;            ///< history told that it went down, and not that it came up since
  bool set_down = false;             ///< somebody wants it down
  bool exempt = false;               ///< somebody works on it, or it has just been brought up: no flaps count
  std::uint32_t times_away = 0;      ///< grows when it, or its place on the subnet, is found down
  unsigned missing_readings = 0;     ///< in a row
  TimePoint missing_since = kNever;  ///< the first of those
  TimePoint changed = kNever;        ///< when it went up or down
  std::string reason;                ///< why it is down, as its driver says
  std::uint64_t rate = 0;            ///< bit/s while up
  std::uint64_t best_rate = 0;       ///< bit/s, of all that was told, also before weftd was started
  std::optional<SubnetPlace> place;
  std::optional<PlaceBefore> place_before;  ///< where it has no place
};

/// What another shard was known to hear so long ago at most it hears now. It is asked about every two seconds, and of
/// the hosts of a large outage one after the other.
inline constexpr Duration kHeardThereLately = std::chrono::minutes(1);

/// Another shard that hears a host's collector.
struct HeardIn {
  std::string shard;
  TimePoint since = kNever;  ///< when it was first known to hear it, and it never stopped since as far as is known
  TimePoint last = kNever;   ///< when it was last known to hear it
  PortsThere ports;

  /// Does it hear it now?
  bool is_heard(TimePoint now) const { return now - last <= kHeardThereLately; }
};

/// One host.
struct HostWatch {
  std::string name;
  TimePoint heard = kNever;
  Duration interval{};
  bool has_reading = false;          ///< in this process
  TimePoint came = kNever;           ///< when it was heard for the first time, of a host that came while we watched
  unsigned unheard = 0;              ///< judgements since it was last heard
  bool lost = false;                 ///< silent for too long
  std::optional<HeardIn> elsewhere;  ///< until it is heard here again
  bool lost_alone = false;           ///< and has an incident of its own
  std::vector<std::string> jobs;
  std::shared_ptr<const HostInventory> inventory;  ///< null before the first reading
  std::vector<PortWatch> ports;
  std::uint64_t seen_revision = 0;  ///< grows when ports_seen() has other ports to tell
  SeriesMemory memory;              ///< the last values of all series that rules follow
};

/// All hosts with a collector, by name.
using Hosts = std::map<std::string, HostWatch, std::less<>>;

/// The port, or null.
PortWatch* find_port(HostWatch& host, std::string_view device, std::uint16_t number);
const PortWatch* find_port(const HostWatch& host, std::string_view device, std::uint16_t number);
/// A port that was not known before; its slot is its own.
PortWatch& add_port(HostWatch& host, std::string_view device, std::uint16_t number, PortSlots& slots);
/// Position in HostWatch::ports of the port that a series tells of, or kNoIndex. Whole devices' counters count for the
/// device's first port.
std::uint32_t port_of(const HostWatch& host, const HostSeries& series);
/// The port as a thing of its own.
Entity entity_of(const HostWatch& host, const PortWatch& port);
/// The port as its subnet names it; where it stands on none, as a thing of its own.
Entity place_of(const HostWatch& host, const PortWatch& port);
/// What LINK_DEGRADED blames: its cable on an Ethernet fabric, else the port as a thing of its own.
Entity cable_of(const HostWatch& host, const PortWatch& port);
/// `cause` of what only the host's collector tells: with the host that is to be asked whether it is over.
inline Entity told_by(const HostWatch& host, Entity cause) {
  cause.host = host.name;
  return cause;
}
/// Its device has gone.
inline bool is_gone(const PortWatch& port) {
  return !port.present && port.missing_readings >= kHostReadingsToBelieve;
}
/// Do sweeps of a subnet, and not the collector, tell how well its link works?
inline bool is_swept(const PortWatch& port) {
  return port.place && !port.place->is_ethernet;
}
/// Does its collector alone tell that a port of an InfiniBand subnet is down, since nobody sweeps that now?
inline bool is_unswept(const PortWatch& port) {
  return port.place ? port.place->is_blind : port.place_before && !port.place_before->is_swept;
}
/// The collector of a host, as the cause of TELEMETRY_LOST.
Entity collector_of(const std::string& host);

/// Other devices or series: ports are added, renamed, marked as missing, and forgotten where nobody would miss them.
/// A port is known by its GUID where it has one: its device may get another name, or that of another one. One that is
/// gone is called by its GUID when another one has its name.
void take_inventory(HostWatch& host, std::shared_ptr<const HostInventory> inventory, PortSlots& slots);
/// Before the next inventory, which is history, too, or of now: what history told of ports so far counts when that one
/// is of now, and never when none of its adapters is there. Then it waited on a disk that was copied from another host.
void weigh_history(HostWatch& host, const HostInventory& next, bool is_late);
/// What a reading that is no history says of the states of the ports.
void take_states(HostWatch& host, const HostReading& reading);
/// What one that is history, and no older than a port is missed for, says: which ports were up, and so are missed now.
void take_past_states(HostWatch& host);
/// What an event says of the state of its port, which is returned; null when there is none. `is_late`: it is history,
/// and says nothing of now.
PortWatch* take_event(HostWatch& host, const LinkEvent& event, bool is_late);
/// The port was up, with that rate (bit/s; 0: not known): from now on it is missed when it is down. An event says so,
/// too: it was up before or after it. `by_history`: see weigh_history().
void note_up(HostWatch& host, PortWatch& port, std::uint64_t rate = 0, bool by_history = false);
/// Ports that stand on an Ethernet fabric without a cable and are down are missed no more: the cable that they had
/// leads elsewhere.
void let_go_of_uncabled(HostWatch& host);
/// Those of its ports that were up, that nobody made for others and that nobody wants down, at most kMostPortsSeen, for
/// restore_ports().
std::vector<HostPortSeen> ports_seen(const HostWatch& host);
/// Takes over what ports_seen() said in the process before.
void restore_ports(HostWatch& host, std::span<const HostPortSeen> seen, PortSlots& slots);
/// Forgets ports whose device has been missing for `after`: it was taken out for good. True when there were any: the
/// others have moved up.
bool forget_missing(HostWatch& host, Duration after, TimePoint now, PortSlots& slots);

/// Where a counter that a rule follows stands in the readings of a host, and what the rule takes it for.
template <typename What>
struct FollowedSeries {
  std::uint32_t series = 0;
  What what{};
};

/// Finds the series of a host that a rule follows. `what_of` gives what a series is to the rule, or nullopt; `use` is
/// called with the port and the FollowedSeries, and `followed` gets the positions for SeriesMemory::follow().
template <typename WhatOf, typename Use>
void follow_series(const HostWatch& host, std::vector<std::uint32_t>& followed, const WhatOf& what_of, const Use& use) {
  if (!host.inventory) return;
  for (std::uint32_t i = 0; i < host.inventory->series.size(); ++i) {
    const HostSeries& series = host.inventory->series[i];
    if (series.is_raw) continue;
    const auto what = what_of(series);
    if (!what) continue;
    const std::uint32_t port = port_of(host, series);
    if (port == kNoIndex) continue;
    use(host.ports[port], FollowedSeries<std::decay_t<decltype(*what)>>{i, *what});
    followed.push_back(i);
  }
}

}  // namespace weft::analyzer
