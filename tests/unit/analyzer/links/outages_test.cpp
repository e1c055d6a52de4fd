// SPDX-License-Identifier: Apache-2.0
// LINK_DOWN, SWITCH_DOWN, NODE_DOWN: the nearest culprit, once, with what it took along.
#include <algorithm>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

bool affects(const Incident& incident, EntityKind kind, PortKey key) {
  return std::ranges::any_of(incident.finding.affected,
                             [&](const Entity& e) { return e.kind == kind && e.port == key; });
}

TEST(LinkDown, NamesBothEndsWithinTwoSweepsAndResolves) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(5);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.unlink(end);
  watch.sweeps(1);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(down.finding.severity, Severity::kWarning) << "it may be back in a moment";
  EXPECT_EQ(link_of(down), watch.fabric.link_of(end));
  EXPECT_NE(down.finding.cause.label.find("leaf-1 port 1"), std::string::npos) << down.finding.cause.label;
  EXPECT_NE(down.finding.cause.label.find("spine-0 port 2"), std::string::npos) << down.finding.cause.label;
  EXPECT_GT(down.finding.confidence, 0.95);
  EXPECT_EQ(down.finding.evidence.size(), 2U);
  watch.sweeps(10);
  EXPECT_EQ(watch.only().revision, down.revision) << "nothing a person sees has changed";
  watch.fabric.relink(end);
  watch.sweeps(IncidentPolicy{}.resolve_sweeps);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U);
}

TEST(LinkDown, OfAHostAffectsTheHost) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const NodeIndex host = watch.fabric.find("host-1-2 mlx5_0");
  watch.fabric.power_off(host);
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown) << "one link: cable or host, nobody can tell";
  EXPECT_EQ(link_of(down), watch.link("leaf-1", "host-1-2 mlx5_0"));
  EXPECT_TRUE(affects(down, EntityKind::kNode, {watch.fabric.nodes()[host].guid, {}}));
  EXPECT_LT(down.finding.confidence, 0.95) << "only one end was seen";
}

TEST(LinkDown, IsNotAPortThatWasNeverUp) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 2, 2);
  const NodeIndex spare = fabric.add_adapter("spare mlx5_0");
  const NodeIndex leaf = fabric.add_switch("leaf-x", 4);
  fabric.connect(fabric.nodes()[spare].first_port, fabric.nodes()[leaf].first_port + 1);
  fabric.unlink(fabric.nodes()[spare].first_port);
  Watch watch(std::move(fabric));
  watch.sweeps(20);
  EXPECT_TRUE(watch.book.all()->empty()) << watch.describe();
}

TEST(LinkDown, WaitsForTheSubnetManagerToActivateAPort) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.relink(end, PortState::kInitialize);
  watch.sweeps(60);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.sweeps(1);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(down.finding.severity, Severity::kInfo);
  EXPECT_NE(down.finding.summary.find("subnet manager"), std::string::npos) << down.finding.summary;
  watch.sweeps(30);
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning);
  watch.fabric.relink(end);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty());
}

TEST(LinkDown, IsAsBadAsWhatIsLost) {
  Watch watch(FabricBuilder::fat_tree(8, 3, 4));
  watch.sweeps(3);
  const auto cut = [&](int first, int last) {
    for (int s = first; s <= last; ++s)
      watch.fabric.unlink(watch.fabric.port_towards("leaf-1", "spine-" + std::to_string(s)));
  };
  cut(0, 0);
  watch.sweeps(40);
  EXPECT_EQ(watch.only().finding.severity, Severity::kWarning);
  EXPECT_NE(watch.only().finding.summary.find("7 of 8 uplinks of leaf-1 are up"), std::string::npos)
      << watch.only().finding.summary;
  watch.fabric.unlink(watch.fabric.port_towards("leaf-2", "host-2-1 mlx5_0"));
  watch.sweeps(29);
  EXPECT_EQ(watch.open().at(1).finding.severity, Severity::kWarning) << "nobody is woken for a cable that is swapped";
  watch.sweeps(3);
  EXPECT_EQ(watch.open().at(1).finding.severity, Severity::kCritical);
  EXPECT_NE(watch.open().at(1).finding.summary.find("it is the only link of host-2-1"), std::string::npos);
  EXPECT_EQ(watch.open().at(0).finding.severity, Severity::kWarning);
  watch.restart();
  watch.sweeps(2);
  EXPECT_EQ(watch.open().at(1).finding.severity, Severity::kCritical) << "it began long ago";
  cut(1, 1);
  watch.sweeps(6);
  cut(2, 2);
  watch.sweeps(6);
  cut(3, 3);
  watch.sweeps(40);
  EXPECT_EQ(watch.open().at(0).finding.severity, Severity::kCritical) << "half is left: " << watch.describe();
}

TEST(LinkDown, ThatIsAdministrativelyDisabledIsNotCritical) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.unlink(end);
  watch.fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_LT(down.finding.severity, Severity::kCritical);
  EXPECT_NE(down.finding.summary.find("administratively disabled at leaf-1 port 1"), std::string::npos)
      << down.finding.summary;
}

TEST(LinkDown, EndsThatDisagreeAreGivenASweepAndThenLessConfidence) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-0");
  watch.fabric.port(end).state = PortState::kDown;
  watch.sweeps(1);
  EXPECT_TRUE(watch.open().empty()) << "the two ends were read at different moments";
  watch.sweeps(1);
  EXPECT_LT(watch.only().finding.confidence, 0.7);
  EXPECT_EQ(link_of(watch.only()), watch.fabric.link_of(end));
}

TEST(LinkDown, SurvivesARestartAndIsSeenWhenItHappenedMeanwhile) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const LinkKey first = watch.link("leaf-1", "spine-0");
  const LinkKey second = watch.link("leaf-2", "host-2-1 mlx5_0");
  watch.fabric.unlink(watch.fabric.port_towards("leaf-1", "spine-0"));
  watch.sweeps(2);
  const std::uint64_t id = watch.only().id;
  watch.fabric.power_off(watch.fabric.find("host-2-1 mlx5_0"));
  watch.restart();
  watch.fabric.rediscover();
  watch.sweeps(6);
  const std::vector<Incident> open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  EXPECT_EQ(open[0].id, id);
  EXPECT_EQ(open[0].occurrences, 1U);
  EXPECT_EQ(link_of(open[0]), first);
  EXPECT_EQ(link_of(open[1]), second);
  EXPECT_NE(open[1].finding.cause.label.find("host-2-1"), std::string::npos)
      << "named although it is in no graph any more";
}

TEST(LinkDown, ResolvesWhenThePortIsRecabled) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "host-1-0 mlx5_0");
  const PortIndex old = watch.fabric.ports()[end].peer;
  watch.fabric.unlink(end);
  watch.sweeps(2);
  EXPECT_EQ(watch.open().size(), 1U);
  const NodeIndex replacement = watch.fabric.add_adapter("host-1-0b mlx5_0");
  watch.fabric.port(old).peer = kNoIndex;
  watch.fabric.connect(end, watch.fabric.nodes()[replacement].first_port);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(SwitchDown, IsOneIncidentWithItsLinksAndHostsInside) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex leaf = watch.fabric.find("leaf-3");
  watch.fabric.power_off(leaf);
  for (int h = 0; h < 8; ++h) watch.fabric.silence(watch.fabric.find("host-3-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kSwitchDown);
  EXPECT_EQ(down.finding.cause.port.node, watch.fabric.nodes()[leaf].guid);
  EXPECT_EQ(std::ranges::count(down.finding.affected, EntityKind::kLink, &Entity::kind), 12);
  EXPECT_EQ(std::ranges::count(down.finding.affected, EntityKind::kNode, &Entity::kind), 8);
  watch.fabric.power_on(leaf);
  for (int h = 0; h < 8; ++h) watch.fabric.silence(watch.fabric.find("host-3-" + std::to_string(h) + " mlx5_0"), false);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
}

TEST(SwitchDown, TakesInTheLinksThatWereReportedBeforeIt) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  watch.fabric.unlink(watch.fabric.port_towards("leaf-3", "spine-1"));
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  watch.fabric.power_off(watch.fabric.find("leaf-3"));
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
}

TEST(SwitchDown, LeavesNoLinkIncidentsWhenLinksReturnOneByOne) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.sweeps(4);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown);
  watch.fabric.power_on(spine);
  for (int l = 1; l < 6; ++l) watch.fabric.unlink(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)));
  watch.sweeps(1);
  for (int l = 1; l < 6; ++l) watch.fabric.relink(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)));
  watch.sweeps(4);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

/// The links of spine-2 to all six leaves have trained, and are in `state`.
void relink_spine(Watch& watch, PortState state) {
  for (int l = 0; l < 6; ++l)
    watch.fabric.relink(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)), state);
}

// As one that a plan holds, or a technician.
TEST(SwitchDown, ComesBackWithoutALinkThatSomebodySwitchedOff) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const PortIndex end = watch.fabric.port_towards("leaf-1", "spine-2");
  const auto disable = [&] {
    watch.fabric.unlink(end);
    watch.fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  };
  disable();
  watch.sweeps(10);
  const std::uint64_t disabled = watch.only().id;
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.sweeps(10);
  EXPECT_NE(watch.only().id, disabled) << "it is part of the whole";
  watch.fabric.power_on(spine);
  disable();
  watch.sweeps(5);
  EXPECT_EQ(watch.only().id, disabled) << watch.describe();
}

TEST(SwitchDown, LastsUntilTheSubnetManagerHasActivatedItsLinks) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.sweeps(30);
  const Incident down = watch.only();
  watch.fabric.power_on(spine);
  relink_spine(watch, PortState::kInitialize);
  watch.sweeps(50);
  EXPECT_EQ(watch.only().id, down.id) << watch.describe();
  EXPECT_NE(watch.only().finding.summary.find("is coming back: 6 of its 6 links are not active yet"), std::string::npos)
      << watch.only().finding.summary;
  EXPECT_EQ(std::ranges::count(watch.only().finding.evidence, "waits_for_manager", &Evidence::signal), 1);
  watch.fabric.power_off(spine);
  watch.sweeps(10);
  EXPECT_NE(watch.only().finding.summary.find("is down"), std::string::npos) << "it was but a start that failed";
  watch.fabric.power_on(spine);
  relink_spine(watch, PortState::kInitialize);
  watch.sweeps(50);
  relink_spine(watch, PortState::kActive);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
  // It took 50 s: the next time it is given more than the minute that is usual.
  watch.fabric.power_off(spine);
  watch.sweeps(5);
  watch.fabric.power_on(spine);
  relink_spine(watch, PortState::kInitialize);
  watch.sweeps(90);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  watch.sweeps(30);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinksNotActivated) << watch.describe();
  EXPECT_EQ(watch.only().finding.affected.size(), 6U);
}

TEST(SwitchDown, StaysOneWhileTheSwitchThatComesBackMissesRequests) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.sweeps(5);
  const Incident down = watch.only();
  // Its links have trained, but it does not answer yet.
  watch.fabric.power_on(spine);
  watch.fabric.silence(spine);
  relink_spine(watch, PortState::kInitialize);
  watch.sweeps(3);
  EXPECT_EQ(watch.only().id, down.id) << watch.describe();
  watch.fabric.silence(spine, false);
  watch.sweeps(3);
  watch.fabric.silence(spine);
  watch.sweeps(1);
  watch.fabric.silence(spine, false);
  watch.sweeps(3);
  EXPECT_EQ(watch.only().id, down.id) << watch.describe();
  relink_spine(watch, PortState::kActive);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST(SwitchDown, ReadBeforeItsNeighboursIsNotTakenForItsLinks) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  // Its last words in this sweep were "Active"; the neighbours, read later, already see it gone.
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.fabric.silence(spine, false);
  watch.sweeps(1);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  watch.fabric.silence(spine);
  watch.sweeps(1);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
}

TEST(LinkDown, InFrontOfAPodIsTheOnlyCulprit) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 6, 4);
  const NodeIndex far = fabric.add_switch("edge", 6);
  const NodeIndex leaf = fabric.add_switch("middle", 4);
  fabric.connect(fabric.nodes()[leaf].first_port + 1, fabric.nodes()[far].first_port + 1);
  for (int h = 0; h < 4; ++h) {
    const NodeIndex host = fabric.add_adapter("edge-host-" + std::to_string(h) + " mlx5_0");
    fabric.connect(fabric.nodes()[far].first_port + 2 + static_cast<PortIndex>(h), fabric.nodes()[host].first_port);
  }
  const NodeIndex spine = fabric.add_switch("bridge", 2);
  fabric.connect(fabric.nodes()[spine].first_port + 1, fabric.nodes()[leaf].first_port + 2);
  fabric.connect(fabric.nodes()[spine].first_port + 2, [&] {
    const NodeIndex extra = fabric.add_switch("anchor", 2);
    const NodeIndex host = fabric.add_adapter("anchor-host mlx5_0");
    fabric.connect(fabric.nodes()[extra].first_port + 2, fabric.nodes()[host].first_port);
    return fabric.nodes()[extra].first_port + 1;
  }());
  Watch watch(std::move(fabric));
  watch.sweeps(3);
  const LinkKey cut = watch.link("middle", "edge");
  watch.fabric.unlink(watch.fabric.port_towards("middle", "edge"));
  watch.fabric.silence(watch.fabric.find("edge"));
  for (int h = 0; h < 4; ++h) watch.fabric.silence(watch.fabric.find("edge-host-" + std::to_string(h) + " mlx5_0"));
  watch.sweeps(4);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kLinkDown);
  EXPECT_EQ(link_of(down), cut);
  EXPECT_EQ(std::ranges::count(down.finding.affected, EntityKind::kNode, &Entity::kind), 5);
}

FabricBuilder two_rails() {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 2, 8);
  const NodeIndex a = fabric.add_switch("rail-0", 12);
  const NodeIndex b = fabric.add_switch("rail-1", 12);
  for (PortIndex h = 0; h < 10; ++h) {
    const std::string name = "dgx-0" + std::to_string(h);
    fabric.connect(fabric.nodes()[a].first_port + 1 + h,
                   fabric.nodes()[fabric.add_adapter(name + " mlx5_0")].first_port);
    fabric.connect(fabric.nodes()[b].first_port + 1 + h,
                   fabric.nodes()[fabric.add_adapter(name + " mlx5_1")].first_port);
  }
  return fabric;
}

TEST(NodeDown, IsAHostWithAllOfItsLinksDownAtOnce) {
  Watch watch(two_rails());
  watch.sweeps(3);
  watch.fabric.power_off(watch.fabric.find("dgx-04 mlx5_0"));
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown);
  watch.fabric.power_off(watch.fabric.find("dgx-04 mlx5_1"));
  watch.sweeps(2);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kNodeDown) << watch.describe();
  EXPECT_EQ(down.finding.cause.label, "dgx-04");
  EXPECT_EQ(std::ranges::count(down.finding.affected, EntityKind::kLink, &Entity::kind), 2);
  for (int sweep = 0; sweep < 10; ++sweep) {
    watch.sweeps(1);
    ASSERT_EQ(watch.analysis.findings.size(), 1U) << "as long as it lasts it is said in each sweep";
    EXPECT_EQ(watch.analysis.findings[0].kind, IncidentKind::kNodeDown);
  }
  watch.fabric.power_on(watch.fabric.find("dgx-04 mlx5_1"));
  watch.sweeps(50);
  EXPECT_EQ(watch.only().id, down.id) << "adapters of a host that starts come up one by one: " << watch.describe();
  EXPECT_NE(watch.only().finding.summary.find("is coming back"), std::string::npos) << watch.only().finding.summary;
  watch.sweeps(16);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown)
      << "the host lives, one adapter does not: " << watch.describe();
  EXPECT_EQ(link_of(watch.only()), watch.link("rail-0", "dgx-04 mlx5_0"));
}

TEST(MassGuard, AHalfThatIsReallyGoneIsReportedInTheEnd) {
  Watch watch(FabricBuilder::fat_tree(2, 6, 4));
  watch.sweeps(3);
  for (NodeIndex i = 0; i < watch.fabric.nodes().size(); ++i) {
    const std::string name = watch.fabric.nodes()[i].name;
    if (name.starts_with("leaf-") && name != "leaf-0") watch.fabric.power_off(i);
    if (name.starts_with("host-") && !name.starts_with("host-0-")) watch.fabric.silence(i);
  }
  watch.sweeps(10);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
  watch.sweeps(600);
  const std::vector<Incident> open = watch.open();
  EXPECT_EQ(open.size(), 5U) << watch.describe();
  for (const Incident& incident : open) EXPECT_EQ(incident.finding.kind, IncidentKind::kSwitchDown);
}

TEST(MassGuard, LosingMostOfTheFabricAtOnceIsLossOfSight) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  watch.fabric.unlink(watch.fabric.port_towards("leaf-5", "host-5-0 mlx5_0"));
  watch.sweeps(2);
  const Incident before = watch.only();
  // Our own leaf loses its uplinks: everything beyond is out of reach, and none of it is broken.
  for (int s = 0; s < 4; ++s) watch.fabric.unlink(watch.fabric.port_towards("leaf-0", "spine-" + std::to_string(s)));
  for (NodeIndex i = 0; i < watch.fabric.nodes().size(); ++i) {
    const std::string& name = watch.fabric.nodes()[i].name;
    if (name != "leaf-0" && name.find("host-0-") == std::string::npos) watch.fabric.silence(i);
  }
  watch.sweeps(20);
  std::vector<Incident> open = watch.open();
  ASSERT_EQ(open.size(), 2U) << watch.describe();
  EXPECT_EQ(open[0].id, before.id) << "blindness is no recovery";
  EXPECT_EQ(open[0].revision, before.revision);
  EXPECT_EQ(open[1].finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_EQ(open[1].finding.cause.kind, EntityKind::kFabric);
  for (NodeIndex i = 0; i < watch.fabric.nodes().size(); ++i) watch.fabric.silence(i, false);
  for (int s = 0; s < 4; ++s) watch.fabric.relink(watch.fabric.port_towards("leaf-0", "spine-" + std::to_string(s)));
  watch.sweeps(3);
  EXPECT_EQ(watch.only().id, before.id) << watch.describe();
}

TEST(MassGuard, OwnLinkDownIsLossOfSightToo) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 4));
  watch.sweeps(3);
  watch.fabric.unlink(watch.fabric.port_towards("leaf-0", "host-0-0 mlx5_0"));
  for (NodeIndex i = 0; i < watch.fabric.nodes().size(); ++i)
    if (watch.fabric.nodes()[i].name != "host-0-0 mlx5_0") watch.fabric.silence(i);
  watch.sweeps(5);
  const Incident lost = watch.only();
  EXPECT_EQ(lost.finding.kind, IncidentKind::kTelemetryLost);
  EXPECT_TRUE(affects(lost, EntityKind::kLink, watch.link("leaf-0", "host-0-0 mlx5_0").low)) << lost.finding.summary;
}

TEST(MassGuard, AFabricThatIsBeingActivatedIsNotThousandsOfLinks) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  for (PortIndex port = 0; port < watch.fabric.ports().size(); ++port)
    if (watch.fabric.ports()[port].peer != kNoIndex) watch.fabric.relink(port, PortState::kInitialize);
  watch.sweeps(65);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
  for (PortIndex port = 0; port < watch.fabric.ports().size(); ++port)
    if (watch.fabric.ports()[port].peer != kNoIndex) watch.fabric.relink(port);
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty());
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST(SwitchDown, IsOverWhenAllOfItIsUp) {
  Watch watch(FabricBuilder::fat_tree(2, 3, 2));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-1");
  watch.fabric.power_off(spine);
  watch.sweeps(4);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  watch.fabric.power_on(spine);
  watch.sweeps(5);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  // What happens now is no part of its coming back.
  watch.fabric.unlink(watch.fabric.port_towards("spine-1", "leaf-0"));
  watch.sweeps(2);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kLinkDown) << watch.describe();
}

}  // namespace
}  // namespace weft::analyzer
