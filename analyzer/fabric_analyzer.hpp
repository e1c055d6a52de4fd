// SPDX-License-Identifier: Apache-2.0
#pragma once
// All rules over one subnet, sweep after sweep. One object for each fabric; not thread-safe, and needs no thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/link_case.hpp"
#include "analyzer/congestion/port_marks.hpp"
#include "analyzer/incidents/coverage.hpp"
#include "analyzer/ports/elsewhere.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"
#include "fabric/cabling_differences.hpp"
#include "fabric/expected_cabling.hpp"
#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// What one sweep means.
struct Analysis {
  std::vector<Finding> findings;                        ///< everything that is wrong now, not only what is new
  std::shared_ptr<const std::vector<PortRates>> rates;  ///< one for each port of the sweep; null from silent()
  /// How the cabling differs from what is expected, the same object until one of the two changes; null from silent(),
  /// and where nothing is expected.
  std::shared_ptr<const CablingDifferences> cabling;
  /// As FabricView has them, the same object until the topology changes; null: none, and from silent().
  std::shared_ptr<const std::vector<AbsentLink>> absent_links;
  std::vector<LinkCase> cases;  ///< what is known of links in trouble, for HostAnalyzer::advise
  Coverage coverage;            ///< for IncidentManager::update
};

/// Applies all rules to the sweeps of one fabric and remembers what they need from sweep to sweep.
class FabricAnalyzer {
 public:
  /// `fabric` is the name that findings carry.
  FabricAnalyzer(std::string fabric, Thresholds thresholds);
  ~FabricAnalyzer();
  FabricAnalyzer(FabricAnalyzer&&) noexcept;
  FabricAnalyzer& operator=(FabricAnalyzer&&) noexcept;

  /// What cabling is compared with from the next analyze() on, matched by GUID and port number, names as
  /// plan_on_subnet() matches them; its links also count as having been up once. Empty: nothing is expected.
  void expect(ExpectedCabling expected);
  /// Takes back what an earlier process remembered. Before the first analyze().
  void restore(const AnalyzerState& state);
  /// An incident that was open when the process before ended, or that another process has open which led until now:
  /// each of this fabric, and DUPLICATE_GUID of any. After restore().
  void remember(const Incident& incident);
  /// Another subnet has another name from now on.
  void rename_subnet(std::string_view before, const std::string& since);

  /// The windows of planned work, from now on: what links do meanwhile counts neither as flaps nor as errors. (That it
  /// does not alarm is decided by IncidentManager.)
  void set_maintenance_windows(MaintenanceListPtr windows);

  /// Judges one sweep. `now` is the time of judging (normally sweep.finished or a little later). A sweep without
  /// topology or with tables of the wrong size is treated as no sweep at all. `marks`: HostAnalyzer::marks() of this
  /// fabric. `others`: what is lost here may be there; only until the next call.
  Analysis analyze(const Sweep& sweep, TimePoint now, std::span<const MarkedPort> marks = {},
                   const OtherSubnets& others = {});

  /// No sweep arrived. With a `reason` ("adapter mlx5_0 is gone") telemetry is lost at once; with an empty one after
  /// Thresholds::telemetry_lost_intervals of the last known interval; `otherwise` is then the reason that is shown.
  /// Call it on each tick that brings no sweep.
  Analysis silent(TimePoint now, std::string_view reason, std::string_view otherwise = "no sweeps");

  /// What restore() of the next process wants.
  AnalyzerState state() const;
  /// state() with what another process stored of the same fabric, for rules that are made anew; null where these know
  /// all of it. See joined_state().
  std::optional<AnalyzerState> joined_state(const AnalyzerState& stored) const;
  /// The switches at links of state(), sorted.
  std::vector<NodeGuid> switches() const;
  /// Grows when the links of state() change; rarely after the first sweep. Save state().links when it has.
  std::uint64_t links_revision() const;
  /// Grows when the flaps or errors of state() change otherwise than by decay. Save them when it has.
  std::uint64_t history_revision() const;

  /// The name that findings carry.
  const std::string& fabric() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weft::analyzer
