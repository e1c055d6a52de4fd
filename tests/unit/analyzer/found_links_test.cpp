// SPDX-License-Identifier: Apache-2.0
// Outages on an Ethernet fabric whose cables are found while it is monitored.
#include <gtest/gtest.h>

#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"
#include "tests/unit/analyzer/ports/found_hosts.hpp"

namespace weft::analyzer {
namespace {

/// small_plan() with collectors on its hosts, without gpu-04, which comes later.
struct FoundLinks : ::testing::Test, FoundHosts {
  FoundLinks() {
    neighbours.silent = {"leaf01", "leaf02", "spine01", "spine02"};
    late = neighbours.cables[3];
    neighbours.cables.erase(neighbours.cables.begin() + 3);
    late_host.insert(told.hosts.extract("gpu-04"));
  }
  void arrive() {
    told.hosts.merge(late_host);
    neighbours.cables.push_back(late);
  }
  void seconds(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      Analysis analysis = rules.analyze(step(), told.now);
      book.update("ethernet", std::move(analysis.findings), analysis.coverage, told.now);
    }
  }
  void set(const std::string& host, PortState state) { told.host(host).port().state = state; }

  std::pair<ToldNeighbours::Port, ToldNeighbours::Port> late;
  std::map<std::string, ToldHost> late_host;
  FabricAnalyzer rules{"ethernet", Thresholds{}};
  IncidentManager book{IncidentPolicy{}, {}, 1};
};

TEST_F(FoundLinks, OneThatCameWhileWeWatchedHasTimeToSettle) {
  seconds(120);
  arrive();
  seconds(5);
  for (int times = 0; times < 6; ++times) {
    set("gpu-04", PortState::kDown);
    seconds(10);
    set("gpu-04", PortState::kActive);
    seconds(10);
  }
  EXPECT_TRUE(book.all()->empty()) << describe_incidents(book);
  set("gpu-04", PortState::kDown);
  seconds(300);
  EXPECT_EQ(only_incident(book).finding.kind, IncidentKind::kLinkDown) << describe_incidents(book);
}

TEST_F(FoundLinks, OneThatIsFoundSoonAfterTheStartWasThereBefore) {
  seconds(40);
  arrive();
  seconds(30);
  set("gpu-04", PortState::kDown);
  seconds(5);
  EXPECT_EQ(only_incident(book).finding.kind, IncidentKind::kLinkDown) << describe_incidents(book);
}

TEST_F(FoundLinks, OneThatIsKnownIsDownAtOnce) {
  seconds(120);
  set("gpu-01", PortState::kDown);
  seconds(5);
  EXPECT_EQ(only_incident(book).finding.kind, IncidentKind::kLinkDown) << describe_incidents(book);
}

}  // namespace
}  // namespace weft::analyzer
