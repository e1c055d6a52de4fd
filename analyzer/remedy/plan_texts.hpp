// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sentences about a plan that several answers need.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

struct PlanWork;
enum class LinkSight : std::uint8_t;
struct RemedyView;

/// What takes a link out waits for, or why it is refused, where RemedyView::is_manager_unheard().
const char* nobody_reroutes(const RemedyView& view, std::string_view fabric);
/// How the step begins that says of a return that its link is up: for the first time, and after it had failed.
inline constexpr const char* kIsUp = "it is up, and on probation";
inline constexpr const char* kIsUpAgain = "it is up, and no trouble of it is seen: its probation begins anew";
/// Why no link of that fabric is known to be activated, where RemedyView::is_manager_unheard().
const char* nobody_activates(const RemedyView& view, std::string_view fabric);
/// Why a person cannot end a plan that is not over and leave its target in service (PlanManager::leave()), with the
/// next step; nullopt: it can be. `sight`: what is known of its link.
std::optional<std::string> not_to_be_left(const Plan& plan, const PlanWork& work, LinkSight sight);
/// How the outcome of a plan ends whose target was read to be back, and is out by no order of ours.
inline constexpr const char* kDisabledSinceText = "; it was given back, and somebody else has disabled it since";
/// "link" or "host".
const char* target_text(const Plan& plan);

/// kNotFound, for a plan that is not known (any more).
tl::unexpected<Error> no_plan(std::uint64_t id);

/// What a record of the audit trail is about: "ISOLATE_LINK leaf-1 port 7 - spine-2 port 1: ".
std::string subject_text(const Plan& plan);

/// What a person did to the return `back`, as Plan::kept_out says it: " aborted its return PLAN-7".
std::string ended_return_text(const char* ended, const Plan& back);

/// weftctl's command that takes back what the plan holds: "weftctl undrain n1"; a link by its whole label, quoted.
std::string command_that_undoes(const Plan& plan);

/// What a person can do with a plan that waits and may be left: "end it and leave the link in service: weftctl abort
/// PLAN-7 --leave-in-service --reason ...".
std::string leave_text(const Plan& plan);

/// The plan that holds what `plan` had taken out, because its return failed; of a return the plan that holds its
/// target. The last of `plans`, which ascend by id; null: none holds it, or `plan` itself does.
const Plan* holder_of(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans);

/// How what a plan that is over did can be undone, to follow standing_text(): ". To undo it: weftctl restore ...";
/// empty: it changed nothing. `holder`: holder_of() it.
std::string way_back_text(const Plan& plan, const Plan* holder);

/// What can be done instead of approving a plan that is over, to follow standing_text(): ". To order it anew: weftctl
/// isolate ..."; of a return whose target no plan holds, what brings it back or takes it out again. Empty: it is not
/// over. `holder`: holder_of() it.
std::string order_text(const Plan& plan, const Plan* holder);

/// Why a plan that is neither proposed nor approved cannot be rejected, and what can be done instead: "PLAN-7 is
/// VERIFYING: too late to reject it; to undo it: weftctl abort PLAN-7 --reason ...".
/// `holder`: holder_of() it.
std::string late_reject_text(const Plan& plan, const Plan* holder);

/// Why a plan that is over cannot be aborted, and what can be done instead: "PLAN-7 is REJECTED: too late to abort it
/// (a job ends)". `holder`: holder_of() it.
std::string late_abort_text(const Plan& plan, const Plan* holder);

/// "PLAN-7 is EXECUTING, approved by ann at 2026-01-31 14:00 UTC": its state; then how it ended, or who approved it and
/// when, and what it waits for.
std::string standing_text(const Plan& plan);

/// Why a plan under way does not go on before the first sweep: "for the first sweep of ib0 since weftd was restarted,
/// or took over".
std::string first_sweep_text(const Plan& plan);

/// Of a plan that a person aborted and that could not be stored since: "will be undone when that can be stored; its
/// target stays out until then".
std::string undone_when_stored_text(const Plan& plan);

/// Of an unresolved plan: "what weftd sent for PLAN-7 may still take effect until …, and is read then"; later than
/// that, as where it cannot be read: "… could take effect until …, and its state has not been read since".
std::string may_land_text(const Plan& plan, TimePoint now);

}  // namespace weft::analyzer
