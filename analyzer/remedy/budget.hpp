// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much may be done at once, and when so much happens that nothing may be done at all.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/remedy/clock_steps.hpp"
#include "analyzer/remedy/fabric_tree.hpp"
#include "analyzer/remedy/settings.hpp"
#include "analyzer/remedy/told_out.hpp"
#include "fabric/plan_acts.hpp"

namespace weft::analyzer {

/// Which budget the plan would overdraw, in words, with its configuration key and, where time mends it, when; nullopt:
/// none. Counted are plans that asked the world for something
/// within the last hour (of returns those of automation alone), and what plans hold out of service or are about to;
/// links that somebody else disabled, or put where a subnet manager avoids them, count like those, `taken_out` being
/// those of each fabric (SweepCounts::taken_out) without those that plans have just `enabled`, and so do, for a host,
/// the hosts of `drained`; null: no scheduler tells of them. `tree`: of the plan's fabric, or null. `links`: of all
/// fabrics that were swept.
std::optional<std::string> over_budget(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans,
                                       const RemedyView& view, const Ages& ages, const FabricTree* tree,
                                       std::size_t links, std::span<const std::span<const Entity>> taken_out,
                                       std::span<const LinkKey> enabled, const DrainedHosts* drained,
                                       const BudgetLimits& limits);

/// Whether what over_budget() said is about the target's own switch, rail or job alone: other links may go meanwhile.
bool is_over_own_limit(std::string_view said);

/// The first whole minute that is `wait` or more after `now`, for a hint when something may be tried again:
/// "2026-01-31 14:00 UTC".
std::string time_ahead_text(TimePoint now, Duration wait);

/// Plans that took something out of service within the last `span`.
std::uint32_t actions_within(std::span<const std::shared_ptr<const Plan>> plans, const Ages& ages, Duration span);
/// Both links end at the same switch of the topology.
bool shares_switch(const Entity& a, const Entity& b, const Topology& topology);
/// Of `taken_out`, as over_budget() has it and `enabled`, the links that no plan of ours holds. They are as long valid
/// as it is.
std::vector<const Entity*> taken_out_by_others(std::span<const std::shared_ptr<const Plan>> plans,
                                               std::span<const std::span<const Entity>> taken_out,
                                               std::span<const LinkKey> enabled);
/// Targets that are out of service by our plans now.
std::uint32_t out_of_service(std::span<const std::shared_ptr<const Plan>> plans);

/// Reinstatements of the target that were rolled back because it failed again.
std::size_t failed_reinstatements(const Entity& target, std::span<const std::shared_ptr<const Plan>> plans,
                                  const Ages& ages, const VerificationLimits& limits);

/// Some limit still counts what the plan did: a budget, the circuit breaker, the cool-down, or the returns that failed.
bool is_counted(const Plan& plan, const Ages& ages, const RemedyLimits& limits);
/// How far back plans that are over are kept, or counted by some limit.
Duration longest_memory(const RemedyLimits& limits);

/// Why the breaker must trip now, in words; nullopt: it need not. `wanted`: incidents with a remedy that began within
/// the breaker's window.
std::optional<std::string> must_trip(std::size_t wanted, std::span<const std::shared_ptr<const Plan>> plans,
                                     const RemedyView& view, const Ages& ages, const BreakerLimits& limits);

}  // namespace weft::analyzer
