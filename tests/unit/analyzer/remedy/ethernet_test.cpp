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
  EXPECT_EQ(b.book->find(1), nullptr) << "nobody could carry it out";
  const auto asked = b.book->request(RemedyAction::kIsolateLink, b.incidents.at(0)->finding.cause, "", "ann", b.look());
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().message.find("no actuator for Ethernet links, only a webhook can do ISOLATE_LINK"),
            std::string::npos)
      << asked.error().message;
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
  const auto window = [&] { return judge_window(plan, b.look(), before, b.settings.limits); };
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
