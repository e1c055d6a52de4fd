// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of one plan, as a person reads it.

#include <cstdint>
#include <ostream>
#include <string>

#include "fabric/clock.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// How the link of a plan was read last.
enum class LinkNow : std::uint8_t {
  kUnknown,
  kUp,
  kDown,  ///< and no port says that it is disabled: those of an Ethernet fabric never do
  kDisabledByOthers,
};

/// How a plan is printed.
struct PlanPage {
  bool hints = true;                 ///< with what one may do next
  bool review = true;                ///< with the alternatives and what each guard says
  std::size_t columns = 0;           ///< of the terminal; 0: no limit
  const v1::Plan* holder = nullptr;  ///< holds_again() of it
  std::string first_out{};           ///< id of first_out() of it; empty: not looked up
  const v1::Plan* other = nullptr;   ///< other_holder() of it
  bool is_let_go = false;            ///< is_let_go() of it
  LinkNow link = LinkNow::kUnknown;  ///< of a link that no plan holds
};
/// What it is, why, what else could be done, what each guard says, and how far it came.
void print_plan(std::ostream& out, const v1::Plan& plan, TimePoint now, const PlanPage& page = {});

/// What a plan of a dry run would do, what else could be done, and what each guard says of it. `first`: id of
/// first_out() of it; empty: not looked up. `columns` of the terminal; 0: no limit.
void print_preview(std::ostream& out, const v1::Plan& plan, const std::string& first = {}, std::size_t columns = 0);

/// The state, and what goes beside it: "VERIFYING 2/5", "COMMITTED (reverted)", "PROPOSED (refused: BUDGET)",
/// "EXECUTING (waiting: HANDS_OFF)". `holder`: holds_again() of it.
std::string plan_state_text(const v1::Plan& plan, const v1::Plan* holder = nullptr);

/// Why it does not go on; empty: it does, or waits for a person.
std::string waiting_text(const v1::Plan& plan);

/// What undoing it does to its target: "the link is taken out of service again".
std::string undoing_text(const v1::Plan& plan);
/// … of a return that failed, and whose link is well again (begins_anew()).
inline constexpr const char* kBeginsAnewText = "the link is up again: its probation begins anew";
/// It is being undone, and what that changes is done: only whether the fabric is as before is still looked at.
bool is_undone(const v1::Plan& plan);

/// Weft's own words of its outcome (own_words() of Plan): a person's reason may say anything.
std::string own_words(const v1::Plan& plan);

/// It isolates, drains, or makes routes avoid its target; false: it takes that back.
bool takes_out(const v1::Plan& plan);
/// It took something out of service, and that is no longer so. What brings something back holds nothing.
bool is_reverted(const v1::Plan& plan);
/// Of a plan that was reverted: the last return among `plans` that did not last, so that it holds the target again, or
/// held it until that was reverted as well; null: none.
const v1::Plan* holds_again(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans);

/// The plan that took out what `plan` holds, or brings back: of a return the one before it, and so on, where those are
/// among `plans`.
const v1::Plan& first_out(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans);

/// The guard that refuses an approval of the plan now; null when it would begin, perhaps after another plan.
const v1::GuardVerdict* refusal(const v1::Plan& plan);

/// The guard that an open plan waits for now: refusal(), or that another plan is under way; null: none.
const v1::GuardVerdict* obstacle(const v1::Plan& plan);

/// It holds its target isolated, avoided by routes or drained, or may do so.
bool holds_its_target(const v1::Plan& plan);
/// As is_in_force_after_all() of Plan: what was sent for it landed after its end.
bool is_in_force_after_all(const v1::Plan& plan);
/// Another plan among `plans` that holds its target, or may hold or is changing it; null: none.
const v1::Plan* other_holder(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans);
/// Of an unresolved plan: that nobody knows, and until when what was sent may still take effect, or could have.
std::string unresolved_text(const v1::Plan& plan, TimePoint now);
/// The action by which a plan holds its target, or that it reverts.
v1::Plan::Action held_by(const v1::Plan& plan);

}  // namespace weft::ctl
