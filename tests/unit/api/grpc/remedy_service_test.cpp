// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/grpc/server.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"
#include "weft/v1/remedy.grpc.pb.h"

namespace weft::api {
namespace {

using Stub = v1::RemedyService::Stub;

class Remedies : public ::testing::Test {
 protected:
  Remedies() {
    GrpcOptions options;
    options.port = 0;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return;
    }
    server = std::move(*started);
    const auto channel =
        grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
    stub = v1::RemedyService::NewStub(channel);
  }
  static void limit(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }
  template <typename Request, typename Response>
  grpc::Status call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response& response) {
    grpc::ClientContext context;
    limit(context);
    return (stub.get()->*method)(&context, request, &response);
  }

  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  RecordingSink sink;
  StillClock clock;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<Stub> stub;
};

TEST_F(Remedies, APlanIsShownWhole) {
  Plan plan = make_plan(7, PlanState::kVerifying, 4);
  plan.undoes = 3;
  plan.approved_by = "ann";
  plan.started = kNow - std::chrono::seconds(5);
  plan.intent = PlanIntent::kApply;
  plan.in_force = true;
  plan.windows_good = 2;
  plan.windows_needed = 5;
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(6), plan}));
  v1::GetPlanRequest request;
  request.set_id("plan-7");
  v1::Plan shown;
  ASSERT_TRUE(call(&Stub::GetPlan, request, shown).ok());
  EXPECT_EQ(shown.id(), "PLAN-7");
  EXPECT_EQ(shown.revision(), 4U);
  EXPECT_EQ(shown.state(), v1::Plan::VERIFYING);
  EXPECT_EQ(shown.action(), v1::Plan::ISOLATE_LINK);
  EXPECT_EQ(shown.target().kind(), v1::Entity::LINK);
  EXPECT_EQ(shown.incident_id(), "INC-1");
  EXPECT_EQ(shown.undoes(), "PLAN-3");
  ASSERT_EQ(shown.candidates_size(), 2);
  EXPECT_EQ(shown.candidates(1).action(), v1::Plan::NOTHING);
  EXPECT_EQ(shown.candidates(1).harm_ratio(), 0.2);
  ASSERT_EQ(shown.guards_size(), 2);
  EXPECT_EQ(shown.guards(1).guard(), v1::GuardVerdict::BUDGET);
  EXPECT_EQ(shown.guards(1).result(), v1::GuardVerdict::NOT_NEEDED);
  ASSERT_EQ(shown.steps_size(), 1);
  EXPECT_EQ(shown.steps(0).state(), v1::Plan::PROPOSED);
  EXPECT_EQ(shown.intent(), v1::Plan::APPLY);
  EXPECT_TRUE(shown.in_force());
  EXPECT_FALSE(shown.refused());
  EXPECT_TRUE(shown.has_started());
  EXPECT_FALSE(shown.has_finished()) << "it is not over";
  EXPECT_EQ(shown.windows_needed(), 5U);
  request.set_id("8");
  EXPECT_EQ(call(&Stub::GetPlan, request, shown).error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_id("INC-7");
  EXPECT_EQ(call(&Stub::GetPlan, request, shown).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Remedies, ListsArePagedAndChosenFrom) {
  std::vector<Plan> plans;
  for (std::uint64_t id = 1; id <= 7; ++id) plans.push_back(make_plan(id, static_cast<PlanState>(id % 2 == 0 ? 5 : 0)));
  plans[2].action = RemedyAction::kDrainNode;
  v1::ListPlansRequest request;
  v1::ListPlansResponse page;
  ASSERT_TRUE(call(&Stub::ListPlans, request, page).ok()) << "no picture yet, no plans";
  EXPECT_EQ(page.plans_size(), 0);
  publication.publish(with_plans(make_snapshot(1, {}), plans));
  request.set_page_size(2);
  request.add_states(v1::Plan::PROPOSED);
  std::vector<std::string> seen;
  do {
    ASSERT_TRUE(call(&Stub::ListPlans, request, page).ok());
    EXPECT_LE(page.plans_size(), 2);
    for (const v1::Plan& plan : page.plans()) seen.push_back(plan.id());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"PLAN-1", "PLAN-3", "PLAN-5", "PLAN-7"}));
  request.add_actions(v1::Plan::DRAIN_NODE);
  ASSERT_TRUE(call(&Stub::ListPlans, request, page).ok());
  ASSERT_EQ(page.plans_size(), 1);
  EXPECT_EQ(page.plans(0).id(), "PLAN-3");
  request.set_page_token("x");
  EXPECT_EQ(call(&Stub::ListPlans, request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.clear_page_token();
  request.set_page_size(-1);
  EXPECT_EQ(call(&Stub::ListPlans, request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Remedies, WatchGivesThePlansThenChanges) {
  publication.publish(with_plans(make_snapshot(1, {}), {make_plan(1), make_plan(2, PlanState::kCommitted)}));
  grpc::ClientContext context;
  limit(context);
  const auto stream = stub->WatchPlans(&context, v1::WatchPlansRequest());
  v1::WatchPlansResponse event;
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchPlansResponse::INITIAL);
  EXPECT_EQ(event.plan().id(), "PLAN-1");
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchPlansResponse::INITIAL_COMPLETE);
  publication.publish(with_plans(make_snapshot(2, {}), {make_plan(1, PlanState::kRejected, 2)}));
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchPlansResponse::CHANGED);
  EXPECT_EQ(event.plan().state(), v1::Plan::REJECTED);
  publication.publish(with_plans(make_snapshot(3, {}), {}));
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchPlansResponse::REMOVED);
  EXPECT_EQ(event.plan().id(), "PLAN-1") << "of PLAN-2 nobody was told";
  server->stop();
  EXPECT_FALSE(stream->Read(&event));
}

TEST_F(Remedies, ApprovalNamesWhatWasRead) {
  v1::ApprovePlanRequest request;
  v1::Plan plan;
  request.set_id("PLAN-1");
  request.set_who("ann");
  request.set_revision(4);
  grpc::Status status = call(&Stub::ApprovePlan, request, plan);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "PLAN-1 is of revision 5 by now");
  request.set_revision(5);
  ASSERT_TRUE(call(&Stub::ApprovePlan, request, plan).ok());
  EXPECT_EQ(plan.state(), v1::Plan::APPROVED);
  EXPECT_EQ(remedies.last().who, "ann");
  request.clear_who();
  request.clear_revision();
  ASSERT_TRUE(call(&Stub::ApprovePlan, request, plan).ok());
  EXPECT_NE(remedies.last().who.find("127.0.0.1"), std::string::npos) << remedies.last().who;
  request.set_id("2");
  status = call(&Stub::ApprovePlan, request, plan);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "guard LEAF_CAPACITY: leaf-1 keeps 7 of 8") << "the guard's own words";
  request.set_id("4");
  EXPECT_EQ(call(&Stub::ApprovePlan, request, plan).error_code(), grpc::StatusCode::NOT_FOUND);
  const std::size_t before = remedies.times();
  request.set_id("the first one");
  EXPECT_EQ(call(&Stub::ApprovePlan, request, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(remedies.times(), before);
}

TEST_F(Remedies, ReasonsAreGivenAndBounded) {
  v1::RejectPlanRequest request;
  v1::Plan plan;
  request.set_id("PLAN-1");
  for (const std::string& reason : {std::string(), std::string(" \n\t "), std::string(1025, 'x')}) {
    request.set_reason(reason);
    EXPECT_EQ(call(&Stub::RejectPlan, request, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << reason;
  }
  EXPECT_EQ(remedies.times(), 0U);
  request.set_reason(std::string(1024, 'x'));
  request.set_who(std::string(300, 'w'));
  ASSERT_TRUE(call(&Stub::RejectPlan, request, plan).ok());
  EXPECT_EQ(plan.state(), v1::Plan::REJECTED);
  EXPECT_EQ(remedies.last().why.size(), 1024U);
  EXPECT_EQ(remedies.last().who.size(), 256U);
  v1::AbortPlanRequest abort;
  abort.set_id("PLAN-1");
  EXPECT_EQ(call(&Stub::AbortPlan, abort, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << "no reason";
  abort.set_reason("wrong cable");
  ASSERT_TRUE(call(&Stub::AbortPlan, abort, plan).ok());
  EXPECT_EQ(plan.state(), v1::Plan::ROLLING_BACK);
}

TEST_F(Remedies, APersonsWishIsPassedOn) {
  v1::Plan plan;
  v1::IsolateLinkRequest isolate;
  isolate.set_link("leaf-1:7");
  EXPECT_EQ(call(&Stub::IsolateLink, isolate, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << "no reason";
  isolate.set_reason("new cable");
  ASSERT_TRUE(call(&Stub::IsolateLink, isolate, plan).ok());
  EXPECT_EQ(plan.action(), v1::Plan::ISOLATE_LINK);
  EXPECT_EQ(remedies.last().target, "leaf-1:7");
  EXPECT_EQ(remedies.last().why, "new cable");
  for (const std::string& link : {std::string(), std::string(257, 'l')}) {
    isolate.set_link(link);
    EXPECT_EQ(call(&Stub::IsolateLink, isolate, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  v1::RestoreLinkRequest restore;
  restore.set_link("0x10:7");
  ASSERT_TRUE(call(&Stub::RestoreLink, restore, plan).ok()) << "putting back needs no reason";
  EXPECT_EQ(remedies.last().action, RemedyAction::kRestoreLink);
  v1::DrainNodeRequest drain;
  drain.set_node("nobody");
  drain.set_reason("disk");
  EXPECT_EQ(call(&Stub::DrainNode, drain, plan).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(remedies.last().action, RemedyAction::kDrainNode);
  v1::UndrainNodeRequest undrain;
  undrain.set_node("host-1");
  undrain.set_who("kim");
  ASSERT_TRUE(call(&Stub::UndrainNode, undrain, plan).ok());
  EXPECT_EQ(remedies.last().action, RemedyAction::kUndrainNode);
  EXPECT_EQ(remedies.last().who, "kim");
}

TEST_F(Remedies, ALinksCostIsRaisedAndLowered) {
  v1::Plan plan;
  v1::RaiseLinkCostRequest raise;
  raise.set_link("leaf-1:7");
  EXPECT_EQ(call(&Stub::RaiseLinkCost, raise, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << "no reason";
  raise.set_reason("slow");
  ASSERT_TRUE(call(&Stub::RaiseLinkCost, raise, plan).ok());
  EXPECT_EQ(plan.action(), v1::Plan::RAISE_LINK_COST);
  EXPECT_EQ(remedies.last().target, "leaf-1:7");
  EXPECT_FALSE(remedies.last().only_cost);
  v1::LowerLinkCostRequest lower;
  lower.set_link("leaf-1:7");
  ASSERT_TRUE(call(&Stub::LowerLinkCost, lower, plan).ok());
  EXPECT_EQ(remedies.last().action, RemedyAction::kRestoreLink);
  EXPECT_TRUE(remedies.last().only_cost) << "an isolated link is none of its business";
}

TEST_F(Remedies, ADryRunNeedsNoReasonAndMakesNoPlan) {
  v1::Plan plan;
  v1::IsolateLinkRequest isolate;
  isolate.set_link("leaf-1:7");
  isolate.set_dry_run(true);
  ASSERT_TRUE(call(&Stub::IsolateLink, isolate, plan).ok());
  EXPECT_TRUE(remedies.last().dry_run);
  EXPECT_EQ(plan.id(), "");
  isolate.set_reason(std::string(1025, 'r'));
  EXPECT_EQ(call(&Stub::IsolateLink, isolate, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  isolate.clear_link();
  EXPECT_EQ(call(&Stub::IsolateLink, isolate, plan).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::DrainNodeRequest drain;
  drain.set_node("host-1");
  drain.set_dry_run(true);
  ASSERT_TRUE(call(&Stub::DrainNode, drain, plan).ok());
  EXPECT_TRUE(remedies.last().dry_run);
}

TEST_F(Remedies, AutomationIsStoppedAndGoesOn) {
  v1::SetHandsOffRequest request;
  v1::RemedyStatus status;
  request.set_hands_off(true);
  EXPECT_EQ(call(&Stub::SetHandsOff, request, status).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_reason("a visitor");
  request.set_who("kim");
  ASSERT_TRUE(call(&Stub::SetHandsOff, request, status).ok());
  EXPECT_TRUE(status.hands_off());
  EXPECT_EQ(status.hands_off_reason(), "kim: a visitor");
  EXPECT_TRUE(remedies.last().hands_off);
  request.set_hands_off(false);
  ASSERT_TRUE(call(&Stub::SetHandsOff, request, status).ok());
  EXPECT_FALSE(status.hands_off());
  v1::ResetBreakerRequest reset;
  reset.set_reason("looked");
  EXPECT_EQ(call(&Stub::ResetBreaker, reset, status).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  auto snapshot = make_snapshot(1, {});
  snapshot->remedy = {true, "x", true, "40 links in 5 min", kNow, {}, "/run/stop exists", {}, kNever, 3, 4, 2};
  snapshot->remedy.silent_managers = {{"ib0", kNow}};
  snapshot->remedy.proposed = {RemedyAction::kIsolateLink};
  snapshot->remedy.under_way = {{7, RemedyAction::kDrainNode, "n1", kNow}};
  publication.publish(snapshot);
  ASSERT_TRUE(call(&Stub::GetStatus, v1::GetRemedyStatusRequest(), status).ok());
  EXPECT_EQ(status.hands_off_reason(), "x; /run/stop exists");
  EXPECT_EQ(status.hands_off_by_person(), "x");
  EXPECT_EQ(status.hands_off_by_file(), "/run/stop exists");
  ASSERT_EQ(status.silent_managers_size(), 1);
  EXPECT_EQ(status.silent_managers(0), "ib0");
  ASSERT_EQ(status.silent_since_size(), 1);
  EXPECT_EQ(status.silent_since(0).seconds(), 1'700'000'000);
  ASSERT_EQ(status.proposed_size(), 1);
  EXPECT_EQ(status.proposed(0), v1::Plan::ISOLATE_LINK);
  ASSERT_EQ(status.under_way_size(), 1);
  EXPECT_EQ(status.under_way(0).plan_id(), "PLAN-7");
  EXPECT_EQ(status.under_way(0).action(), v1::Plan::DRAIN_NODE);
  EXPECT_EQ(status.under_way(0).target(), "n1");
  EXPECT_TRUE(status.breaker_tripped());
  EXPECT_EQ(status.breaker_reason(), "40 links in 5 min");
  EXPECT_EQ(status.breaker_since().seconds(), 1'700'000'000);
  EXPECT_EQ(status.actions_last_hour(), 3U);
  EXPECT_EQ(status.actions_per_hour(), 4U);
  EXPECT_EQ(status.out_of_service(), 2U);
}

TEST_F(Remedies, TheTrailIsReadInPagesThatFit) {
  for (std::uint64_t sequence = 1; sequence <= 250; ++sequence)
    remedies.trail.push_back({sequence, kNow, "kim", "approved", sequence, 1, std::string(20'000, 'd'), "ab"});
  v1::ListAuditRequest request;
  v1::ListAuditResponse page;
  std::uint64_t expected = 250;
  int pages = 0;
  do {
    ASSERT_TRUE(call(&Stub::ListAudit, request, page).ok());
    ++pages;
    ASSERT_GT(page.records_size(), 0);
    EXPECT_LT(page.ByteSizeLong(), 2'000'000U);
    for (int i = page.records_size() - 1; i >= 0; --i, --expected) EXPECT_EQ(page.records(i).sequence(), expected);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(expected, 0U);
  EXPECT_GT(pages, 3) << "100 at once are too much of this size";
  EXPECT_EQ(page.records(0).plan_id(), "PLAN-1");
  EXPECT_EQ(page.records(0).incident_id(), "INC-1");
  request.set_page_size(2);
  ASSERT_TRUE(call(&Stub::ListAudit, request, page).ok());
  EXPECT_EQ(page.records_size(), 2);
  EXPECT_EQ(page.next_page_token(), "249");
  request.set_page_size(-2);
  EXPECT_EQ(call(&Stub::ListAudit, request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.clear_page_size();
  for (const char* token : {"0", "x", "7x", "-7"}) {
    request.set_page_token(token);
    EXPECT_EQ(call(&Stub::ListAudit, request, page).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << token;
  }
}

TEST_F(Remedies, ATrailThatWasTamperedWithIsNotShownAsIfItWereWhole) {
  remedies.is_tampered_with = true;
  v1::ListAuditResponse page;
  const grpc::Status status = call(&Stub::ListAudit, v1::ListAuditRequest(), page);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message(), "record 5 of the audit trail is missing");
}

TEST_F(Remedies, ACommandMayOutliveItsCall) {
  v1::ApprovePlanRequest request;
  request.set_id("3");
  grpc::ClientContext context;
  std::thread canceller([&] {
    std::unique_lock lock(remedies.mutex);
    remedies.arrived.wait(lock, [&] { return static_cast<bool>(remedies.late); });
    context.TryCancel();
  });
  v1::Plan plan;
  EXPECT_EQ(stub->ApprovePlan(&context, request, &plan).error_code(), grpc::StatusCode::CANCELLED);
  canceller.join();
  server->stop();
  remedies.late(make_plan(3));
  server.reset();
}

TEST_F(Remedies, NobodyMayCallHimselfAPartOfWeft) {
  const auto refuses = [&](auto method, auto request, auto response) {
    request.set_who("weftd");
    if constexpr (requires { request.set_reason(""); }) request.set_reason("x");
    if constexpr (requires { request.set_id(""); }) request.set_id("PLAN-7");
    if constexpr (requires { request.set_link(""); }) request.set_link("leaf-1:7");
    if constexpr (requires { request.set_node(""); }) request.set_node("host-1");
    const grpc::Status status = call(method, request, response);
    return status.error_code() == grpc::StatusCode::INVALID_ARGUMENT &&
           status.error_message().find("Weft's own parts") != std::string::npos;
  };
  EXPECT_TRUE(refuses(&Stub::ApprovePlan, v1::ApprovePlanRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::RejectPlan, v1::RejectPlanRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::IsolateLink, v1::IsolateLinkRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::RestoreLink, v1::RestoreLinkRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::DrainNode, v1::DrainNodeRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::UndrainNode, v1::UndrainNodeRequest(), v1::Plan()));
  EXPECT_TRUE(refuses(&Stub::SetHandsOff, v1::SetHandsOffRequest(), v1::RemedyStatus()));
  EXPECT_TRUE(refuses(&Stub::ResetBreaker, v1::ResetBreakerRequest(), v1::RemedyStatus()));
}

}  // namespace
}  // namespace weft::api
