// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sweeps of an Ethernet fabric, put together from what collectors on its hosts, and on some of its switches, have read.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ports/found_fabric.hpp"
#include "analyzer/ports/port_reading.hpp"
#include "fabric/cable_plan.hpp"
#include "fabric/host.hpp"
#include "fabric/result.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// One fabric whose cables are planned, or found from what neighbours tell. A planned port is its collector's interface
/// of the same name on the host, or switch, of the same name; a found one is that of whoever tells its chassis id. What
/// nobody reads on its own side is told by the other end of the cable: its state, and what it sent and received. Of
/// what neither end reads nothing is known, and nothing is claimed. Not thread-safe, and needs no thread.
class EthernetFabric {
 public:
  EthernetFabric(EthernetFabric&&) noexcept = default;
  EthernetFabric& operator=(EthernetFabric&&) noexcept = default;
  EthernetFabric(const EthernetFabric&) = delete;  // what was told points into hosts_
  EthernetFabric& operator=(const EthernetFabric&) = delete;
  ~EthernetFabric() = default;

  /// `interval`: from one sweep() to the next. Fails as make_topology() does.
  static Result<EthernetFabric> make(const CablePlan& plan, std::string name, Duration interval);
  /// One without a plan: its cables are those that the hosts given to sweep() tell. Throws as FoundFabric's
  /// constructor.
  static EthernetFabric find(const FoundFabricOptions& options, std::string name, Duration interval);
  /// Of one without a plan: links of it that were known before weftd was started. Nothing happens once a host has told
  /// neighbours.
  void restore(std::span<const KnownLink> links);

  /// What is known at `now`, which grows. The topology is the same object as long as no port changed its state or its
  /// rate, and so are the ways as long as no cable became usable or unusable. A port's state is a new reading's if one
  /// was taken within one and a half intervals, else whichever end was read later; a counter's row keeps to the port's
  /// own collector until that is stale, and a row whose teller changes is left out once: the two count from different
  /// numbers. An interface that was there, and is missing in three readings, is down.
  Sweep sweep(std::span<const std::shared_ptr<const HostView>> hosts, TimePoint now);

  /// The name that was given to make().
  const std::string& name() const { return name_; }
  /// The topology of the last sweep().
  const std::shared_ptr<const Topology>& topology() const { return topology_; }

 private:
  enum class Teller : std::uint8_t { kNobody, kItself, kPeer };
  /// A port that a collector reads, or has read.
  struct Watched {
    PortIndex port = kNoIndex;
    std::uint32_t position = kNoIndex;  ///< in HostInventory::ports; kNoIndex: not there
    std::string interface;              ///< its name
    bool was_there = false;             ///< at some time
    PortSeries series;
  };
  struct Host {
    std::shared_ptr<const HostInventory> inventory;
    TimePoint read_at = kNever;  ///< of the last reading that was looked at
    /// The same, and no later than it was first looked at: a clock that is set back makes no old reading new.
    TimePoint told_at = kNever;
    unsigned readings = 0;  ///< with this inventory, at most a few
    std::vector<Watched> ports;
  };
  /// What a port's own collector says.
  struct Told {
    TimePoint at = kNever;
    PortState state = PortState::kUnknown;
    PortPhysicalState physical_state = PortPhysicalState::kUnknown;
    std::uint64_t rate = 0;
    const PortSeries* series = nullptr;  ///< of hosts_; null: it has no counters
    std::shared_ptr<const HostReading> reading;
    PortCounters counters() const { return series ? series->read(*reading) : PortCounters{}; }
  };

  EthernetFabric(std::string name, Duration interval, std::shared_ptr<const Topology> topology,
                 const std::vector<PortBinding>& bindings);

  void find_cables(std::span<const std::shared_ptr<const HostView>> hosts, TimePoint now);
  void rebuild();
  void look(Host& host, const HostReading& reading);
  void listen(Host& host, const std::shared_ptr<const HostReading>& told_now, TimePoint now);
  void tell_states(Sweep& sweep);
  void tell_counters(Sweep& sweep);

  std::string name_;
  Duration interval_;
  std::optional<FoundFabric> found_;                                    ///< none: the cables are planned
  std::map<std::string, std::shared_ptr<const NeighbourTable>> heard_;  ///< by host, in the last search
  TimePoint searched_at_ = kNever;
  bool is_told_ = false;  ///< a host has told neighbours
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const Multipath> multipath_;
  std::map<std::string, Host, std::less<>> hosts_;  ///< all that are planned, and switches
  std::vector<Told> told_;                          ///< by port: its last word
  std::vector<Teller> teller_;                      ///< by port: who told of its counters in the last sweep
  std::uint64_t number_ = 0;
};

}  // namespace weft::analyzer
