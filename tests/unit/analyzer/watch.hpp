// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up fabric, an analyzer that watches it and a book that remembers: what weftd does, in simulated time.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/fabric_builder.hpp"
#include "tests/fakes/open_incidents.hpp"

namespace weft::analyzer {

struct Watch {
  explicit Watch(fakes::FabricBuilder built, Thresholds limits = {}, std::shared_ptr<const Topology> expected = nullptr)
      : fabric(std::move(built)),
        name(fabric.name()),
        thresholds(limits),
        expected_topology(std::move(expected)),
        analyzer(name, thresholds),
        book(IncidentPolicy{}, {}, 1) {
    analyzer.expect({expected_topology, nullptr});
  }

  /// So many sweeps, each judged; `before_each` changes the fabric first.
  void sweeps(unsigned count, const std::function<void()>& before_each = {}) {
    for (unsigned i = 0; i < count; ++i) {
      if (before_each) before_each();
      last_sweep = fabric.sweep();
      last_sweep.fabric = name;
      analysis = analyzer.analyze(last_sweep, fabric.now(), {}, other_subnets());
      changed = book.update(name, analysis.findings, analysis.coverage, fabric.now());
    }
  }

  /// The process dies and another takes over what the store kept.
  void restart() {
    const AnalyzerState state = analyzer.state();
    std::vector<Incident> stored;
    for (const IncidentPtr& incident : *book.all()) stored.push_back(*incident);
    analyzer = FabricAnalyzer(name, thresholds);
    analyzer.expect({expected_topology, nullptr});
    analyzer.restore(state);
    for (const Incident& incident : stored) analyzer.remember(incident);
    for (const Watch* const other : others)
      for (const IncidentPtr& incident : *other->book.all())
        if (incident->finding.kind == IncidentKind::kDuplicateGuid) analyzer.remember(*incident);
    book = IncidentManager(IncidentPolicy{}, std::move(stored), 1);
  }

  std::vector<Incident> open() const { return open_incidents(book); }
  Incident only() const { return only_incident(book); }
  std::string describe() const { return describe_incidents(book); }

  /// As they were swept last.
  OtherSubnets other_subnets() const {
    std::vector<std::shared_ptr<const Sweep>> sweeps;
    for (const Watch* const other : others)
      if (other->last_sweep.topology) sweeps.push_back(std::make_shared<const Sweep>(other->last_sweep));
    return OtherSubnets(std::move(sweeps));
  }

  LinkKey link(const std::string& a, const std::string& b) const { return fabric.link_of(fabric.port_towards(a, b)); }

  fakes::FabricBuilder fabric;
  std::string name;
  std::vector<const Watch*> others{};  ///< subnets that are read as well
  Thresholds thresholds;
  std::shared_ptr<const Topology> expected_topology;
  FabricAnalyzer analyzer;
  IncidentManager book;
  Sweep last_sweep;
  Analysis analysis;
  std::vector<Incident> changed;
};

inline LinkKey link_of(const Incident& incident) {
  return {incident.finding.cause.port, incident.finding.cause.peer};
}

}  // namespace weft::analyzer
