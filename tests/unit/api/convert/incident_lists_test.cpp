// SPDX-License-Identifier: Apache-2.0
// Which incidents a list has, and what became of one.

#include <gtest/gtest.h>

#include "api/convert/incident_timeline.hpp"
#include "api/convert/queries.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

class IncidentLists : public ::testing::Test {
 protected:
  IncidentLists() {
    Incident flap = make_incident(2);
    flap.finding.kind = IncidentKind::kLinkFlap;
    flap.finding.severity = Severity::kWarning;
    flap.finding.jobs = {"slurm:77"};
    flap.finding.cause = {
        EntityKind::kLink, "ib0", {{0x20}, {12}}, {{0x102}, {1}}, "leaf-12 port 3 - gpu-0041 mlx5_0 port 1"};
    Incident over = make_incident(3, IncidentState::kResolved);
    over.finding.severity = Severity::kInfo;
    over.worst_severity = Severity::kCritical;
    over.finding.affected = {{EntityKind::kNode, "ib0", {{0x105}, {}}, {}, "gpu-0007"}};
    over.opened = kNow - std::chrono::hours(2);
    over.resolved = kNow - std::chrono::hours(1);
    snapshot = make_snapshot(1, {}, {make_incident(1), flap, over});
  }
  std::string ids(const v1::ListIncidentsRequest& request) {
    const auto listed = list_incidents(*snapshot, request);
    if (!listed) return listed.error().message;
    std::string text;
    for (const v1::Incident& incident : listed->incidents()) text += (text.empty() ? "" : " ") + incident.id();
    return text;
  }
  std::string with_entity(const std::string& entity) {
    v1::ListIncidentsRequest request;
    request.set_entity(entity);
    return ids(request);
  }
  std::string between(TimePoint from, TimePoint to) {
    v1::ListIncidentsRequest request;
    const auto seconds = [](TimePoint at) {
      return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    };
    request.mutable_from()->set_seconds(seconds(from));
    request.mutable_to()->set_seconds(seconds(to));
    return ids(request);
  }

  std::shared_ptr<Snapshot> snapshot;
};

TEST_F(IncidentLists, BySeverityThatListsShow) {
  v1::ListIncidentsRequest request;
  request.add_severities(v1::Incident::CRITICAL);
  EXPECT_EQ(ids(request), "INC-1 INC-3") << "of one that is over the worst counts";
  request.clear_severities();
  request.add_severities(v1::Incident::WARNING);
  EXPECT_EQ(ids(request), "INC-2");
  request.add_kinds(v1::Incident::LINK_DOWN);
  EXPECT_EQ(ids(request), "") << "all conditions hold together";
}

TEST_F(IncidentLists, ByWholeWordsOfWhatTheyConcern) {
  EXPECT_EQ(with_entity("leaf-1"), "INC-1 INC-3") << "and not leaf-12";
  EXPECT_EQ(with_entity("leaf-12"), "INC-2");
  EXPECT_EQ(with_entity("LEAF-12 PORT 3"), "INC-2");
  EXPECT_EQ(with_entity("gpu-0007"), "INC-3") << "what is affected counts";
  EXPECT_EQ(with_entity("gpu-000"), "");
  EXPECT_EQ(with_entity(to_string(NodeGuid{0x20})), "INC-2");
  EXPECT_EQ(with_entity(to_string(NodeGuid{0x102})), "INC-2") << "the other end";
  EXPECT_EQ(with_entity("ib0"), "INC-1 INC-2 INC-3");
  EXPECT_EQ(with_entity(" - "), "INC-1 INC-2 INC-3") << "no word at its ends";
}

TEST_F(IncidentLists, ByJob) {
  v1::ListIncidentsRequest request;
  for (const char* job : {"slurm:77", "77"}) {
    request.set_job(job);
    EXPECT_EQ(ids(request), "INC-2") << job;
  }
  for (const char* job : {"7", "slurm", "k8s:77"}) {
    request.set_job(job);
    EXPECT_EQ(ids(request), "") << job;
  }
}

TEST_F(IncidentLists, ByTheTimeThatTheyWereOpen) {
  const auto ago = [](int minutes) { return kNow - std::chrono::minutes(minutes); };
  EXPECT_EQ(between(ago(180), ago(130)), "");
  EXPECT_EQ(between(ago(180), ago(119)), "INC-3") << "it began then";
  EXPECT_EQ(between(ago(90), ago(80)), "INC-3") << "it was open all the time";
  EXPECT_EQ(between(ago(50), ago(40)), "") << "it was over, and the others had not begun";
  EXPECT_EQ(between(ago(50), ago(0)), "INC-1 INC-2");
  EXPECT_EQ(between(ago(10), ago(20)), "the time ends before it begins: from must be before to");
  v1::ListIncidentsRequest request;
  request.mutable_to()->set_seconds(253'402'300'799);  // in the year 9999
  EXPECT_EQ(ids(request), "to must lie between the years 1678 and 2262") << "and is not 1970";
  request.mutable_to()->set_seconds(9'223'372'035);
  EXPECT_EQ(ids(request), "INC-1 INC-2 INC-3");
}

TEST_F(IncidentLists, PagesHaveWhatIsWantedOnly) {
  v1::ListIncidentsRequest request;
  request.set_entity("leaf-1");
  request.set_page_size(1);
  const auto first = list_incidents(*snapshot, request);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->incidents(0).id(), "INC-1");
  request.set_page_token(first->next_page_token());
  const auto second = list_incidents(*snapshot, request);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->incidents(0).id(), "INC-3");
  EXPECT_EQ(second->next_page_token(), "");
}

class Timeline : public ::testing::Test {
 protected:
  static TimePoint ago(int seconds) { return kNow - std::chrono::seconds(seconds); }
  static std::string text_of(const v1::IncidentTimeline& timeline) {
    std::string text;
    for (const v1::TimelineEvent& event : timeline.events())
      text += v1::TimelineEvent::Source_Name(event.source()) + ' ' + event.what() +
              (event.who().empty() ? "" : " by " + event.who()) + event.plan_id() + event.maintenance_id() + '\n';
    return text;
  }
};

TEST_F(Timeline, HasWhatWeftDidAndWhatPeopleDidInOneOrder) {
  Incident incident = make_incident(1);
  incident.timeline = {{.at = ago(90), .change = IncidentChange::kOpened, .text = "is down", .numbers_at = ago(70)},
                       {.at = ago(50), .change = IncidentChange::kAcknowledged, .who = "ada"},
                       {.at = ago(5), .change = IncidentChange::kResolved}};
  incident.finding.maintenance = 4;
  Plan plan = make_plan(7, PlanState::kCommitted);
  plan.steps = {{ago(80), PlanState::kProposed, "weftd", "proposed for INC-1"},
                {ago(60), PlanState::kApproved, "bob", "approved"}};
  Plan back = make_plan(9, PlanState::kProposed);
  back.incident = 0;
  back.undoes = 7;
  back.steps = {{ago(10), PlanState::kProposed, "weftd", "the link is well"}};
  Plan other = make_plan(8, PlanState::kProposed);
  other.incident = 2;
  auto snapshot = with_plans(make_snapshot(1, {}, {incident, make_incident(2)}), {plan, other, back});
  MaintenanceWindow window;
  window.id = 4;
  window.added = ago(200);
  window.added_by = "eve";
  window.from = ago(100);
  window.until = kNow + std::chrono::hours(1);
  MaintenanceWindow another = window;
  another.id = 5;
  snapshot->maintenance = std::make_shared<const MaintenanceList>(MaintenanceList{window, another});

  const auto timeline = incident_timeline(*snapshot, "INC-1", kNow);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(text_of(*timeline),
            "MAINTENANCE ADDED by eveMW-4\n"
            "MAINTENANCE BEGANMW-4\n"
            "INCIDENT OPENED\n"
            "PLAN PROPOSED by weftdPLAN-7\n"
            "PLAN APPROVED by bobPLAN-7\n"
            "INCIDENT ACKNOWLEDGED by ada\n"
            "PLAN PROPOSED by weftdPLAN-9\n"
            "INCIDENT RESOLVED\n");
  EXPECT_EQ(timeline->events(2).text(), "is down");
  EXPECT_EQ(timeline->events(2).numbers_at().seconds(), 1'700'000'000 - 70);
  EXPECT_FALSE(timeline->events(5).has_numbers_at());
  EXPECT_EQ(timeline->incident_id(), "INC-1");
  EXPECT_EQ(timeline->left_out(), 0U);
}

TEST_F(Timeline, OfPlannedWorkHasThePlan) {
  Incident incident = make_incident(1);
  incident.timeline = {{.at = ago(50), .change = IncidentChange::kOpened}};
  incident.finding.maintenance = kFirstPlanWindow + 7;
  Plan plan = make_plan(7, PlanState::kCommitted);
  plan.incident = 0;
  plan.steps = {{ago(60), PlanState::kExecuting, "weftd", "started"}};
  const auto timeline = incident_timeline(*with_plans(make_snapshot(1, {}, {incident}), {plan}), "INC-1", kNow);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(text_of(*timeline), "PLAN EXECUTING by weftdPLAN-7\nINCIDENT OPENED\n");
}

TEST_F(Timeline, KeepsTheNewestEvents) {
  Incident incident = make_incident(1);
  incident.timeline = {{.at = ago(5000)}};
  std::vector<Plan> plans;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    Plan& plan = plans.emplace_back(make_plan(i, PlanState::kCommitted));
    plan.steps.assign(60, {ago(1000 - static_cast<int>(i)), PlanState::kVerifying, "weftd", ""});
  }
  const auto timeline = incident_timeline(*with_plans(make_snapshot(1, {}, {incident}), plans), "1", kNow);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->events_size(), static_cast<int>(kMostTimelineEvents));
  EXPECT_EQ(timeline->left_out(), 601U - kMostTimelineEvents);
  EXPECT_EQ(timeline->events(timeline->events_size() - 1).plan_id(), "PLAN-10");
}

TEST_F(Timeline, FailsAsTheIncidentDoes) {
  const auto snapshot = make_snapshot(1, {}, {make_incident(1)});
  EXPECT_EQ(incident_timeline(*snapshot, "INC-2", kNow).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(incident_timeline(*snapshot, "x", kNow).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::api
