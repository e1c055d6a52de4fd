// SPDX-License-Identifier: Apache-2.0
// Whom a drain means: by GUIDs that others than the host report, not by what the host calls itself.

#include "analyzer/remedy/host_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "analyzer/remedy/target_lists.hpp"
#include "tests/unit/analyzer/remedy/sick_host.hpp"

namespace weft::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HostIdentity, WithoutAnyWordFromOthersAutomationWaitsForAPerson) {
  SickHost b;
  const GuardVerdict verdict = b.identity();
  EXPECT_EQ(verdict.result, GuardResult::kNeedsPerson);
  EXPECT_EQ(verdict.explanation, "no collector confirms that adapter " + to_string(b.guid()) + " belongs to host-0-0");
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_TRUE(b.orders().empty());
  EXPECT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->review(b.look());
  EXPECT_EQ(b.orders().size(), 1U) << "a person may";
}

TEST(HostIdentity, TheCollectorsInventoryConfirmsIt) {
  SickHost b;
  b.collector("HOST-0-0.example.org", {"host-0-0 mlx5_0"});
  EXPECT_EQ(b.identity().result, GuardResult::kPassed);
  EXPECT_EQ(b.identity().explanation, "its collector reports 1 of its 1 adapter");
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
}

TEST(HostIdentity, TheNodeNameMapConfirmsIt) {
  SickHost b;
  b.fabric.node(b.sick).name_is_given = true;
  EXPECT_EQ(b.identity().explanation, "the node name map names its 1 adapter");
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
}

TEST(HostIdentity, AClonedNameStopsAutomation) {
  SickHost b;
  b.fabric.node(b.fabric.find("host-1-0 mlx5_0")).name = "host-0-0 mlx5_0";
  EXPECT_EQ(b.identity().explanation, "2 nodes claim the name host-0-0 mlx5_0");
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  // That one of them is who it says does not tell who the other is.
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  EXPECT_TRUE(b.orders().empty());
}

TEST(HostIdentity, WhoForgesANameIsDrainedUnderHisOwn) {
  SickHost b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.fabric.node(b.sick).name = "host-1-0 mlx5_0";
  b.fabric.node(b.sick).description = "host-1-0 mlx5_0";
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).target.host, "host-0-0");
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting);
}

TEST(HostIdentity, WhatACollectorContradictsNobodyMayApprove) {
  SickHost b(RemedySettings{});
  b.fabric.node(b.sick).name = "victim mlx5_0";
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).target.host, "victim");
  b.fabric.node(b.sick).name = "host-0-0 mlx5_0";
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.fabric.node(b.sick).name = "victim mlx5_0";
  EXPECT_EQ(b.identity().result, GuardResult::kRefused);
  EXPECT_EQ(b.identity().explanation,
            "adapter " + to_string(b.guid()) +
                " calls itself victim mlx5_0, but the collector of host-0-0 reports it as its "
                "own");
  const auto approved = b.book->approve(1, 0, "ann", b.look());
  ASSERT_FALSE(approved);
  EXPECT_THAT(approved.error().message, HasSubstr("IDENTITY: "));
}

TEST(HostIdentity, OneAdapterThatTwoHostsReportIsNobodysForSure) {
  SickHost b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.collector("host-7-7", {"host-0-0 mlx5_0"}, CollectorState::kDisconnected);
  EXPECT_EQ(b.identity().result, GuardResult::kPassed) << "it was moved: the last word of a host that is gone";
  b.hosts.pop_back();
  b.collector("host-7-7", {"host-0-0 mlx5_0"});
  SickHost both;
  both.hosts = b.hosts;
  EXPECT_EQ(both.identity().result, GuardResult::kNeedsPerson);
  EXPECT_EQ(both.identity().explanation,
            "the collectors of host-0-0 and host-7-7 both report adapter " + to_string(b.guid()));
  EXPECT_NE(both.plan(1).state, PlanState::kExecuting);
}

// Any root can let the collector of its host report any GUID: that must keep nobody from draining another host.
TEST(HostIdentity, AForeignReportOfItsAdapterKeepsNoPersonFromDrainingAHost) {
  SickHost b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.collector("forger", {"host-0-0 mlx5_0"});
  ASSERT_EQ(b.identity().result, GuardResult::kNeedsPerson) << "automation does not know";
  const auto approved = b.book->approve(1, 0, "ann", b.look());
  EXPECT_TRUE(approved) << approved.error().message;
  SickHost c;
  c.hosts = b.hosts;
  c.book->review(c.look());
  const auto ordered =
      c.book->request(RemedyAction::kDrainNode, host_entity("host-0-0"), "new memory", "ann", c.look());
  ASSERT_TRUE(ordered) << ordered.error().message;
  EXPECT_THAT(c.verdict(*ordered, Guard::kIdentity).explanation, HasSubstr("both report adapter"));
}

TEST(HostIdentity, AForeignReportOfAnAdapterThatNoOtherCollectorReportsRefuses) {
  SickHost b;
  b.collector("forger", {"host-0-0 mlx5_0"});
  b.book->review(b.look());
  const auto ordered =
      b.book->request(RemedyAction::kDrainNode, host_entity("host-0-0"), "new memory", "ann", b.look());
  ASSERT_FALSE(ordered) << "nobody but its own description says that it is host-0-0's";
  EXPECT_THAT(ordered.error().message, HasSubstr("the collector of forger reports it as its own"));
}

TEST(HostIdentity, AnAdapterThatNobodyNamedIsNoHost) {
  SickHost b;
  b.fabric.node(b.sick).name = to_string(b.guid());
  b.book->review(b.look());
  EXPECT_FALSE(b.book->find(1)) << "there is nobody to drain";
  b.fabric.node(b.sick).name = "MT4123 ConnectX6   Mellanox Technologies";
  b.book->review(b.look());
  EXPECT_FALSE(b.book->find(1));
}

TEST(HostIdentity, WhenTheWordIsGoneBeforeTheActItIsAProposalAgain) {
  SickHost b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.book->review(b.look());
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  b.book->answer_reading(orders[0].number, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  b.hosts.clear();
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kProposed);
  EXPECT_EQ(b.plan(1).approved_by, "");
  EXPECT_TRUE(b.orders().empty());
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.book->review(b.look());
  EXPECT_EQ(b.plan(1).state, PlanState::kExecuting) << "it is confirmed again";
}

TEST(HostIdentity, BeforeTheFirstSweepNobodyKnowsWhoElseClaimsTheName) {
  Book b;
  b.collector("host-0-0", {});
  for (const bool swept : {false, true}) {
    RemedyView view = b.look();
    std::vector<FabricView> fabrics(1);
    fabrics[0].sweep = swept ? b.views[0].sweep : nullptr;
    view.fabrics = fabrics;
    HostIdentities hosts;
    hosts.update(view);
    EXPECT_EQ(hosts.identify("ethernet-host", nullptr).state, HostIdentity::State::kUnconfirmed);
    b.collector("ethernet-host", {});
    view.hosts = b.hosts;
    hosts.update(view);
    EXPECT_EQ(hosts.identify("ethernet-host", nullptr).state,
              swept ? HostIdentity::State::kConfirmed : HostIdentity::State::kUnconfirmed);
    b.hosts.pop_back();
  }
}

TEST(HostIdentity, APersonsOwnDrainGoesByTheName) {
  Book b;
  const auto plan = b.book->request(RemedyAction::kDrainNode, host_entity("host-1-0"), "new memory", "ann", b.look());
  ASSERT_TRUE(plan);
  EXPECT_THAT(b.verdict(*plan, Guard::kIdentity).explanation, HasSubstr("a person named the host"));
}

/// The sick host is n1.beta, the first one of leaf 1 is n1.alpha, by the node name map.
struct TwoDomains : SickHost {
  explicit TwoDomains(RemedySettings with = automatic()) : SickHost(std::move(with)) {
    name(sick, "n1.beta mlx5_0");
    name(fabric.find("host-1-0 mlx5_0"), "n1.alpha mlx5_0");
  }
  void name(NodeIndex node, const std::string& name) {
    fabric.node(node).name = name;
    fabric.node(node).name_is_given = true;
  }
};

TEST(HostIdentity, TwoHostsOfOneShortNameWaitForAPerson) {
  TwoDomains b;
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  EXPECT_EQ(b.identity().explanation,
            "several hosts have the short name n1, by which a scheduler may mean each: n1.beta, n1.alpha");
  EXPECT_TRUE(b.orders().empty());
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->review(b.look());
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_THAT(orders[0].namesakes, ElementsAre("n1.alpha")) << "so that the scheduler's n1 is not taken for n1.beta";
}

/// PLAN-1 drains n1.beta, the sick host; n1, of leaf 1, is another host. A scheduler knows "n1".
void expect_two_hosts(SickHost& b, const std::string& how) {
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson) << how;
  EXPECT_EQ(b.identity().explanation,
            "several hosts have the short name n1, by which a scheduler may mean each: n1.beta, n1")
      << how;
  EXPECT_TRUE(b.orders().empty()) << how;
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look())) << how;
  b.book->review(b.look());
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U) << how;
  EXPECT_THAT(orders[0].namesakes, ElementsAre("n1")) << how;
  const auto found = b.book->find_host("n1", b.look());
  ASSERT_FALSE(found) << how;
  EXPECT_EQ(found.error().message, "'n1' matches several hosts: n1, n1.beta") << how;
}

TEST(HostIdentity, ANamesakeThatLeftIsRememberedForAWeek) {
  TwoDomains b;
  ASSERT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  const NodeIndex other = b.fabric.find("n1.alpha mlx5_0");
  b.name(other, "elsewhere mlx5_0");
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  const auto seen = b.book->preview(RemedyAction::kDrainNode, host_entity("n1.beta"), "", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_THAT(b.verdict(*seen, Guard::kIdentity).explanation, HasSubstr("each: n1.beta, n1.alpha (not seen now)"));
  const auto found = b.book->find_host("n1", b.look());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "'n1' matches several hosts: n1.beta, n1.alpha (not seen now)");

  HostIdentities hosts;
  hosts.update(b.look());
  EXPECT_THAT(hosts.namesakes("n1.beta"), ::testing::IsEmpty()) << "else it shows nothing";
  b.name(other, "n1.alpha mlx5_0");
  hosts.update(b.look());
  b.name(other, "elsewhere mlx5_0");
  const auto pass = [&](Duration time) {
    b.fabric.advance(time);
    hosts.update(b.look());
  };
  pass(std::chrono::seconds(1));
  pass(kNamesakesRememberedFor - std::chrono::hours(1));
  EXPECT_THAT(hosts.namesakes("n1.beta"), ElementsAre("n1.alpha"));
  b.set_forward += std::chrono::hours(24 * 365);
  b.fabric.advance(std::chrono::hours(24 * 365));
  hosts.update(b.look());
  EXPECT_THAT(hosts.namesakes("n1.beta"), ElementsAre("n1.alpha")) << "only the clock was set";
  pass(std::chrono::hours(2));
  EXPECT_THAT(hosts.namesakes("n1.beta"), ::testing::IsEmpty());
  pass(std::chrono::hours(2));
  EXPECT_THAT(hosts.namesakes("n1.beta"), ::testing::IsEmpty()) << "and is not remembered anew";
}

TEST(HostIdentity, AShortNamesakeThatLeftIsStillAnotherHost) {
  TwoDomains b;
  b.name(b.fabric.find("n1.alpha mlx5_0"), "n1 mlx5_0");
  expect_two_hosts(b, "both have mlx5_0");
  b.name(b.fabric.find("n1 mlx5_0"), "elsewhere mlx5_0");
  HostIdentities fresh;
  fresh.update(b.look());
  EXPECT_THAT(fresh.namesakes("n1.beta"), ::testing::IsEmpty()) << "else it shows nothing";
  const auto found = b.book->find_host("n1", b.look());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "'n1' matches several hosts: n1 (not seen now), n1.beta");
}

TEST(HostIdentity, AShortNameAndOneFullNameAreOneHost) {
  TwoDomains b;
  b.name(b.fabric.find("n1.alpha mlx5_0"), "n1 mlx5_1");
  EXPECT_EQ(b.identity().result, GuardResult::kPassed) << b.identity().explanation;
  EXPECT_EQ(b.plan(1).target.host, "n1.beta");
}

TEST(HostIdentity, AShortNameAndTheFullNameOfItsCollectorAreOneHost) {
  SickHost b;
  b.collector("host-0-0.cluster", {"host-0-0 mlx5_0"});
  EXPECT_EQ(b.identity().result, GuardResult::kPassed) << b.identity().explanation;
  // Its collector told the full name before.
  b.hosts.clear();
  b.collector("host-0-0.cluster", {"host-0-0 mlx5_0"}, CollectorState::kDisconnected);
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  EXPECT_EQ(b.identity().result, GuardResult::kPassed) << b.identity().explanation;
  b.book->review(b.look());
  for (const RemedyOrder& order : b.orders()) EXPECT_TRUE(order.namesakes.empty());
}

TEST(HostIdentity, AShortAndAFullNameAreTwoHostsWhereBothHaveTheSameDevice) {
  TwoDomains b;
  b.name(b.fabric.find("n1.alpha mlx5_0"), "n1 mlx5_0");
  expect_two_hosts(b, "the node name map names two adapters mlx5_0");
}

TEST(HostIdentity, AShortAndAFullNameAreTwoHostsWhereBothHaveACollector) {
  SickHost b;
  b.fabric.node(b.sick).name = "n1.beta mlx5_0";
  b.fabric.node(b.fabric.find("host-1-0 mlx5_0")).name = "n1 mlx5_1";
  b.collector("n1", {"n1 mlx5_1"});
  b.collector("n1.beta", {"n1.beta mlx5_0"});
  expect_two_hosts(b, "two collectors are connected");
}

TEST(HostIdentity, AShortAndAFullNameAreTwoHostsWhereACollectorHasNotTheOthersAdapter) {
  for (const CollectorState state : {CollectorState::kConnected, CollectorState::kDisconnected})
    for (const bool of_short : {false, true}) {
      TwoDomains b;
      b.name(b.fabric.find("n1.alpha mlx5_0"), "n1 mlx5_1");
      if (of_short)
        b.collector("n1", {"n1 mlx5_1"}, state);
      else
        b.collector("n1.beta", {"n1.beta mlx5_0"}, state);
      expect_two_hosts(b, std::string("the collector of one is ") + to_string(state));
    }
}

TEST(HostIdentity, ANameThatACollectorContradictsIsNoOtherHost) {
  SickHost b;
  b.collector("host-0-0.beta", {"host-0-0 mlx5_0"});
  b.collector("host-1-0", {"host-1-0 mlx5_0"});
  b.fabric.node(b.fabric.find("host-1-0 mlx5_0")).name = "host-0-0.alpha mlx5_7";
  EXPECT_EQ(b.identity().result, GuardResult::kPassed) << b.identity().explanation;
}

TEST(HostIdentity, BeforeTheFirstSweepOfAllFabricsAutomationWaits) {
  SickHost b;
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  RemedyView view = b.look();
  b.views.push_back({});
  view.fabrics = b.views;
  HostIdentities hosts;
  hosts.update(view);
  EXPECT_EQ(hosts.identify("host-0-0", nullptr).state, HostIdentity::State::kUnconfirmed);
}

TEST(TargetLists, ADeniedHostProtectsWhatASchedulerMayTakeForIt) {
  RemedySettings settings = automatic();
  settings.deny = {"n1.alpha"};
  TwoDomains b(settings);
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).result, GuardResult::kRefused);
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).explanation,
            "n1.alpha, which a scheduler may know by the same name, is on the deny list (remedy.deny), as n1.alpha");
}

TEST(TargetLists, AHostIsMeantByAnyOfItsNamesAndGuids) {
  for (const char* entry : {"host-0-0", "HOST-0-0.example.org", "host-0-0 mlx5_0", "HOST-0-0 mlx5_9",
                            "host-0-0.example.org mlx5_0", "guid", "GUID"}) {
    RemedySettings settings = automatic();
    std::string text = entry;
    if (text == "guid") text = to_string(SickHost().guid());
    if (text == "GUID") text = to_string(SickHost().guid()).substr(2);
    settings.deny = {text};
    SickHost b(settings);
    b.collector("host-0-0", {"host-0-0 mlx5_0"});
    b.book->review(b.look());
    EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).result, GuardResult::kRefused) << text;
    EXPECT_TRUE(b.orders().empty()) << text;
  }
}

TEST(TargetLists, AnAdaptersNameMeansTheHostThatReportsItToo) {
  RemedySettings settings = automatic();
  settings.deny = {"host-1-0 mlx5_7"};
  SickHost b(settings);
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  b.fabric.node(b.sick).name = "host-1-0 mlx5_7";  // forged
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).target.host, "host-0-0");
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).result, GuardResult::kRefused);
}

TEST(TargetLists, ALinkIsMeantByItsSwitchesInAnyCaseAndByPorts) {
  Book plain;
  const PortKey end = plain.fabric.key_of(plain.fabric.port_towards("leaf-0", "spine-0"));
  const std::string number = ':' + std::to_string(end.port.value);
  for (const std::string& entry : {std::string("LEAF-0"), "leaf-0" + number, to_string(end.node),
                                   to_string(end.node) + number, std::string("Spine-0")}) {
    RemedySettings settings;
    settings.deny = {entry};
    Book b(settings);
    b.errors("leaf-0", "spine-0");
    b.book->review(b.look());
    EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).result, GuardResult::kRefused) << entry;
  }
  RemedySettings settings;
  settings.deny = {"leaf-0:99", "leaf-1", "leaf", "0x1"};
  Book b(settings);
  b.errors("leaf-0", "spine-0");
  b.book->review(b.look());
  EXPECT_EQ(b.verdict(b.plan(1), Guard::kLists).result, GuardResult::kPassed);
}

TEST(TargetLists, EntriesThatNameNothingAreFound) {
  RemedySettings settings;
  Book b;
  const PortKey end = b.fabric.key_of(b.fabric.port_towards("leaf-0", "spine-0"));
  settings.deny = {"host-0-0.example.org",
                   "leaf-0",
                   "leaf-0:" + std::to_string(end.port.value),
                   to_string(end.node),
                   "login-1",
                   "host-0-0 mlx5_0",
                   "login-1 mlx5_3",
                   "leaf-0:99",
                   "storage-9",
                   "storage-9 mlx5_0",
                   "0x1234567890abcdef"};
  settings.allow = {"Spine-1", "spine-x"};
  b.collector("login-1.example.org", {});
  EXPECT_THAT(entries_without_target(settings, b.look()),
              ElementsAre("leaf-0:99", "storage-9", "storage-9 mlx5_0", "0x1234567890abcdef", "spine-x"));
}

TEST(TargetLists, WorkOnAnAdapterOrOnTheHostKeepsAutomationAway) {
  for (const bool by_name : {false, true}) {
    SickHost b;
    b.collector("host-0-0", {"host-0-0 mlx5_0"});
    MaintenanceWindow window;
    window.id = 1;
    window.from = b.fabric.now() - std::chrono::hours(1);
    window.until = b.fabric.now() + std::chrono::hours(1);
    window.reason = "memory";
    window.entity.kind = EntityKind::kNode;
    if (by_name)
      window.host = "Host-0-0.example.org";
    else
      window.nodes = {b.guid()};
    b.maintenance = {window};
    b.book->review(b.look());
    EXPECT_EQ(b.verdict(b.plan(1), Guard::kMaintenance).result, GuardResult::kRefused) << by_name;
  }
}

}  // namespace
}  // namespace weft::analyzer
