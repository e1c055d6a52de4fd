// SPDX-License-Identifier: Apache-2.0
// Which incidents wait for nobody's decision, because a plan looks after them.

#include <gtest/gtest.h>

#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

Plan done(RemedyAction action) {
  Plan plan;
  plan.id = 1;
  plan.incident = 1;
  plan.action = action;
  plan.state = PlanState::kCommitted;
  plan.in_force = true;
  plan.target.kind = EntityKind::kHost;
  plan.target.host = "n1";
  return plan;
}

std::shared_ptr<HostView> host(std::vector<std::string> jobs, CollectorState state = CollectorState::kConnected) {
  auto reading = std::make_shared<HostReading>();
  reading->jobs = std::move(jobs);
  auto view = std::make_shared<HostView>();
  view->host = "n1";
  view->state = state;
  view->reading = std::move(reading);
  return view;
}

bool looked_after(const Plan& plan, std::shared_ptr<const HostView> view = nullptr) {
  std::vector<std::shared_ptr<const HostView>> hosts;
  if (view) hosts.push_back(std::move(view));
  return is_looked_after(plan, hosts);
}

TEST(LookedAfter, WhatIsOutWithSuccess) {
  for (const RemedyAction action :
       {RemedyAction::kIsolateLink, RemedyAction::kRaiseLinkCost, RemedyAction::kDrainNode}) {
    Plan plan = done(action);
    EXPECT_TRUE(looked_after(plan)) << to_string(action);
    plan.in_force = false;
    EXPECT_FALSE(looked_after(plan)) << "somebody took it back";
    plan = done(action);
    plan.state = PlanState::kVerifying;
    EXPECT_FALSE(looked_after(plan)) << "it is not known whether it helps";
  }
  EXPECT_FALSE(looked_after(done(RemedyAction::kRestoreLink)));
  EXPECT_FALSE(looked_after(done(RemedyAction::kUndrainNode)));
}

TEST(LookedAfter, ADrainedHostWhenItsLastJobHasEnded) {
  const Plan drained = done(RemedyAction::kDrainNode);
  EXPECT_FALSE(looked_after(drained, host({"slurm:1"}))) << "that job suffers as before";
  EXPECT_TRUE(looked_after(drained, host({})));
  EXPECT_TRUE(looked_after(drained, host({"slurm:1"}, CollectorState::kSilent))) << "what it told is old";
}

}  // namespace
}  // namespace weft::analyzer
