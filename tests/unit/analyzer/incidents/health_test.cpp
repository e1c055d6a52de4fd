// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyzer/incidents/health.hpp"
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using std::chrono::seconds;

struct Health : testing::Test {
  Health() : watch(build()) { watch.sweeps(3); }

  static FabricBuilder build(bool has_last = true) {
    FabricBuilder fabric = FabricBuilder::fat_tree(2, 4, 4);
    const NodeIndex a = fabric.add_switch("rail-0", 8);
    const NodeIndex b = fabric.add_switch("rail-1", 8);
    for (PortIndex h = 0; h < 4; ++h) {
      const std::string name = "dgx-" + std::to_string(h);
      fabric.connect(fabric.nodes()[a].first_port + 1 + h,
                     fabric.nodes()[fabric.add_adapter(name + " mlx5_0")].first_port);
      if (has_last || h < 3)
        fabric.connect(fabric.nodes()[b].first_port + 1 + h,
                       fabric.nodes()[fabric.add_adapter(name + " mlx5_1")].first_port);
    }
    return fabric;
  }
  FabricView view() const {
    FabricView view;
    view.name = "test";
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(watch.last_sweep);
    view.stale_after = seconds(3);
    return view;
  }
  std::vector<NodeHealth> all() const {
    const FabricView views[] = {view()};
    return assess(views, {}, *watch.book.all(), {}, watch.fabric.now());
  }
  NodeHealth of(const std::string& name) const {
    for (const NodeHealth& health : all())
      if (health.node == name) return health;
    ADD_FAILURE() << "nobody knows " << name;
    return {};
  }

  Watch watch;
};

TEST_F(Health, AHostThatWasDrainedSaysByWhatAndWhyAndKeepsItsVerdict) {
  Plan plan;
  plan.id = 7;
  plan.action = RemedyAction::kDrainNode;
  plan.state = PlanState::kCommitted;
  plan.target.kind = EntityKind::kHost;
  plan.target.host = "DGX-2.example.org";
  plan.incident = 3;
  plan.reason = "its adapter is dead";
  plan.started = watch.fabric.now();
  plan.in_force = true;
  Plan isolation = plan;
  isolation.id = 8;
  isolation.target.kind = EntityKind::kLink;
  Plan reverted = plan;
  reverted.id = 9;
  reverted.target.host = "dgx-1";
  reverted.in_force = false;
  const auto without = std::make_shared<const std::vector<NodeHealth>>(all());
  const auto told = [&](std::vector<Plan> plans) {
    std::vector<std::shared_ptr<const Plan>> shared;
    for (Plan& each : plans) shared.push_back(std::make_shared<const Plan>(std::move(each)));
    return with_drains(without, shared);
  };
  EXPECT_EQ(told({isolation, reverted}), without) << "no host is drained";
  std::size_t changed = 0;
  const auto with = told({plan, isolation, reverted});
  for (const NodeHealth& health : *with) {
    if (health.reasons.empty()) continue;
    ++changed;
    EXPECT_EQ(health.node, "dgx-2");
    EXPECT_EQ(health.verdict, HealthVerdict::kHealthy) << "whether it may come back is judged by this";
    EXPECT_EQ(health.action, RecommendedAction::kAvoidNewJobs);
    ASSERT_EQ(health.reasons.size(), 1U);
    EXPECT_EQ(health.reasons[0].plan, 7U);
    EXPECT_EQ(health.reasons[0].since, plan.started);
    EXPECT_EQ(health.reasons[0].message, "drained by PLAN-7 for INC-3: its adapter is dead");
  }
  EXPECT_EQ(changed, 1U);
  plan.incident = 0;
  plan.requested_by = "ann";
  plan.action = RemedyAction::kUndrainNode;  // failed on its way back
  const auto health = told({plan});
  const auto dgx = std::ranges::find(*health, "dgx-2", &NodeHealth::node);
  ASSERT_NE(dgx, health->end());
  EXPECT_EQ(dgx->reasons.at(0).message, "drained by PLAN-7, which ann ordered: its adapter is dead");
  // In place of a proposal for the incident.
  plan.incident = 3;
  EXPECT_EQ(std::ranges::find(*told({plan}), "dgx-2", &NodeHealth::node)->reasons.at(0).message,
            "drained by PLAN-7 for INC-3, which ann ordered: its adapter is dead");
  plan.requested_by = kOurselves;
  EXPECT_EQ(std::ranges::find(*told({plan}), "dgx-2", &NodeHealth::node)->reasons.at(0).message,
            "drained by PLAN-7 for INC-3: its adapter is dead");
  plan.action = RemedyAction::kDrainNode;
  plan.state = PlanState::kRolledBack;
  plan.outcome = "aborted by ann: wrong host";
  EXPECT_EQ(std::ranges::find(*told({plan}), "dgx-2", &NodeHealth::node)->reasons.at(0).message,
            "drained by PLAN-7 for INC-3: its adapter is dead; in force after all: aborted by ann: wrong host");
  plan.state = PlanState::kFailed;
  plan.outcome = "aborted by ann: wrong host; check it by hand, its state cannot be read: no answer";
  EXPECT_EQ(std::ranges::find(*told({plan}), "dgx-2", &NodeHealth::node)->reasons.at(0).message,
            "drained by PLAN-7 for INC-3: its adapter is dead; in force after all: " + plan.outcome);
  plan.unresolved = true;
  EXPECT_EQ(std::ranges::find(*told({plan}), "dgx-2", &NodeHealth::node)->reasons.at(0).message,
            "drained by PLAN-7 for INC-3: its adapter is dead; unknown whether it still is: " + plan.outcome);
}

// As before the first sweep after a restart.
TEST_F(Health, ADrainedHostThatNobodySeesIsToBeAvoided) {
  const auto plan = std::make_shared<Plan>();
  plan->id = 7;
  plan->action = RemedyAction::kDrainNode;
  plan->state = PlanState::kCommitted;
  plan->in_force = true;
  plan->requested_by = "ann";
  plan->reason = "new memory";
  plan->target.kind = EntityKind::kHost;
  plan->target.host = "gone-1.example";
  const std::vector<std::shared_ptr<const Plan>> plans{plan};
  EXPECT_EQ(with_drains(nullptr, plans), nullptr);
  for (const bool is_empty : {true, false}) {
    const FabricView views[] = {view()};
    auto seen = is_empty ? std::vector<NodeHealth>() : assess(views, {}, {}, {}, watch.fabric.now());
    const auto with = with_drains(std::make_shared<const std::vector<NodeHealth>>(seen), plans);
    ASSERT_EQ(with->size(), seen.size() + 1);
    EXPECT_TRUE(std::ranges::is_sorted(*with, {}, &NodeHealth::node)) << "it is searched by name";
    const auto gone = std::ranges::find(*with, "gone-1.example", &NodeHealth::node);
    ASSERT_NE(gone, with->end());
    EXPECT_EQ(gone->verdict, HealthVerdict::kUnknown);
    EXPECT_EQ(gone->action, RecommendedAction::kAvoidNewJobs);
    ASSERT_EQ(gone->reasons.size(), 1U);
    EXPECT_EQ(gone->reasons[0].message, "drained by PLAN-7, which ann ordered: new memory");
  }
}

TEST_F(Health, ADrainedHostIsListedBesideANamesakeThatIsSeen) {
  std::vector<NodeHealth> seen(1);
  seen[0].node = "n1.beta";
  const auto drain = [](std::uint64_t id, const std::string& host) {
    auto plan = std::make_shared<Plan>();
    plan->id = id;
    plan->action = RemedyAction::kDrainNode;
    plan->state = PlanState::kCommitted;
    plan->in_force = true;
    plan->target.kind = EntityKind::kHost;
    plan->target.host = host;
    return plan;
  };
  const std::vector<std::shared_ptr<const Plan>> plans{drain(7, "n1.alpha"), drain(8, "n1.alpha"),
                                                       drain(9, "n1.gamma")};
  const auto with = with_drains(std::make_shared<const std::vector<NodeHealth>>(seen), plans);
  std::string told;
  for (const NodeHealth& host : *with) told += host.node + ' ' + std::to_string(host.reasons.size()) + ' ';
  EXPECT_EQ(told, "n1.alpha 2 n1.beta 0 n1.gamma 1 ");
}

TEST_F(Health, AHostWithOneOfTwoAdaptersUnpluggedIsDegradedAndNotUnknown) {
  watch.fabric.unlink(watch.fabric.port_of("dgx-2 mlx5_1", 1));
  const NodeIndex adapter = watch.fabric.find("dgx-2 mlx5_1");
  watch.fabric.silence(adapter);
  watch.fabric.node(adapter).reachable = false;
  watch.sweeps(5);
  const NodeHealth health = of("dgx-2");
  EXPECT_EQ(health.verdict, HealthVerdict::kDegraded) << watch.describe();
  EXPECT_EQ(health.action, RecommendedAction::kAvoidNewJobs);
  ASSERT_EQ(health.reasons.size(), 1U);
}

TEST_F(Health, AnAdapterThatWasNotReadIsTheReasonWhereNoIncidentIs) {
  const NodeIndex adapter = watch.fabric.find("dgx-2 mlx5_1");
  watch.fabric.silence(adapter);
  watch.fabric.node(adapter).reachable = true;
  watch.sweeps(4);
  ASSERT_TRUE(watch.open().empty()) << watch.describe();
  const NodeHealth unread = of("dgx-2");
  EXPECT_EQ(unread.verdict, HealthVerdict::kUnknown);
  ASSERT_EQ(unread.reasons.size(), 1U);
  EXPECT_EQ(unread.reasons[0].incident, 0U);
  EXPECT_EQ(unread.reasons[0].message, "no recent reading of dgx-2 mlx5_1");
  EXPECT_EQ(unread.reasons[0].since, watch.fabric.now() - seconds(4));
  watch.sweeps(2);
  ASSERT_EQ(of("dgx-2").reasons.size(), 1U) << "then the incident is the reason";
  EXPECT_EQ(of("dgx-2").reasons[0].kind, IncidentKind::kTelemetryLost);
}

TEST_F(Health, AnAdapterThatIsOffDoesNotMakeTheOthersOfItsHostUnread) {
  // The one that stands first in the graph.
  watch.fabric.power_off(watch.fabric.find("dgx-2 mlx5_0"));
  watch.sweeps(8);
  EXPECT_EQ(of("dgx-2").verdict, HealthVerdict::kDegraded) << watch.describe();
  ASSERT_EQ(of("dgx-2").reasons.size(), 1U);
}

TEST_F(Health, OfAQuietFabricIsGoodAndSorted) {
  const std::vector<NodeHealth> hosts = all();
  EXPECT_EQ(hosts.size(), 16U + 4U + 8U) << "single-rail hosts, two-rail hosts, switches";
  EXPECT_TRUE(std::ranges::is_sorted(hosts, {}, &NodeHealth::node));
  for (const NodeHealth& health : hosts) {
    EXPECT_EQ(health.verdict, HealthVerdict::kHealthy) << health.node;
    EXPECT_EQ(health.action, RecommendedAction::kNone) << health.node;
    EXPECT_LE(health.data_age, seconds(1));
  }
  EXPECT_EQ(of("dgx-2").guids.size(), 2U);
}

TEST_F(Health, OneOfTwoLinksDownIsDegradedBothAreUnhealthy) {
  watch.fabric.unlink(watch.fabric.port_towards("rail-0", "dgx-2 mlx5_0"));
  watch.sweeps(2);
  const NodeHealth one = of("dgx-2");
  EXPECT_EQ(one.verdict, HealthVerdict::kDegraded);
  EXPECT_EQ(one.action, RecommendedAction::kAvoidNewJobs);
  ASSERT_EQ(one.reasons.size(), 1U);
  EXPECT_EQ(one.reasons[0].kind, IncidentKind::kLinkDown);
  EXPECT_EQ(one.reasons[0].ports, std::vector<PortKey>{watch.fabric.key_of(watch.fabric.port_of("dgx-2 mlx5_0", 1))});
  EXPECT_EQ(of("rail-0").verdict, HealthVerdict::kHealthy) << "a switch is not ill for a link of it";
  watch.fabric.unlink(watch.fabric.port_towards("rail-1", "dgx-2 mlx5_1"));
  watch.sweeps(2);
  EXPECT_EQ(of("dgx-2").verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(of("dgx-2").action, RecommendedAction::kDrain);
  EXPECT_EQ(of("dgx-1").verdict, HealthVerdict::kHealthy);
}

TEST_F(Health, OnlyLinkDownIsUnhealthy) {
  watch.fabric.power_off(watch.fabric.find("host-1-1 mlx5_0"));
  watch.sweeps(2);
  EXPECT_EQ(of("host-1-1").verdict, HealthVerdict::kUnhealthy) << watch.describe();
}

TEST_F(Health, ADeadLeafTakesItsHostsAlong) {
  watch.fabric.power_off(watch.fabric.find("leaf-3"));
  for (int h = 0; h < 4; ++h) watch.fabric.silence(watch.fabric.find("host-3-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(2);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown);
  EXPECT_EQ(of("leaf-3").verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(of("host-3-2").verdict, HealthVerdict::kUnhealthy);
  EXPECT_EQ(of("host-2-2").verdict, HealthVerdict::kHealthy);
}

TEST_F(Health, OneRailLostIsDegradedForAllOnIt) {
  watch.fabric.power_off(watch.fabric.find("rail-1"));
  watch.sweeps(2);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  for (int h = 0; h < 4; ++h) EXPECT_EQ(of("dgx-" + std::to_string(h)).verdict, HealthVerdict::kDegraded);
}

TEST_F(Health, NoDataIsUnknownNeverHealthy) {
  const NodeIndex host = watch.fabric.find("host-1-1 mlx5_0");
  watch.fabric.silence(host);
  watch.sweeps(1);
  EXPECT_EQ(of("host-1-1").verdict, HealthVerdict::kUnknown) << "before any incident says so";
  watch.fabric.silence(host, false);
  watch.fabric.freeze_counters(host);
  watch.sweeps(4);
  EXPECT_EQ(of("host-1-1").verdict, HealthVerdict::kUnknown) << "states alone are half the truth";
  EXPECT_GT(of("host-1-1").data_age, seconds(3));
  EXPECT_EQ(of("host-1-2").verdict, HealthVerdict::kHealthy);
}

TEST_F(Health, AFabricThatIsNotWatchedIsUnknown) {
  FabricView view = this->view();
  view.watching = false;
  for (const NodeHealth& health : assess(std::span(&view, 1), {}, *watch.book.all(), {}, watch.fabric.now()))
    EXPECT_EQ(health.verdict, HealthVerdict::kUnknown) << health.node;
  view.watching = true;
  for (const NodeHealth& health :
       assess(std::span(&view, 1), {}, *watch.book.all(), {}, watch.fabric.now() + seconds(10)))
    EXPECT_EQ(health.verdict, HealthVerdict::kUnknown) << "old data: " << health.node;
  view.sweep = nullptr;
  EXPECT_TRUE(assess(std::span(&view, 1), {}, *watch.book.all(), {}, watch.fabric.now()).empty());
}

TEST_F(Health, ADegradedLinkIsDegraded) {
  const PortIndex end = watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0");
  watch.fabric.port(end).width_active = watch.fabric.port(watch.fabric.ports()[end].peer).width_active = 1;
  watch.sweeps(1);
  EXPECT_EQ(of("host-1-1").verdict, HealthVerdict::kDegraded);
  EXPECT_EQ(of("host-1-1").action, RecommendedAction::kAvoidNewJobs);
}

TEST_F(Health, ALinkThatFlappedOnceLeavesItsHostHealthy) {
  const PortIndex end = watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0");
  watch.fabric.add_counter(end, CounterId::kLinkDowned, 1);
  watch.sweeps(2);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kLinkFlap);
  EXPECT_EQ(of("host-1-1").verdict, HealthVerdict::kHealthy);
  EXPECT_EQ(of("host-1-1").action, RecommendedAction::kWatch);
}

// After a restart of weftd, say: its sweeps never saw the adapter, and the incident is from the store.
TEST_F(Health, AnAdapterThatTheGraphDoesNotKnowIsNamedByTheIncident) {
  watch.fabric.unlink(watch.fabric.port_of("dgx-3 mlx5_1", 1));
  watch.sweeps(3);
  ASSERT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  FabricBuilder without = build(false);
  without.advance(watch.fabric.now() - without.now());
  FabricView views[] = {view()};
  views[0].sweep = std::make_shared<const Sweep>(without.sweep());
  const auto read = [&](const IncidentList& incidents) {
    for (const NodeHealth& health : assess(views, {}, incidents, {}, watch.fabric.now()))
      if (health.node == "dgx-3") return health;
    return NodeHealth{};
  };
  EXPECT_EQ(read({}).verdict, HealthVerdict::kHealthy);
  const NodeHealth health = read(*watch.book.all());
  EXPECT_EQ(health.verdict, HealthVerdict::kDegraded);
  ASSERT_EQ(health.reasons.size(), 1U);
  EXPECT_EQ(health.reasons[0].incident, watch.only().id);
  EXPECT_EQ(health.guids.size(), 2U) << "the adapter that is gone, too";
  for (const NodeHealth& other : assess(views, {}, *watch.book.all(), {}, watch.fabric.now()))
    EXPECT_TRUE(other.node == "dgx-3" || other.verdict == HealthVerdict::kHealthy) << other.node;
}

TEST_F(Health, AHostWhoseOnlyAdapterTheGraphDoesNotKnowIsUnhealthy) {
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->finding.kind = IncidentKind::kLinkDown;
  incident->finding.severity = Severity::kCritical;
  const PortIndex leaf = watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0");
  incident->finding.cause = {.kind = EntityKind::kLink,
                             .fabric = "test",
                             .port = watch.fabric.link_of(leaf).low,
                             .peer = {NodeGuid{0xffff0000}, PortNum{1}},
                             .label = "leaf-1 port 2 - gone-1 mlx5_0 port 1"};
  incident->finding.cause.port.port = PortNum{2};
  const FabricView views[] = {view()};
  const auto verdict = [&] {
    for (const NodeHealth& health : assess(views, {}, IncidentList{incident}, {}, watch.fabric.now()))
      if (health.node == "gone-1") return health.verdict;
    return HealthVerdict::kUnknown;
  };
  EXPECT_EQ(verdict(), HealthVerdict::kUnhealthy);
  incident->finding.cause.label = "leaf-1 port 3 - gone-1 mlx5_0 port 1";
  EXPECT_EQ(verdict(), HealthVerdict::kUnknown) << "a label that does not fit the ends names nobody";
}

// A switch of one cable, and two hosts behind it. Its sweeps never saw them, and the incident is from the store.
TEST_F(Health, HostsBehindASwitchThatTheGraphDoesNotKnowAreCutOff) {
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->finding.kind = IncidentKind::kLinkDown;
  incident->finding.severity = Severity::kCritical;
  const PortIndex leaf = watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0");
  const PortKey key = watch.fabric.topology()->key_of(leaf);
  const std::string port = std::to_string(key.port.value);
  incident->finding.cause = {.kind = EntityKind::kLink,
                             .fabric = "test",
                             .port = key,
                             .peer = {NodeGuid{0xffff0000}, PortNum{1}},
                             .label = "leaf-1 port " + port + " - login-switch port 1"};
  std::uint64_t guid = 0xffff0000;
  for (const char* name : {"login-switch", "login-0 mlx5_0", "login-1 mlx5_0", "Quantum Mellanox", "host-1-1 switch",
                           "Mellanox Technologies Aggregation Node", "MT4123 ConnectX6 Mellanox Technologies"}) {
    Entity& node = incident->finding.affected.emplace_back();
    node.kind = EntityKind::kNode;
    node.fabric = "test";
    node.port = {NodeGuid{guid++}, {}};
    node.label = name;
  }
  const FabricView views[] = {view()};
  std::set<std::string> unhealthy;
  for (const NodeHealth& health : assess(views, {}, IncidentList{incident}, {}, watch.fabric.now()))
    if (health.verdict != HealthVerdict::kHealthy) {
      unhealthy.insert(health.node);
      EXPECT_EQ(health.verdict, HealthVerdict::kUnhealthy) << health.node;
      EXPECT_EQ(health.action, RecommendedAction::kDrain) << health.node;
    }
  EXPECT_EQ(unhealthy, (std::set<std::string>{"login-0", "login-1"}));
}

TEST_F(Health, ASilentAdapterThatTheGraphDoesNotKnowIsUnknown) {
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->finding.kind = IncidentKind::kTelemetryLost;
  incident->finding.severity = Severity::kWarning;
  incident->finding.cause = {.kind = EntityKind::kNode,
                             .fabric = "test",
                             .port = {NodeGuid{0xffff0000}, {}},
                             .peer = {},
                             .label = "gone-1 mlx5_0"};
  const FabricView views[] = {view()};
  for (const NodeHealth& health : assess(views, {}, IncidentList{incident}, {}, watch.fabric.now()))
    if (health.node == "gone-1") {
      EXPECT_EQ(health.verdict, HealthVerdict::kUnknown);
      EXPECT_EQ(health.action, RecommendedAction::kWatch);
      return;
    }
  FAIL() << "nobody tells of gone-1";
}

// Whoever names an adapter so must not make another host sick.
TEST_F(Health, ANameLikeALabelNamesNobodyElse) {
  auto incident = std::make_shared<Incident>();
  incident->id = 7;
  incident->finding.kind = IncidentKind::kLinkDown;
  incident->finding.severity = Severity::kWarning;
  const PortKey key = watch.fabric.topology()->key_of(watch.fabric.port_towards("leaf-1", "host-1-1 mlx5_0"));
  const std::string leaf = "leaf-1 port " + std::to_string(key.port.value);
  incident->finding.cause = {.kind = EntityKind::kLink,
                             .fabric = "test",
                             .port = {NodeGuid{1}, PortNum{1}},
                             .peer = key,
                             .label = "host-1-0 mlx5_0 port 1 - x port 1 - " + leaf};
  const FabricView views[] = {view()};
  for (const NodeHealth& health : assess(views, {}, IncidentList{incident}, {}, watch.fabric.now()))
    if (health.node == "host-1-0") {
      EXPECT_EQ(health.verdict, HealthVerdict::kHealthy);
    }
}

TEST_F(Health, AHostOnTwoFabricsHasTheWorstOfBoth) {
  FabricView views[] = {view(), view()};
  views[1].name = "second";
  views[1].watching = false;
  for (const NodeHealth& health : assess(views, {}, *watch.book.all(), {}, watch.fabric.now())) {
    EXPECT_EQ(health.fabric, "test");
    EXPECT_EQ(health.verdict, HealthVerdict::kUnknown);
  }
}

}  // namespace
}  // namespace weft::analyzer
