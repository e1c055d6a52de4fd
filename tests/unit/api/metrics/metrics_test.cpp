// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <zlib.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "api/metrics/exposition.hpp"
#include "api/metrics/gzip.hpp"
#include "api/metrics/incident_families.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string expose(const std::shared_ptr<const Snapshot>& snapshot, MetricsFormat format = MetricsFormat::kText,
                   Collectables collectables = {}) {
  Exposition exposition(snapshot, {kNow, {}}, format, std::move(collectables));
  std::string text;
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) text += piece;
  EXPECT_TRUE(exposition.next().empty()) << "the end stays the end";
  return text;
}

/// The lines of `text` about `name`, head included.
std::string about(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + "{") || line.starts_with(name + " ") || line.starts_with("# HELP " + name + " ") ||
        line.starts_with("# TYPE " + name + " "))
      result += line + '\n';
  return result;
}

TEST(Exposition, PortSeriesAreSpelledAsPromised) {
  SmallFabric fabric(1);
  fabric.set(1, CounterId::kSymbolErrors, 65535, true);
  fabric.set(1, CounterId::kTransmitBytes, 1'000'000'007);
  fabric.rates[1].transmit_wait_seconds_total = 1.5;
  fabric.rates[1].utilization_ratio = 0.25;
  const std::string text = expose(make_snapshot(1, {fabric.build()}));
  EXPECT_EQ(about(text, "weft_port_up"),
            "# HELP weft_port_up 1 if the port is logically active.\n# TYPE weft_port_up "
            "gauge\nweft_port_up{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"0\"} "
            "1\nweft_port_up{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\"} "
            "1\nweft_port_up{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"2\"} 0\nweft_port_up{node=\"host-1 "
            "mlx5_0\",guid=\"0x0000000000000101\",port=\"1\"} 1\n");
  EXPECT_EQ(about(text, "weft_port_symbol_errors_total"),
            "# HELP weft_port_symbol_errors_total Minor link errors seen on the physical lanes.\n"
            "# TYPE weft_port_symbol_errors_total counter\n"
            "weft_port_symbol_errors_total{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\"} 65535\n");
  EXPECT_THAT(text, HasSubstr("weft_port_transmit_bytes_total{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\"} "
                              "1000000007\n"));
  EXPECT_THAT(text, HasSubstr("weft_port_transmit_wait_seconds_total{node=\"leaf-1\",guid=\"0x0000000000000010\","
                              "port=\"1\"} 1.5\n"));
  EXPECT_THAT(text,
              HasSubstr("weft_link_utilization_ratio{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("weft_port_saturated{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\","
                              "counter=\"symbol_errors\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_port_rate_bytes_per_second{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\"} "
                              "50000000000\n"));
  EXPECT_THAT(text,
              HasSubstr("weft_port_info{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\",node_type=\"switch\","
                        "host=\"leaf-1\",peer_node=\"host-1 mlx5_0\",peer_guid=\"0x0000000000000101\",peer_port=\"1\","
                        "subnet=\"ib0\",link_layer=\"InfiniBand\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_fabric_nodes{subnet=\"ib0\",type=\"ca\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_sweep_requests_total{subnet=\"ib0\",result=\"ok\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("weft_sweep_path_records_total{subnet=\"ib0\",result=\"timeout\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_sweep_nodes_with_other_key{subnet=\"ib0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_sweep_silent_neighbors{subnet=\"ib0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_sweep_duration_seconds{subnet=\"ib0\"} 0.25\n"));
}

TEST(Exposition, PlacesStandWithThePort) {
  SmallFabric fabric(1);
  FabricView view = fabric.build();
  Places places;
  places.tiers.assign(view.sweep->topology->nodes().size(), 1);
  places.pods.assign(places.tiers.size(), 0);
  places.rails.assign(view.sweep->topology->ports().size(), 0);
  places.pod_names = {"north"};
  places.rail_names = {"7"};
  view.places = std::make_shared<const Places>(places);
  EXPECT_THAT(expose(make_snapshot(1, {view})), HasSubstr("peer_port=\"1\",pod=\"north\",rail=\"7\",subnet=\"ib0\""));
}

TEST(Exposition, AbsentIsNotZero) {
  SmallFabric fabric(1);
  fabric.set(1, CounterId::kLinkDowned, 0);
  const std::string text = expose(make_snapshot(1, {fabric.build()}));
  EXPECT_THAT(about(text, "weft_port_link_downed_total"), HasSubstr("port=\"1\"} 0\n"));
  EXPECT_EQ(about(text, "weft_port_symbol_errors_total"), "") << "never read: not even a head";
  EXPECT_EQ(about(text, "weft_link_stall_ratio"), "") << "NaN is no series";
  EXPECT_THAT(about(text, "weft_port_width_lanes"), Not(HasSubstr("port=\"2\"}")))
      << "a port that is down has no width";
}

TEST(Exposition, DetailsHaveTheirInstances) {
  SmallFabric fabric(1);
  fabric.details = SampleTable::of_group(CounterGroup::kDetail, fabric.ports.size());
  fabric.details.set(1, fabric.details.column(CounterId::kVirtualLaneTransmitWait, 3), 8, false);
  fabric.details.set(1, fabric.details.column(CounterId::kFecCorrectableBlocks, 11), 5, true);
  const std::string text = expose(make_snapshot(1, {fabric.build()}));
  EXPECT_THAT(text, HasSubstr("weft_port_virtual_lane_transmit_wait_seconds_total{node=\"leaf-1\",guid="
                              "\"0x0000000000000010\",port=\"1\",vl=\"3\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("weft_port_fec_correctable_blocks_total{node=\"leaf-1\",guid=\"0x0000000000000010\","
                              "port=\"1\",lane=\"11\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("counter=\"fec_correctable_blocks\"} 1\n"));
}

TEST(Exposition, HostsBesideASubnetTellEverything) {
  // The sweep shows the first and the last of these as well; a host's catalogue has them in another order.
  auto inventory = std::make_shared<HostInventory>();
  std::vector<HostSeries> series;
  for (const char* name : {"symbol_errors", "transmit_errors", "receive_discards", "transmit_discards", "cnp_sent"}) {
    series.emplace_back().device = "eth0";
    series.back().name = name;
  }
  inventory->series = std::move(series);
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = inventory;
  reading->values = {1, 2, 3, 4, 5};
  reading->present.assign(5, 1);
  auto host = std::make_shared<HostView>();
  host->host = "gpu-1";
  host->reading = reading;
  SmallFabric fabric(1);
  auto snapshot = make_snapshot(1, {fabric.build()});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(2, host);
  const std::string text = expose(snapshot);
  for (const char* line : {"symbol_errors_total{node=\"gpu-1\",device=\"eth0\",port=\"0\"} 1\n",
                           "transmit_errors_total{node=\"gpu-1\",device=\"eth0\",port=\"0\"} 2\n",
                           "receive_discards_total{node=\"gpu-1\",device=\"eth0\",port=\"0\"} 3\n",
                           "transmit_discards_total{node=\"gpu-1\",device=\"eth0\",port=\"0\"} 4\n",
                           "cnp_sent_total{node=\"gpu-1\",device=\"eth0\",port=\"0\"} 5\n"})
    EXPECT_THAT(text, HasSubstr("weft_port_" + std::string(line)));
}

TEST(Exposition, NoSourceOfReceiveErrorsHidesAnother) {
  auto inventory = std::make_shared<HostInventory>();
  HostPort& port = inventory->ports.emplace_back();
  port.device = "mlx5_0";
  port.number = 1;
  port.port_guid = {0x201};  // host-1's in the subnet
  std::vector<HostSeries> series(3, HostSeries{.device = "mlx5_0", .port = 1, .name = "receive_errors"});
  series[0].source = CounterSource::kRdma;
  series[1].source = CounterSource::kNetdev;
  series[2].name = "symbol_errors";
  inventory->series = series;
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = inventory;
  reading->values = {20, 30, 40};
  reading->present.assign(3, 1);
  auto host = std::make_shared<HostView>();
  host->host = "host-1";
  host->reading = reading;
  SmallFabric fabric(1);
  const PortIndex swept = 3;  // host-1's
  fabric.set(swept, CounterId::kReceiveErrors, 10);
  fabric.set(swept, CounterId::kSymbolErrors, 4);
  auto snapshot = make_snapshot(1, {fabric.build()});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(1, host);
  const std::string text = expose(snapshot);
  const std::string sweep = "{node=\"host-1 mlx5_0\",guid=\"0x0000000000000101\",port=\"1\"";
  EXPECT_THAT(
      about(text, "weft_port_receive_errors_total"),
      HasSubstr("counter\nweft_port_receive_errors_total" + sweep + ",source=\"sweep\"} 10\n" +
                "weft_port_receive_errors_total{node=\"host-1\",device=\"mlx5_0\",port=\"1\",source=\"rdma\"} 20\n"
                "weft_port_receive_errors_total{node=\"host-1\",device=\"mlx5_0\",port=\"1\",source=\"netdev\"} 30\n"));
  EXPECT_THAT(about(text, "weft_port_symbol_errors_total"), HasSubstr(sweep + "} 4\n"));
  EXPECT_THAT(about(text, "weft_port_symbol_errors_total"), Not(HasSubstr("mlx5_0\",port")))
      << "one register, read twice: told once";
}

TEST(Exposition, StaleIsByAgeOfWhatMatters) {
  SmallFabric fabric(2);
  fabric.state_read_at[1] = kNow - std::chrono::seconds(10);
  fabric.set(2, CounterId::kSymbolErrors, 1);
  fabric.counters.set_read_at(2, kNow - std::chrono::seconds(10));
  fabric.set(3, CounterId::kSymbolErrors, 1);
  fabric.counters.set_read_at(3, kNow - std::chrono::seconds(10));
  const std::string text = about(expose(make_snapshot(1, {fabric.build()})), "weft_port_stale");
  EXPECT_THAT(text, HasSubstr("port=\"0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("port=\"1\"} 1\n")) << "its state is old";
  EXPECT_THAT(text, HasSubstr("port=\"2\"} 1\n")) << "its counters are old and it is up";
  EXPECT_THAT(text, HasSubstr("port=\"3\"} 0\n")) << "a port that is down counts nothing";
}

TEST(Exposition, LabelsAreEscapedAndUtf8) {
  SmallFabric fabric(1);
  fabric.nodes[0].name = "a\"b\\c\nd\xFF\xC3\xA9" + std::string(300, 'x');
  const std::string text = expose(make_snapshot(1, {fabric.build()}));
  EXPECT_THAT(text, HasSubstr("{node=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\xC3\xA9xxx"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(257, 'x'))));
}

TEST(Exposition, APortSeenThroughTwoAdaptersHasOneSeries) {
  SmallFabric first(1, "ib0");
  SmallFabric second(1, "ib1");
  second.ports[1].state = PortState::kActive;
  first.ports[1].state = PortState::kUnknown;  // known only through the second
  first.state_read_at[1] = kNever;
  const std::string text = about(expose(make_snapshot(1, {first.build(), second.build()})), "weft_port_info");
  const std::string series = "weft_port_info{node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"";
  EXPECT_THAT(text, HasSubstr(series + "1\",node_type=\"switch\",host=\"leaf-1\",peer_node=\"host-1 mlx5_0\","
                                       "peer_guid=\"0x0000000000000101\",peer_port=\"1\",subnet=\"ib1\""));
  std::size_t count = 0;
  for (std::size_t at = text.find(series); at != std::string::npos; at = text.find(series, at + 1)) ++count;
  EXPECT_EQ(count, 3U);
}

TEST(Exposition, HealthOfASharedNameIsTheWorst) {
  const auto snapshot =
      make_snapshot(1, {}, {},
                    {make_health("a", 1, HealthVerdict::kHealthy), make_health("a", 2, HealthVerdict::kUnhealthy),
                     make_health("b", 3, HealthVerdict::kUnknown)});
  EXPECT_EQ(about(expose(snapshot), "weft_node_health"),
            "# HELP weft_node_health 1 for the node's current verdict; UNKNOWN without data.\n# TYPE weft_node_health "
            "gauge\nweft_node_health{node=\"a\",verdict=\"UNHEALTHY\"} "
            "1\nweft_node_health{node=\"b\",verdict=\"UNKNOWN\"} 1\n");
}

TEST(Exposition, IncidentsAreCountedWhileOpen) {
  auto snapshot = make_snapshot(
      1, {},
      {make_incident(1), make_incident(2, IncidentState::kAcknowledged), make_incident(3, IncidentState::kResolved)});
  snapshot->figures.incidents_opened[0] = 7;
  const std::string text = expose(snapshot);
  EXPECT_THAT(text, HasSubstr("weft_incidents{kind=\"LINK_DOWN\",severity=\"CRITICAL\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("weft_incidents{kind=\"LINK_FLAP\",severity=\"CRITICAL\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_incidents_opened_total{kind=\"LINK_DOWN\"} 7\n"));
}

TEST(Exposition, WhatIsAcknowledgedOrSilencedIsNotToBePagedFor) {
  auto silenced = make_incident(3);
  silenced.silenced_until = kNow + std::chrono::seconds(1);
  auto silence_over = make_incident(4);
  silence_over.silenced_until = kNow;
  const std::string text = expose(
      make_snapshot(1, {}, {make_incident(1), make_incident(2, IncidentState::kAcknowledged), silenced, silence_over}));
  EXPECT_THAT(text, HasSubstr("weft_incidents{kind=\"LINK_DOWN\",severity=\"CRITICAL\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("weft_incidents_unattended{kind=\"LINK_DOWN\",severity=\"CRITICAL\"} 2\n"));
}

TEST(Exposition, PlannedWorkIsNotToBePagedFor) {
  auto planned = make_incident(1);
  planned.finding.severity = Severity::kInfo;
  planned.finding.maintenance = 3;
  auto snapshot = make_snapshot(1, {}, {planned});
  auto windows = std::make_shared<MaintenanceList>(2);
  windows->front().from = kNow - std::chrono::hours(1);
  windows->front().until = kNow + std::chrono::hours(1);
  windows->back().from = windows->front().until;
  windows->back().until = windows->back().from + std::chrono::hours(1);
  snapshot->maintenance = windows;
  const std::string text = expose(snapshot);
  EXPECT_THAT(text, HasSubstr("weft_incidents{kind=\"LINK_DOWN\",severity=\"INFO\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_incidents_unattended{kind=\"LINK_DOWN\",severity=\"INFO\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_maintenance_windows{state=\"active\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weft_maintenance_windows{state=\"planned\"} 1\n"));
}

TEST(Exposition, AnIncidentIsNamedWithBothEndsOfItsLink) {
  SmallFabric fabric(1);
  auto incident = make_incident(7);
  incident.finding.affected.resize(2);
  incident.finding.waiting.total = 5;
  incident.finding.jobs = {"slurm:\"9\""};
  const std::string text =
      expose(make_snapshot(1, {fabric.build()}, {incident, make_incident(8, IncidentState::kResolved)}));
  EXPECT_EQ(about(text, "weft_incident_info"),
            "# HELP weft_incident_info Open incidents, the most severe first; the label attention is their handling "
            "state.\n# TYPE weft_incident_info "
            "gauge\nweft_incident_info{incident=\"INC-7\",kind=\"LINK_DOWN\",severity=\"CRITICAL\",attention="
            "\"unattended\",subnet=\"ib0\",entity=\"link\",cause=\"leaf-1 port 1 - host-1 mlx5_0 port "
            "1\",node=\"leaf-1\",guid=\"0x0000000000000010\",port=\"1\",peer_node=\"host-1 "
            "mlx5_0\",peer_guid=\"0x0000000000000101\",peer_port=\"1\",host=\"host-1\"} 1\n");
  for (const char* line :
       {"affected{incident=\"INC-7\"} 2\n", "waiting_links{incident=\"INC-7\"} 5\n", "jobs{incident=\"INC-7\"} 1\n",
        "job_info{incident=\"INC-7\",job_id=\"slurm:\\\"9\\\"\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(std::string("weft_incident_") + line));
  EXPECT_THAT(text, HasSubstr("weft_incidents_left_out 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("INC-8")));
}

TEST(Exposition, WhoDealsWithAnIncidentIsALabel) {
  auto silenced = make_incident(2);
  silenced.silenced_until = kNow + std::chrono::seconds(1);
  auto planned = make_incident(4, IncidentState::kAcknowledged);
  planned.finding.maintenance = 1;
  const std::string text = expose(
      make_snapshot(1, {}, {make_incident(1), silenced, make_incident(3, IncidentState::kAcknowledged), planned}));
  for (const char* labels : {"\"INC-1\",kind=\"LINK_DOWN\",severity=\"CRITICAL\",attention=\"unattended\"",
                             "\"INC-2\",kind=\"LINK_DOWN\",severity=\"CRITICAL\",attention=\"silenced\"",
                             "\"INC-3\",kind=\"LINK_DOWN\",severity=\"CRITICAL\",attention=\"acknowledged\"",
                             "\"INC-4\",kind=\"LINK_DOWN\",severity=\"CRITICAL\",attention=\"planned\""})
    EXPECT_THAT(text, HasSubstr(std::string("weft_incident_info{incident=") + labels));
}

TEST(Exposition, OfTooManyIncidentsTheWorstAndOldestAreNamed) {
  std::vector<Incident> incidents;
  for (std::uint64_t id = 1; id <= kMostIncidentsShown + 10; ++id) {
    incidents.push_back(make_incident(id));
    if (id <= 5) incidents.back().finding.severity = Severity::kWarning;
  }
  const std::string text = expose(make_snapshot(1, {}, incidents));
  EXPECT_THAT(text, HasSubstr("weft_incidents_left_out 10\n"));
  EXPECT_THAT(text, Not(HasSubstr("{incident=\"INC-5\""))) << "less severe";
  EXPECT_THAT(text, HasSubstr("weft_incident_info{incident=\"INC-6\""));
  EXPECT_THAT(text, HasSubstr("weft_incident_info{incident=\"INC-261\""));
  EXPECT_THAT(text, Not(HasSubstr("{incident=\"INC-262\""))) << "younger";
}

TEST(Exposition, JobsHoldTheHostsOfConnectedCollectors) {
  std::vector<std::shared_ptr<const HostView>> hosts;
  for (const char* name : {"gpu-1", "gpu-2"}) {
    auto reading = std::make_shared<HostReading>();
    reading->taken = kNow;
    reading->inventory = std::make_shared<HostInventory>();
    reading->jobs = {"slurm:1", "slurm:2"};
    auto host = std::make_shared<HostView>();
    host->host = name;
    host->reading = reading;
    host->state = hosts.empty() ? CollectorState::kConnected : CollectorState::kDisconnected;
    hosts.push_back(host);
  }
  auto snapshot = make_snapshot(1, {});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(hosts);
  EXPECT_EQ(about(expose(snapshot), "weft_job_info"),
            "# HELP weft_job_info Jobs on hosts, as reported by collectors.\n# TYPE weft_job_info "
            "gauge\nweft_job_info{job_id=\"slurm:1\",node=\"gpu-1\"} "
            "1\nweft_job_info{job_id=\"slurm:2\",node=\"gpu-1\"} 1\n");
}

TEST(Exposition, SourcesThatFailAreCountedByTheNamesThatThereAre) {
  auto reading = std::make_shared<HostReading>();
  reading->taken = kNow;
  reading->inventory = std::make_shared<HostInventory>();
  reading->sources = {{"certificate", false, "it is not renewed"}, {"sysfs", true, ""}, {"made up", false, "x"}};
  auto host = std::make_shared<HostView>();
  host->host = "gpu-1";
  host->reading = reading;
  auto snapshot = make_snapshot(1, {});
  snapshot->hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>(2, host);
  const std::string text = about(expose(snapshot), "weft_collector_sources_failing");
  EXPECT_THAT(text, HasSubstr("{source=\"certificate\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("{source=\"sysfs\"} 0\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("made up")));
}

TEST(Exposition, DriftIsCountedByFact) {
  auto report = std::make_shared<DriftReport>();
  DriftDifference& firmware = report->differences.emplace_back();
  firmware.differing = 7;
  firmware.young = 2;
  DriftDifference& mtu = report->differences.emplace_back();
  mtu.fact = ConfigFact::kMtu;
  mtu.state = ConfigDriftState::kTooFew;
  auto snapshot = make_snapshot(1, {});
  EXPECT_EQ(about(expose(snapshot), "weft_config_drift"), "");
  snapshot->drift = report;
  const std::string text = expose(snapshot);
  EXPECT_THAT(text, HasSubstr("weft_config_drift{fact=\"firmware\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("weft_config_drift{fact=\"mtu\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("weft_config_drift_rolling_out{fact=\"firmware\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("weft_config_drift_undecided{fact=\"mtu\"} 1\n"));
  // What is not compared has no series.
  EXPECT_THAT(text, ::testing::Not(HasSubstr("weft_config_drift{fact=\"board\"}")));
}

TEST(Exposition, OpenMetricsNamesFamiliesWithoutSuffix) {
  SmallFabric fabric(1);
  fabric.set(1, CounterId::kSymbolErrors, 1);
  auto registry = std::make_shared<prometheus::Registry>();
  prometheus::BuildCounter().Name("weft_own_total").Help("Own.").Register(*registry).Add({}).Increment(3);
  const std::string text = expose(make_snapshot(1, {fabric.build()}), MetricsFormat::kOpenMetrics, {registry});
  EXPECT_THAT(text, HasSubstr("# TYPE weft_port_symbol_errors counter\nweft_port_symbol_errors_total{"));
  EXPECT_THAT(text, HasSubstr("# TYPE weft_port info\nweft_port_info{"));
  EXPECT_THAT(text, HasSubstr("# HELP weft_own Own.\n# TYPE weft_own counter\nweft_own_total 3\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  EXPECT_EQ(text.find("# EOF"), text.size() - 6);
  EXPECT_THAT(expose(make_snapshot(1, {fabric.build()}), MetricsFormat::kText, {registry}),
              HasSubstr("# HELP weft_own_total Own.\n# TYPE weft_own_total counter\nweft_own_total 3\n"));
}

TEST(Exposition, PiecesOfALargeOneAreBoundedAndFamiliesStayTogether) {
  std::vector<FabricView> views;
  SmallFabric fabric(200);
  for (PortIndex port = 0; port < fabric.ports.size(); ++port)
    for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, port * 1000 + 7);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t node = 0; node < fabric.nodes.size(); ++node) fabric.nodes[node].guid.value += 0x10000;
    fabric.view.name = "ib" + std::to_string(i);
    views.push_back(fabric.build());
  }
  Exposition exposition(make_snapshot(1, views), {kNow, {}}, MetricsFormat::kText);
  std::set<std::string> series;
  std::set<std::string> heads;
  std::string text;
  for (std::string_view piece = exposition.next(); !piece.empty(); piece = exposition.next()) {
    EXPECT_LE(piece.size(), 256U * 1024);
    EXPECT_TRUE(piece.ends_with('\n')) << "no line is torn";
    text += piece;
  }
  std::istringstream lines(text);
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(heads.insert(family).second) << family << " begins twice";
    } else if (!line.starts_with('#')) {
      ASSERT_TRUE(line.starts_with(family)) << line << " stands in " << family;
      ASSERT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line << " is there twice";
    }
  }
  EXPECT_GT(series.size(), 12U * 402 * 21);
}

TEST(Negotiation, FollowsTheHeaders) {
  EXPECT_EQ(choose_format(""), MetricsFormat::kText);
  EXPECT_EQ(choose_format("*/*"), MetricsFormat::kText);
  EXPECT_EQ(
      choose_format("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
      MetricsFormat::kOpenMetrics);
  EXPECT_EQ(choose_format("text/plain;q=0.9, application/openmetrics-text;q=0.2"), MetricsFormat::kText);
  EXPECT_EQ(choose_format("application/openmetrics-text;q=0"), MetricsFormat::kText);
  EXPECT_EQ(choose_format(";;;,,q=,=;"), MetricsFormat::kText);
  EXPECT_TRUE(accepts_gzip("deflate, GZIP;q=0.5"));
  EXPECT_TRUE(accepts_gzip("*"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0, *"));
  EXPECT_FALSE(accepts_gzip("identity"));
  EXPECT_FALSE(accepts_gzip(""));
}

TEST(Gzip, GivesBackWhatWentIn) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "weft_port_up{port=\"" + std::to_string(i) + "\"} 1\n";
  GzipStream gzip;
  std::string packed;
  for (std::size_t at = 0; at < text.size(); at += 100'000)
    gzip.compress(std::string_view(text).substr(at, 100'000), packed);
  gzip.finish(packed);
  EXPECT_LT(packed.size(), text.size() / 5);
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string back(text.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(back.data());
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  back.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(back, text);
}

}  // namespace
}  // namespace weft::api
