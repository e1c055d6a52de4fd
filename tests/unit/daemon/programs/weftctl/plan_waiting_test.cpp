// SPDX-License-Identifier: Apache-2.0
// Plans that ended otherwise than they were to, and a weftd that is started anew while one is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;
using api::make_plan;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// An action that a person aborted, of which nobody knew whether it was in force.
class Aborted : public Verbs {
 protected:
  Aborted() {
    plan.action = RemedyAction::kDrainNode;
    plan.target = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "gpu-1", .host = "gpu-1"};
    plan.incident = 0;
    plan.started = api::kNow - 1h;
    plan.reason = "new memory";
    plan.outcome = "aborted by ann: wrong host";
  }
  void publish() { publication.publish(api::with_plans(api::make_snapshot(++revision, {}), {plan})); }
  Exit abort() {
    publish();
    std::ostringstream out;
    return abort_plan(Session{*client, out, false, true, false, api::kNow},
                      {.id = "1", .reason = "wrong host", .who = "ann", .wait = 30s});
  }
  std::uint64_t revision = 0;
  Plan plan = make_plan(1, PlanState::kRolledBack);
};

TEST_F(Aborted, IsGoodNewsOnlyWhereItIsKnownToBeUndone) {
  EXPECT_EQ(abort(), Exit::kGood);
  plan.unresolved = true;
  EXPECT_EQ(abort(), Exit::kBadNews);
  plan.unresolved = false;
  plan.in_force = true;
  EXPECT_EQ(abort(), Exit::kBadNews);
}

TEST_F(Aborted, IsListedWhenItIsInForceAfterAll) {
  plan.in_force = true;
  publish();
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              AllOf(HasSubstr("ROLLED_BACK (in force after all)"), HasSubstr("aborted by ann: wrong host")));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false),
              AllOf(HasSubstr("new memory; PLAN-1 is in force after all: aborted by ann: wrong host"),
                    HasSubstr("weftctl undrain gpu-1")));
  plan.in_force = false;
  publish();
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), Not(HasSubstr("PLAN-1")));
}

// Its state could not be read when it ended.
TEST_F(Aborted, IsListedWhenItFailedAndIsInForceAfterAll) {
  plan.state = PlanState::kFailed;
  plan.outcome = "aborted by ann: wrong host; check it by hand, its state cannot be read: no answer";
  plan.in_force = true;
  publish();
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              AllOf(HasSubstr("FAILED (in force after all)"), HasSubstr("aborted by ann: wrong host")));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false),
              AllOf(HasSubstr("new memory; PLAN-1 is in force after all: aborted by ann: wrong host"),
                    HasSubstr("weftctl undrain gpu-1")));
  EXPECT_THAT(say(Exit::kGood, show_plan, std::string("1")), HasSubstr("FAILED (in force after all)"));
  EXPECT_EQ(abort(), Exit::kBadNews);
  plan.unresolved = true;
  publish();
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), HasSubstr("FAILED (unresolved)"));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false), Not(HasSubstr("after all")));
}

TEST_F(Aborted, AndLeftInServiceIsWhatWasAskedForWhereNothingHoldsIt) {
  const auto left = [this](RemedyAction action, PlanState state) {
    plan.action = action;
    plan.state = state;
    plan.outcome = "left in service by ann: new cable; its probation was not over";
    publish();
    std::ostringstream out;
    v1::Plan before;
    before.set_id("PLAN-1");
    before.set_state(v1::Plan::VERIFYING);
    return wait_for_plan(Session{*client, out, false, true, false, api::kNow}, before, 30s, Wished::kLeft);
  };
  std::ostringstream out;
  EXPECT_EQ(abort_plan(Session{*client, out, false, true, false, api::kNow},
                       {.id = "1", .reason = "new cable", .who = "ann", .wait = 30s, .leave = true}),
            Exit::kGood);
  EXPECT_EQ(left(RemedyAction::kUndrainNode, PlanState::kCommitted), Exit::kGood);
  EXPECT_EQ(left(RemedyAction::kUndrainNode, PlanState::kRejected), Exit::kGood) << "it had failed, and waited";
  EXPECT_EQ(left(RemedyAction::kDrainNode, PlanState::kRolledBack), Exit::kGood);
  EXPECT_EQ(left(RemedyAction::kUndrainNode, PlanState::kFailed), Exit::kBadNews);
  plan.unresolved = true;
  EXPECT_EQ(left(RemedyAction::kUndrainNode, PlanState::kRejected), Exit::kBadNews);
}

/// A weftd that is stopped while it answers, and started again.
class Restarted final : public v1::RemedyService::Service {
 public:
  Restarted() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  grpc::Status GetPlan(grpc::ServerContext*, const v1::GetPlanRequest*, v1::Plan* plan) override {
    if (++calls_ < 3) return grpc::Status::CANCELLED;
    plan->set_id("PLAN-1");
    plan->set_state(v1::Plan::COMMITTED);
    return grpc::Status::OK;
  }
  grpc::Status RejectPlan(grpc::ServerContext*, const v1::RejectPlanRequest*, v1::Plan*) override {
    return grpc::Status::CANCELLED;
  }

 private:
  int calls_ = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(AWeftdThatStops, IsAskedAgainByWhoWaitsForAPlan) {
  Restarted weftd;
  Client client(weftd.address());
  std::ostringstream out;
  v1::Plan plan;
  plan.set_id("PLAN-1");
  plan.set_state(v1::Plan::VERIFYING);
  EXPECT_EQ(wait_for_plan(Session{client, out, false, true, false, api::kNow}, plan, 30s, Wished::kDone), Exit::kGood);
  EXPECT_THAT(out.str(),
              HasSubstr("it ended the call: it stops, or is started anew; --server names another; asking again\n"));
}

// What it said last may have changed since.
TEST(AWeftdThatStops, AndStaysAwayIsNotSaidToBeAtThePlanStill) {
  Client client("127.0.0.1:1");
  v1::Plan plan;
  plan.set_id("PLAN-1");
  plan.set_state(v1::Plan::ROLLING_BACK);
  for (const bool json : {false, true}) {
    std::ostringstream out;
    try {
      wait_for_plan(Session{client, out, json, true, false, api::kNow}, plan, 1s, Wished::kUndone);
      ADD_FAILURE() << out.str();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, Exit::kUnreachable);
      EXPECT_THAT(failure.what(), AllOf(HasSubstr("weftd does not answer since 20"),
                                        HasSubstr("; PLAN-1 was ROLLING_BACK when it last did")));
    }
  }
}

TEST(ASocketOfThisHost, HasNoTlsToBeTold) {
  EXPECT_EQ(reason_not_reached("Socket closed", "unix:/run/weft/weftd.sock"), "it ended the connection");
  EXPECT_EQ(reason_not_reached("Socket closed", "mgmt1:9641"),
            "Socket closed (a weftd with TLS takes --ca, and one without does not)");
}

TEST(AWeftdThatStops, LeavesItOpenWhetherAnOrderWasTaken) {
  Restarted weftd;
  Client client(weftd.address());
  std::ostringstream out;
  try {
    reject_plan(Session{client, out, false, true, false, api::kNow}, {.id = "1", .reason = "no", .who = "ann"});
    ADD_FAILURE() << out.str();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::kUnreachable);
    EXPECT_THAT(failure.what(),
                HasSubstr("it ended the call: it stops, or is started anew; check whether it was done"));
  }
}

}  // namespace
}  // namespace weft::ctl
