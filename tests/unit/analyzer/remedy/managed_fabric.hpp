// SPDX-License-Identifier: Apache-2.0
#pragma once
// A book of plans for a small fat tree, told step by step.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/remedy/plan_manager.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {

/// Everything is turned on, and needs no approval.
inline RemedySettings automatic() {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kAuto);
  return settings;
}

/// Everything is proposed, and needs an approval.
inline RemedySettings proposing() {
  RemedySettings settings;
  settings.modes.fill(RemedyMode::kPropose);
  return settings;
}

struct Book {
  explicit Book(RemedySettings with = {}) : Book(fakes::FabricBuilder::fat_tree(8, 4, 1), std::move(with)) {}
  Book(fakes::FabricBuilder&& of, RemedySettings with) : fabric(std::move(of)), settings(std::move(with)) {
    fabric.route();
    settings.actuators.fill("fake");
    settings.limits.verification.windows = 2;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    look();
  }

  RemedyView look() {
    views.assign(1, {});
    views[0].name = fabric.name();
    views[0].watching = true;
    views[0].sweep = std::make_shared<const Sweep>(fabric.sweep());
    return {fabric.now(),
            views,
            incidents,
            hosts,
            health,
            maintenance,
            {},
            fabric.now().time_since_epoch() - set_forward,
            managers.empty() ? nullptr : &managers};
  }

  Entity link(const std::string& a, const std::string& b) const {
    const LinkKey key = fabric.link_of(fabric.port_towards(a, b));
    return {
        .kind = EntityKind::kLink, .fabric = fabric.name(), .port = key.low, .peer = key.high, .label = a + " - " + b};
  }

  std::uint64_t errors(const std::string& a, const std::string& b, double rate = 1e-8) {
    auto incident = std::make_shared<Incident>();
    incident->id = incidents.size() + 1;
    incident->finding.kind = IncidentKind::kLinkErrors;
    incident->finding.severity = Severity::kWarning;
    incident->finding.confidence = 0.9;
    incident->finding.cause = link(a, b);
    incident->opened = incident->updated = fabric.now();
    incident->beginnings = {fabric.now()};
    for (const PortKey end : {incident->finding.cause.port, incident->finding.cause.peer}) {
      Evidence evidence;
      evidence.signal = "error_rate";
      evidence.unit = "errors/bit";
      evidence.value = rate;
      evidence.observed = fabric.now();
      evidence.where = {.kind = EntityKind::kPort, .fabric = fabric.name(), .port = end, .peer = {}, .label = ""};
      incident->finding.evidence.push_back(evidence);
    }
    incident->finding.summary = "errors between " + a + " and " + b;
    incidents.push_back(std::move(incident));
    return incidents.back()->id;
  }

  /// A host's collector reports these adapters as its own.
  void collector(const std::string& host, const std::vector<std::string>& adapters,
                 CollectorState state = CollectorState::kConnected) {
    auto inventory = std::make_shared<HostInventory>();
    for (const std::string& adapter : adapters) {
      HostPort port;
      port.node_guid = fabric.nodes()[fabric.find(adapter)].guid;
      inventory->ports.push_back(std::move(port));
    }
    auto reading = std::make_shared<HostReading>();
    reading->inventory = std::move(inventory);
    auto view = std::make_shared<HostView>();
    view->host = host;
    view->state = state;
    view->reading = std::move(reading);
    hosts.push_back(std::move(view));
  }

  Plan plan(std::uint64_t id) const { return *book->find(id); }
  const GuardVerdict& verdict(const Plan& of, Guard guard) const { return of.guards[static_cast<std::size_t>(guard)]; }

  /// Orders of one kind, taken out of what the book asks now.
  std::vector<RemedyOrder> orders() { return book->drain_changes(fabric.now()).orders; }

  /// A second later there is another sweep.
  void sweep() {
    fabric.advance(std::chrono::seconds(1));
    book->review(look());
  }
  /// Answers all readings that are asked now with that state, and returns how many there were. Nothing else is asked.
  std::size_t answer(TargetState state) {
    const auto asked = orders();
    for (const RemedyOrder& order : asked) {
      EXPECT_EQ(order.kind, OrderKind::kRead);
      book->answer_reading(order.number, TargetReading{state, "LinkUp"}, fabric.now());
    }
    return asked.size();
  }

  /// Sweeps until something is asked, and answers that it cannot be read. False: nothing is asked for a while.
  bool fails_to_read(ErrorCode code, const std::string& why = "?") {
    for (int second = 0; second < 200; ++second) {
      sweep();
      const auto asked = orders();
      for (const RemedyOrder& order : asked) book->answer_reading(order.number, fail(code, why), fabric.now());
      if (!asked.empty()) return true;
    }
    return false;
  }

  fakes::FabricBuilder fabric;
  RemedySettings settings;
  std::map<std::string, ManagerSign, std::less<>> managers;  ///< none: as RemedyView::managers of null
  Duration set_forward{};  ///< how much of the fabric's time did not pass: the clock was set
  std::vector<FabricView> views;
  std::vector<std::shared_ptr<const Incident>> incidents;
  std::vector<std::shared_ptr<const HostView>> hosts;
  std::vector<NodeHealth> health;
  std::vector<MaintenanceWindow> maintenance;
  std::optional<PlanManager> book;
};

}  // namespace weft::analyzer
