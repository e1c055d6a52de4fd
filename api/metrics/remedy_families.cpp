// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/remedy_families.hpp"

#include <array>
#include <cstdint>

#include "api/metrics/sample.hpp"

namespace weft::api {
namespace {

constexpr auto kActions = static_cast<std::size_t>(RemedyAction::kCount);
constexpr auto kStates = static_cast<std::size_t>(PlanState::kCount);
template <typename Count>
using ByActionAndState = std::array<std::array<Count, kStates>, kActions>;

/// The samples of either all states that are an end or all that are none. Nobody makes a plan of NOTHING.
template <typename Count>
void append_counts(std::string& out, const MetricFamily& family, std::string_view label, bool ends,
                   const ByActionAndState<Count>& counts, MetricsFormat format) {
  append_head(out, family, format);
  for (std::size_t action = 1; action < kActions; ++action)
    for (std::size_t state = 0; state < kStates; ++state)
      if (is_over(static_cast<PlanState>(state)) == ends)
        append_sample(out, family.name,
                      {{"action", to_string(static_cast<RemedyAction>(action))},
                       {label, to_string(static_cast<PlanState>(state))}},
                      counts[action][state]);
}

void append_gauge(std::string& out, std::string_view name, std::string_view help, std::uint32_t value,
                  MetricsFormat format) {
  append_head(out, {name, MetricType::kGauge, help}, format);
  append_sample(out, name, {}, value);
}

}  // namespace

void append_remedy_families(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  ByActionAndState<std::uint32_t> open{};
  std::uint32_t unresolved = 0;
  if (snapshot.plans)
    for (const auto& plan : *snapshot.plans) {
      if (plan->unresolved) ++unresolved;
      if (plan->action < RemedyAction::kCount && plan->state < PlanState::kCount)
        ++open[static_cast<std::size_t>(plan->action)][static_cast<std::size_t>(plan->state)];
    }
  append_counts(out, {"weft_plans", MetricType::kGauge, "Open plans, by action and state."}, "state", false, open,
                format);
  append_counts(out,
                {"weft_actions_total", MetricType::kCounter,
                 "Finished plans, by action and final state, since the store was created."},
                "result", true, snapshot.figures.plans_ended, format);
  append_gauge(out, "weft_plans_unresolved", "Failed plans with unknown result: check them by hand.", unresolved,
               format);
  const RemedyStatus& status = snapshot.remedy;
  append_gauge(out, "weft_breaker_tripped",
               "1 while the circuit breaker stops all automation; it is reset only by hand.",
               status.breaker_tripped ? 1 : 0, format);
  append_gauge(out, "weft_remedy_hands_off", "1 while automation is stopped by hands-off, of a person or of the file.",
               status.is_stopped() ? 1 : 0, format);
  append_gauge(out, "weft_remedy_hands_off_person", "1 while a person's hands-off stops automation.",
               status.hands_off ? 1 : 0, format);
  append_gauge(out, "weft_remedy_hands_off_file",
               "1 while the hands-off file stops automation: it exists, or cannot be looked at.",
               status.file_brake.empty() ? 0 : 1, format);
  append_gauge(out, "weft_remedy_orders_under_way", "Changes that actuators have begun and not answered.",
               static_cast<std::uint32_t>(status.under_way.size()), format);
  append_gauge(out, "weft_remedy_out_of_service",
               "Links and hosts that plans hold isolated, avoided by routes, or drained.", status.out_of_service,
               format);
  append_gauge(out, "weft_remedy_out_by_others",
               "Links between switches that others disabled, or have the subnet manager avoid, and that no plan holds.",
               status.out_by_others, format);
  append_gauge(out, "weft_remedy_silent_managers",
               "Fabrics whose subnet manager does not answer: no link of theirs is taken out of service.",
               static_cast<std::uint32_t>(status.silent_managers.size()), format);
  append_gauge(out, "weft_remedy_on_probation", "Links and hosts that plans brought back and watch now.",
               status.on_probation, format);
  append_gauge(out, "weft_remedy_undone_by_others",
               "Links enabled, costs lowered and hosts undrained by others while a plan held them, and no plan since.",
               status.undone_by_others, format);
  append_gauge(out, "weft_remedy_without_plan", "Incidents without a plan because too many plans are open.",
               status.without_plan, format);
  append_gauge(
      out, "weft_remedy_actions_last_hour",
      "Plans that began to isolate, avoid or drain something within the last hour, also those that are over or undone.",
      status.actions_last_hour, format);
  append_gauge(out, "weft_remedy_actions_per_hour", "Limit of actions per hour.", status.actions_per_hour, format);
}

}  // namespace weft::api
