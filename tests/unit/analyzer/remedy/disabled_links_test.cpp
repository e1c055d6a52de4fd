// SPDX-License-Identifier: Apache-2.0
// Links that somebody else disabled count for the budgets, also where a discovery after it knows no cable of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/probation.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct DisabledLinks : Book {
  // Two links of leaf-0 are disabled at the spine, and then everything is discovered anew.
  DisabledLinks() {
    for (const char* spine : {"spine-0", "spine-1"}) {
      links.push_back(link("leaf-0", spine));
      const PortIndex end = fabric.port_towards(spine, "leaf-0");
      fabric.unlink(end);
      fabric.port(end).physical_state = PortPhysicalState::kDisabled;
    }
    fabric.rediscover();
    fabric.route();
    settings.limits.budget.out_per_switch = 2;
    book.emplace(settings, RemedyMemory{}, fabric.now());
  }
  void report(Finding finding) {
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding = std::move(finding);
    incident->finding.kind = IncidentKind::kLinkDown;
    incident->finding.severity = Severity::kInfo;
    incident->opened = incident->updated = fabric.now();
    incidents.push_back(std::move(incident));
  }
  GuardVerdict budget(const std::optional<CablingDifferences>& cabling = {}) {
    RemedyView view = look();
    if (cabling) views[0].cabling = std::make_shared<const CablingDifferences>(*cabling);
    const auto seen = book->preview(RemedyAction::kIsolateLink, link("leaf-0", "spine-2"), "why", "ann", view);
    EXPECT_TRUE(seen) << seen.error().message;
    return seen ? verdict(*seen, Guard::kBudget) : GuardVerdict{};
  }
  std::vector<Entity> links;
};

TEST(DisabledLinks, NobodyKnowsWithoutACable) {
  DisabledLinks b;
  EXPECT_EQ(b.budget().result, GuardResult::kPassed) << "unused ports are disabled as well";
}

// The last sweep may have read it before it was given back.
TEST(DisabledLinks, OfAReturnUnderWayAreNobodyElsesUntilTheyAreSwept) {
  Isolated b;
  b.fabric.port(b.end).physical_state = PortPhysicalState::kDisabled;
  b.sweeps(1);
  ASSERT_TRUE(b.book->request(RemedyAction::kRestoreLink, b.target, "", "ann", b.look()));
  b.tell(TargetState::kOurs);
  b.act();
  const std::uint64_t order = b.next();
  b.book->answer_reading(order, TargetReading{TargetState::kClear, ""}, b.fabric.now());
  const auto by_others = [&b] {
    RemedyStatus status;
    b.book->add_out_by_others(status);
    return status.links_out_by_others;
  };
  b.no_sweeps(1);
  ASSERT_EQ(b.plan(2).state, PlanState::kVerifying);
  EXPECT_THAT(by_others(), testing::IsEmpty());
  b.sweeps(1);
  EXPECT_EQ(by_others().size(), 1U) << "somebody disabled it again";
}

/// What was isolated, or made to be avoided, and given back now, as the store has it.
std::size_t by_others_after(DisabledLinks& b, RemedyAction action, const Entity& target, Duration told_ago) {
  RemedyMemory memory;
  Plan& plan = memory.plans.emplace_back();
  plan.id = 1;
  plan.action = action;
  plan.target = target;
  plan.actuator = "ufm";
  plan.requested_by = "ann";
  plan.state = PlanState::kRolledBack;
  plan.outcome = "aborted by ann: no";
  const RemedyView view = b.look();
  plan.created = plan.started = view.now - 1min;
  plan.finished = view.now;
  plan.steps.push_back({view.now, PlanState::kRolledBack, "weftd", "it was read to be given back"});
  b.book.emplace(b.settings, memory, view.now);
  if (action == RemedyAction::kRaiseLinkCost)
    b.book->set_avoided_ports("ufm", {{target.port}, *view.steady - told_ago});
  b.book->review(view);
  RemedyStatus status;
  b.book->add_out_by_others(status);
  return status.links_out_by_others.size();
}

TEST(DisabledLinks, ThatAPlanGaveBackAreNobodyElsesUntilTheyAreReadAnew) {
  DisabledLinks b;
  for (const Entity& link : b.links) {
    Finding finding;
    finding.cause = link;
    b.report(std::move(finding));
  }
  b.look();
  EXPECT_EQ(by_others_after(b, RemedyAction::kIsolateLink, b.links[0], 0s), 1U) << "the other one";
  b.book->review(b.look());
  RemedyStatus status;
  b.book->add_out_by_others(status);
  EXPECT_EQ(status.links_out_by_others.size(), 2U) << "it is disabled still";
  const Entity costly = b.link("leaf-1", "spine-3");
  EXPECT_EQ(by_others_after(b, RemedyAction::kRaiseLinkCost, costly, 20s), 2U);
  EXPECT_EQ(by_others_after(b, RemedyAction::kRaiseLinkCost, costly, -1s), 3U) << "it was told since";
}

TEST(DisabledLinks, CountWhereAnIncidentHasThem) {
  DisabledLinks b;
  for (const Entity& link : b.links) {
    EXPECT_EQ(b.budget().result, GuardResult::kPassed);
    Finding finding;
    finding.cause = link;
    b.report(std::move(finding));
  }
  EXPECT_EQ(
      b.budget().explanation,
      "maximum of links of one switch isolated or avoided reached: 2 at leaf-0 (remedy.limits.budget.out_per_switch), "
      "with 2 links that others took out");
}

TEST(DisabledLinks, AreNamedInTheStatus) {
  DisabledLinks b;
  b.book->review(b.look());
  EXPECT_EQ(b.book->status(b.fabric.now()).out_by_others, 0U);
  for (const Entity& link : b.links) {
    Finding finding;
    finding.cause = link;
    b.report(std::move(finding));
  }
  b.book->set_avoided_ports("ufm", {{b.link("leaf-1", "spine-3").port}, *b.look().steady});
  b.book->review(b.look());
  const RemedyStatus status = b.book->status(b.fabric.now());
  EXPECT_EQ(status.out_by_others, 3U);
  EXPECT_THAT(status.links_out_by_others,
              ::testing::ElementsAre("spine-0 port 1 - leaf-0 port 1", "spine-1 port 1 - leaf-0 port 2",
                                     "spine-3 port 2 - leaf-1 port 4"));
}

TEST(DisabledLinks, CountOnceWhereTheyAreAffectedByMore) {
  DisabledLinks b;
  Finding finding;
  finding.cause = b.links[0];
  finding.affected = {b.links[0]};
  b.report(finding);
  EXPECT_EQ(b.budget().result, GuardResult::kPassed) << "one link";
  finding.affected = b.links;
  b.report(finding);
  EXPECT_EQ(b.budget().result, GuardResult::kRefused);
}

TEST(DisabledLinks, CountWhereTheyArePlanned) {
  DisabledLinks b;
  CablingDifferences cabling;
  for (const Entity& link : b.links) cabling.missing.push_back({{link.port, ""}, {link.peer, ""}});
  EXPECT_EQ(b.budget(cabling).result, GuardResult::kRefused);
  EXPECT_EQ(b.budget().result, GuardResult::kPassed);
}

TEST(DisabledLinks, OnesThatAreOnlyDownDoNotCount) {
  DisabledLinks b;
  for (const Entity& link : b.links) {
    for (const PortKey end : {link.port, link.peer})
      b.fabric.port(b.fabric.topology()->find_port(end)).physical_state = PortPhysicalState::kPolling;
    Finding finding;
    finding.cause = link;
    b.report(std::move(finding));
  }
  EXPECT_EQ(b.budget().result, GuardResult::kPassed);
}

}  // namespace
}  // namespace weft::analyzer
