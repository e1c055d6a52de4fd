// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/evidence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "api/convert/times.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Answers at once with what it has.
struct Desk final : HistoryDesk {
  void read(HistoryQuestion asked, Callback take) override {
    question = asked;
    take(answer);
  }
  void read_stall(StallQuestion, StallCallback) override {}
  std::optional<HistoryQuestion> question;
  Result<HistoryAnswer> answer = fail(ErrorCode::kNotFound, "nothing is stored of that time");
};

/// Seven symbol errors at leaf-1 port 1 in the bucket `moved` of 10, its bucket `missing` was not read.
HistoryAnswer small_history(Duration step, std::uint32_t moved, std::uint32_t missing) {
  HistoryAnswer answer{step, {{{{kLeaf}, {1}}, {}, {}}, {{{0x101}, {1}}, {}, {}}}, {}};
  CounterHistory errors{CounterId::kSymbolErrors, false, 7, {}};
  CounterHistory downs{CounterId::kLinkDowned, false, 0, {}};
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (i == missing) continue;
    errors.buckets.push_back({i, i == moved ? 7.0 : 0.0, step, i == moved ? 0.1 : 0.0});
    downs.buckets.push_back({i, 0, step, 0});
  }
  answer.ports[0].counters = {errors, downs};
  return answer;
}

class Evidence : public ::testing::Test {
 protected:
  Evidence() {
    incident.finding.kind = IncidentKind::kLinkErrors;
    incident.finding.jobs = {"slurm:1234"};
    fabric.set(1, CounterId::kSymbolErrors, 7);
    source.version = "1.2.3";
    source.host = "mgmt-1";
    source.thresholds[IncidentKind::kLinkErrors] = {{"analyzer.error_rate_limit", "1e-13", "1e-12", "vol. 2, 6.4"}};
    source.page = [](std::string_view path) -> std::string_view {
      if (path != "/runbooks/LINK_ERRORS") return {};
      return "<article><section id=\"what-to-do\"><p>What to do</p><ol><li>Run <code>weftctl incident INC-…</code>, "
             "see "
             "<a href=\"/runbooks/LINK_DOWN\">LINK_DOWN</a></li></ol></section></article>";
    };
  }
  Result<v1::EvidencePack> make(const v1::GetEvidenceRequest& request, HistoryDesk* asked) {
    std::optional<Result<v1::EvidencePack>> taken;
    auto snapshot = with_plans(make_snapshot(1, {fabric.build()}, {incident}), plans);
    snapshot->hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(hosts);
    snapshot->drift = drift;
    make_evidence(source, asked, snapshot, request, kNow, [&](auto pack) { taken = std::move(pack); });
    return taken.value_or(fail(ErrorCode::kInternal, "nothing was taken"));
  }
  v1::EvidencePack of_incident(bool with_jobs = false) {
    v1::GetEvidenceRequest request;
    request.set_incident_id("INC-1");
    request.set_with_jobs(with_jobs);
    auto pack = make(request, &desk);
    EXPECT_TRUE(pack) << pack.error().message;
    return pack.value_or(v1::EvidencePack());
  }
  v1::GetEvidenceRequest thing(const std::string& what) {
    v1::GetEvidenceRequest request;
    request.set_what(what);
    return request;
  }

  SmallFabric fabric{2};
  Incident incident = make_incident(1);
  std::vector<Plan> plans;
  std::vector<std::shared_ptr<const HostView>> hosts;
  std::shared_ptr<const DriftReport> drift;
  EvidenceSource source;
  Desk desk;
};

TEST_F(Evidence, HasBothEndsWhatWasTriedAndByWhichNumbersItWasJudged) {
  plans = {make_plan(3, PlanState::kCommitted)};
  const auto pack = of_incident();
  EXPECT_EQ(pack.title(), "INC-1");
  EXPECT_EQ(pack.file_name(), "weft-INC-1");
  ASSERT_EQ(pack.ports_size(), 2);
  EXPECT_EQ(pack.ports(0).label(), "leaf-1 port 1");
  EXPECT_EQ(pack.ports(1).label(), "host-1 mlx5_0 port 1");
  ASSERT_EQ(pack.nodes_size(), 2);
  EXPECT_EQ(pack.nodes(0).guid(), pack.ports(0).port().node_guid());
  ASSERT_EQ(pack.plans_size(), 1);
  EXPECT_EQ(pack.plans(0).id(), "PLAN-3");
  ASSERT_EQ(pack.thresholds_size(), 1);
  EXPECT_EQ(pack.thresholds(0).value(), "1e-13");
  EXPECT_EQ(pack.runbook(), "/runbooks/LINK_ERRORS");
  EXPECT_EQ(pack.runbook_steps(),
            "<p>What to do</p><ol><li>Run <code>weftctl incident INC-1</code>, see LINK_DOWN</li></ol>");
  EXPECT_EQ(pack.weftd_version(), "1.2.3");
  for (const char* words : {"INC-1", "LINK_ERRORS", "leaf-1 port 1", "0x0000000000000101", "weftd 1.2.3 on mgmt-1",
                            "PLAN-3", "analyzer.<wbr>error_<wbr>rate_<wbr>limit",
                            "set here; the default is <code>1e-12</code>", "vol. 2, 6.4", "symbol_errors"})
    EXPECT_THAT(pack.html(), HasSubstr(words));
}

TEST_F(Evidence, AsksForTheTimeOfTheIncidentAndAsMuchAroundIt) {
  of_incident();
  ASSERT_TRUE(desk.question);
  EXPECT_EQ(desk.question->ports, (std::vector<PortKey>{{{kLeaf}, {1}}, {{0x101}, {1}}}));
  EXPECT_LE(desk.question->from, incident.opened - 1h);
  EXPECT_GT(desk.question->from, incident.opened - 2h);
  EXPECT_EQ(desk.question->to, kNow);
  incident.opened = kNow - 30 * 24h;
  incident.state = IncidentState::kResolved;
  incident.resolved = kNow - 29 * 24h;
  of_incident();
  EXPECT_LE(desk.question->from, incident.opened - 24h);
  EXPECT_EQ(desk.question->to, incident.resolved + 24h);
}

TEST_F(Evidence, OfALongIncidentTheLastDaysAreDrawnAndThatIsSaid) {
  incident.opened = kNow - 60 * 24h;
  const auto pack = of_incident();
  EXPECT_GE(desk.question->from, kNow - 8 * 24h);
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("Charts show the last 7 d")));
}

TEST_F(Evidence, AGapIsAGapAndWhatDidNotMoveIsNamed) {
  desk.answer = small_history(1min, 3, 5);
  const auto pack = of_incident();
  const v1::EvidencePort& port = pack.ports(0);
  EXPECT_EQ(port.read_bucket_size(), 9);
  EXPECT_THAT(port.read_bucket(), Not(Contains(5)));
  ASSERT_EQ(port.history().counters_size(), 2);
  EXPECT_EQ(port.history().counters(0).total(), "7");
  EXPECT_THAT(port.history().counters(1).bucket(), IsEmpty()) << "it did not move";
  EXPECT_FALSE(pack.ports(1).has_history()) << "absent is not zero";
  EXPECT_THAT(pack.unknown(),
              Contains(HasSubstr("host-1 mlx5_0 port 1: no history of the time of the charts is stored")));
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("leaf-1 port 1: nothing was read in ")));
  EXPECT_THAT(pack.html(), HasSubstr("<rect class=\"gap\""));
  EXPECT_THAT(pack.html(), HasSubstr("Read, and did not move: Link downed."));
}

TEST_F(Evidence, WithoutAHistoryItSaysSoAndHasTheRest) {
  v1::GetEvidenceRequest request;
  request.set_incident_id("1");
  for (HistoryDesk* asked : std::initializer_list<HistoryDesk*>{nullptr, &desk}) {
    const auto pack = make(request, asked);
    ASSERT_TRUE(pack) << pack.error().message;
    EXPECT_THAT(pack->unknown(), Contains(HasSubstr("There are no charts: ")));
    ASSERT_EQ(pack->marks_size(), 1) << "what happened is known all the same";
    EXPECT_EQ(pack->marks(0).id(), "INC-1");
    EXPECT_THAT(pack->html(), Not(HasSubstr("<svg")));
  }
}

TEST_F(Evidence, APortThatNobodyReadsHasNoValues) {
  fabric.ports[1].state = PortState::kUnknown;
  fabric.ports[1].physical_state = PortPhysicalState::kUnknown;
  fabric.ports[1].width_active = 0;
  fabric.ports[1].speed_active = 0;
  fabric.state_read_at[1] = kNever;
  fabric.counters = SampleTable::of_group(CounterGroup::kEverySweep, fabric.ports.size());
  const auto pack = of_incident();
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("leaf-1 port 1: nobody reads this port")));
  EXPECT_THAT(pack.html(), HasSubstr("None was read."));
  EXPECT_THAT(pack.html(), HasSubstr("not known"));
}

TEST_F(Evidence, ACollectorTellsTheDeviceAndItsModule) {
  auto inventory = std::make_shared<HostInventory>();
  HostPort device;
  device.device = "mlx5_0";
  device.number = 1;
  device.firmware = "28.39.1002";
  device.board_id = "MT_0000000838";
  device.port_guid = {0x201};
  inventory->ports = {device};
  inventory->series.push_back({.device = "mlx5_0", .port = 1, .name = "module_temperature"});
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow - 1s;
  reading->inventory = inventory;
  reading->values = {51'500};
  reading->present = {1};
  auto host = std::make_shared<HostView>();
  host->host = "host-1";
  host->reading = reading;
  FactTable facts;
  facts.ports = {{"", 0, {{ConfigFact::kHostModel, FactSource::kSysfs, "DGXH100"}}},
                 {"mlx5_0", 1, {{ConfigFact::kModuleSerial, FactSource::kEthtool, "MT2318FT00042"}}}};
  reading->facts = std::make_shared<const FactTable>(tidy(facts));
  reading->facts_at = kNow - 30s;
  hosts = {host};
  const auto pack = of_incident();
  EXPECT_FALSE(pack.ports(0).has_device());
  ASSERT_EQ(pack.ports(1).device().facts_size(), 2);
  EXPECT_EQ(pack.ports(1).device().facts(0).name(), "module_serial");
  EXPECT_EQ(pack.ports(1).device().facts(0).source(), "ethtool");
  EXPECT_EQ(pack.ports(1).device().facts(1).value(), "DGXH100");
  EXPECT_EQ(from_timestamp(pack.ports(1).device().facts_read()), kNow - 30s);
  EXPECT_THAT(pack.html(), HasSubstr("serial number MT2318FT00042"));
  ASSERT_TRUE(pack.ports(1).has_device());
  EXPECT_EQ(pack.ports(1).device().firmware(), "28.39.1002");
  ASSERT_EQ(pack.ports(1).device().module_size(), 1);
  EXPECT_THAT(pack.html(), HasSubstr("28.39.1002"));
  EXPECT_THAT(pack.html(), HasSubstr("Module temperature: 51.5 °C"));
}

TEST_F(Evidence, OfSettingsThatDriftedThereIsWhoHasThem) {
  const auto holder = [](const std::string& host, EntityKind kind, std::uint64_t guid) {
    Entity where{kind, guid != 0 ? "ib0" : "", {{guid}, {1}}, {}, host + " mlx5_0 1"};
    where.host = host;
    where.device = "mlx5_0";
    return where;
  };
  incident.finding.kind = IncidentKind::kConfigDrift;
  incident.finding.cause = {.kind = EntityKind::kCohort,
                            .fabric = {},
                            .port = {},
                            .peer = {},
                            .label = "firmware of adapters of board MT_1, hosts gpu-#"};
  incident.finding.cause.device = "firmware|board MT_1|gpu-#";
  incident.finding.affected = {holder("host-1", EntityKind::kPort, 0x101), holder("gpu-7", EntityKind::kHostPort, 0)};
  DriftDifference one;
  one.group = "board MT_1, hosts gpu-#, at 0000:17:00.0";
  one.members = 512;
  one.values = {{"28.41.1000", 510}, {"28.39.1002", 2}};
  one.holders = {{holder("gpu-7", EntityKind::kHostPort, 0), "28.39.1002", kNow - 1h, false}};
  DriftDifference other = one;
  other.group = "board MT_10, hosts gpu-#";
  DriftDifference mtu = one;
  mtu.fact = ConfigFact::kMtu;
  auto report = std::make_shared<DriftReport>();
  report->differences = {one, other, mtu};
  drift = report;
  const auto pack = of_incident();
  ASSERT_EQ(pack.differences_size(), 1);
  EXPECT_EQ(pack.differences(0).group(), one.group);
  ASSERT_EQ(pack.ports_size(), 2);
  EXPECT_EQ(pack.ports(0).label(), "host-1 mlx5_0 port 1");
  EXPECT_EQ(pack.ports(1).label(), "gpu-7 mlx5_0 1");
  EXPECT_FALSE(desk.question) << "no counter tells of a setting";
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("There are no charts: the incident is about settings")));
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("gpu-7 mlx5_0 1: no collector tells of this port now")));
  EXPECT_THAT(pack.html(), HasSubstr("510 have <b>28.41.1000</b>"));
}

TEST_F(Evidence, OfAWholeFabricThereAreThePortsThatAreAffected) {
  incident.finding.kind = IncidentKind::kLinksNotActivated;
  incident.finding.affected = {incident.finding.cause};
  incident.finding.cause = {EntityKind::kFabric, "ib0", {}, {}, "ib0"};
  const auto pack = of_incident();
  EXPECT_EQ(pack.ports_size(), 2);
  EXPECT_TRUE(desk.question);
  incident.finding.affected.clear();
  EXPECT_THAT(of_incident().unknown(), Contains(HasSubstr("about no single port")));
}

TEST_F(Evidence, OfAHostThereAreAllItsAdapters) {
  fabric.nodes[2].name = fabric.nodes[2].description = "host-1 mlx5_1";
  incident.finding.kind = IncidentKind::kStraggler;
  incident.finding.cause = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = "host-1"};
  incident.finding.cause.host = "host-1";
  for (const EntityKind kind : {EntityKind::kHost, EntityKind::kCollector}) {
    incident.finding.cause.kind = kind;
    const auto pack = of_incident();
    ASSERT_EQ(pack.ports_size(), 2);
    EXPECT_EQ(pack.ports(1).label(), "host-1 mlx5_1 port 1");
    EXPECT_EQ(pack.nodes_size(), 2);
  }
}

TEST_F(Evidence, OfAPortThereIsTheOtherEndAndOfANodeAllPorts) {
  const auto port = make(thing("leaf-1:2"), &desk);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->title(), "leaf-1 port 2");
  EXPECT_EQ(port->file_name(), "weft-leaf-1-port-2");
  EXPECT_EQ(port->ports_size(), 2);
  EXPECT_FALSE(port->has_incident());
  EXPECT_FALSE(port->has_timeline());
  EXPECT_GE(desk.question->to - desk.question->from, 24h);
  EXPECT_LT(desk.question->to - desk.question->from, 25h) << "it begins at a whole step";
  const auto node = make(thing("leaf-1"), &desk);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->ports_size(), 3) << "port 0 is no port that a cable is at";
  EXPECT_EQ(node->nodes_size(), 1);
}

TEST_F(Evidence, APlanOfAPortIsToldOfWithoutItsIncident) {
  plans = {make_plan(3, PlanState::kCommitted)};
  plans[0].started = kNow - 1h;
  const auto pack = make(thing("leaf-1:1"), &desk);
  ASSERT_TRUE(pack);
  ASSERT_EQ(pack->plans_size(), 1);
  EXPECT_EQ(pack->plans(0).id(), "PLAN-3");
}

TEST_F(Evidence, ANodeThatIsGoneIsAskedForInTheHistory) {
  incident.finding.cause.port = {{0x999}, {1}};
  incident.finding.cause.peer = {{0x998}, {1}};
  desk.answer =
      HistoryAnswer{1min, {{{{0x999}, {1}}, {{CounterId::kLinkDowned, false, 2, {{1, 2, 1min, 1}}}}, {}}}, "ib0"};
  const auto pack = of_incident();
  ASSERT_TRUE(desk.question->gone);
  ASSERT_EQ(pack.ports_size(), 1);
  EXPECT_FALSE(pack.ports(0).has_port());
  EXPECT_EQ(pack.ports(0).history().counters(0).total(), "2");
  EXPECT_THAT(pack.unknown(), Contains(HasSubstr("no fabric has it now")));
}

TEST_F(Evidence, SaysWhatIsWrongWithAQuestion) {
  const auto code = [&](const v1::GetEvidenceRequest& request) {
    const auto pack = make(request, &desk);
    return pack ? "good" : to_string(pack.error().code);
  };
  EXPECT_STREQ(code({}), "invalid_argument");
  v1::GetEvidenceRequest request = thing("leaf-1");
  request.set_incident_id("INC-1");
  EXPECT_STREQ(code(request), "invalid_argument");
  EXPECT_STREQ(code(thing("leaf-9")), "not_found");
  request.clear_what();
  request.set_incident_id("INC-9");
  EXPECT_STREQ(code(request), "not_found");
  request.set_incident_id("nothing");
  EXPECT_STREQ(code(request), "invalid_argument");
  request.set_incident_id("INC-1");
  set_timestamp(*request.mutable_from(), kNow - 1h);
  EXPECT_STREQ(code(request), "invalid_argument") << "an incident has its own time";
  request = thing("leaf-1");
  set_timestamp(*request.mutable_from(), kNow + 1h);
  EXPECT_STREQ(code(request), "invalid_argument");
}

}  // namespace
}  // namespace weft::api
