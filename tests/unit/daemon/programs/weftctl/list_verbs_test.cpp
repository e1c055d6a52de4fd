// SPDX-License-Identifier: Apache-2.0
// Lists with conditions, as weftctl asks for them.

#include <gmock/gmock.h>

#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ListVerbs : public Verbs {
 protected:
  ListVerbs() {
    api::SmallFabric fabric(2);
    fabric.rates[1].stall_ratio = 0.5;
    fabric.set(2, CounterId::kLinkDowned, 7);
    Incident flap = api::make_incident(2);
    flap.finding.kind = IncidentKind::kLinkFlap;
    flap.finding.severity = Severity::kWarning;
    flap.finding.jobs = {"slurm:77"};
    flap.finding.cause.label = "leaf-12 port 1 - gpu-0041 mlx5_0 port 1";
    flap.timeline = {{.at = api::kNow - std::chrono::seconds(70), .change = IncidentChange::kOpened, .text = "flaps"},
                     {.at = api::kNow, .change = IncidentChange::kAcknowledged, .who = "ada", .left_out = 3}};
    Plan plan = api::make_plan(7);
    plan.incident = 2;
    publication.publish(api::with_plans(
        api::make_snapshot(1, {fabric.build()},
                           {api::make_incident(1), flap, api::make_incident(3, IncidentState::kResolved)}),
        {plan}));
    for (std::uint64_t i = 1; i <= 5; ++i) {
      AuditRecord& record = remedies.trail.emplace_back();
      record.sequence = i;
      record.at = api::kNow - std::chrono::minutes(10 * (5 - i));
      record.who = i == 2 ? "ann" : "weftd";
      record.what = "approved";
    }
  }
  std::uint64_t revision = 1;
  std::string ids(IncidentWish wanted) {
    wanted.ids_only = true;
    return say(Exit::kGood, show_incidents, wanted);
  }
};

TEST_F(ListVerbs, IncidentsByAllConditions) {
  EXPECT_EQ(ids({}), "INC-1\nINC-2\n");
  EXPECT_EQ(ids({.all = true}), "INC-1\nINC-2\nINC-3\n");
  EXPECT_EQ(ids({.kinds = {"link_flap"}}), "INC-2\n");
  EXPECT_EQ(ids({.kinds = {"link-flap"}}), "INC-2\n");
  EXPECT_EQ(ids({.severities = {"warning", "info"}}), "INC-2\n");
  EXPECT_EQ(ids({.entity = "gpu-0041"}), "INC-2\n");
  EXPECT_EQ(ids({.job = "77"}), "INC-2\n");
  EXPECT_EQ(ids({.from = api::kNow - std::chrono::minutes(1)}), "INC-1\nINC-2\nINC-3\n") << "a time: what is over, too";
  EXPECT_EQ(ids({.to = api::kNow - std::chrono::minutes(10)}), "");
  EXPECT_EQ(say(Exit::kGood, show_incidents, IncidentWish{.job = "78"}), "No such incidents.\n");
}

TEST_F(ListVerbs, JobsOfACollectorAreAFewOfMany) {
  HostView host;
  host.host = "gpu-1";
  host.state = CollectorState::kConnected;
  host.jobs_before = std::vector<std::string>{"slurm:11", "slurm:12"};
  const auto publish = [&] {
    auto snapshot = std::make_shared<Snapshot>(*publication.load());
    snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(
        std::vector<std::shared_ptr<const HostView>>{std::make_shared<const HostView>(host)});
    publication.publish(snapshot);
  };
  publish();
  EXPECT_THAT(say(Exit::kGood, show_collectors, std::vector<std::string>()), ContainsRegex(" - +slurm:11 slurm:12  "))
      << "nobody knows its clock before its first reading";
  host.jobs_before->clear();
  for (int job = 10; job < 74; ++job)
    host.jobs_before->push_back("kubernetes:" + std::to_string(job) + std::string(195, 'x'));
  publish();
  const std::string many = say(Exit::kGood, show_collectors, std::vector<std::string>());
  EXPECT_THAT(many, HasSubstr("xxx and 63 more  "));
  EXPECT_LT(many.size(), 2000U);
  EXPECT_EQ(json(Exit::kGood, show_collectors, std::vector<std::string>())["collectors"][0]["jobs"].size(), 64U);
  host.jobs_before.emplace();
  for (int job = 10; job < 74; ++job) host.jobs_before->push_back("slurm:" + std::to_string(job));
  publish();
  EXPECT_THAT(say(Exit::kGood, show_collectors, std::vector<std::string>()),
              HasSubstr("slurm:10 slurm:11 slurm:12 slurm:13 slurm:14 slurm:15 and 58 more  "));
}

TEST_F(ListVerbs, OfManyCollectorsOnlySourcesThatFailAreToldWhole) {
  HostView host;
  host.host = "gpu-1";
  host.state = CollectorState::kConnected;
  auto reading = std::make_shared<HostReading>();
  reading->inventory = std::make_shared<const HostInventory>();
  reading->sources = {
      {"sysfs", true, ""}, {"module", true, "CAP_NET_ADMIN is missing"}, {"ethtool", false, "no answer"}};
  const auto told = [&](const std::vector<std::string>& hosts) {
    host.reading = std::make_shared<const HostReading>(*reading);
    auto snapshot = std::make_shared<Snapshot>(*publication.load());
    snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(
        std::vector<std::shared_ptr<const HostView>>{std::make_shared<const HostView>(host)});
    publication.publish(snapshot);
    return say(Exit::kGood, show_collectors, hosts);
  };
  EXPECT_THAT(told({}), HasSubstr("ethtool FAILS: no answer; limited\n"));
  EXPECT_THAT(told({"gpu-1"}), HasSubstr("ethtool FAILS: no answer; module: CAP_NET_ADMIN is missing\n"));
  reading->sources.pop_back();
  EXPECT_THAT(told({}), HasSubstr(" limited\n"));
  EXPECT_THAT(told({"gpu-1"}), HasSubstr(" module: CAP_NET_ADMIN is missing\n"));
  reading->sources.pop_back();
  EXPECT_THAT(told({}), HasSubstr(" -\n"));
}

TEST_F(Verbs, AStatusWithoutADatabaseIsBadNews) {
  Snapshot pair = *api::make_snapshot(1, {});
  pair.health = std::make_shared<std::vector<NodeHealth>>();
  pair.watches_subnets = false;
  const auto status = [&](Exit expected) {
    publication.publish(std::make_shared<const Snapshot>(pair));
    return say(expected, show_status);
  };
  status(Exit::kGood);
  pair.leadership.is_shared = true;
  status(Exit::kGood);
  pair.leadership.trouble = "server closed the connection";
  pair.leadership.silence = std::chrono::seconds(6);
  EXPECT_THAT(status(Exit::kBadNews), HasSubstr("The database has not answered for 6 s: server closed"));
  pair.leadership.leads = false;
  EXPECT_THAT(status(Exit::kBadNews), HasSubstr("It could not take over for 6 s: server closed"));
  pair.leadership.leads = true;
  pair.leadership.trouble.clear();
  pair.leadership.is_held = false;
  EXPECT_THAT(status(Exit::kBadNews), HasSubstr("it acts on nothing and refuses changes"));
}

TEST_F(ListVerbs, StatusAndIncidentsAgreeOnPlannedWork) {
  Incident planned = api::make_incident(1);
  planned.finding.severity = Severity::kInfo;
  planned.finding.maintenance = 4;
  const auto status = [&](std::vector<Incident> incidents) {
    publication.publish(api::make_snapshot(++revision, {}, std::move(incidents)));
    std::ostringstream out;
    show_status(Session{*client, out, false, true, false, api::kNow});
    return out.str();
  };
  EXPECT_THAT(status({planned}),
              HasSubstr("Open incidents: 0 critical, 0 warning, 1 info (planned work counts as info)\n"));
  EXPECT_EQ(say(Exit::kGood, show_incidents, IncidentWish{}),
            "No open incidents but 1 of planned work: weftctl incidents --all\n");
  EXPECT_THAT(status({planned, api::make_incident(2)}), HasSubstr("1 critical, 0 warning, 1 info (planned work"));
  EXPECT_THAT(say(Exit::kGood, show_incidents, IncidentWish{}),
              HasSubstr("\n1 more is planned work: weftctl incidents --all\n"));
  EXPECT_THAT(status({}), HasSubstr("Open incidents: 0 critical, 0 warning, 0 info\n"));
}

TEST_F(ListVerbs, OpenIncidentsStandTheWorstFirst) {
  Incident minor = api::make_incident(1), old = api::make_incident(2), young = api::make_incident(3);
  minor.finding.severity = Severity::kInfo;
  old.opened = api::kNow - std::chrono::hours(2);
  publication.publish(api::make_snapshot(2, {}, {minor, old, young}));
  EXPECT_THAT(say(Exit::kGood, show_incidents, IncidentWish{}), ContainsRegex("INC-3 (.|\n)*INC-2 (.|\n)*INC-1 "));
  EXPECT_THAT(say(Exit::kGood, show_incidents, IncidentWish{.all = true}),
              ContainsRegex("INC-1 (.|\n)*INC-2 (.|\n)*INC-3 "))
      << "what was comes in its order";
}

TEST_F(ListVerbs, FabricsAreNamedWhereThereAreSeveral) {
  Incident one = api::make_incident(1), other = api::make_incident(2);
  publication.publish(api::make_snapshot(2, {}, {one, other}));
  EXPECT_THAT(say(Exit::kGood, show_incidents, IncidentWish{}), Not(HasSubstr("FABRIC")));
  other.finding.cause.fabric = "ib1";
  publication.publish(api::make_snapshot(3, {}, {one, other}));
  const std::string both = say(Exit::kGood, show_incidents, IncidentWish{});
  EXPECT_THAT(both, ContainsRegex("INC-1 .* ib0 +link of host-1"));
  EXPECT_THAT(both, ContainsRegex("INC-2 .* ib1 +link of host-1"));
  EXPECT_THAT(say(Exit::kGood, show_incident, std::string("2")), HasSubstr("\nfabric      ib1\n"));
}

TEST_F(ListVerbs, AKindThatThereIsNotIsWrongUsage) {
  const Failure kind = fails(show_incidents, IncidentWish{.kinds = {"LINK_GONE"}});
  EXPECT_EQ(kind.exit, Exit::kWrongUsage);
  EXPECT_THAT(kind.what(), HasSubstr("there is no kind LINK_GONE: it is one of LINK_DOWN, LINK_FLAP, "));
  EXPECT_EQ(fails(show_incidents, IncidentWish{.severities = {"BAD"}}).exit, Exit::kWrongUsage);
}

TEST_F(ListVerbs, TheWorstLinks) {
  const std::string stall = say(Exit::kGood, show_worst_links, std::string(), std::string("stall"), 20U);
  EXPECT_THAT(stall, HasSubstr("STALLED"));
  EXPECT_THAT(stall, HasSubstr("50.0 %"));
  EXPECT_THAT(stall, HasSubstr("host-1 mlx5_0"));
  EXPECT_THAT(say(Exit::kGood, show_worst_links, std::string("ib0"), std::string("flaps"), 20U),
              HasSubstr("7  leaf-1 port 2"));
  EXPECT_THAT(stall, HasSubstr("\n\nShare of time with data to send and no credit, between the last two readings.\n"));
  EXPECT_THAT(
      say(Exit::kGood, show_worst_links, std::string(), std::string("errors"), 20U),
      ::testing::StartsWith("No link has errors.\nErrors per bit in the error window of each link that runs now"));
  EXPECT_EQ(json(Exit::kGood, show_worst_links, std::string(), std::string("stall"), 20U)["links"].size(), 1U);
}

TEST_F(ListVerbs, WhatDidTheMostHarm) {
  const WorstWish wanted{.from = api::kNow - std::chrono::hours(1), .to = api::kNow};
  const std::string cables = say(Exit::kGood, show_worst, wanted);
  EXPECT_THAT(cables, HasSubstr("From 2023-11-14 21:13:20 UTC to 2023-11-14 22:13:20 UTC\n"));
  EXPECT_THAT(cables, HasSubstr("HARM (H)"));
  EXPECT_THAT(cables, ContainsRegex("LINK_.*INC-3, INC-2, INC-1 \\(open\\)"));
  EXPECT_THAT(cables, HasSubstr("Harm: an hour for each hour in which an incident was open, and one for each job"));
  const auto hosts = json(Exit::kGood, show_worst, WorstWish{.of = "hosts", .by = "jobs", .from = wanted.from});
  ASSERT_EQ(hosts["things"].size(), 1U);
  EXPECT_EQ(hosts["things"][0]["what"]["label"], "host-1");
  EXPECT_EQ(hosts["things"][0]["jobs"], 1);
  const std::string modules = say(Exit::kGood, show_worst, WorstWish{.of = "modules", .from = wanted.from});
  EXPECT_THAT(modules, HasSubstr("No harm by modules.\n"));
  EXPECT_THAT(modules, HasSubstr("of that time had another cause, or none of modules is known there."));
  EXPECT_EQ(fails(show_worst, WorstWish{.fabric = "ib9", .from = wanted.from}).exit, Exit::kBadNews);
}

TEST_F(ListVerbs, APortWhoseCableWasPulledIsDownByTheOtherEnd) {
  api::SmallFabric fabric(2);
  const auto ports = [&](const std::string& of) {
    publication.publish(api::make_snapshot(++revision, {fabric.build()}));
    return say(Exit::kGood, show_ports, std::string(), of, false);
  };
  const PortIndex host = 4;  // after the switch with its ports 0 to 3
  fabric.state_read_at[host] = api::kNow - std::chrono::minutes(1);
  EXPECT_THAT(ports("host-1"), HasSubstr("ACTIVE (stale)")) << "the other end says that all is well";
  api::SmallFabric::take_down(fabric.ports[1]);
  EXPECT_THAT(ports("host-1"), ContainsRegex("DOWN \\(the other end says so\\) +4X NDR \\(old\\)"));
  EXPECT_THAT(ports("host-2"), Not(HasSubstr("DOWN")));
  EXPECT_THAT(ports(""), ContainsRegex("host-1 mlx5_0 +1 +DOWN \\(the other end says so\\)"));
}

TEST_F(ListVerbs, TheTimelineOfAnIncident) {
  const std::string text = say(Exit::kGood, show_timeline, std::string("2"));
  EXPECT_THAT(text, HasSubstr("2023-11-14 22:12:10 UTC"));
  EXPECT_THAT(text, HasSubstr("PLAN-7"));
  EXPECT_THAT(text, HasSubstr("3 entries before it are not kept."));
  EXPECT_THAT(text, HasSubstr("OPENED (WARNING)"));
  EXPECT_LT(text.find("OPENED"), text.find("PROPOSED"));
  EXPECT_LT(text.find("PROPOSED"), text.find("ACKNOWLEDGED"));
  EXPECT_EQ(json(Exit::kGood, show_timeline, std::string("INC-2"))["events"].size(), 3U);
  EXPECT_EQ(fails(show_timeline, std::string("INC-9")).exit, Exit::kBadNews);
}

TEST_F(ListVerbs, ANarrowTimelineHasWholeTimes) {
  columns = 80;
  const std::string text = say(Exit::kGood, show_timeline, std::string("2"));
  EXPECT_THAT(text, ::testing::StartsWith("2023-11-14, times in UTC\nTIME"));
  EXPECT_THAT(text, HasSubstr("\n22:12:10  INC-2"));
  EXPECT_THAT(text, Not(HasSubstr("..")));
  columns = 120;
  EXPECT_THAT(say(Exit::kGood, show_timeline, std::string("2")), HasSubstr("\n2023-11-14 22:12:10 UTC  INC-2"));
}

TEST_F(ListVerbs, ANarrowTimelineOfSeveralDaysHasWholeTimes) {
  columns = 60;
  Incident old = api::make_incident(4);
  old.timeline = {{.at = api::kNow - std::chrono::hours(30), .change = IncidentChange::kOpened, .text = "long ago"},
                  {.at = api::kNow, .change = IncidentChange::kAcknowledged, .who = "root (uid 0), for a colleague"}};
  publication.publish(api::make_snapshot(2, {}, {old}));
  const std::string text = say(Exit::kGood, show_timeline, std::string("4"));
  EXPECT_THAT(text, ::testing::StartsWith("TIME"));
  EXPECT_THAT(text, HasSubstr("\n2023-11-13 16:13:20 UTC  INC-4"));
  EXPECT_THAT(text, HasSubstr("\n2023-11-14 22:13:20 UTC  INC-4"));
}

TEST_F(ListVerbs, ANarrowAuditTrailLeavesNothingOut) {
  AuditRecord& record = remedies.trail.emplace_back();
  record.sequence = 6;
  record.at = api::kNow;
  record.who = "root (uid 0), for ann";
  record.what = "automation stopped";
  record.plan = 17;
  record.incident = 1021;
  record.detail = "leaf-r2-p01 port 30 - spine-04 port 23: requested: new cable";
  columns = 80;
  const std::string text = say(Exit::kGood, show_audit, AuditWish{.limit = 1});
  EXPECT_THAT(text, HasSubstr("   6  2023-11-14 22:13:20 UTC  automation stopped  PLAN-17  INC-1021\n"
                              "    root (uid 0), for ann: leaf-r2-p01 port 30 - spine-04 port 23: requested:\n"
                              "    new cable\n"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
  columns = 160;
  EXPECT_THAT(say(Exit::kGood, show_audit, AuditWish{.limit = 1}), HasSubstr("UTC  root (uid 0), for ann  automation"));
}

TEST_F(ListVerbs, ASearchOfTheAuditTrailEndsWhereItFoundEnough) {
  EXPECT_THAT(say(Exit::kGood, show_audit, AuditWish{.who = "ANN"}),
              ::testing::EndsWith("\nThe hashes of all lines that were searched match.\n"));
  EXPECT_EQ(json(Exit::kGood, show_audit, AuditWish{.who = "ANN"})["records"].size(), 1U);
  EXPECT_EQ(json(Exit::kGood, show_audit, AuditWish{.from = api::kNow - std::chrono::minutes(20)})["records"].size(),
            3U);
  EXPECT_EQ(say(Exit::kGood, show_audit, AuditWish{.what = "rejected"}),
            "No such line.\nThe hashes of all lines that were searched match.\n");
  EXPECT_EQ(json(Exit::kGood, show_audit, AuditWish{.limit = 2, .what = "approved"})["records"].size(), 2U);
  const std::string all = say(Exit::kGood, show_audit, AuditWish{.limit = 2});
  EXPECT_THAT(all, Not(HasSubstr("ann")));
}

}  // namespace
}  // namespace weft::ctl
