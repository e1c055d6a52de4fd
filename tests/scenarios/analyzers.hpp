// SPDX-License-Identifier: Apache-2.0
#pragma once
// What judges a simulated fabric: the analyzers of the fabric and of its hosts, and their incidents, put together as
// weftd does it.

#include <optional>
#include <vector>

#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {

class Analyzers {
 public:
  /// With default thresholds.
  explicit Analyzers(const Simulator& simulator);

  /// Takes a beat of that simulator and gives the incidents that a person would see changed.
  std::vector<Incident> take(const Tick& tick);
  const analyzer::IncidentManager& book() const { return book_; }

 private:
  Duration interval_;  ///< of the hosts' collectors
  analyzer::FabricAnalyzer watcher_;
  std::optional<analyzer::HostAnalyzer> hosts_;  ///< since the first beat
  analyzer::IncidentManager book_;
  FabricView view_;
};

}  // namespace weft::scenarios
