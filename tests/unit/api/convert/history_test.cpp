// SPDX-License-Identifier: Apache-2.0
#include "api/convert/history.hpp"

#include <gtest/gtest.h>

#include "api/convert/times.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;

v1::GetPortHistoryRequest request_for(const std::string& what) {
  v1::GetPortHistoryRequest request;
  request.set_what(what);
  return request;
}

Result<PortHistoryQuestion> ask(const v1::GetPortHistoryRequest& request, const std::vector<Incident>& incidents = {}) {
  return parse_port_history(make_snapshot(1, {SmallFabric(2).build()}, incidents), request, kNow);
}

TEST(PortHistory, ANodeIsAllItsPortsAndAPortIsOne) {
  const auto node = ask(request_for("leaf-1"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->question.ports.size(), 4U);  // port 0 of an InfiniBand switch is one of them
  EXPECT_EQ(node->question.fabric, "ib0");
  for (const char* name : {"leaf-1:2", "leaf-1 port 2"}) {
    const auto port = ask(request_for(name));
    ASSERT_TRUE(port) << name;
    ASSERT_EQ(port->question.ports.size(), 1U) << name;
    EXPECT_EQ(port->question.ports[0], (PortKey{{kLeaf}, {2}})) << name;
  }
  const auto unknown = ask(request_for("leaf-9"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ask(request_for("")));
}

TEST(PortHistory, TheLastDayInWholeStepsUnlessAnotherTimeIsAskedFor) {
  const auto day = ask(request_for("leaf-1:1"));
  ASSERT_TRUE(day);
  EXPECT_EQ(day->question.to, kNow);
  EXPECT_EQ(day->question.step, 10min);  // 240 buckets of 6 minutes would do; people read tens
  EXPECT_LE(day->question.from, kNow - 24h);
  EXPECT_EQ(day->question.from.time_since_epoch() % day->question.step, Duration::zero());
  auto month = request_for("leaf-1:1");
  set_timestamp(*month.mutable_from(), kNow - 720h);
  EXPECT_EQ(ask(month)->question.step, 3h);
  month.set_points(30);
  EXPECT_EQ(ask(month)->question.step, 24h);
}

TEST(PortHistory, RefusesTimesThatAreNone) {
  auto request = request_for("leaf-1:1");
  set_timestamp(*request.mutable_from(), kNow + 1h);
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
  request = request_for("leaf-1:1");
  set_timestamp(*request.mutable_to(), kNow - 1h);
  set_timestamp(*request.mutable_from(), kNow - 1h);
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
  for (const std::int64_t seconds : std::initializer_list<std::int64_t>{-9'000'000'000, -1, 9'223'372'037}) {
    request = request_for("leaf-1:1");
    request.mutable_from()->set_seconds(seconds);
    EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument) << seconds;
    request = request_for("leaf-1:1");
    request.mutable_to()->set_seconds(std::min<std::int64_t>(seconds, 5));
    EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument) << seconds;
  }
  request = request_for("leaf-1:1");
  request.mutable_from()->set_nanos(-1);
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
  request = request_for("leaf-1:1");
  request.mutable_to()->set_seconds(253'402'300'799);  // in the year 9999
  EXPECT_EQ(ask(request).error().message, "to must lie between the years 1678 and 2262");
  request = request_for("leaf-1:1");
  request.set_points(2001);
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
  request = request_for("leaf-1:1");
  request.add_counters("symbol_error");
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
}

TEST(PortHistory, ACounterThatIsNamedTwiceIsAskedForOnce) {
  auto request = request_for("leaf-1:1");
  for (const char* name : {"symbol_errors", "link_downed", "symbol_errors"}) request.add_counters(name);
  const auto asked = ask(request);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->question.counters, (std::vector{CounterId::kSymbolErrors, CounterId::kLinkDowned}));
}

TEST(PortHistory, ATimeThatEndsAheadEndsNow) {
  auto request = request_for("leaf-1:1");
  set_timestamp(*request.mutable_to(), kNow + 1h);
  EXPECT_EQ(ask(request)->question.to, kNow);
}

TEST(PortHistory, OfNodesThatShareANameTheGuidTellsWhich) {
  SmallFabric fabric(3);
  fabric.nodes[2].name = fabric.nodes[1].name;
  const auto snapshot = make_snapshot(1, {fabric.build()}, {});
  const auto answer_to = [&](const std::string& what) {
    const auto asked = parse_port_history(snapshot, request_for(what), kNow);
    HistoryAnswer answer{asked->question.step, {}};
    for (const PortKey& port : asked->question.ports) answer.ports.push_back({port});
    return *port_history(*asked, answer);
  };
  const auto both = answer_to("host-1 mlx5_0");
  ASSERT_EQ(both.ports_size(), 2);
  EXPECT_EQ(both.ports(0).label(), "host-1 mlx5_0 port 1 (0x0000000000000101)");
  EXPECT_EQ(both.ports(1).label(), "host-1 mlx5_0 port 1 (0x0000000000000102)");
  EXPECT_EQ(both.ports(0).node(), "host-1 mlx5_0");
  EXPECT_EQ(both.ports(0).peer(), "leaf-1 port 1");
  const auto leaf = answer_to("leaf-1:2");
  EXPECT_EQ(leaf.ports(0).label(), "leaf-1 port 2");
  EXPECT_EQ(leaf.ports(0).peer(), "host-1 mlx5_0 port 1 (0x0000000000000102)");
  EXPECT_EQ(answer_to("leaf-1:3").ports(0).peer(), "host-3 mlx5_0 port 1");
}

TEST(PortHistory, SaysRatesInUnitsOfPeopleAndWhatDidNotMove) {
  const auto asked = ask(request_for("leaf-1:1"));
  HistoryAnswer answer{asked->question.step,
                       {{asked->question.ports[0],
                         {{CounterId::kTransmitWait, false, 120, {{0, 60, 60s, 3}, {2, 60, 30s, 4}}},
                          {CounterId::kSymbolErrors, true, 0, {{0, 0, 60s, 0}}}}}}};
  const auto response = port_history(*asked, answer);
  ASSERT_TRUE(response);
  EXPECT_EQ(from_duration(response->step()), asked->question.step);
  EXPECT_EQ(response->buckets(), 145U);  // a day, and what the first whole step begins earlier
  const v1::PortHistory& port = response->ports(0);
  EXPECT_EQ(port.label(), "leaf-1 port 1");
  EXPECT_EQ(port.peer(), "host-1 mlx5_0 port 1");
  const v1::CounterHistory& waits = port.counters(0);
  EXPECT_EQ(waits.unit(), "seconds");  // a tick of this port is half a second
  ASSERT_EQ(waits.bucket_size(), 2);
  EXPECT_EQ(waits.bucket(1), 2U);
  EXPECT_DOUBLE_EQ(waits.rate(0), 0.5);
  EXPECT_DOUBLE_EQ(waits.rate(1), 1);
  EXPECT_DOUBLE_EQ(waits.peak(1), 2);
  EXPECT_DOUBLE_EQ(std::stod(waits.total()), 60);
  const v1::CounterHistory& errors = port.counters(1);
  EXPECT_TRUE(errors.at_least());
  EXPECT_EQ(errors.total(), "0");
  EXPECT_TRUE(errors.bucket().empty());

  auto with_still = request_for("leaf-1:1");
  with_still.set_with_still(true);
  EXPECT_EQ(port_history(*ask(with_still), answer)->ports(0).counters(1).bucket_size(), 1);
}

TEST(PortHistory, SaysGaugesInBaseUnitsWithTheirLowestAndHighest) {
  const auto asked = ask(request_for("leaf-1:1"));
  HistoryAnswer answer{asked->question.step, {{asked->question.ports[0], {}, {}}}};
  answer.ports[0].gauges = {{PortGauge::kReceivePower, {{0, 500'000, 400'000, 500'000}, {7, 0, 0, 500'000}}},
                            {PortGauge::kLaserBias, {{0, 7'000, 7'000, 7'200}}},
                            {PortGauge::kTemperature, {{0, -5'000, -6'000, 41'000}}}};
  const auto response = port_history(*asked, answer);
  ASSERT_TRUE(response);
  const v1::PortHistory& port = response->ports(0);
  ASSERT_EQ(port.gauges_size(), 3);
  EXPECT_EQ(port.gauges(0).gauge(), "module_receive_power");
  EXPECT_EQ(port.gauges(0).unit(), "watts");
  ASSERT_EQ(port.gauges(0).bucket_size(), 2);
  EXPECT_EQ(port.gauges(0).bucket(1), 7U);
  EXPECT_DOUBLE_EQ(port.gauges(0).last(0), 500e-6);
  EXPECT_DOUBLE_EQ(port.gauges(0).low(0), 400e-6);
  EXPECT_DOUBLE_EQ(port.gauges(0).last(1), 0) << "no light is not absent";
  EXPECT_EQ(port.gauges(1).unit(), "amperes");
  EXPECT_DOUBLE_EQ(port.gauges(1).high(0), 7.2e-3);
  EXPECT_EQ(port.gauges(2).unit(), "degrees Celsius");
  EXPECT_DOUBLE_EQ(port.gauges(2).last(0), -5);
  EXPECT_DOUBLE_EQ(port.gauges(2).high(0), 41);
}

TEST(PortHistory, AGaugeIsAskedForAsACounterIs) {
  auto request = request_for("leaf-1:1");
  request.add_counters("module_temperature");
  request.add_counters("symbol_errors");
  const auto asked = ask(request);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->question.gauges, std::vector{PortGauge::kTemperature});
  EXPECT_EQ(asked->question.counters, std::vector{CounterId::kSymbolErrors});
  request.add_counters("module_supply");
  EXPECT_EQ(ask(request).error().code, ErrorCode::kInvalidArgument);
}

TEST(PortHistory, MarksWhatHappenedThereAndThen) {
  Incident there = make_incident(1, IncidentState::kResolved);
  Incident elsewhere = make_incident(2);
  elsewhere.finding.cause = {EntityKind::kLink, "ib0", {{kLeaf}, {2}}, {{0x102}, {1}}, "leaf-1 port 2 - host-2"};
  Incident long_ago = make_incident(3, IncidentState::kResolved);
  long_ago.opened = kNow - 80h;
  long_ago.resolved = kNow - 79h;
  const auto asked = ask(request_for("host-1 mlx5_0"), {there, elsewhere, long_ago});
  ASSERT_TRUE(asked);
  const auto response = port_history(*asked, {asked->question.step, {}});
  ASSERT_EQ(response->marks_size(), 1);
  EXPECT_EQ(response->marks(0).id(), "INC-1");
  EXPECT_EQ(response->marks(0).kind(), v1::HistoryMark::INCIDENT);
  EXPECT_EQ(from_timestamp(response->marks(0).until()), kNow);
}

TEST(PortHistory, AnIncidentThatWasReopenedHasAMarkForEachTime) {
  const auto marks_of = [](Incident incident) {
    const auto asked = ask(request_for("leaf-1:1"), {std::move(incident)});
    const auto response = port_history(*asked, {asked->question.step, {}});
    return std::vector<v1::HistoryMark>(response->marks().begin(), response->marks().end());
  };
  Incident again = make_incident(1);
  again.opened = kNow - 3h;
  again.occurrences = 2;
  again.timeline = {{kNow - 3h, IncidentChange::kOpened, Severity::kInfo, "link is down"},
                    {kNow - 170min, IncidentChange::kSeverityChanged, Severity::kCritical, "link of a job is down"},
                    {kNow - 2h, IncidentChange::kResolved, Severity::kCritical},
                    {kNow - 10min, IncidentChange::kReopened, Severity::kCritical, "link is down again"}};
  auto marks = marks_of(again);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].id(), "INC-1");
  EXPECT_EQ(from_timestamp(marks[0].from()), kNow - 3h);
  EXPECT_EQ(from_timestamp(marks[0].until()), kNow - 2h) << "all was well in between";
  EXPECT_EQ(marks[0].severity(), v1::Incident::CRITICAL) << "the worst of that time";
  EXPECT_EQ(marks[0].text(), "link is down");
  EXPECT_EQ(from_timestamp(marks[1].from()), kNow - 10min);
  EXPECT_FALSE(marks[1].has_until());
  EXPECT_EQ(marks[1].text(), again.finding.summary) << "what it says now";

  // Its first end is not kept any more: then nobody knows when all was well.
  again.timeline.erase(again.timeline.begin(), again.timeline.begin() + 3);
  marks = marks_of(again);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(from_timestamp(marks[0].from()), kNow - 3h);
  EXPECT_EQ(from_timestamp(marks[0].until()), kNow - 10min);

  // Of an older weftd.
  again.timeline.clear();
  marks = marks_of(again);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(from_timestamp(marks[0].from()), kNow - 3h);
}

TEST(PortHistory, PlannedWorkThatWasCalledOffIsNoMark) {
  const auto snapshot = make_snapshot(1, {SmallFabric(2).build()});
  auto windows = std::make_shared<MaintenanceList>();
  for (std::uint64_t id = 1; id <= 2; ++id) {
    MaintenanceWindow& window = windows->emplace_back();
    window.id = id;
    window.entity = {EntityKind::kNode, "ib0", {{kLeaf}, {}}, {}, "leaf-1"};
    window.nodes = {NodeGuid{kLeaf}};
    window.from = kNow - 3h;
    window.until = kNow - 1h;
    window.ended = id == 1 ? kNow - 5h : kNow - 2h;  // the first one before it began
  }
  snapshot->maintenance = windows;
  const auto asked = parse_port_history(snapshot, request_for("leaf-1"), kNow);
  ASSERT_TRUE(asked);
  const auto response = port_history(*asked, {asked->question.step, {}});
  ASSERT_EQ(response->marks_size(), 1);
  EXPECT_EQ(response->marks(0).id(), "MW-2");
  EXPECT_EQ(from_timestamp(response->marks(0).until()), kNow - 2h);
}

TEST(PortHistory, MarksOfOnePortAreNotThoseOfItsNeighbours) {
  auto request = request_for("leaf-1:2");
  const auto other = ask(request, {make_incident(1)});  // of port 1
  EXPECT_EQ(port_history(*other, {other->question.step, {}})->marks_size(), 0);
  request.set_what("leaf-1:1");
  const auto own = ask(request, {make_incident(1)});
  EXPECT_EQ(port_history(*own, {own->question.step, {}})->marks_size(), 1);
  request.set_what("leaf-1");
  const auto node = ask(request, {make_incident(1)});
  EXPECT_EQ(port_history(*node, {node->question.step, {}})->marks_size(), 1);
}

TEST(PortHistory, AGuidThatNoFabricHasMayBeOneThatIsGone) {
  const NodeGuid guid{0x5aULL << 48 | 7};
  Incident down = make_incident(1, IncidentState::kResolved);
  down.finding.cause = {EntityKind::kNode, "ib0", {guid, {}}, {}, "leaf-7"};
  for (const auto& [text, port] :
       {std::pair{"0x005a000000000007", 0}, {"0x005a000000000007:12", 12}, {"0x005a000000000007 port 12", 12}}) {
    const auto asked = ask(request_for(text), {down});
    ASSERT_TRUE(asked) << text;
    ASSERT_TRUE(asked->question.gone) << text;
    EXPECT_EQ(*asked->question.gone, (PortKey{guid, PortNum{static_cast<std::uint16_t>(port)}})) << text;
    EXPECT_TRUE(asked->question.ports.empty());
    const PortKey key{guid, {12}};
    HistoryAnswer answer{
        asked->question.step, {{key, {{CounterId::kTransmitWait, false, 9, {{0, 9, 60s, 1}}}}}}, "ib0"};
    const auto response = port_history(*asked, answer);
    ASSERT_TRUE(response) << text;
    EXPECT_TRUE(response->ports(0).gone());
    EXPECT_EQ(response->ports(0).label(), "leaf-7 port 12") << "as its incident called it";
    EXPECT_EQ(response->ports(0).node_guid(), "0x005a000000000007");
    EXPECT_EQ(response->ports(0).fabric(), "ib0");
    EXPECT_EQ(response->ports(0).counters(0).unit(), "ticks") << "how long one is nobody knows any more";
    EXPECT_EQ(response->marks_size(), 1);
    EXPECT_EQ(port_history(*ask(request_for(text)), answer)->ports(0).label(), "0x005a000000000007 port 12");
  }
  for (const char* text : {"0x005a000000000007:0", "0x005a000000000007:x", "0x", "0x0", "5a:7", "leaf-9:1"})
    EXPECT_EQ(ask(request_for(text)).error().code, ErrorCode::kNotFound) << text;
  EXPECT_EQ(ask(request_for(to_string(NodeGuid{kLeaf}) + ":99")).error().code, ErrorCode::kNotFound) << "it is there";
  const auto known = ask(request_for(to_string(NodeGuid{kLeaf}) + ":2"));
  ASSERT_TRUE(known);
  EXPECT_FALSE(known->question.gone);
}

TEST(PortHistory, ANameInTwoFabricsNeedsOne) {
  SmallFabric other(2, "ib1");
  const auto snapshot = make_snapshot(1, {SmallFabric(2).build(), other.build()});
  auto request = request_for("leaf-1:1");
  const auto both = parse_port_history(snapshot, request, kNow);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(both.error().message, "leaf-1:1 is in several fabrics, ib0, ib1: choose one (--fabric, ?fabric=)");
  request.set_fabric("ib1");
  EXPECT_EQ(parse_port_history(snapshot, request, kNow)->question.fabric, "ib1");
}

}  // namespace
}  // namespace weft::api
