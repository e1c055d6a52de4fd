// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one immutable picture that scrapes, gRPC, JSON and the command line all read. Publishing replaces the pointer;
// nobody who reads ever waits for a sweep, nor a sweep for a reader.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/acceptance.hpp"
#include "fabric/cabling_differences.hpp"
#include "fabric/drift_report.hpp"
#include "fabric/host.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/moved_counters.hpp"
#include "fabric/places.hpp"
#include "fabric/plan.hpp"
#include "fabric/site.hpp"
#include "fabric/standby_view.hpp"
#include "fabric/sweep.hpp"
#include "fabric/switch_target.hpp"

namespace weft {

/// Rates of one port over the last two readings. NaN where there were not two good ones.
struct PortRates {
  double transmit_bits_per_second;
  double receive_bits_per_second;
  double utilization_ratio;            ///< the busier direction ÷ the active rate, 0..1
  double stall_ratio;                  ///< share of time with data and no credit, 0..1
  double error_rate;                   ///< errors per bit seen in the error window (analyzer/links, LINK_ERRORS)
  double transmit_wait_seconds_total;  ///< accumulated with the tick valid at the time
};

/// A link that is known, or planned and seen at one end, while the last discovery did not find both of its nodes: the
/// graph does not have it.
struct AbsentLink {
  NamedLink ends;
  bool is_seen = false;      ///< one end was read, and the link is not up; false: what it does is not known
  bool is_disabled = false;  ///< that end is administratively disabled
  bool operator==(const AbsentLink&) const = default;
};

/// One subnet, as of its last sweep.
struct FabricView {
  std::string name;
  bool watching = false;  ///< false: no complete sweep yet, or the adapter is gone
  /// One sentence: "watching 896 switches, 10240 adapters", "watching 6 switches, 16 interfaces", "waiting for …".
  std::string status;
  std::shared_ptr<const Sweep> sweep;                   ///< null before the first one
  std::shared_ptr<const Places> places;                 ///< of the sweep's topology; null before the first one
  std::shared_ptr<const std::vector<PortRates>> rates;  ///< one for each port of the sweep's topology; may be null
  std::shared_ptr<const CablingDifferences> cabling;    ///< from what is expected; null where nothing is
  std::shared_ptr<const std::vector<AbsentLink>> absent_links;  ///< may be null: none
  Duration stale_after{};  ///< a port whose last reading is older is stale (three intervals)
  /// Which cells of the sweep's tables have series on /metrics, where a counter is left out while it never moved. Null:
  /// all have.
  std::shared_ptr<const MovedCounters> counters_moved, details_moved;
  bool is_unreachable = false;  ///< only the ledger knows it: no port of this host leads there
  std::string through{};  ///< the port of ours that it is watched through, "mlx5_0:1"; empty: on Ethernet, or not told
};

/// Which of two weftd on one database leads, as this one knows. One with a database of its own always leads.
struct Leadership {
  bool is_shared = false;    ///< the database is one that two weftd can share; all that follows is of those
  bool leads = true;         ///< this weftd leads; false: it stands by
  bool is_held = true;       ///< it leads, and no other can now: without that it acts on nothing and promises nothing
  std::int64_t epoch = 0;    ///< how often the database was taken
  std::string leader;        ///< "host, process 123"; empty: nobody leads
  std::string address;       ///< of the leader's gRPC server, host:port
  TimePoint since = kNever;  ///< when the leader took over, by its clock
  Duration silence{};        ///< since it last took a beat; of a standby, since that last could take over
  Duration behind{};         ///< of a standby: what it shows of the leader's incidents and plans may be so old
  std::string trouble;       ///< why this weftd could not beat, or not take over, the last time; empty: it could
  std::optional<StandbyView> standby{};  ///< of a leader; none: it is not known
  /// Another weftd leads: this one hears no collectors.
  bool stands_by() const { return is_shared && !leads; }
  bool operator==(const Leadership&) const = default;
};

/// Figures of the daemon itself.
struct DaemonFigures {
  std::array<std::uint64_t, static_cast<std::size_t>(IncidentKind::kCount)>
      incidents_opened{};  ///< since the store began
  /// Plans that ended, by action and final state, since the store began.
  PlansEnded plans_ended{};
  bool store_ok = true;
  std::string store_status;  ///< "ok", or why history is not written
};

/// Everything that is published at one moment. Immutable once published.
struct Snapshot {
  std::uint64_t revision = 0;  ///< grows by one with each publication
  TimePoint taken = kNever;
  std::vector<FabricView> fabrics;
  bool watches_subnets = true;  ///< false: there is no subnet or Ethernet fabric to wait for
  std::string no_port{};  ///< why no port of this host leads to a subnet, and what to do; empty: not known, or one
  /// Hosts with a collector, sorted by name; null where there never was one.
  std::shared_ptr<const std::vector<std::shared_ptr<const HostView>>> hosts;
  std::shared_ptr<const DriftReport> drift;  ///< how their configurations differ; null: not judged yet
  /// Switches that are read by gNMI, in the order of the configuration; null where none is configured, or told of yet.
  std::shared_ptr<const std::vector<SwitchTarget>> switch_targets;
  /// All open incidents and those resolved within the configured retention, newest id last.
  std::shared_ptr<const std::vector<std::shared_ptr<const Incident>>> incidents;
  std::shared_ptr<const std::vector<NodeHealth>> health;  ///< sorted by node name
  /// Planned work: windows that are active or to come, and those that were over within the configured retention.
  MaintenanceListPtr maintenance;
  /// Acceptances: those that run, and the last ones that are over. Null: none.
  AcceptanceListPtr acceptances;
  /// All plans that are not over and those that ended within the configured retention, newest id last; null: none.
  std::shared_ptr<const std::vector<std::shared_ptr<const Plan>>> plans;
  RemedyStatus remedy;
  Leadership leadership;
  SitePtr site;  ///< null where weftd is no part of one
  DaemonFigures figures;
  /// Incidents that were over for longer are not in `incidents` any more. Zero: not told.
  Duration incident_retention{};
  std::string page_url;  ///< where people reach the page, without a slash at its end; empty: not known
};

}  // namespace weft
