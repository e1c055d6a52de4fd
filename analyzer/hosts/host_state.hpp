// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the rules remember of one host between two readings.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hosts/host_signals.hpp"
#include "analyzer/hosts/host_trends.hpp"
#include "analyzer/links/flap_record.hpp"
#include "analyzer/loss/loss_tracker.hpp"
#include "analyzer/ports/series_movement.hpp"
#include "analyzer/stragglers/port_activity.hpp"
#include "fabric/host.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Readings in a row in which a device is missing, or a port slower than it was, before that is believed.
inline constexpr unsigned kReadingsToBelieve = 3;
/// Judgements in a row that heard nothing before a silence is believed: a clock that was set forward, or a process that
/// stood still, makes everybody look silent once.
inline constexpr unsigned kSilentJudgements = 3;
/// Entities and jobs that one incident of hosts names at most; more are only counted.
inline constexpr std::size_t kMostAffected = 64;
inline constexpr std::size_t kMostJobs = 64;

/// Errors that end a connection or a request: each is a failed transfer of somebody's job.
enum class RdmaTrouble : std::uint8_t { kRetries, kReceiverNotReady, kRequests, kResponses, kCount };
inline constexpr std::size_t kRdmaTroubles = static_cast<std::size_t>(RdmaTrouble::kCount);
/// The catalogue's name: "retries_exhausted".
std::string_view counter_name(RdmaTrouble trouble);

/// One such counter of one port.
struct TroubleCount {
  std::uint64_t total = 0;   ///< since it became trouble, or in the window that may make it so
  unsigned readings = 0;     ///< in which it moved, of these
  TimePoint began = kNever;  ///< when the window began
  TimePoint moved = kNever;  ///< the last movement
  bool confirmed = false;    ///< RDMA_ERRORS is open for it
};

/// What one port sent, received and lost since this process listens.
struct Transfers {
  /// Bits of `kinds`.
  enum Kind : std::uint8_t { kSent = 1, kReceived = 2, kSentAgain = 4, kOutOfSequence = 8 };
  TransferTotals totals;
  std::uint8_t kinds = 0;  ///< what of it its driver tells

  /// Sent, received and at least one figure of lost packets are known.
  bool complete() const { return (kinds & kSent) && (kinds & kReceived) && (kinds & (kSentAgain | kOutOfSequence)); }
};

/// Bytes that a port sent and received: what its counters said at first, and what they have moved since.
struct Bytes {
  static constexpr unsigned kSent = 1, kReceived = 2;
  std::uint64_t sent = 0, received = 0;
  unsigned read = 0;     ///< what of it this reading told
  bool was_new = false;  ///< one of them was never read before, or was reset
};

/// Signs that the host does not take what its port receives. Each holds from its first moment until it was not seen for
/// kStallMemory.
struct HostStall {
  /// One sign, with the time when it was seen.
  struct Sign {
    double value = 0;          ///< the worst share of a second; or packets
    TimePoint seen = kNever;   ///< the last time
    TimePoint began = kNever;  ///< of this run
  };
  Sign pcie_write, pcie_read;  ///< share of the time in which PCIe stalled, 0..1
  Sign out_of_buffer;          ///< packets that found no receive request posted
};
inline constexpr Duration kStallMemory = std::chrono::seconds(30);

/// Where a host's port stands on a watched subnet.
struct SubnetPlace {
  Entity port;                 ///< the port
  Entity link;                 ///< its cable, or the port again where no other end is known
  std::uint32_t subnet = 0;    ///< position of it among those that are watched
  PortIndex index = kNoIndex;  ///< of the port in the subnet's topology
  bool is_up = true;           ///< as the subnet was last seen
  bool is_ethernet = false;    ///< its sweeps are what collectors read: they know no rates, light or error correction
};

/// What the rules remember of one port of a host.
struct PortWatch {
  std::string device;
  std::uint8_t number = 0;
  std::string netdev;  ///< "eth0"; empty where it has none, or as long as only an incident told of it
  std::string label;   ///< "gpu-0001 mlx5_0 port 1"
  PortGuid guid;
  bool is_virtual = false;

  bool present = true;  ///< in the last inventory
  bool known = false;   ///< its state was told at all
  bool up = false;
  bool was_up = false;               ///< at some time
  bool set_down = false;             ///< somebody wants it down
  bool set_down_lately = false;      ///< since the reading before
  bool exempt = false;               ///< somebody works on it, or it has just been brought up: no flaps count
  bool down_reported = false;        ///< LINK_DOWN is open
  bool news = false;                 ///< something to be told at once
  unsigned missing_readings = 0;     ///< in a row
  TimePoint missing_since = kNever;  ///< the first of those
  TimePoint changed = kNever;        ///< when it went up or down
  std::string reason;                ///< why it is down, as its driver says
  std::optional<std::uint64_t> carrier_downs;
  std::uint64_t rate = 0;  ///< bit/s while up
  std::uint64_t best_rate = 0;
  unsigned slow_readings = 0;
  std::unique_ptr<FlapRecord> flaps;  ///< null while it never flapped
  std::array<TroubleCount, kRdmaTroubles> troubles{};
  Transfers transfers;
  HostStall stall;
  SignalWatch signals;
  bool was_away = false;  ///< it was down since the members of its job were last compared
  Bytes bytes;
  PortActivity activity;
  std::optional<SubnetPlace> place;
};

/// Its device has gone.
inline bool is_gone(const PortWatch& port) {
  return !port.present && port.missing_readings >= kReadingsToBelieve;
}

/// A counter that a rule follows.
struct Followed {
  /// Which rule uses the counter, and for what.
  enum class Use : std::uint8_t {
    kCarrier,
    kLinkDowned,
    kLinkDownEvents,
    kTrouble,
    kTransfer,
    kStall,
    kSent,
    kReceived
  };
  std::uint32_t series = 0;
  std::uint32_t port = 0;  ///< position in HostWatch::ports
  Use use = Use::kTrouble;
  RdmaTrouble trouble = RdmaTrouble::kCount;
  std::uint64_t TransferTotals::*total = nullptr;  ///< what it adds to
  HostStall::Sign HostStall::*sign = nullptr;      ///< what it shows
};

/// What the rules remember of one host.
struct HostWatch {
  std::string name;
  TimePoint heard = kNever;
  Duration interval{};
  bool has_reading = false;  ///< in this process
  TimePoint came = kNever;   ///< when it was heard for the first time, of a host that came while we watched
  unsigned unheard = 0;      ///< judgements since it was last heard
  bool lost = false;         ///< silent for too long
  bool lost_alone = false;   ///< and has an incident of its own
  std::vector<std::string> jobs;
  std::shared_ptr<const HostInventory> inventory;
  std::vector<PortWatch> ports;
  std::vector<Followed> followed;
  std::vector<HostTrend> trends;
  std::vector<SignalCounter> signal_counters;
  SeriesMemory memory;  ///< the last values of all that is followed
};

/// The port, or null.
PortWatch* find_port(HostWatch& host, std::string_view device, std::uint8_t number);
const PortWatch* find_port(const HostWatch& host, std::string_view device, std::uint8_t number);
/// Position in HostWatch::ports of the port that a series tells of, or kNoIndex. Whole devices' counters count for the
/// device's first port.
std::uint32_t port_of(const HostWatch& host, const HostSeries& series);
/// The port as a thing of its own.
Entity entity_of(const HostWatch& host, const PortWatch& port);
/// What LINK_DEGRADED blames: its cable on an Ethernet fabric, else the port as a thing of its own.
Entity cable_of(const HostWatch& host, const PortWatch& port);
/// Do sweeps of a subnet, and not the collector, tell how well its link works?
inline bool is_swept(const PortWatch& port) {
  return port.place && !port.place->is_ethernet;
}
/// The collector of a host, as the cause of TELEMETRY_LOST.
Entity collector_of(const std::string& host);

/// Takes one reading: states (unless it is history), counters, jobs. True when a flap was counted. `movement` is
/// overwritten; one serves all hosts.
bool take_reading(HostWatch& host, const HostReading& reading, bool is_late, const Thresholds& thresholds,
                  HostMovement& movement);
/// Forgets ports whose device was taken out for good: missing for `thresholds.host_port_forget_after`.
void forget_missing(HostWatch& host, const Thresholds& thresholds, TimePoint now);
/// Takes one event. `is_late`: it is history and counts, but says nothing of now. True when a flap was counted.
bool take_event(HostWatch& host, const LinkEvent& event, bool is_late, const Thresholds& thresholds);

}  // namespace weft::analyzer
