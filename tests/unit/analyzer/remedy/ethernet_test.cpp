// SPDX-License-Identifier: Apache-2.0
// Remedies for links of an Ethernet fabric: nothing of InfiniBand's is ever asked of them.

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/windows.hpp"
#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::analyzer {
namespace {

using fakes::EthernetFabric;

struct EthernetBook {
  explicit EthernetBook(bool webhook = false) : fabric(EthernetFabric::leaf_spine(8, 4, 2)) {
    settings.actuators.fill("infiniband_port");
    settings.modes.fill(RemedyMode::kAuto);
    if (webhook)
      for (const RemedyAction action : {RemedyAction::kIsolateLink, RemedyAction::kRestoreLink})
        settings.ethernet_actuators[static_cast<std::size_t>(action)] = "webhook";
    book.emplace(settings, RemedyMemory{}, EthernetFabric::now());
  }
  RemedyView look() {
    views.assign(1, {});
    views[0].name = fabric.name();
    views[0].watching = true;
    views[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
    return {EthernetFabric::now(), views, incidents, {}, {}, {}, {}};
  }
  void trouble(IncidentKind kind, const std::string& at) {
    const auto topology = fabric.topology();
    const PortIndex port = EthernetFabric::find(*topology, at);
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding.kind = kind;
    incident->finding.severity = Severity::kWarning;
    incident->finding.confidence = 0.9;
    incident->finding.cause = link_entity(fabric.name(), *topology, port);
    incident->opened = incident->updated = EthernetFabric::now();
    incident->beginnings = {EthernetFabric::now()};
    for (const PortKey end : {incident->finding.cause.port, incident->finding.cause.peer}) {
      Evidence evidence;
      evidence.signal = "error_rate";
      evidence.unit = "errors/bit";
      evidence.value = 1e-8;
      evidence.where = {.kind = EntityKind::kPort, .fabric = fabric.name(), .port = end, .peer = {}, .label = ""};
      incident->finding.evidence.push_back(evidence);
    }
    incidents.push_back(std::move(incident));
  }
  std::string why(std::uint64_t plan, Guard guard) const {
    const GuardVerdict& verdict = book->find(plan)->guards[static_cast<std::size_t>(guard)];
    return std::string(verdict.result == GuardResult::kRefused ? "refused: " : "") + verdict.explanation;
  }

  EthernetFabric fabric;
  RemedySettings settings;
  std::vector<FabricView> views;
  std::vector<std::shared_ptr<const Incident>> incidents;
  std::optional<PlanManager> book;
};

TEST(EthernetRemedies, NobodySetsAnInfinibandPortThere) {
  EthernetBook b;
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  ASSERT_NE(b.book->find(1), nullptr) << "whoever shuts the port wants to know whether that is safe";
  EXPECT_EQ(b.book->find(1)->actuator, "");
  EXPECT_EQ(b.why(1, Guard::kEnabled),
            "refused: no actuator for Ethernet switch ports: shut down leaf01 swp49 or spine01 swp1 yourself, or "
            "configure gNMI Set (remedy.gnmi_port.enabled) or a webhook (remedy.webhook.actions)");
  EXPECT_EQ(b.why(1, Guard::kLeafCapacity), "all leaves keep their share of uplink paths");
  EXPECT_TRUE(b.book->drain_changes(EthernetFabric::now()).orders.empty());
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.incidents.at(0)->finding.cause, "", "ann", b.look());
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().message.find("no actuator for Ethernet switch ports: shut down leaf01 swp49"),
            std::string::npos)
      << asked.error().message;
  const auto cost =
      b.book->request(RemedyAction::kRaiseLinkCost, b.incidents.at(0)->finding.cause, "", "ann", b.look());
  ASSERT_FALSE(cost);
  EXPECT_NE(cost.error().message.find("Weft changes no route costs on Ethernet"), std::string::npos)
      << cost.error().message;
}

TEST(EthernetRemedies, APlanThatNobodyCouldCarryOutIsTheWebhooksOnceThereIsOne) {
  EthernetBook b;
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  const EthernetBook with_webhook(true);
  RemedyMemory memory;
  memory.plans.push_back(*b.book->find(1));
  memory.ids = 2;
  b.book.emplace(with_webhook.settings, memory, EthernetFabric::now());
  b.book->review(b.look());
  EXPECT_EQ(b.book->find(1)->actuator, "webhook");
  EXPECT_FALSE(b.book->find(1)->refused()) << b.why(1, Guard::kEnabled);
}

TEST(EthernetRemedies, AHostIsKnownByItsCollector) {
  EthernetBook b;
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp1");
  b.book->review(b.look());
  ASSERT_EQ(b.book->find(1)->action, RemedyAction::kDrainNode);
  EXPECT_EQ(b.book->find(1)->guards[static_cast<std::size_t>(Guard::kIdentity)].result, GuardResult::kNeedsPerson);
  EXPECT_EQ(b.why(1, Guard::kIdentity), "no collector reports host gpu-01");
  EXPECT_TRUE(b.book->drain_changes(EthernetFabric::now()).orders.empty());
  // The MAC addresses of its interfaces, and GUIDs made of them, are nobody's proof here.
  auto host = std::make_shared<HostView>();
  host->host = "gpu-01";
  host->state = CollectorState::kConnected;
  const std::vector<std::shared_ptr<const HostView>> hosts{host};
  RemedyView view = b.look();
  view.hosts = hosts;
  b.book->review(view);
  EXPECT_EQ(b.why(1, Guard::kIdentity), "its own collector reports it");
  EXPECT_EQ(b.book->drain_changes(EthernetFabric::now()).orders.size(), 1U);
}

TEST(EthernetRemedies, NoGuardSpeaksOfInfiniband) {
  EthernetBook b(true);
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.trouble(IncidentKind::kLinkErrors, "leaf02 swp1");
  b.book->review(b.look());
  for (const std::uint64_t plan : {1, 2}) {
    ASSERT_NE(b.book->find(plan), nullptr);
    for (const GuardVerdict& verdict : b.book->find(plan)->guards)
      for (const char* word : {"subnet", "GUID", "LID", "forwarding table", "credit", "sweeper", "InfiniBand"})
        EXPECT_EQ(verdict.explanation.find(word), std::string::npos)
            << to_string(verdict.guard) << ": " << verdict.explanation;
  }
}

TEST(EthernetRemedies, ALeafBehindPort300OfASpineIsJudgedByItsOwnUplinks) {
  EthernetBook b(true);
  b.fabric = EthernetFabric::leaf_spine(2, 300, 1);
  // 300 cut to eight bits is 44; that leaf has its other uplink only.
  b.fabric.set_state("leaf44 swp49", PortState::kDown);
  b.trouble(IncidentKind::kLinkErrors, "spine01 swp300");
  b.trouble(IncidentKind::kLinkErrors, "spine02 swp44");
  b.book->review(b.look());
  ASSERT_NE(b.book->find(2), nullptr);
  EXPECT_NE(b.book->find(1)->target.label.find("leaf300 swp49"), std::string::npos) << b.book->find(1)->target.label;
  EXPECT_EQ(b.why(1, Guard::kReachability), "all leaves keep an up-down path to each other, by the cabling file");
  EXPECT_EQ(b.why(1, Guard::kLeafCapacity),
            "refused: leaf300 would keep 1 of 2 uplink paths; 2 are needed (remedy.limits.capacity.leaf_share_idle)");
  EXPECT_TRUE(b.why(2, Guard::kReachability).starts_with("refused: ")) << b.why(2, Guard::kReachability);
}

TEST(EthernetRemedies, ASlowLinkGetsNoHopWeight) {
  EthernetBook b(true);
  b.trouble(IncidentKind::kLinkDegraded, "leaf01 swp49");
  b.book->review(b.look());
  ASSERT_NE(b.book->find(1), nullptr);
  EXPECT_EQ(b.book->find(1)->action, RemedyAction::kIsolateLink);
}

TEST(EthernetRemedies, AHostBehindABadLinkIsDrainedAsEver) {
  EthernetBook b;
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp1");
  b.book->review(b.look());
  const Plan plan = *b.book->find(1);
  EXPECT_EQ(plan.action, RemedyAction::kDrainNode);
  EXPECT_EQ(plan.target.host, "gpu-01");
  EXPECT_EQ(plan.actuator, "infiniband_port") << "what the test named for all";
  EXPECT_FALSE(plan.refused());
}

TEST(EthernetRemedies, AWebhookMayBeToldAndTheGuardsLookAtTheCables) {
  EthernetBook b(true);
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  EXPECT_EQ(b.book->find(1)->actuator, "webhook");
  EXPECT_FALSE(b.book->find(1)->refused());
  EXPECT_EQ(b.why(1, Guard::kLeafCapacity), "all leaves keep their share of uplink paths");
  EXPECT_EQ(b.why(1, Guard::kReachability), "all leaves keep an up-down path to each other, by the cabling file")
      << "there is no subnet manager that could route otherwise";
  EXPECT_EQ(b.book->drain_changes(EthernetFabric::now()).orders.size(), 1U);

  // With all others down it is the last one, and no tables are needed to know that.
  EthernetBook last(true);
  for (const char* uplink : {"50", "51", "52", "53", "54", "55", "56"})
    last.fabric.set_state("leaf01 swp" + std::string(uplink), PortState::kDown);
  last.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  last.book->review(last.look());
  EXPECT_TRUE(last.book->find(1)->refused());
  EXPECT_TRUE(last.why(1, Guard::kReachability).starts_with("refused: ")) << last.why(1, Guard::kReachability);
}

TEST(EthernetRemedies, PairsOfLeavesAreJudgedAsLeaves) {
  EthernetBook b(true);
  for (unsigned leaf = 1; leaf <= 4; leaf += 2)
    for (const char* port : {"swp47", "swp48"})
      b.fabric.cable(EthernetFabric::two("leaf", leaf), port, EthernetFabric::two("leaf", leaf + 1), port);
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.trouble(IncidentKind::kLinkErrors, "leaf03 swp47");
  b.book->review(b.look());
  EXPECT_EQ(b.book->find(1)->approved_by, "weftd") << b.why(1, Guard::kAlternative);
  EXPECT_TRUE(b.why(2, Guard::kReachability).starts_with("refused: it does not connect two tiers"))
      << b.why(2, Guard::kReachability);
}

// Which of its ways round are free of credit loops is not InfiniBand's routing engine's matter there.
TEST(EthernetRemedies, TheRoutingEngineIsOfInfinibandAlone) {
  EthernetBook b(true);
  b.settings.routing_engine = RoutingEngine::kFile;
  b.book.emplace(b.settings, RemedyMemory{}, EthernetFabric::now());
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  EXPECT_FALSE(b.book->find(1)->refused()) << b.why(1, Guard::kRouting);

  EthernetBook groups(true);
  groups.settings.routing_engine = RoutingEngine::kDfsssp;
  groups.fabric = EthernetFabric();
  const auto name = [](unsigned group, unsigned at) { return "s" + std::to_string(group) + std::to_string(at); };
  for (unsigned group = 0; group < 5; ++group)
    for (unsigned at = 0; at < 8; ++at) {
      groups.fabric.cable(name(group, at), "swp1", "gpu-" + name(group, at), "eth2");
      for (unsigned other = 0; other < at; ++other)
        groups.fabric.cable(name(group, at), "swp1" + std::to_string(other), name(group, other),
                            "swp1" + std::to_string(at));
      for (unsigned far = 0; far < group && at < 4; ++far)
        groups.fabric.cable(name(group, (far + at) % 8), "swp2" + std::to_string(far), name(far, (group + at) % 8),
                            "swp2" + std::to_string(group));
    }
  groups.book.emplace(groups.settings, RemedyMemory{}, EthernetFabric::now());
  groups.trouble(IncidentKind::kLinkErrors, "s10 swp20");
  groups.book->review(groups.look());
  EXPECT_EQ(groups.book->find(1)->state, PlanState::kProposed);
  EXPECT_EQ(groups.why(1, Guard::kRouting),
            "how the switches of an Ethernet dragonfly route round a link is not known");
  EXPECT_FALSE(groups.book->find(1)->refused());
}

TEST(EthernetRemedies, WhatNobodyReadsIsLeftAlone) {
  EthernetBook b(true);
  b.fabric.set_state("leaf01 swp49", PortState::kUnknown);
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  EXPECT_TRUE(b.book->find(1)->refused());
  EXPECT_EQ(b.why(1, Guard::kFreshData), "refused: the link's ends are not read now");
  // Ways that nobody reads count as none when it is asked what is left.
  EthernetBook others(true);
  for (const char* uplink : {"50", "51", "52", "53", "54", "55", "56"})
    others.fabric.set_state("leaf01 swp" + std::string(uplink), PortState::kUnknown);
  others.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  others.book->review(others.look());
  EXPECT_TRUE(others.book->find(1)->refused());
}

TEST(EthernetRemedies, ThatALinkIsOutIsSeenByItsState) {
  EthernetBook b(true);
  b.trouble(IncidentKind::kLinkErrors, "leaf01 swp49");
  b.book->review(b.look());
  const Plan plan = *b.book->find(1);
  const TimePoint before = EthernetFabric::now() - std::chrono::seconds(1);
  const auto window = [&] { return judge_window(plan, b.look(), before, {b.fabric.now(), {}}, b.settings.limits); };
  EXPECT_EQ(window().why, "the link is still up");
  b.fabric.set_state("leaf01 swp49", PortState::kUnknown);
  EXPECT_FALSE(window().good) << window().why;
  EXPECT_EQ(window().why, "the link is not reported down");
  b.fabric.set_state("leaf01 swp49", PortState::kDown);
  EXPECT_EQ(window().why, "");
  EXPECT_TRUE(window().good);
}

}  // namespace
}  // namespace weft::analyzer
