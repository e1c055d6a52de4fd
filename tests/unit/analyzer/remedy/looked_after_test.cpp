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
  RemedyView now;
  now.hosts = hosts;
  return is_looked_after(plan, now);
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

TEST(LookedAfter, WhatAReturnThatDidNotLastHolds) {
  Plan back = done(RemedyAction::kRestoreLink);
  back.target = {
      .kind = EntityKind::kLink, .fabric = "f", .port = {NodeGuid{1}, 1}, .peer = {NodeGuid{2}, 2}, .label = "a - b"};
  back.state = PlanState::kRolledBack;
  back.started = TimePoint(std::chrono::hours(2));
  EXPECT_TRUE(looked_after(back));
  const auto incident = [&](std::uint64_t id, int hour, PortKey end) {
    auto one = std::make_shared<Incident>();
    one->id = id;
    one->finding.kind = IncidentKind::kLinkDown;
    one->finding.cause = {.kind = EntityKind::kPort, .fabric = "f", .port = end, .peer = {}, .label = "a"};
    one->beginnings = {TimePoint(std::chrono::hours(hour))};
    return one;
  };
  const std::vector<std::shared_ptr<const Incident>> all{
      incident(1, 1, {NodeGuid{1}, 1}), incident(2, 3, {NodeGuid{1}, 1}), incident(3, 3, {NodeGuid{1}, 7}),
      incident(4, 1, {NodeGuid{2}, 2})};
  EXPECT_EQ(incidents_of(back, all), (std::vector<std::uint64_t>{1, 2})) << "its own, and what it failed on";
  back.incident = 0;
  EXPECT_EQ(incidents_of(back, all), (std::vector<std::uint64_t>{2}));
  back.action = RemedyAction::kIsolateLink;
  EXPECT_EQ(incidents_of(back, all), (std::vector<std::uint64_t>{})) << "a person's, for no incident";
}

TEST(LookedAfter, ADrainedHostWhenItsLastJobHasEnded) {
  const Plan drained = done(RemedyAction::kDrainNode);
  EXPECT_FALSE(looked_after(drained, host({"slurm:1"}))) << "that job suffers as before";
  EXPECT_TRUE(looked_after(drained, host({})));
  EXPECT_TRUE(looked_after(drained, host({"slurm:1"}, CollectorState::kSilent))) << "what it told is old";
}

}  // namespace
}  // namespace weft::analyzer
