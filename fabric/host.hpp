// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a collector reads on its host, and what weftd knows of that host: devices, series of values, events.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/counters.hpp"
#include "fabric/ids.hpp"
#include "fabric/neighbours.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// A port of a host: of an RDMA device, with the network interface that belongs to it, or of a network interface alone.
/// Identity on its host is (device, number).
struct HostPort {
  std::string device;       ///< RDMA device "mlx5_0"; the interface's name where there is no RDMA device
  std::uint8_t number = 0;  ///< port of the RDMA device, from 1; 0 for an interface alone
  std::string netdev;       ///< "eth2"; empty where none belongs to it
  std::string bond;         ///< the bond above the interface; empty without one
  std::string pci_address;  ///< "0000:17:00.0"; empty for software devices
  std::string driver;       ///< of the RDMA device if there is one ("mlx5", "rxe"), else of the interface ("ice")
  std::string firmware;
  std::string board_id;     ///< of the adapter's make, "MT_0000000838" (sysfs board_id): what firmware fits it
  std::string device_type;  ///< "MT4129" (sysfs hca_type)
  LinkLayer link_layer = LinkLayer::kUnknown;
  bool is_virtual_function = false;  ///< or a subfunction: made for others, and they may take it away
  NodeGuid node_guid;                ///< 0 where the device has none
  PortGuid port_guid;                ///< EUI-64 of GID 0: joins the port with the subnet's; 0 where it has none
  Lid lid;
  PortState state = PortState::kUnknown;  ///< of an interface alone: carrier → kActive, kDown; of a bond's: its link's
  PortPhysicalState physical_state = PortPhysicalState::kUnknown;  ///<
  std::uint64_t rate_bits_per_second = 0;                          ///< 0 when unknown or down
  std::string down_reason;             ///< ethtool's extended link state, "No cable"; empty when up or not told
  bool administratively_down = false;  ///< IFF_UP is not set: nobody wants it up

  bool operator==(const HostPort&) const = default;
};

/// What tells the adapters of a host apart, of all whose functions and ports it is the same: "0000:17:00" of a function
/// "0000:17:00.1"; of a software device its name.
std::string adapter_key(const HostPort& port);

/// What other shards call it: "mlx5_0 1"; the number is 0 for an interface alone.
std::string port_name(std::string_view device, std::uint32_t number);

/// Ports of a host, as another shard says.
struct PortsThere {
  std::vector<std::string> active{};         ///< those that are up: port_name()
  std::vector<PortGuid> active_guids{};      ///< of those that have one; none of an older weftd
  std::vector<std::string> reported_down{};  ///< those of which a LINK_DOWN is open there; none of an older weftd
};

/// What another shard says of the collector of a host of that name. It has stored something of it: it will not be
/// forgotten there at a restart.
struct HeardThere {
  std::string host;
  std::uint64_t adapters = 0;  ///< as HostView has them; 0: nothing was read there since its weftd was started
  PortsThere ports{};
  bool is_connected = false;  ///< to that shard, now
  TimePoint heard = kNever;   ///< when it was last heard there, by the clock there
};

/// The direction of traffic that a series counts; kNone where a direction does not apply.
enum class Direction : std::uint8_t { kNone, kTransmit, kReceive };
const char* to_string(Direction direction);  ///< "", "transmit", "receive": the value of the label direction

inline constexpr std::uint8_t kNoPriority = 0xFF;
inline constexpr std::uint8_t kNoLane = 0xFF;

/// What one value of a reading means. Identity is all of (device, port, name, direction, priority, lane, source). Of
/// series that differ in their source alone the most trusted comes first in a list: take that one where one is wanted.
struct HostSeries {
  std::string device;     ///< as HostPort::device
  std::uint8_t port = 0;  ///< as HostPort::number; 0 also for what belongs to a whole RDMA device
  std::string name;       ///< canonical, or the driver's own where `is_raw`
  bool is_raw = false;    ///< the driver's own name: not in the catalogue; unit kEvents
  Direction direction = Direction::kNone;
  std::uint8_t priority = kNoPriority;  ///< 0..7
  std::uint8_t lane = kNoLane;
  std::uint8_t bits = 64;  ///< width of the driver's counter: where it wraps or sticks
  CounterBehaviour behaviour = CounterBehaviour::kWraps;
  CounterSource source = CounterSource::kUnknown;  ///< where the catalogue's row is `by_source`

  bool operator==(const HostSeries&) const = default;
};

/// Series in their order; copies share one list. Thousands of hosts of one make have the same.
class SeriesList {
 public:
  SeriesList() = default;
  /// Takes the list; an implicit conversion.
  SeriesList(std::vector<HostSeries> list)  // NOLINT(google-explicit-constructor): it is that list
      : list_(std::make_shared<const std::vector<HostSeries>>(std::move(list))) {}
  /// Shares a list that already exists.
  explicit SeriesList(std::shared_ptr<const std::vector<HostSeries>> list) : list_(std::move(list)) {}

  /// Copies the list: for short ones.
  void push_back(HostSeries series) {
    std::vector<HostSeries> list(begin(), end());
    list.push_back(std::move(series));
    *this = SeriesList(std::move(list));
  }
  /// Never null but for an empty list.
  const std::shared_ptr<const std::vector<HostSeries>>& shared() const { return list_; }
  /// The series as a span; empty for a default-constructed list.
  std::span<const HostSeries> all() const {
    return list_ ? std::span<const HostSeries>(*list_) : std::span<const HostSeries>();
  }
  std::size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  /// No bounds check.
  const HostSeries& operator[](std::size_t position) const { return (*list_)[position]; }
  std::span<const HostSeries>::iterator begin() const { return all().begin(); }
  std::span<const HostSeries>::iterator end() const { return all().end(); }
  /// Equal contents; lists that share memory are not compared element by element.
  bool operator==(const SeriesList& other) const {
    return list_ == other.list_ || std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::shared_ptr<const std::vector<HostSeries>> list_;
};

/// Who is there. Made anew only when something of it changed; readings share it by pointer.
struct HostInventory {
  std::vector<HostPort> ports;  ///< sorted by (device, number)
  SeriesList series;            ///< one for each value of a reading
};

/// What tells one machine from another, also when its disk was copied or wiped: a hash (FNV-1a, 64 bits) of the node
/// GUIDs of its adapters, in order and each once; those of functions that are made for others do not count. 0: it has
/// none.
std::uint64_t adapters_of(const HostInventory& inventory);

/// How one source of the collector fares: each on its own.
struct SourceStatus {
  std::string name;  ///< "sysfs", "rdma_netlink", "rtnetlink", "ethtool", "dcb", "module", "lldp", "kernel_log",
                     ///< "jobs", "certificate"
  bool ok = true;
  std::string message;  ///< why not, or what is missing (a right); empty when all is well

  bool operator==(const SourceStatus&) const = default;
};

/// One reading of everything, complete. What was not read is absent, not zero.
struct HostReading {
  TimePoint taken = kNever;  ///< on the clock of whoever holds it: the host's there, corrected in weftd
  std::shared_ptr<const HostInventory> inventory;
  std::vector<std::uint64_t> values;  ///< one for each series; signed units as two's complement
  std::vector<std::uint8_t> present;  ///< 1 where the value was read this time
  std::vector<SourceStatus> sources;
  std::vector<std::string> jobs;  ///< that hold the host: "slurm:1234", "kubernetes:<pod uid>", or a prolog's line
  /// By LLDP, as they were read last; the same object until something changes. Null: never read.
  std::shared_ptr<const NeighbourTable> neighbours{};
  TimePoint neighbours_at = kNever;  ///< when they were, on the clock of `taken`
  /// How ports and adapters are set up, as it was read last; tidy(), the same object until something changes. Null:
  /// never read.
  std::shared_ptr<const FactTable> facts{};
  TimePoint facts_at = kNever;  ///< when they were, on the clock of `taken`
};

/// A carrier or port state change, told at once.
struct LinkEvent {
  TimePoint at = kNever;  ///< when the collector heard of it, on the clock of whoever holds it
  std::string device;     ///< as HostPort
  std::uint8_t port = 0;
  std::string netdev;
  bool up = false;
  std::optional<std::uint32_t> carrier_up_count;    ///< IFLA_CARRIER_UP_COUNT after the change
  std::optional<std::uint32_t> carrier_down_count;  ///< IFLA_CARRIER_DOWN_COUNT after the change
  bool administrative = false;                      ///< somebody set the interface down or up
  std::string reason;                               ///< ethtool's extended state; may be empty

  bool operator==(const LinkEvent&) const = default;
};

/// What a collector hands on at once: a reading, or events between two readings.
struct HostBatch {
  std::uint64_t sequence = 0;  ///< grows by one; a gap means that batches were lost
  bool is_late = false;        ///< it waited in the spool: history, not news
  std::optional<HostReading> reading;
  std::vector<LinkEvent> events;
};

/// Connection state of a host's collector.
enum class CollectorState : std::uint8_t { kConnected, kSilent, kDisconnected };
const char* to_string(CollectorState state);  ///< "connected", "silent", "disconnected": label of weft_collectors

class MovedCounters;  // fabric/moved_counters.hpp

/// One host, as its collector last told. Immutable once published.
struct HostView {
  std::string host;
  std::string collector_version;
  std::uint64_t spool = 0;  ///< random identity of what it keeps its batches in; 0: not known
  std::string address;      ///< where its collector is, or was last, connected from; empty: not since weftd was started
  TimePoint since = kNever;  ///< when it was connected last; kNever: not since weftd was started
  /// adapters_of() its last reading of now since then; 0: there was none.
  std::uint64_t adapters = 0;
  std::uint64_t stored = 0;  ///< sequence of the last batch that is on disk, as it was told
  CollectorState state = CollectorState::kDisconnected;
  std::shared_ptr<const HostReading> reading;  ///< null before the first; `taken` is on weftd's clock
  TimePoint heard = kNever;                    ///< when anything last came
  bool is_late = false;                        ///< the reading waited, on its disk or on the way, as it says
  TimePoint told = kNever;         ///< when a reading that had not waited last came, since weftd was started
  Duration interval{};             ///< between its readings, as it says
  Duration clock_offset{};         ///< weftd's clock minus the host's
  std::uint64_t sequence = 0;      ///< of the last batch taken
  std::uint64_t batches = 0;       ///< taken, ever (survives restarts)
  std::uint64_t late_batches = 0;  ///< of those, late
  std::uint64_t lost_batches = 0;  ///< never arrived: the spool was full, or gone
  /// Row 0: which values of the reading have series on /metrics, where a counter is left out while it never moved.
  /// Null: all have.
  std::shared_ptr<const MovedCounters> moved;
  /// That held the host when it last told before weftd was started; none: not known.
  std::optional<std::vector<std::string>> jobs_before{};
  /// Of one whose collector is heard by another shard, and that is kept for what is open of it: that, for people.
  std::string elsewhere{};
};

/// Jobs that hold the host, as it last told, before weftd was started too. Null: not known. Valid as long as `host`.
inline const std::vector<std::string>* jobs_of(const HostView& host) {
  if (host.reading) return &host.reading->jobs;
  return host.jobs_before ? &*host.jobs_before : nullptr;
}

}  // namespace weft
