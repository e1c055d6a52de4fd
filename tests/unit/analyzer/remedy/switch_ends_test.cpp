// SPDX-License-Identifier: Apache-2.0
// Links of an Ethernet fabric whose switches let weftd set their ports by gNMI.
#include "analyzer/remedy/switch_ends.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "analyzer/remedy/plan_manager.hpp"
#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::analyzer {
namespace {

using fakes::EthernetFabric;

/// 8 spines, 4 leaves of two hosts: a leaf has 8 cables to switches, a spine 4.
struct Switches {
  Switches() : fabric(EthernetFabric::leaf_spine(8, 4, 2)) {
    settings.modes.fill(RemedyMode::kPropose);
    settings.switch_actuator = "gnmi_port";
    for (const RemedyAction action : {RemedyAction::kIsolateLink, RemedyAction::kRestoreLink})
      settings.ethernet_actuators[static_cast<std::size_t>(action)] = "webhook";
  }
  void target(const std::string& name, const std::string& setting = "openconfig",
              SwitchTargetState state = SwitchTargetState::kReading) {
    SwitchTarget one;
    one.name = name;
    one.state = state;
    one.port_setting = setting;
    targets.push_back(one);
  }
  RemedyView look() {
    views.assign(1, {});
    views[0].name = fabric.name();
    views[0].watching = true;
    views[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
    RemedyView view{EthernetFabric::now(), views, {}, {}, {}, {}, {}};
    view.switches = &targets;
    view.own_host = own_host;
    return view;
  }
  Entity link(const std::string& at) const {
    const auto topology = fabric.topology();
    return link_entity(fabric.name(), *topology, EthernetFabric::find(*topology, at));
  }
  std::string end_of(const std::string& at) {
    const auto end = switch_end(link(at), look());
    const auto topology = fabric.topology();
    return end ? port_label(*topology, topology->find_port(*end)) : "none";
  }
  Plan preview(const std::string& at) {
    PlanManager plans(settings, RemedyMemory{}, EthernetFabric::now());
    const auto plan = plans.preview(RemedyAction::kIsolateLink, link(at), "why", "ann", look());
    EXPECT_TRUE(plan) << plan.error().message;
    return plan ? *plan : Plan{};
  }
  static std::string why(const Plan& plan, Guard guard) {
    const GuardVerdict& verdict = plan.guards.at(static_cast<std::size_t>(guard));
    return (verdict.result == GuardResult::kRefused ? "refused: " : "") + verdict.explanation;
  }

  EthernetFabric fabric;
  RemedySettings settings;
  std::vector<SwitchTarget> targets;
  std::vector<FabricView> views;
  std::string own_host = "mgmt-1";
};

TEST(SwitchEnds, TheEndIsAtASwitchThatLetsItselfBeSet) {
  Switches s;
  EXPECT_EQ(s.end_of("leaf01 swp49"), "none");
  s.target("spine01");
  EXPECT_EQ(s.end_of("leaf01 swp49"), "spine01 swp1");
  EXPECT_EQ(s.end_of("leaf01 swp50"), "none");
  EXPECT_EQ(s.end_of("leaf01 swp1"), "none") << "an access link";
  s.target("leaf01", "none");
  EXPECT_EQ(s.end_of("leaf01 swp49"), "spine01 swp1");
  s.target("leaf02", "");
  EXPECT_EQ(s.end_of("leaf02 swp50"), "none") << "how it is set is not known yet";
}

TEST(SwitchEnds, OfTwoTheOneWithMoreOtherWaysAndOneThatIsRead) {
  Switches s;
  s.target("spine01");
  s.target("leaf01.example.net");
  EXPECT_EQ(s.end_of("leaf01 swp49"), "leaf01 swp49");
  for (const char* uplink : {"50", "51", "52", "53", "54", "55", "56"})
    s.fabric.set_state("leaf01 swp" + std::string(uplink), PortState::kDown);
  EXPECT_EQ(s.end_of("leaf01 swp49"), "leaf01 swp49") << "links that come and go do not change it";
  s.targets[1].state = SwitchTargetState::kSilent;
  EXPECT_EQ(s.end_of("leaf01 swp49"), "spine01 swp1");
}

TEST(SwitchEnds, TheSwitchIsAskedBeforeTheWebhook) {
  Switches s;
  EXPECT_EQ(s.preview("leaf01 swp49").actuator, "webhook");
  s.target("leaf01");
  const Plan plan = s.preview("leaf01 swp49");
  EXPECT_EQ(plan.actuator, "gnmi_port");
  ASSERT_TRUE(plan.end);
  EXPECT_FALSE(plan.refused());
  s.settings.ethernet_actuators.fill("");
  EXPECT_EQ(s.preview("leaf02 swp49").actuator, "");
  const auto refusal = [](const std::string& a, const std::string& b, const std::string& ports) {
    return "refused: no actuator for Ethernet switch ports: shut down " + ports +
           " yourself, or configure a webhook (remedy.webhook.actions): neither " + a + " nor " + b +
           " is a switch of gnmi.targets that lets Weft set its ports";
  };
  const std::string why = Switches::why(s.preview("leaf02 swp49"), Guard::kEnabled);
  EXPECT_TRUE(why == refusal("leaf02", "spine01", "leaf02 swp49 or spine01 swp2") ||
              why == refusal("spine01", "leaf02", "spine01 swp2 or leaf02 swp49"))
      << why;
  s.settings.switch_actuator.clear();
  EXPECT_EQ(s.preview("leaf01 swp49").actuator, "") << "gNMI Set is off";
}

TEST(SwitchEnds, OurOwnWayIsNotCut) {
  Switches s;
  s.target("leaf01");
  EXPECT_EQ(Switches::why(s.preview("leaf01 swp49"), Guard::kOwnPath),
            "collectors and switches keep a path to each other without it");
  s.own_host = "GPU-01.example.net";
  EXPECT_EQ(Switches::why(s.preview("leaf01 swp1"), Guard::kOwnPath),
            "refused: the link is on weftd's own path into the fabric: GPU-01.example.net is its host");
  EXPECT_EQ(Switches::why(s.preview("leaf01 swp49"), Guard::kOwnPath),
            "weftd's host GPU-01.example.net, collectors and switches keep a path to each other without it");
  s.targets[0].state = SwitchTargetState::kSilent;
  EXPECT_EQ(Switches::why(s.preview("leaf01 swp49"), Guard::kOwnPath),
            "refused: leaf01 does not answer by gNMI now: what is shut there could not be enabled again");
}

TEST(SwitchEnds, TheLastWayBetweenTwoSwitchesStays) {
  for (const PortState gone : {PortState::kDown, PortState::kUnknown}) {
    Switches s;
    s.target("leaf01");
    for (const char* uplink : {"50", "51", "52", "53", "54", "55", "56"})
      s.fabric.set_state("leaf01 swp" + std::string(uplink), gone);
    const std::string why = Switches::why(s.preview("leaf01 swp49"), Guard::kOwnPath);
    EXPECT_TRUE(why.starts_with("refused: it is the last path that is up between leaf01 and spine01")) << why;
  }
}

TEST(SwitchEnds, AnOrderSaysWhichEndFromTheFirstLookOn) {
  Switches s;
  s.target("spine01");
  PlanManager plans(s.settings, RemedyMemory{}, EthernetFabric::now());
  const auto asked = plans.request(RemedyAction::kIsolateLink, s.link("leaf01 swp49"), "why", "ann", s.look());
  ASSERT_TRUE(asked) << asked.error().message;
  plans.review(s.look());
  const RemedyBatch batch = plans.drain_changes(EthernetFabric::now());
  ASSERT_EQ(batch.orders.size(), 1U);
  EXPECT_EQ(batch.orders[0].kind, OrderKind::kRead);
  EXPECT_EQ(batch.orders[0].actuator, "gnmi_port");
  ASSERT_TRUE(batch.orders[0].end);
  const auto topology = s.fabric.topology();
  EXPECT_EQ(port_label(*topology, topology->find_port(*batch.orders[0].end)), "spine01 swp1");
}

}  // namespace
}  // namespace weft::analyzer
