// SPDX-License-Identifier: Apache-2.0
// How people name links, and what they see of a plan's verification.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

class RemedyNames : public RemedyControllerTest {
 protected:
  /// The end of the link as labels print it: "leaf-0 port 3".
  std::string label(const std::string& a, const std::string& b) const {
    return a + " port " + std::to_string(fabric.key_of(fabric.port_towards(a, b)).port.value);
  }
};

TEST_F(RemedyNames, SaysWhichNodesAndPortsThereAre) {
  fabric.node(fabric.find("spine-1")).name = "spine-0";
  start();
  look();
  const auto said = [this](const std::string& link) {
    controller->request({RemedyAction::kIsolateLink, link, "", "ann", false, true}, note_plan());
    return plans.back() ? plans.back()->target.label : plans.back().error().message;
  };
  const std::string end = name_of_link("leaf-0", "spine-2");
  EXPECT_EQ(said("LEAF-0" + end.substr(6)), said(end)) << "case does not matter";
  EXPECT_NE(said(end).find("leaf-0 port"), std::string::npos) << said(end);
  const auto guid = [this](const char* name) { return to_string(fabric.nodes()[fabric.find(name)].guid); };
  EXPECT_EQ(said("spine-0:1").find("'spine-0' matches several nodes: 0x"), 0U) << said("spine-0:1");
  EXPECT_NE(said("spine-0:1").find(guid("spine-0") + " (spine-0)"), std::string::npos);
  const std::string ports = std::to_string(fabric.nodes()[fabric.find("leaf-0")].port_count);
  EXPECT_EQ(said("leaf-0:300"), "leaf-0 has no port 300: its ports are 1 to " + ports);
  EXPECT_EQ(said("leaf-0:0"), "leaf-0 has no port 0: its ports are 1 to " + ports);
  EXPECT_EQ(said("leaf-0:99999999999"), "leaf-0 has no port 99999999999: its ports are 1 to " + ports);
  EXPECT_EQ(said("leaf-0:swp3"), "leaf-0 has no port swp3: its ports are 1 to " + ports);
  EXPECT_EQ(said("leaf77:swp3"), "no node named 'leaf77'");
  for (const char* half : {"leaf-0:", ":5", ":"})
    EXPECT_EQ(said(half), std::string("'") + half + "' is not a link: name one of its ends as NODE:PORT");
}

TEST_F(RemedyNames, BothEndsOfALabelMustBeThoseOfTheLink) {
  start();
  look();
  const auto said = [this](const std::string& link) {
    controller->request({RemedyAction::kIsolateLink, link, "", "ann", false, true}, note_plan());
    return plans.back() ? plans.back()->target.label : plans.back().error().message;
  };
  const std::string leaf = label("leaf-0", "spine-2"), spine = label("spine-2", "leaf-0");
  const std::string link = said(name_of_link("leaf-0", "spine-2"));
  EXPECT_EQ(said(leaf + " - " + spine), link);
  EXPECT_EQ(said(spine + " - " + leaf), link);
  EXPECT_EQ(said(leaf + " - " + name_of_link("spine-2", "leaf-0")), link);
  for (const std::string& far : {label("spine-1", "leaf-0"), label("spine-2", "leaf-1"), std::string("spine-2"),
                                 std::string("gpu-0005 mlx5_0 port 1"), std::string()}) {
    EXPECT_EQ(said(leaf + " - " + far), leaf + " is cabled to " + spine + ", not to " + far);
    EXPECT_EQ(plans.back().error().code, ErrorCode::kFailedPrecondition);
  }
  EXPECT_EQ(said("leaf-9 port 1 - " + spine), "no node named 'leaf-9'");
  EXPECT_EQ(said("host-0-0.cluster mlx5_0 port 1 - nowhere port 1"),
            "host-0-0 mlx5_0 port 1 is cabled to " + label("leaf-0", "host-0-0 mlx5_0") + ", not to nowhere port 1");
}

TEST_F(RemedyNames, NodesMayBeCalledLikePartsOfALabel) {
  for (const char* name : {"leaf-0 - 3", "leaf-0 port 1 - spine-1 port 2", "row 2 port 1"}) {
    SCOPED_TRACE(name);
    fabric = fakes::FabricBuilder::fat_tree(8, 4, 1);
    fabric.route();
    clock.time = std::max(clock.time, fabric.now());
    fabric.node(fabric.find("leaf-2")).name = name;
    start();
    look();
    const auto said = [this](const std::string& link) {
      controller->request({RemedyAction::kIsolateLink, link, "", "ann", false, true}, note_plan());
      return plans.back() ? plans.back()->target.label : plans.back().error().message;
    };
    const std::string node = label(name, "spine-2");
    const std::string spine = label("spine-2", name);
    const std::string link = said(name_of_link(name, "spine-2"));
    EXPECT_NE(link.find(node), std::string::npos) << link;
    EXPECT_EQ(said(node), link);
    EXPECT_EQ(said(node + " - " + spine), link);
    EXPECT_EQ(said(spine + " - " + node), link);
    stop_lanes();
    posted.clear();
    controller.reset();
  }
}

TEST_F(RemedyNames, BeforeTheFirstSweepOnlyWhatAPlanHoldsIsKnown) {
  Plan out;
  out.id = 1;
  out.state = PlanState::kCommitted;
  out.target = link("leaf-0", "spine-2");
  const std::string leaf = label("leaf-0", "spine-2"), spine = label("spine-2", "leaf-0");
  out.target.label = leaf + " - " + spine;
  out.in_force = true;
  out.actuator = "fake";
  out.started = out.finished = clock.time;
  RemedyMemory memory;
  memory.plans = {out};
  start(std::move(memory));
  Snapshot snapshot;
  snapshot.watches_subnets = true;
  controller->complete(snapshot, {});
  const auto said = [this](RemedyAction action, const std::string& target, bool dry_run = true) {
    controller->request({action, target, "", "ann", false, dry_run}, note_plan());
    return plans.back() ? plans.back()->target.label : plans.back().error().message;
  };
  EXPECT_EQ(said(RemedyAction::kIsolateLink, "leaf-1:3"),
            "leaf-1 is not known yet: the first sweep of the fabric is not complete");
  EXPECT_EQ(plans.back().error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(said(RemedyAction::kDrainNode, "host-0-0"),
            "host-0-0 is not known yet: the first sweep of the fabric is not complete");
  for (const std::string& name :
       {leaf, spine, out.target.label, spine + " - " + leaf, name_of_link("leaf-0", "spine-2"),
        "LEAF-0" + name_of_link("leaf-0", "spine-2").substr(6), name_of_link("spine-2", "leaf-0")})
    EXPECT_EQ(said(RemedyAction::kRestoreLink, name), out.target.label) << name;
  EXPECT_EQ(said(RemedyAction::kRestoreLink, leaf, false), "FRESH_DATA: its fabric has no complete sweep yet");
  look();
  EXPECT_EQ(said(RemedyAction::kIsolateLink, "leaf-9:3"), "no node named 'leaf-9'");
}

TEST_F(RemedyNames, ShowsEachSweepThatAVerificationPassed) {
  settings.limits.verification.windows = 5;
  start_with_plan(RemedyMode::kAuto);
  settle([this] { return journal.plan(1).state == PlanState::kVerifying; });
  settle();
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  fabric.route();
  const int writes = journal.writes();
  for (std::uint32_t sweep = 1; sweep <= 3; ++sweep) {
    fabric.advance(std::chrono::seconds(1));
    clock.time = fabric.now();
    const Snapshot seen = look();
    settle();
    EXPECT_EQ(seen.plans->front()->windows_good, sweep);
    EXPECT_EQ(seen.plans->front()->windows_needed, 5U);
  }
  EXPECT_EQ(journal.writes(), writes) << "nothing of it is stored";
}

}  // namespace
}  // namespace weft::daemon
