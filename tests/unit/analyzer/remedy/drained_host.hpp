// SPDX-License-Identifier: Apache-2.0
#pragma once
// A host that automation drained, whose incident is over.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {

/// PLAN-1 drained n1 for INC-1, which is over. weftd has looked at it once.
struct DrainedHost : Book {
  explicit DrainedHost(RemedySettings with = automatic()) : Book(std::move(with)) {
    settings.limits.undrain_after = std::chrono::minutes(10);
    errors("leaf-0", "spine-0");
    resolve();
    health.emplace_back();
    health[0].node = "n1";
    health[0].verdict = HealthVerdict::kHealthy;
    collector("n1", {"host-0-0 mlx5_0"});
    Plan plan;
    plan.id = 1;
    plan.state = PlanState::kCommitted;
    plan.action = RemedyAction::kDrainNode;
    plan.target = host_entity("n1");
    plan.incident = 1;
    plan.actuator = "fake";
    plan.requested_by = plan.approved_by = kOurselves;
    plan.started = plan.finished = fabric.now() - std::chrono::hours(1);
    plan.in_force = true;
    begin({plan});
  }
  void begin(std::vector<Plan> plans) {
    RemedyMemory memory;
    memory.plans = std::move(plans);
    book.emplace(settings, memory, fabric.now(), fabric.now().time_since_epoch());
    pass(std::chrono::seconds(1));
  }
  void restart() {
    std::vector<Plan> plans;
    for (const PlanPtr& plan : *book->all()) plans.push_back(*plan);
    begin(std::move(plans));
  }
  void pass(Duration time) {
    fabric.advance(time);
    book->review(look());
  }
  void set_incident(IncidentState state) {
    auto incident = std::make_shared<Incident>(*incidents.front());
    incident->state = state;
    incident->resolved = state == IncidentState::kResolved ? fabric.now() : kNever;
    incidents = {incident};
  }
  void resolve() { set_incident(IncidentState::kResolved); }
  /// An open incident hurts the host; 0: none does.
  void hurt(std::uint64_t incident, HealthVerdict verdict = HealthVerdict::kDegraded) {
    health[0].verdict = incident == 0 ? HealthVerdict::kHealthy : verdict;
    health[0].reasons.clear();
    if (incident == 0) return;
    health[0].reasons.emplace_back();
    health[0].reasons[0].incident = incident;
    health[0].reasons[0].severity = Severity::kWarning;
  }
  /// What is ordered is done at once, for some seconds; returns what was sent.
  std::vector<RemedyAction> obey() {
    std::vector<RemedyAction> sent;
    for (int second = 0; second < 6; ++second) {
      for (const RemedyOrder& order : orders()) {
        if (order.kind == OrderKind::kAct) {
          sent.push_back(order.action);
          is_out = takes_out(order.action);
          book->answer_action(order.number, {}, fabric.now());
        } else {
          book->answer_reading(order.number, TargetReading{is_out ? TargetState::kOurs : TargetState::kClear, ""},
                               fabric.now());
        }
      }
      pass(std::chrono::seconds(1));
    }
    return sent;
  }
  std::size_t returns() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(*book->all(), [](const PlanPtr& plan) { return !takes_out(plan->action); }));
  }
  bool is_out = true;
};

}  // namespace weft::analyzer
