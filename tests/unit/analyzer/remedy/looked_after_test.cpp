// SPDX-License-Identifier: Apache-2.0
// Which incidents wait for nobody's decision, because a plan looks after them.

#include <gtest/gtest.h>

#include "analyzer/remedy/guards.hpp"
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
  EXPECT_EQ(incidents_of(back, all), (std::vector<std::uint64_t>{1, 4}))
      << "what was open on the link that it took out";
  back.action = RemedyAction::kRaiseLinkCost;
  EXPECT_EQ(incidents_of(back, all), (std::vector<std::uint64_t>{})) << "the link stays up";
}

TEST(LookedAfter, ADrainedHostWhenItsLastJobHasEnded) {
  const Plan drained = done(RemedyAction::kDrainNode);
  EXPECT_FALSE(looked_after(drained, host({"slurm:1"}))) << "that job suffers as before";
  EXPECT_TRUE(looked_after(drained, host({})));
  EXPECT_TRUE(looked_after(drained, host({"slurm:1"}, CollectorState::kSilent))) << "what it told is old";
}

/// PLAN-1 isolated a link, and acknowledged an incident.
struct LetGo {
  LetGo() {
    plans[0].target = {
        .kind = EntityKind::kLink, .fabric = "f", .port = {NodeGuid{1}, 1}, .peer = {NodeGuid{2}, 2}, .label = "a - b"};
    plans[0].started = TimePoint(std::chrono::hours(1));
    incident.id = 1;
    incident.state = IncidentState::kAcknowledged;
    incident.acknowledged_by = caretaker_text(1);
  }
  Plan& add(RemedyAction action, PlanState state, bool in_force = false) {
    Plan plan = done(action);
    plan.id = plans.size() + 1;
    plan.target = plans[0].target;
    plan.undoes = takes_out(action) ? 0 : plan.id - 1;
    plan.inverse = takes_out(action) ? RemedyAction::kNothing : RemedyAction::kIsolateLink;
    plan.state = state;
    plan.in_force = in_force;
    plan.started = TimePoint(std::chrono::hours(2));
    return plans.emplace_back(std::move(plan));
  }
  std::string text() const {
    std::vector<std::shared_ptr<const Plan>> all;
    for (const Plan& plan : plans) all.push_back(std::make_shared<const Plan>(plan));
    return let_go_text(incident, all);
  }
  std::vector<Plan> plans{done(RemedyAction::kIsolateLink)};
  Incident incident;
};

TEST(LookedAfter, NoMoreWhenAReturnHasEndedThatDidNotLeaveItOut) {
  LetGo b;
  EXPECT_EQ(b.text(), "");
  b.add(RemedyAction::kRestoreLink, PlanState::kExecuting);
  EXPECT_EQ(b.text(), "");
  b.plans[0].in_force = false;
  b.plans[1].state = PlanState::kVerifying;
  EXPECT_EQ(b.text(), "") << "it may go out again";
  b.plans[1].state = PlanState::kCommitted;
  EXPECT_EQ(b.text(), "PLAN-1 looks after it no more: PLAN-2 brought its target back");
  b.plans[1].state = PlanState::kFailed;
  b.plans[1].outcome = "it failed again and cannot be taken out of service again";
  EXPECT_EQ(b.text(),
            "PLAN-1 looks after it no more: PLAN-2 FAILED: it failed again and cannot be taken out of service again");
  b.plans[1].state = PlanState::kRolledBack;
  b.plans[1].in_force = true;
  EXPECT_EQ(b.text(), "") << "it is out again";
  b.plans[1].in_force = false;
  EXPECT_EQ(b.text(), "PLAN-1 looks after it no more: somebody else enabled the link again");
  b.plans.erase(b.plans.begin());
  EXPECT_EQ(b.text(), "PLAN-1 looks after it no more") << "it is forgotten";
}

TEST(LookedAfter, AsLongAsAReturnThatFailedLeftItOut) {
  LetGo b;
  b.add(RemedyAction::kRestoreLink, PlanState::kFailed).outcome = "not done: no directed route";
  EXPECT_EQ(b.text(), "");
}

TEST(LookedAfter, WhatAPersonAcknowledgedIsThatPersonsMatter) {
  LetGo b;
  b.plans[0].in_force = false;
  EXPECT_EQ(b.text(), "PLAN-1 looks after it no more: somebody else enabled the link again");
  b.incident.acknowledged_by = "ann";
  EXPECT_EQ(b.text(), "");
  b.incident.acknowledged_by = "weftd (me)";
  EXPECT_EQ(b.text(), "");
  b.incident.state = IncidentState::kOpen;
  EXPECT_EQ(b.text(), "");
}

}  // namespace
}  // namespace weft::analyzer
