// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up fabric that is watched and judged for acceptance, in simulated time.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "analyzer/acceptance/acceptance.hpp"
#include "analyzer/links/compare_cabling.hpp"
#include "analyzer/places/place_finder.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/port_gauges.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {

/// Two spines, three leaves with two hosts each; 4X HDR: 1e-14 takes 25 minutes.
struct Accepting : testing::Test {
  Accepting() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)), judge(thresholds) {
    fabric.set_interval(std::chrono::seconds(30));
    planned = fabric.topology();
    run.id = 7;
    run.length = std::chrono::minutes(30);
    run.watched_since = run.started = fabric.now();
    run.until = run.started + run.length;
  }

  void sweeps(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if (traffic) fabric.traffic(random);
      sweep = std::make_shared<const Sweep>(fabric.sweep());
      std::vector<PortIndex> all(sweep->topology->ports().size());
      std::iota(all.begin(), all.end(), PortIndex{0});
      watches[fabric.name()].update(*sweep, all, std::chrono::seconds(90));
    }
  }

  Snapshot snapshot() {
    Snapshot shown;
    FabricView& view = shown.fabrics.emplace_back();
    view.name = fabric.name();
    view.watching = watching;
    view.sweep = sweep;
    view.stale_after = std::chrono::seconds(90);
    if (sweep) {
      view.places = std::make_shared<const Places>(find_places(*sweep->topology));
      if (planned)
        view.cabling = std::make_shared<const CablingDifferences>(compare_cabling(*planned, *sweep->topology));
    }
    shown.hosts = hosts;
    shown.drift = drift;
    shown.incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(incidents);
    return shown;
  }

  AcceptanceReport report() { return judge.judge(run, snapshot(), watches, fabric.now()); }
  AcceptanceCheck check(AcceptanceKind kind) { return *report().find(kind); }
  /// The check that fails, with the one port that it names. Nothing else fails.
  AcceptanceCheck only_failure() {
    const AcceptanceReport now = report();
    EXPECT_EQ(now.verdict, AcceptanceVerdict::kFail);
    AcceptanceCheck failed;
    for (const AcceptanceCheck& one : now.checks)
      if (one.verdict == AcceptanceVerdict::kFail) {
        EXPECT_EQ(failed.failed, 0U) << "also " << to_string(one.kind);
        failed = one;
      }
    EXPECT_FALSE(failed.limit.empty());
    EXPECT_FALSE(failed.source.empty());
    return failed;
  }
  static bool names(const AcceptanceCheck& check, const std::string& port) {
    return std::ranges::any_of(check.ports, [&port](const AcceptancePort& one) {
      return one.verdict == AcceptanceVerdict::kFail && one.port == port;
    });
  }
  std::string label(PortIndex port) const { return port_label(*sweep->topology, port); }
  AcceptanceVerdict of_host(const std::string& host) {
    const AcceptanceReport now = report();
    const auto found = std::ranges::find(now.hosts, host, &AcceptanceHost::name);
    EXPECT_NE(found, now.hosts.end());
    return found == now.hosts.end() ? AcceptanceVerdict::kNotMeasured : found->verdict;
  }

  fakes::FabricBuilder fabric;
  Thresholds thresholds;
  AcceptanceJudge judge;
  AcceptanceRun run;
  std::map<std::string, AcceptanceWatch> watches;
  std::shared_ptr<const Sweep> sweep;
  std::shared_ptr<const Topology> planned;
  HostListPtr hosts;
  std::shared_ptr<const DriftReport> drift;
  std::vector<std::shared_ptr<const Incident>> incidents;
  bool watching = true;
  bool traffic = false;
  std::mt19937 random{1};
};

}  // namespace weft::analyzer
