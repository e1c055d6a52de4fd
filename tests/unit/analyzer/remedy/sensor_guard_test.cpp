// SPDX-License-Identifier: Apache-2.0
// Whose monitoring must be in order for what a plan does: that of its own fabric, or of the fabrics that its host is
// in.

#include <gtest/gtest.h>

#include "analyzer/remedy/candidates.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

/// "test" sees all hosts. The monitoring of some fabric is in doubt.
struct InDoubt : Book {
  explicit InDoubt(const std::string& fabric_name, RemedySettings with = {}) : Book(std::move(with)) {
    collector("host-0-0", {"host-0-0 mlx5_0"});
    doubt(fabric_name);
  }
  void doubt(const std::string& fabric_name) {
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding.kind = IncidentKind::kTelemetryLost;
    incident->finding.severity = Severity::kCritical;
    incident->finding.cause.fabric = incident->finding.cause.label = fabric_name;
    incident->finding.summary = "it cannot be monitored";
    incident->opened = incident->updated = fabric.now();
    incident->beginnings = {fabric.now()};
    incidents.push_back(std::move(incident));
  }
  /// Beside "test" another fabric, which is not watched any more, and its last sweep.
  RemedyView with(const std::string& name, Sweep sweep) {
    RemedyView view = look();
    sweep.fabric = name;
    FabricView other;
    other.name = name;
    other.sweep = std::make_shared<const Sweep>(std::move(sweep));
    views.push_back(std::move(other));
    view.fabrics = views;
    return view;
  }
  /// The same subnet by another name.
  RemedyView with_lost(const std::string& name) { return with(name, fabric.sweep()); }
  GuardVerdict sensor(RemedyAction action, const Entity& target, const RemedyView& view) {
    const auto would = book->preview(action, target, "why", "ann", view);
    return would ? verdict(*would, Guard::kSensor)
                 : GuardVerdict{Guard::kSensor, GuardResult::kRefused, would.error().message};
  }
  GuardVerdict drain(const RemedyView& view) { return sensor(RemedyAction::kDrainNode, host, view); }

  const Entity host = host_entity("host-0-0");
};

TEST(Sensor, RefusesToDrainAHostOfAFabricThatCannotBeMonitored) {
  InDoubt b("test");
  const GuardVerdict drain = b.drain(b.look());
  EXPECT_EQ(drain.result, GuardResult::kRefused);
  EXPECT_EQ(drain.explanation, "INC-1 makes the monitoring unreliable: it cannot be monitored");
}

TEST(Sensor, ALostPortWhoseStandbySeesTheHostRefusesNoDrain) {
  InDoubt b("mlx5_0-1");
  EXPECT_EQ(b.drain(b.with_lost("mlx5_0-1")).result, GuardResult::kPassed);
  b.doubt("test");
  EXPECT_EQ(b.drain(b.with_lost("mlx5_0-1")).result, GuardResult::kRefused) << "now nobody sees it well";
}

TEST(Sensor, ALostPortWhoseStandbyDoesNotReachTheHostRefusesItsDrain) {
  InDoubt b("mlx5_0-1");
  b.fabric.silence(b.fabric.find("host-0-0 mlx5_0"));
  EXPECT_EQ(b.drain(b.with_lost("mlx5_0-1")).result, GuardResult::kRefused);
}

TEST(Sensor, AFabricThatTheHostIsNotInRefusesNoDrain) {
  fakes::FabricBuilder storage("storage");
  storage.connect(storage.nodes()[storage.add_switch("storage-0", 4)].first_port + 1,
                  storage.nodes()[storage.add_adapter("storage-host mlx5_0")].first_port);
  InDoubt b("storage");
  EXPECT_EQ(b.drain(b.with("storage", storage.sweep())).result, GuardResult::kPassed);
}

TEST(Sensor, AnEthernetFabricInDoubtRefusesToDrainItsHostsAlone) {
  fakes::EthernetFabric ethernet("ethernet");
  ethernet.cable("leaf01", "swp1", "gpu-01", "eth2");
  InDoubt b("ethernet");
  const RemedyView view = b.with("ethernet", ethernet.sweep());
  EXPECT_EQ(b.drain(view).result, GuardResult::kPassed);
  EXPECT_EQ(b.sensor(RemedyAction::kDrainNode, host_entity("gpu-01"), view).result, GuardResult::kRefused);
}

TEST(Sensor, WhatIsInDoubtForAllHostsRefusesEachDrain) {
  InDoubt b("");
  EXPECT_EQ(b.drain(b.look()).result, GuardResult::kRefused);
}

TEST(Sensor, AHostIsNotDrainedForWhatAFabricInDoubtTold) {
  InDoubt b("mlx5_0-1", automatic());
  b.errors("leaf-0", "host-0-0 mlx5_0");
  auto told = std::make_shared<Incident>(*b.incidents.back());
  told->finding.cause.fabric = "mlx5_0-1";
  b.incidents.back() = std::move(told);
  b.book->review(b.with_lost("mlx5_0-1"));
  ASSERT_TRUE(b.book->find(1));
  EXPECT_EQ(b.plan(1).action, RemedyAction::kDrainNode);
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kSensor).result, GuardResult::kRefused);
}

TEST(Sensor, HoldsUpNoReturnThatAPersonOrders) {
  InDoubt b("test");
  RemedyMemory memory;
  for (const auto& [action, target] : {std::pair{RemedyAction::kIsolateLink, b.link("leaf-1", "spine-0")},
                                       std::pair{RemedyAction::kRaiseLinkCost, b.link("leaf-1", "spine-1")},
                                       std::pair{RemedyAction::kDrainNode, b.host}}) {
    Plan& plan = memory.plans.emplace_back();
    plan.id = memory.plans.size();
    plan.state = PlanState::kCommitted;
    plan.action = action;
    plan.target = target;
    plan.actuator = "fake";
    plan.requested_by = plan.approved_by = "ann";
    plan.in_force = true;
    plan.started = plan.finished = b.fabric.now();
  }
  const std::vector<Plan> held = memory.plans;
  b.book.emplace(b.settings, std::move(memory), b.fabric.now());
  EXPECT_EQ(b.sensor(RemedyAction::kIsolateLink, b.link("leaf-2", "spine-2"), b.look()).result, GuardResult::kRefused);
  for (const Plan& plan : held) {
    const GuardVerdict back = b.sensor(inverse_of(plan.action), plan.target, b.look());
    EXPECT_EQ(back.result, GuardResult::kNotNeeded) << to_string(plan.action) << ": " << back.explanation;
  }
}

// Its cause has no fabric either.
TEST(Sensor, TroubleOfAnApplicationIsNoDoubtAboutTheMonitoring) {
  Book b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  auto incident = std::make_shared<Incident>();
  incident->id = 1;
  incident->finding.kind = IncidentKind::kRdmaErrors;
  incident->finding.severity = Severity::kWarning;
  incident->finding.cause.label = "many hosts";
  incident->finding.summary = "RDMA errors of job 7 on many ports at once";
  incident->opened = incident->updated = b.fabric.now();
  incident->beginnings = {b.fabric.now()};
  b.incidents.push_back(incident);
  const auto wished = b.book->preview(RemedyAction::kDrainNode, host_entity("host-0-0"), "why", "ann", b.look());
  ASSERT_TRUE(wished);
  EXPECT_EQ(b.verdict(*wished, Guard::kSensor).result, GuardResult::kPassed);
}

// Of 10,000 adapters a few can never be read.
TEST(Sensor, AFewUnreadAdaptersOfALargeFabricLeaveItsLinksTheirRemedies) {
  RemedySettings generous;
  generous.limits.missing_share = 0.5;
  InDoubt b("test", generous);
  auto unread = std::make_shared<Incident>(*b.incidents.back());
  const auto add = [&](const char* name) {
    Entity node;
    node.kind = EntityKind::kNode;
    node.port.node = b.fabric.nodes()[b.fabric.find(name)].guid;
    unread->finding.affected.push_back(node);
  };
  const auto isolate = [&] { return b.sensor(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), b.look()); };
  for (const char* name : {"host-0-0 mlx5_0", "host-1-0 mlx5_0", "host-2-0 mlx5_0"}) add(name);
  b.incidents.back() = unread;
  EXPECT_EQ(isolate().result, GuardResult::kPassed);
  EXPECT_EQ(b.drain(b.look()).result, GuardResult::kRefused) << "of a host nothing else is known";
  Node& silent = b.fabric.node(b.fabric.find("host-1-0 mlx5_0"));
  silent.reachable = false;
  EXPECT_EQ(isolate().result, GuardResult::kRefused) << "it does not answer at all";
  silent.reachable = true;
  unread = std::make_shared<Incident>(*unread);
  add("leaf-3");
  b.incidents.back() = unread;
  EXPECT_EQ(isolate().result, GuardResult::kRefused) << "what its neighbours receive is not read";
  RemedySettings strict;
  strict.limits.missing_share = 0.01;
  InDoubt small("test", strict);
  unread = std::make_shared<Incident>(*unread);
  unread->finding.affected.pop_back();
  small.incidents.back() = unread;
  EXPECT_EQ(small.sensor(RemedyAction::kIsolateLink, small.link("leaf-0", "spine-0"), small.look()).result,
            GuardResult::kRefused)
      << "too many of a small one";
}

// Such a manager does not route around what is taken out, and what comes back stays as it is.
TEST(Sensor, LinksThatAManagerDoesNotActivateRefuseToTakeOutALink) {
  Book b;
  auto incident = std::make_shared<Incident>();
  incident->id = 1;
  incident->finding.kind = IncidentKind::kLinksNotActivated;
  incident->finding.severity = Severity::kCritical;
  incident->finding.cause.fabric = b.fabric.name();
  incident->finding.summary = "3 links are trained, but the subnet manager does not activate them";
  for (const char* leaf : {"leaf-1", "leaf-2", "leaf-3"}) incident->finding.affected.push_back(b.link(leaf, "spine-1"));
  incident->opened = incident->updated = b.fabric.now();
  incident->beginnings = {b.fabric.now()};
  b.incidents.push_back(incident);
  const auto wished = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look());
  ASSERT_TRUE(wished);
  EXPECT_EQ(b.verdict(*wished, Guard::kSensor).result, GuardResult::kRefused);
  // One that waits for hours leaves the others their remedies.
  auto last = std::make_shared<Incident>(*incident);
  last->finding.affected.resize(1);
  b.incidents.back() = last;
  const auto beside = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-0", "spine-0"), "why", "ann", b.look());
  ASSERT_TRUE(beside);
  EXPECT_EQ(b.verdict(*beside, Guard::kSensor).result, GuardResult::kPassed);
}

}  // namespace
}  // namespace weft::analyzer
