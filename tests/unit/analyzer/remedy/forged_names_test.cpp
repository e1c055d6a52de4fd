// SPDX-License-Identifier: Apache-2.0
// Adapters that claim other hosts' names: they stop automation, and nobody who names the true host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/analyzer/remedy/sick_host.hpp"

namespace weft::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// host-1-0 is confirmed; an adapter of host-0-0 claims a name of its own choice.
struct Forged : Book {
  Forged(const std::string& name, bool has_collector, RemedySettings with = {}) : Book(std::move(with)) {
    collector("host-1-0", {"host-1-0 mlx5_0"});
    forger = fabric.find("host-0-0 mlx5_0");
    if (has_collector) collector("host-0-0", {"host-0-0 mlx5_0"});
    fabric.node(forger).name = name;
  }
  std::string guid() const { return to_string(fabric.nodes()[forger].guid); }
  NodeIndex forger = kNoIndex;
};

TEST(ForgedNames, AForgedNameDoesNotStopAPersonAndIsNamed) {
  for (const bool has_collector : {false, true})
    for (const char* forged : {"host-1-0 mlx5_7", "host-1-0.evil mlx5_0", "host-1-0"}) {
      SCOPED_TRACE(std::string(forged) + (has_collector ? ", contradicted" : ""));
      Forged b(forged, has_collector);
      const auto seen =
          b.book->preview(RemedyAction::kDrainNode, host_entity("host-1-0"), "new memory", "ann", b.look());
      ASSERT_TRUE(seen) << seen.error().message;
      EXPECT_THAT(b.verdict(*seen, Guard::kIdentity).explanation, HasSubstr(b.guid()));
      const auto plan =
          b.book->request(RemedyAction::kDrainNode, host_entity("host-1-0"), "new memory", "ann", b.look());
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(b.verdict(*plan, Guard::kIdentity).result, GuardResult::kPassed);
      EXPECT_THAT(b.verdict(*plan, Guard::kIdentity).explanation, HasSubstr(b.guid()));
      b.book->review(b.look());
      const auto orders = b.orders();
      ASSERT_EQ(orders.size(), 1U);
      EXPECT_THAT(orders[0].namesakes, ::testing::IsEmpty()) << "else its actuator would refuse";
    }
}

TEST(ForgedNames, AutomationWaitsForAPersonWhereNobodyConfirmsWhoClaimsTheName) {
  for (const char* forged : {"host-0-0 mlx5_7", "host-0-0.evil mlx5_0"}) {
    SickHost b;
    b.collector("host-0-0", {"host-0-0 mlx5_0"});
    b.fabric.node(b.fabric.find("host-1-0 mlx5_0")).name = forged;
    const GuardVerdict verdict = b.identity();
    EXPECT_EQ(verdict.result, GuardResult::kNeedsPerson) << forged;
    EXPECT_THAT(verdict.explanation, HasSubstr(to_string(b.fabric.nodes()[b.fabric.find(forged)].guid)));
    EXPECT_TRUE(b.orders().empty());
    ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
    b.book->review(b.look());
    const auto orders = b.orders();
    ASSERT_EQ(orders.size(), 1U);
    EXPECT_THAT(orders[0].namesakes, ::testing::IsEmpty());
  }
}

TEST(ForgedNames, AClaimToTheShortNameIsNamedAndAPersonMayApprove) {
  SickHost b;
  b.collector("n1.alpha", {"host-0-0 mlx5_0"});
  const NodeIndex forger = b.fabric.find("host-1-0 mlx5_0");
  b.fabric.node(b.sick).name = "n1.alpha mlx5_0";
  b.fabric.node(forger).name = "n1.evil mlx5_0";
  EXPECT_EQ(b.identity().result, GuardResult::kNeedsPerson);
  EXPECT_EQ(b.identity().explanation, "adapter " + to_string(b.fabric.nodes()[forger].guid) +
                                          " calls itself n1.evil mlx5_0, but neither a collector nor the node name map "
                                          "confirms it; a scheduler may mean it by n1");
  EXPECT_TRUE(b.orders().empty());
  ASSERT_TRUE(b.book->approve(1, 0, "ann", b.look()));
  b.book->review(b.look());
  const auto orders = b.orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_THAT(orders[0].namesakes, ::testing::IsEmpty());
}

TEST(ForgedNames, AHostWhoseAdaptersAreNotSeenIsItsCollectorsWord) {
  Book b;
  b.collector("host-1-9", {});
  b.collector("host-0-0", {"host-0-0 mlx5_0"});
  const NodeIndex forger = b.fabric.find("host-0-0 mlx5_0");
  b.fabric.node(forger).name = "host-1-9 mlx5_0";
  const auto plan = b.book->request(RemedyAction::kDrainNode, host_entity("host-1-9"), "its cable", "ann", b.look());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(b.verdict(*plan, Guard::kIdentity).explanation,
            "its own collector reports it; adapter " + to_string(b.fabric.nodes()[forger].guid) +
                " calls itself host-1-9 mlx5_0, but the collector of host-0-0 reports it as its own");
}

TEST(ForgedNames, TroubleOfAForgersAdapterIsNoReasonToRefuseTheTrueHost) {
  SickHost b(RemedySettings{});
  b.collector("victim", {"host-1-0 mlx5_0"});
  b.fabric.node(b.sick).name = "victim mlx5_0";
  b.book->review(b.look());
  ASSERT_EQ(b.plan(1).target.host, "victim");
  b.collector("host-0-0", {"victim mlx5_0"});
  ASSERT_EQ(b.identity().result, GuardResult::kRefused);
  const auto plan = b.book->request(RemedyAction::kDrainNode, host_entity("victim"), "new memory", "ann", b.look());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->incident, 0U);
  EXPECT_EQ(b.plan(1).state, PlanState::kExpired) << "a person's word stands for it";
}

TEST(ForgedNames, HostsOfACablePlanAreConfirmedNames) {
  fakes::EthernetFabric ethernet;
  ethernet.cable("leaf01", "swp1", "gpu-1.alpha", "eth2");
  ethernet.cable("leaf01", "swp2", "gpu-1.beta", "eth2");
  std::vector<FabricView> fabrics(1);
  fabrics[0].sweep = std::make_shared<const Sweep>(ethernet.sweep());
  RemedyView view;
  view.fabrics = fabrics;
  HostIdentities hosts;
  hosts.update(view);
  EXPECT_THAT(hosts.namesakes("gpu-1.alpha"), ElementsAre("gpu-1.beta"));
}

TEST(ForgedNames, AClaimToTheNameOfAConfirmedHostDeniesItNothing) {
  for (const bool by_guid : {false, true})
    for (const bool has_collector : {false, true}) {
      const Book plain;
      const std::string guid = to_string(plain.fabric.nodes()[plain.fabric.find("host-0-0 mlx5_0")].guid);
      RemedySettings settings;
      settings.deny = {by_guid ? guid : std::string("host-2-0.evil")};
      Forged b(by_guid ? "host-2-0 mlx5_7" : "host-2-0.evil mlx5_0", has_collector, settings);
      ASSERT_EQ(b.guid(), guid);
      const std::string host = by_guid ? "host-2-0" : "host-2-0.alpha";
      b.collector(host, {"host-2-0 mlx5_0"});
      const auto plan = b.book->request(RemedyAction::kDrainNode, host_entity(host), "new memory", "ann", b.look());
      EXPECT_TRUE(plan) << plan.error().message;
    }
}

}  // namespace
}  // namespace weft::analyzer
