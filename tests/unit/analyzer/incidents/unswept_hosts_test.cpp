// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/health.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

KnownLink cable(std::uint16_t leaf_port, std::uint64_t adapter, const std::string& name) {
  return {.key = make_link_key({NodeGuid{0x10}, PortNum{leaf_port}}, {NodeGuid{adapter}, PortNum{1}}),
          .low = {"leaf-1", NodeType::kSwitch},
          .high = {name, NodeType::kChannelAdapter}};
}

KnownSubnet subnet_of_two_hosts(SubnetSight sight = SubnetSight::kUnswept) {
  return {.name = "ib0",
          .host_links = std::make_shared<std::vector<KnownLink>>(std::vector{
              cable(1, 0xA0, "gpu-1 mlx5_0"), cable(2, 0xA1, "gpu-1 mlx5_1"), cable(3, 0xB0, "gpu-2 mlx5_0")}),
          .sight = sight};
}

Entity link_of(const std::string& fabric, std::uint16_t leaf_port, std::uint64_t adapter) {
  return {.kind = EntityKind::kLink,
          .fabric = fabric,
          .port = {NodeGuid{0x10}, PortNum{leaf_port}},
          .peer = {NodeGuid{adapter}, PortNum{1}},
          .label = {}};
}

IncidentPtr incident(std::uint64_t id, IncidentKind kind, Entity cause) {
  auto made = std::make_shared<Incident>();
  made->id = id;
  made->finding.kind = kind;
  made->finding.severity = Severity::kCritical;
  made->finding.cause = std::move(cause);
  return made;
}

NodeHealth healthy(const std::string& name) {
  NodeHealth health;
  health.node = name;
  health.verdict = HealthVerdict::kHealthy;
  return health;
}

TEST(UnsweptHosts, AreUnknownWithWhatIsOpenOfThem) {
  const KnownSubnet subnet = subnet_of_two_hosts();
  Entity whole;
  whole.fabric = "ib0";
  const IncidentList incidents = {incident(4, IncidentKind::kLinkDown, link_of("ib0", 2, 0xA1)),
                                  incident(5, IncidentKind::kLinkDown, link_of("other", 3, 0xB0)),
                                  incident(6, IncidentKind::kTelemetryLost, whole)};
  const auto health = with_unswept({healthy("gpu-1"), healthy("store-1")}, std::span(&subnet, 1), {}, incidents);
  ASSERT_EQ(health.size(), 3U);
  EXPECT_EQ(health[0].node, "gpu-1");
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnknown);
  EXPECT_EQ(health[0].guids, (std::vector{NodeGuid{0xA0}, NodeGuid{0xA1}}));
  ASSERT_EQ(health[0].reasons.size(), 2U);
  EXPECT_EQ(health[0].reasons[0].incident, 4U);
  EXPECT_EQ(health[0].reasons[0].ports, (std::vector{PortKey{NodeGuid{0xA1}, PortNum{1}}}));
  EXPECT_EQ(health[0].reasons[1].incident, 6U);
  EXPECT_EQ(health[1].node, "gpu-2");  // no collector tells of it
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnknown);
  EXPECT_EQ(health[1].fabric, "ib0");
  ASSERT_EQ(health[1].reasons.size(), 1U);
  EXPECT_EQ(health[1].reasons[0].incident, 6U);
  EXPECT_EQ(health[2].verdict, HealthVerdict::kHealthy);
  EXPECT_TRUE(health[2].reasons.empty());
}

TEST(UnsweptHosts, SayWhyBeforeAnIncidentDoes) {
  const KnownSubnet subnet = subnet_of_two_hosts();
  auto worse = healthy("gpu-2");
  worse.verdict = HealthVerdict::kUnhealthy;
  const auto health = with_unswept({healthy("gpu-1"), worse}, std::span(&subnet, 1), {}, {});
  ASSERT_EQ(health.size(), 2U);
  ASSERT_EQ(health[0].reasons.size(), 1U);
  EXPECT_EQ(health[0].reasons[0].message, "nobody sweeps ib0");
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnhealthy);
}

TEST(UnsweptHosts, AreNoneOfThoseThatSweepsFind) {
  const KnownSubnet swept = subnet_of_two_hosts(SubnetSight::kSwept);
  EXPECT_EQ(with_unswept({healthy("gpu-1")}, std::span(&swept, 1), {}, {}).front().verdict, HealthVerdict::kHealthy);
  // A sweep that finds only what is near tells of that.
  Watch watch(FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(1);
  FabricView view;
  view.name = "ib0";
  view.sweep = std::make_shared<const Sweep>(watch.last_sweep);
  const Topology& topology = *view.sweep->topology;
  const auto adapter = std::ranges::find(topology.nodes(), NodeType::kChannelAdapter, &Node::type);
  KnownSubnet subnet = subnet_of_two_hosts();
  subnet.host_links = std::make_shared<std::vector<KnownLink>>(
      std::vector{cable(1, adapter->guid.value, "gpu-1 mlx5_0"), cable(3, 0xB0, "gpu-2 mlx5_0")});
  const auto health = with_unswept({healthy("gpu-1")}, std::span(&subnet, 1), std::span(&view, 1), {});
  ASSERT_EQ(health.size(), 2U);
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy);
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnknown);
}

TEST(UnsweptHosts, AreUnhealthyWhenAllTheirCablesAreDown) {
  const KnownSubnet subnet = subnet_of_two_hosts();
  const IncidentPtr one = incident(4, IncidentKind::kLinkDown, link_of("ib0", 2, 0xA1));
  const IncidentPtr only = incident(5, IncidentKind::kLinkDown, link_of("ib0", 3, 0xB0));
  auto health = with_unswept({healthy("gpu-1"), healthy("gpu-2")}, std::span(&subnet, 1), {}, {one, only});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnknown) << "it has another one";
  EXPECT_EQ(health[0].action, RecommendedAction::kAvoidNewJobs);
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(health[1].action, RecommendedAction::kDrain);
  // What hangs from a switch that is down is down.
  auto leaf = std::make_shared<Incident>(*incident(6, IncidentKind::kSwitchDown, {}));
  leaf->finding.cause = {
      .kind = EntityKind::kNode, .fabric = "ib0", .port = {NodeGuid{0x10}, {}}, .peer = {}, .label = {}};
  leaf->finding.affected = {link_of("ib0", 1, 0xA0), link_of("ib0", 2, 0xA1)};
  health = with_unswept({}, std::span(&subnet, 1), {}, {leaf});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnknown);
  EXPECT_EQ(health[1].action, RecommendedAction::kWatch);
}

TEST(UnsweptHosts, HaveEachReasonOnce) {
  const KnownSubnet subnet = subnet_of_two_hosts();
  auto known = healthy("gpu-2");
  known.reasons.push_back({.incident = 5, .kind = IncidentKind::kLinkDown, .message = "down", .ports = {}});
  const auto health =
      with_unswept({known}, std::span(&subnet, 1), {}, {incident(5, IncidentKind::kLinkDown, link_of("ib0", 3, 0xB0))});
  EXPECT_EQ(std::ranges::count(health[1].reasons, 5U, &HealthReason::incident), 1) << health[1].node;
}

// Where the fabric knows the host by its short name.
TEST(UnsweptHosts, AreKnownByTheNameThatTheirCollectorGivesThem) {
  const KnownSubnet subnet = subnet_of_two_hosts();
  auto inventory = std::make_shared<HostInventory>();
  inventory->ports.emplace_back().node_guid = NodeGuid{0xB0};
  auto reading = std::make_shared<HostReading>();
  reading->inventory = inventory;
  auto host = std::make_shared<HostView>();
  host->host = "gpu-2.example.org";
  host->reading = reading;
  const std::vector<std::shared_ptr<const HostView>> hosts{host};
  const auto health = with_other_names(with_unswept({healthy("gpu-2.example.org")}, std::span(&subnet, 1), {},
                                                    {incident(5, IncidentKind::kLinkDown, link_of("ib0", 3, 0xB0))}),
                                       hosts);
  ASSERT_EQ(health.size(), 3U);
  EXPECT_EQ(health[2].node, "gpu-2.example.org");
  EXPECT_EQ(health[2].verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(health[2].action, RecommendedAction::kDrain);
  EXPECT_EQ(std::ranges::count(health[2].reasons, 5U, &HealthReason::incident), 1);
}

// A short and a full name are one host, whoever tells of it.
TEST(OtherNames, TheFabricsNameIsNoBetterThanTheCollectors) {
  const auto view = [](const std::string& name, std::uint64_t adapter) {
    auto host = std::make_shared<HostView>();
    host->host = name;
    if (adapter == 0) return host;
    auto inventory = std::make_shared<HostInventory>();
    inventory->ports.emplace_back().node_guid = NodeGuid{adapter};
    auto reading = std::make_shared<HostReading>();
    reading->inventory = inventory;
    host->reading = reading;
    return host;
  };
  const auto judge = [&](std::vector<std::shared_ptr<const HostView>> hosts) {
    NodeHealth fabric = healthy("gpu-2"), full = healthy("gpu-2.example.org"), other = healthy("gpu-2.example.net");
    fabric.guids = {NodeGuid{0xB0}};
    full.verdict = HealthVerdict::kDegraded;
    full.action = RecommendedAction::kAvoidNewJobs;
    full.reasons.push_back({.incident = 5, .kind = IncidentKind::kLinkDown, .message = "down", .ports = {}});
    other.verdict = HealthVerdict::kUnhealthy;
    return with_other_names({fabric, other, full}, hosts);
  };
  auto health = judge({view("gpu-2.example.org", 0xB0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kDegraded);
  EXPECT_EQ(health[0].action, RecommendedAction::kAvoidNewJobs);
  EXPECT_EQ(std::ranges::count(health[0].reasons, 5U, &HealthReason::incident), 1);
  EXPECT_EQ(health[1].verdict, HealthVerdict::kUnhealthy) << "that is another one";
  health = judge({view("gpu-2.example.org", 0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kDegraded) << "it has told nothing since weftd was started";
  health = judge({view("gpu-2.example.org", 0xC0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy) << "it has other adapters";
  health = judge({view("gpu-2.example.net", 0), view("gpu-2.example.org", 0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnknown) << "it may be either, and nobody has told since the start";
  EXPECT_EQ(health[0].action, RecommendedAction::kWatch);
  health = judge({view("gpu-2.example.net", 0xC0), view("gpu-2.example.org", 0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnknown) << "the other one has another adapter";
  health = judge({view("gpu-2.example.net", 0xB0), view("gpu-2.example.org", 0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnhealthy) << "it is the one that has its adapter";
  EXPECT_EQ(std::ranges::count(health[0].reasons, 5U, &HealthReason::incident), 0);
  health = judge({view("gpu-2", 0xB0), view("gpu-2.example.org", 0xB0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy) << "it was called otherwise before, or is claimed";
  health = judge({view("gpu-2", 0xB0), view("gpu-2.example.org", 0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy) << "the same after a restart";
  health = judge({view("evil", 0xB0)});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy) << "what a collector of another name claims harms nobody";
}

TEST(UnsweptHosts, AreUnknownUntilTheFirstSweep) {
  const KnownSubnet awaited = subnet_of_two_hosts(SubnetSight::kAwaited);
  const auto health = with_unswept({healthy("gpu-1")}, std::span(&awaited, 1), {}, {});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kUnknown);
  ASSERT_EQ(health[0].reasons.size(), 1U);
  EXPECT_EQ(health[0].reasons[0].message, "no sweep of ib0 since weftd began");
}

TEST(UnsweptHosts, AreNoneOfThoseWhoseSubnetHasAnotherNameNow) {
  Watch watch(FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(1);
  FabricView view;
  view.name = "new";
  view.watching = true;
  view.sweep = std::make_shared<const Sweep>(watch.last_sweep);
  const Topology& topology = *view.sweep->topology;
  const auto adapter = std::ranges::find(topology.nodes(), NodeType::kChannelAdapter, &Node::type);
  KnownSubnet subnet = subnet_of_two_hosts(SubnetSight::kAwaited);
  subnet.host_links = std::make_shared<std::vector<KnownLink>>(std::vector{cable(1, adapter->guid.value, "gpu-1 m")});
  const auto health = with_unswept({healthy("gpu-1")}, std::span(&subnet, 1), std::span(&view, 1), {});
  EXPECT_EQ(health[0].verdict, HealthVerdict::kHealthy);
}

}  // namespace
}  // namespace weft::analyzer
