// SPDX-License-Identifier: Apache-2.0
#include "api/convert/worst_things.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/convert/times.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Worst = v1::ListWorstRequest;

/// Links of leaf-1: its ports 1, 2, 3 lead to host-1, host-2, host-3.
class WorstThings : public ::testing::Test {
 protected:
  WorstThings() { incidents.reserve(16); }  // what add() gives stays where it is
  /// An incident of the link at leaf-1's port, from so long ago until so long ago.
  Incident& add(IncidentKind kind, Severity severity, std::uint16_t port, Duration from, Duration until = {}) {
    Incident incident =
        make_incident(incidents.size() + 1, until > 0s ? IncidentState::kResolved : IncidentState::kOpen);
    incident.finding.kind = kind;
    incident.finding.severity = severity;
    incident.worst_severity = severity;
    const std::string number = std::to_string(port);
    incident.finding.cause = {EntityKind::kLink,
                              "ib0",
                              {{kLeaf}, {port}},
                              {{0x100ULL + port}, {1}},
                              "leaf-1 port " + number + " - host-" + number + " mlx5_0 port 1"};
    incident.opened = kNow - from;
    if (until > 0s) incident.resolved = kNow - until;
    return incidents.emplace_back(std::move(incident));
  }
  std::shared_ptr<Snapshot> snapshot() {
    auto made = make_snapshot(1, {fabric.build()}, incidents);
    made->hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(hosts);
    return made;
  }
  v1::ListWorstResponse worst(Worst::Of of, Worst::Order by = Worst::ORDER_UNSPECIFIED) {
    request.set_of(of);
    request.set_by(by);
    const auto answer = list_worst(*snapshot(), request, kNow);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(v1::ListWorstResponse());
  }
  std::vector<std::string> names(Worst::Of of, Worst::Order by = Worst::ORDER_UNSPECIFIED) {
    const auto answer = worst(of, by);
    std::vector<std::string> found;
    for (const v1::WorstThing& each : answer.things()) found.push_back(each.what().label());
    return found;
  }
  std::string refusal(const Worst& asked) {
    const auto answer = list_worst(*snapshot(), asked, kNow);
    return answer ? "taken" : std::string(to_string(answer.error().code)) + ": " + answer.error().message;
  }
  /// host-N has a collector, which tells of the module at its port.
  void add_collector(unsigned number, const std::string& serial, bool measures) {
    auto inventory = std::make_shared<HostInventory>();
    HostPort device;
    device.device = "mlx5_0";
    device.number = 1;
    device.port_guid = {0x200ULL + number};
    inventory->ports = {device};
    if (measures) inventory->series.push_back({.device = "mlx5_0", .port = 1, .name = "module_temperature"});
    auto reading = std::make_shared<HostReading>();
    reading->inventory = inventory;
    if (!serial.empty())
      reading->facts =
          std::make_shared<const FactTable>(tidy({{{"mlx5_0",
                                                    1,
                                                    {{ConfigFact::kModuleVendor, FactSource::kEthtool, "ACME"},
                                                     {ConfigFact::kModuleSerial, FactSource::kEthtool, serial}}}}}));
    auto host = std::make_shared<HostView>();
    host->host = "host-" + std::to_string(number);
    host->reading = reading;
    hosts.push_back(host);
  }

  SmallFabric fabric{3};
  std::vector<Incident> incidents;
  std::vector<std::shared_ptr<const HostView>> hosts;
  Worst request;
};

TEST_F(WorstThings, AnHourOfTroubleIsAnHourOfHarmAndSoIsAJob) {
  add(IncidentKind::kLinkDown, Severity::kCritical, 1, 3h, 1h);
  add(IncidentKind::kLinkErrors, Severity::kWarning, 1, 2h, 30min).finding.jobs = {"slurm:1", "slurm:2"};
  add(IncidentKind::kLinkFlap, Severity::kWarning, 2, 1h).finding.jobs = {"slurm:1"};
  const auto answer = worst(Worst::CABLES);
  ASSERT_EQ(answer.things_size(), 2);
  const v1::WorstThing& first = answer.things(0);
  EXPECT_EQ(first.what().kind(), v1::Entity::LINK);
  EXPECT_EQ(first.what().label(), "leaf-1 port 1 - host-1 mlx5_0 port 1");
  EXPECT_EQ(from_duration(first.trouble()), 150min) << "both at once count once";
  EXPECT_EQ(from_duration(first.critical()), 2h);
  EXPECT_EQ(first.jobs(), 2U);
  EXPECT_DOUBLE_EQ(first.harm_hours(), 4.5);
  EXPECT_EQ(first.times(), 2U);
  EXPECT_THAT(first.kinds(), ElementsAre(v1::Incident::LINK_DOWN, v1::Incident::LINK_ERRORS));
  EXPECT_THAT(first.incident_ids(), ElementsAre("INC-2", "INC-1"));
  EXPECT_FALSE(first.is_open());
  EXPECT_TRUE(answer.things(1).is_open());
  EXPECT_DOUBLE_EQ(answer.things(1).harm_hours(), 2);
  EXPECT_EQ(from_timestamp(answer.from()), kNow - 7 * 24h);
  EXPECT_EQ(from_timestamp(answer.to()), kNow);
  EXPECT_EQ(answer.elsewhere(), 0U);
}

TEST_F(WorstThings, WhatIsOnlyInfoOrPlannedIsNoHarm) {
  add(IncidentKind::kLinkFlap, Severity::kInfo, 1, 1h);
  add(IncidentKind::kLinkDown, Severity::kCritical, 2, 1h).finding.maintenance = 7;
  EXPECT_EQ(worst(Worst::CABLES).things_size(), 0);
  EXPECT_EQ(worst(Worst::CABLES).elsewhere(), 0U);
  // What was CRITICAL and is INFO now was no less harm.
  incidents[0].worst_severity = Severity::kCritical;
  EXPECT_EQ(from_duration(worst(Worst::CABLES).things(0).critical()), 1h);
}

TEST_F(WorstThings, BetweenTwoOccurrencesAllWasWell) {
  Incident& incident = add(IncidentKind::kLinkDown, Severity::kCritical, 1, 10h, 1h);
  incident.timeline = {{.at = kNow - 10h, .change = IncidentChange::kOpened, .severity = Severity::kCritical},
                       {.at = kNow - 9h, .change = IncidentChange::kResolved, .severity = Severity::kCritical},
                       {.at = kNow - 2h, .change = IncidentChange::kReopened, .severity = Severity::kCritical},
                       {.at = kNow - 1h, .change = IncidentChange::kResolved, .severity = Severity::kCritical}};
  auto answer = worst(Worst::CABLES);
  EXPECT_EQ(from_duration(answer.things(0).trouble()), 2h);
  EXPECT_EQ(answer.things(0).times(), 2U);
  // Only what lies within the time counts.
  set_timestamp(*request.mutable_from(), kNow - 570min);
  set_timestamp(*request.mutable_to(), kNow - 90min);
  answer = worst(Worst::CABLES);
  EXPECT_EQ(from_duration(answer.things(0).trouble()), 1h);
  EXPECT_EQ(answer.things(0).times(), 1U);
  EXPECT_TRUE(answer.things(0).is_open()) << "at the end of that time it was";
}

TEST_F(WorstThings, HostsAndSwitchesHaveTheTroubleOfTheirPortsAndLinks) {
  add(IncidentKind::kLinkDown, Severity::kCritical, 1, 1h);
  add(IncidentKind::kLinkDown, Severity::kCritical, 2, 2h);
  Incident& host = add(IncidentKind::kRdmaErrors, Severity::kWarning, 3, 5h);
  host.finding.cause = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "host-3"};
  host.finding.cause.host = "host-3.example.org";
  Incident& same = add(IncidentKind::kStraggler, Severity::kWarning, 3, 6h, 5h);
  same.finding.cause = {EntityKind::kPort, "ib0", {{0x103}, {1}}, {}, "host-3 mlx5_0 port 1"};
  EXPECT_THAT(names(Worst::HOSTS), ElementsAre("host-3.example.org", "host-2", "host-1"));
  EXPECT_EQ(from_duration(worst(Worst::HOSTS).things(0).trouble()), 6h) << "one host by both its names";
  EXPECT_THAT(names(Worst::SWITCHES), ElementsAre("leaf-1"));
  EXPECT_EQ(from_duration(worst(Worst::SWITCHES).things(0).trouble()), 2h);
  EXPECT_EQ(worst(Worst::SWITCHES).elsewhere(), 2U);
  EXPECT_EQ(worst(Worst::CABLES).elsewhere(), 2U) << "of those no cable is the cause";
}

TEST_F(WorstThings, APortIsTheCableAtIt) {
  Incident& port = add(IncidentKind::kLinkDown, Severity::kCritical, 1, 1h);
  port.finding.cause = {EntityKind::kPort, "ib0", {{0x101}, {1}}, {}, "host-1 mlx5_0 port 1"};
  add(IncidentKind::kLinkErrors, Severity::kWarning, 1, 2h, 1h);
  EXPECT_EQ(from_duration(worst(Worst::CABLES).things(0).trouble()), 2h);
  EXPECT_EQ(worst(Worst::CABLES).things_size(), 1);
  // Congestion at a port is no fault of its cable.
  port.finding.kind = IncidentKind::kSlowReceiver;
  incidents.pop_back();
  EXPECT_EQ(worst(Worst::CABLES).things_size(), 0);
  EXPECT_THAT(names(Worst::HOSTS), ElementsAre("host-1"));
}

TEST_F(WorstThings, AModuleIsWhereOneIsRead) {
  add(IncidentKind::kLinkErrors, Severity::kWarning, 1, 1h);
  add(IncidentKind::kLinkErrors, Severity::kWarning, 2, 2h);
  add(IncidentKind::kLinkErrors, Severity::kWarning, 3, 3h);
  EXPECT_EQ(worst(Worst::MODULES).things_size(), 0);
  EXPECT_EQ(worst(Worst::MODULES).elsewhere(), 3U) << "not known is not none";
  add_collector(1, "SN-1", false);
  add_collector(2, "", true);
  add_collector(3, "", false);
  const auto answer = worst(Worst::MODULES);
  ASSERT_EQ(answer.things_size(), 2);
  EXPECT_EQ(answer.things(0).what().label(), "host-2 mlx5_0 port 1");
  EXPECT_FALSE(answer.things(0).has_module());
  EXPECT_EQ(answer.things(1).module().serial_number(), "SN-1");
  EXPECT_EQ(answer.things(1).module().vendor(), "ACME");
  EXPECT_EQ(answer.elsewhere(), 1U);
}

TEST_F(WorstThings, AModuleHasWhatIsSaidOfItAndOfItsLink) {
  Incident& hot = add(IncidentKind::kModuleDegraded, Severity::kWarning, 1, 5h, 3h);
  hot.finding.cause = {EntityKind::kHostPort, {}, {{}, {1}}, {}, "host-1 mlx5_0 port 1"};
  hot.finding.cause.host = "host-1";
  hot.finding.cause.device = "mlx5_0";
  add(IncidentKind::kLinkErrors, Severity::kWarning, 1, 2h, 1h);
  add(IncidentKind::kHostDegraded, Severity::kWarning, 2, 9h).finding.cause = hot.finding.cause;
  add_collector(1, "SN-1", true);
  const auto answer = worst(Worst::MODULES);
  ASSERT_EQ(answer.things_size(), 1) << "one module, whichever way its port is named";
  EXPECT_EQ(answer.things(0).what().kind(), v1::Entity::PORT);
  EXPECT_EQ(answer.things(0).what().label(), "host-1 mlx5_0 port 1");
  EXPECT_EQ(answer.things(0).module().serial_number(), "SN-1");
  EXPECT_EQ(from_duration(answer.things(0).trouble()), 3h);
  EXPECT_THAT(answer.things(0).kinds(), ElementsAre(v1::Incident::MODULE_DEGRADED, v1::Incident::LINK_ERRORS));
  EXPECT_EQ(answer.elsewhere(), 1U) << "the adapter is no module";
  // A hot module is no fault of the cable at the other end, and its host has it.
  EXPECT_THAT(worst(Worst::CABLES).things(0).kinds(), ElementsAre(v1::Incident::LINK_ERRORS));
  EXPECT_THAT(names(Worst::HOSTS), ElementsAre("host-1"));
}

TEST_F(WorstThings, InTheOrderThatIsAskedFor) {
  add(IncidentKind::kLinkErrors, Severity::kWarning, 1, 9h);
  add(IncidentKind::kLinkDown, Severity::kCritical, 2, 2h);
  add(IncidentKind::kLinkFlap, Severity::kWarning, 3, 4h, 3h).finding.jobs = {"a", "b", "c"};
  add(IncidentKind::kLinkFlap, Severity::kWarning, 3, 2h, 1h);
  const auto ports = [&](Worst::Order by) {
    std::string text;
    for (const std::string& name : names(Worst::CABLES, by)) text += name.substr(std::string("leaf-1 port ").size(), 1);
    return text;
  };
  EXPECT_EQ(ports(Worst::ORDER_UNSPECIFIED), "132");
  EXPECT_EQ(ports(Worst::HARM), "132");
  EXPECT_EQ(ports(Worst::JOBS), "312");
  EXPECT_EQ(ports(Worst::CRITICAL), "213");
  EXPECT_EQ(ports(Worst::TIMES), "312");
  request.set_limit(1);
  EXPECT_EQ(ports(Worst::HARM), "1");
}

TEST_F(WorstThings, SayWhatIsNotKeptAnyMore) {
  auto made = snapshot();
  made->incident_retention = 3 * 24h;
  request.set_of(Worst::CABLES);
  auto answer = list_worst(*made, request, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(from_timestamp(answer->complete_from()), kNow - 3 * 24h);
  set_timestamp(*request.mutable_from(), kNow - 3 * 24h - 1s);
  answer = list_worst(*made, request, kNow);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->has_complete_from());
}

TEST_F(WorstThings, ANodeThatIsGoneIsStillTold) {
  Incident& gone = add(IncidentKind::kSwitchDown, Severity::kCritical, 1, 1h);
  gone.finding.cause = {EntityKind::kNode, "ib0", {{0x999}, {}}, {}, "spine-9"};
  EXPECT_THAT(names(Worst::SWITCHES), ElementsAre("spine-9"));
  gone.finding.kind = IncidentKind::kNodeDown;
  gone.finding.cause.label = "gpu-9";
  EXPECT_THAT(names(Worst::HOSTS), ElementsAre("gpu-9"));
  gone.finding.cause.fabric = "ib7";
  EXPECT_THAT(names(Worst::HOSTS), ElementsAre("gpu-9"));
}

TEST_F(WorstThings, RefuseWhatIsNoQuestion) {
  EXPECT_EQ(refusal({}), "invalid_argument: the worst of what: cables, modules, hosts or switches");
  Worst asked;
  asked.set_of(static_cast<Worst::Of>(9));
  EXPECT_THAT(refusal(asked), HasSubstr("the worst of what"));
  asked.set_of(Worst::HOSTS);
  EXPECT_EQ(refusal(asked), "taken");
  asked.set_by(static_cast<Worst::Order>(9));
  EXPECT_THAT(refusal(asked), HasSubstr("ranked by harm, jobs, critical or times"));
  asked.clear_by();
  asked.set_limit(-1);
  EXPECT_THAT(refusal(asked), HasSubstr("must not be negative"));
  asked.clear_limit();
  asked.set_fabric("ib9");
  EXPECT_EQ(refusal(asked), "not_found: no fabric named ib9");
  asked.clear_fabric();
  set_timestamp(*asked.mutable_from(), kNow + 1h);
  EXPECT_THAT(refusal(asked), HasSubstr("the time lies ahead"));
  asked.mutable_from()->set_nanos(-1);
  EXPECT_THAT(refusal(asked), HasSubstr("invalid_argument: from"));
  asked.clear_from();
  asked.set_limit(1'000'000);
  EXPECT_EQ(limit_of(asked), 1000U);
}

}  // namespace
}  // namespace weft::api
