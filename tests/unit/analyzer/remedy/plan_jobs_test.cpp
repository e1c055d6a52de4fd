// SPDX-License-Identifier: Apache-2.0
// The jobs of a plan are those that use its target now, whoever asked for it and whenever they began: the budget of a
// job counts by them.

#include <gtest/gtest.h>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

// Only the budget of a job is narrow.
struct WithJobs : Book {
  WithJobs() {
    settings.limits.budget.out_per_job = 1;
    settings.limits.budget.out_per_switch = settings.limits.budget.out_minimum = 10;
    settings.limits.budget.cool_down = 0s;
    CapacityLimits& capacity = settings.limits.capacity;
    capacity.leaf_share_idle = capacity.leaf_share_jobs = capacity.job_share = capacity.rail_share = 0.25;
    book.emplace(settings, RemedyMemory{}, fabric.now());
  }
  // One job on these hosts, and on no others.
  void job(const std::string& name, const std::vector<std::string>& on) {
    hosts.clear();
    for (const std::string& host : on) {
      auto reading = std::make_shared<HostReading>();
      reading->jobs = {name};
      auto view = std::make_shared<HostView>();
      view->host = host;
      view->state = CollectorState::kConnected;
      view->reading = std::move(reading);
      hosts.push_back(std::move(view));
    }
  }
  void review() {
    fabric.advance(1s);
    book->review(look());
  }
  void isolate(const char* leaf, const char* spine) {
    const auto asked = book->request(RemedyAction::kIsolateLink, link(leaf, spine), "why", "ann", look());
    ASSERT_TRUE(asked) << asked.error().message;
    review();
  }
  void carry_out(std::uint64_t id) {
    const auto answer = [&](TargetState state) {
      const auto asked = orders();
      ASSERT_EQ(asked.size(), 1U);
      book->answer_reading(asked[0].number, TargetReading{state, ""}, fabric.now());
      book->review(look());
    };
    answer(TargetState::kClear);
    const auto asked = orders();
    ASSERT_EQ(asked.size(), 1U);
    book->answer_action(asked[0].number, {}, fabric.now());
    const Entity target = plan(id).target;
    fabric.unlink(fabric.topology()->find_port(target.port));
    fabric.route();
    answer(TargetState::kOurs);
    for (int i = 0; i < 5; ++i) review();
    ASSERT_EQ(plan(id).state, PlanState::kCommitted) << plan(id).outcome;
  }
  const std::vector<std::string> train{"train-1"};
};

TEST(PlanJobs, OfWhatAPersonIsolatedCount) {
  WithJobs b;
  b.job("train-1", {"host-0-0", "host-1-0"});
  b.isolate("leaf-0", "spine-0");
  b.carry_out(1);
  EXPECT_EQ(b.plan(1).jobs, b.train);
  b.errors("leaf-0", "spine-1");
  b.review();
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).explanation,
            "maximum of targets of one job isolated, avoided or drained reached: 1 (remedy.limits.budget.out_per_job)");
}

TEST(PlanJobs, OfAHostWhoseAdapterGetsItsNameBackCount) {
  WithJobs b;
  const NodeIndex adapter = b.fabric.find("host-0-0 mlx5_0");
  b.fabric.node(adapter).name = "MT4123 ConnectX6";
  b.job("train-1", {"host-0-0", "host-1-0"});
  b.errors("leaf-0", "spine-0");
  b.review();
  EXPECT_TRUE(b.plan(1).jobs.empty());
  b.fabric.node(adapter).name = "host-0-0 mlx5_0";
  b.review();
  EXPECT_EQ(b.plan(1).jobs, b.train);
}

TEST(PlanJobs, RefuseAPersonsWish) {
  WithJobs b;
  b.job("train-1", {"host-0-0", "host-1-0"});
  b.isolate("leaf-0", "spine-0");
  b.carry_out(1);
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "why", "ann", b.look());
  ASSERT_FALSE(asked);
  EXPECT_TRUE(asked.error().message.starts_with("BUDGET: ")) << asked.error().message;
  const auto seen = b.book->preview(RemedyAction::kIsolateLink, b.link("leaf-1", "spine-1"), "why", "ann", b.look());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->jobs, b.train);
  EXPECT_EQ(b.verdict(*seen, Guard::kBudget).result, GuardResult::kRefused);
}

TEST(PlanJobs, ThatBeganAfterTheProposalCount) {
  WithJobs b;
  b.errors("leaf-0", "spine-0");
  b.review();
  b.job("train-1", {"host-0-0", "host-1-0"});
  const auto approved = b.book->approve(1, 0, "ann", b.look());
  ASSERT_TRUE(approved) << approved.error().message;
  EXPECT_EQ(approved->jobs, b.train) << "as she approves it";
  b.review();
  b.carry_out(1);
  EXPECT_EQ(b.plan(1).jobs, b.train);
}

TEST(PlanJobs, ThatBeganAfterTheLinkWasTakenOutCount) {
  WithJobs b;
  b.isolate("leaf-0", "spine-0");
  b.carry_out(1);
  ASSERT_TRUE(b.plan(1).jobs.empty());
  b.job("train-1", {"host-0-0", "host-1-0"});
  b.errors("leaf-1", "spine-1");
  b.review();
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kRefused);
  b.job("train-2", {"host-1-0", "host-2-0"});
  b.review();
  EXPECT_EQ(b.verdict(b.plan(2), Guard::kBudget).result, GuardResult::kPassed) << "another job";
}

TEST(PlanJobs, ThatNobodyReportsNowAreKept) {
  WithJobs b;
  b.job("train-1", {"host-0-0"});
  b.isolate("leaf-0", "spine-0");
  b.hosts.clear();
  b.review();
  EXPECT_EQ(b.plan(1).jobs, b.train) << "no data is not no job";
}

// Any root can write a NodeDescription, and an adapter may have none of a host.
TEST(PlanJobs, AreFoundByTheAdaptersThatACollectorReports) {
  WithJobs b;
  b.job("train-1", {"gpu-7"});
  b.isolate("leaf-0", "spine-0");
  ASSERT_TRUE(b.plan(1).jobs.empty()) << "nobody says where gpu-7 is";
  auto reading = std::make_shared<HostReading>(*b.hosts[0]->reading);
  auto inventory = std::make_shared<HostInventory>();
  inventory->ports.emplace_back().node_guid = b.fabric.nodes()[b.fabric.find("host-0-0 mlx5_0")].guid;
  reading->inventory = std::move(inventory);
  auto view = std::make_shared<HostView>(*b.hosts[0]);
  view->reading = std::move(reading);
  b.hosts[0] = std::move(view);
  b.review();
  EXPECT_EQ(b.plan(1).jobs, b.train);
}

TEST(PlanJobs, OfAHostAreThoseThatItRuns) {
  WithJobs b;
  b.job("train-1", {"host-0-0.cluster"});
  Entity host;
  host.kind = EntityKind::kHost;
  host.host = host.label = "host-0-0";
  const auto seen = b.book->preview(RemedyAction::kDrainNode, host, "why", "ann", b.look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->jobs, b.train);
}

}  // namespace
}  // namespace weft::analyzer
