// SPDX-License-Identifier: Apache-2.0
#include "fabric/plan.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <span>

#include "fabric/host_names.hpp"
#include "fabric/names.hpp"

namespace weft {
namespace {

template <typename Enum>
using Names = std::array<const char*, static_cast<std::size_t>(Enum::kCount)>;

constexpr Names<RemedyAction> kPlanActions{"NOTHING",         "ISOLATE_LINK", "RESTORE_LINK",
                                           "RAISE_LINK_COST", "DRAIN_NODE",   "UNDRAIN_NODE"};
constexpr std::array<const char*, 3> kModes{"off", "propose", "auto"};
constexpr Names<PlanState> kPlanStates{"PROPOSED",  "APPROVED",    "EXECUTING", "VERIFYING", "ROLLING_BACK",
                                       "COMMITTED", "ROLLED_BACK", "FAILED",    "REJECTED",  "EXPIRED"};
constexpr Names<Guard> kGuards{"HANDS_OFF",    "ENABLED",   "LISTS",         "MAINTENANCE",  "FRESH_DATA",
                               "SENSOR",       "IDENTITY",  "TWO_SIGNALS",   "ONE_ACTOR",    "BREAKER",
                               "BUDGET",       "COOL_DOWN", "REINSTATEMENT", "OWN_PATH",     "ALTERNATIVE",
                               "REACHABILITY", "ROUTING",   "LEAF_CAPACITY", "JOB_CAPACITY", "RAIL_CAPACITY",
                               "BISECTION",    "BENEFIT"};
constexpr std::array<const char*, 4> kResults{"PASSED", "REFUSED", "NOT_NEEDED", "NEEDS_PERSON"};
constexpr Names<PlanIntent> kIntents{"NONE", "APPLY", "UNDO"};

/// How the text begins by which a weftd is known in a scheduler or a file.
constexpr std::string_view kEpoch = " epoch ";
constexpr std::string_view kMark = "weft ";
constexpr std::string_view kPlan = "PLAN-";
constexpr std::size_t kLongestInstallation = 32;

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

const char* to_string(RemedyAction action) {
  return name_of(kPlanActions, action);
}
const char* to_string(RemedyMode mode) {
  return name_of(kModes, mode);
}
const char* to_string(PlanState state) {
  return name_of(kPlanStates, state);
}
const char* to_string(Guard guard) {
  return name_of(kGuards, guard);
}
const char* to_string(GuardResult result) {
  return name_of(kResults, result);
}
const char* to_string(PlanIntent intent) {
  return name_of(kIntents, intent);
}

std::optional<RemedyAction> parse_remedy_action(std::string_view text) {
  return parse_name<RemedyAction>(kPlanActions, text);
}
std::optional<RemedyMode> parse_remedy_mode(std::string_view text) {
  return parse_name<RemedyMode>(kModes, text);
}
std::optional<PlanState> parse_plan_state(std::string_view text) {
  return parse_name<PlanState>(kPlanStates, text);
}
std::optional<Guard> parse_guard(std::string_view text) {
  return parse_name<Guard>(kGuards, text);
}
std::optional<GuardResult> parse_guard_result(std::string_view text) {
  return parse_name<GuardResult>(kResults, text);
}
std::optional<PlanIntent> parse_plan_intent(std::string_view text) {
  return parse_name<PlanIntent>(kIntents, text);
}

const Plan& first_out(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans) {
  const Plan* first = &plan;
  while ((first->action == RemedyAction::kRestoreLink || first->action == RemedyAction::kUndrainNode) &&
         first->undoes != 0 && first->undoes < first->id) {
    const auto before = std::ranges::lower_bound(plans, first->undoes, {}, [](const auto& each) { return each->id; });
    if (before == plans.end() || (*before)->id != first->undoes) break;
    first = before->get();
  }
  return *first;
}

std::string without_reason(std::string outcome, std::string_view who, std::string_view what) {
  constexpr std::string_view kBetween = ": ";
  const std::size_t at = what.find(kBetween);
  if (who == kOurselves || at == std::string_view::npos || at + kBetween.size() == what.size()) return outcome;
  const std::string said = std::string(who) + std::string(what.substr(at));
  if (const std::size_t found = outcome.find(said); found != std::string::npos) outcome.erase(found, said.size());
  return outcome;
}

std::string own_words(const Plan& plan) {
  std::string words = plan.outcome;
  for (const PlanStep& step : plan.steps) words = without_reason(std::move(words), step.who, step.what);
  return words;
}

bool is_left_to_others(std::string_view words) {
  return words.find("somebody else holds it now") != std::string_view::npos ||
         words.find("somebody else keeps it out of service") != std::string_view::npos ||
         words.find("somebody else has disabled it since") != std::string_view::npos ||
         words.find("left as it is: somebody else disabled the link") != std::string_view::npos ||
         words.find("somebody else took it out of service") != std::string_view::npos ||
         words.find("somebody else set its cost") != std::string_view::npos;
}

bool is_about_breaker(std::string_view words) {
  return words.find(": " + std::string(to_string(Guard::kBreaker)) + ": ") != std::string_view::npos;
}

RemedyAction inverse_of(RemedyAction action) {
  switch (action) {
    case RemedyAction::kIsolateLink:
      return RemedyAction::kRestoreLink;
    case RemedyAction::kRestoreLink:
      return RemedyAction::kIsolateLink;
    case RemedyAction::kDrainNode:
      return RemedyAction::kUndrainNode;
    case RemedyAction::kUndrainNode:
      return RemedyAction::kDrainNode;
    case RemedyAction::kRaiseLinkCost:
      return RemedyAction::kRestoreLink;
    case RemedyAction::kNothing:
    case RemedyAction::kCount:
      break;
  }
  return RemedyAction::kNothing;
}

const char* to_string(TargetState state) {
  switch (state) {
    case TargetState::kClear:
      return "clear";
    case TargetState::kOurs:
      return "ours";
    case TargetState::kForeign:
      return "foreign";
  }
  return "unknown";
}

std::string RemedyOrder::marked_reason() const {
  std::string text = std::string(kMark) + mark();
  if (incident != 0) text += ' ' + incident_name(incident);
  if (permit) text += std::string(kEpoch) + std::to_string(permit->epoch);
  return text + ": " + reason;
}

std::string mark_text(const PlanMark& mark) {
  return plan_name(mark.plan) + (mark.installation.empty() ? "" : '.' + mark.installation);
}

std::optional<PlanMark> parse_plan_mark(std::string_view text) {
  if (!text.starts_with(kPlan)) return std::nullopt;
  const std::size_t dot = text.find('.');
  const auto plan = parse_plan_name(text.substr(0, dot));
  if (!plan) return std::nullopt;
  if (dot == std::string_view::npos) return PlanMark{*plan, {}};
  const std::string_view installation = text.substr(dot + 1);
  if (installation.empty() || installation.size() > kLongestInstallation || !is_hexadecimal(installation))
    return std::nullopt;
  return PlanMark{*plan, std::string(installation)};
}

std::optional<PlanMark> mark_in_reason(std::string_view reason) {
  if (!reason.starts_with(kMark)) return std::nullopt;
  reason.remove_prefix(kMark.size());
  return parse_plan_mark(reason.substr(0, reason.find_first_of(" :")));
}

bool MarkOwner::owns(const PlanMark& mark) const {
  if (!mark.installation.empty()) return mark.installation == installation;
  return std::ranges::find(plans, mark.plan) != plans.end();
}

bool MarkOwner::owns_reason(std::string_view reason) const {
  const auto mark = mark_in_reason(reason);
  return mark && owns(*mark);
}

std::optional<PlanMark> MarkOwner::others_mark(std::string_view reason) const {
  auto mark = mark_in_reason(reason);
  if (!mark || mark->installation.empty() || mark->installation == installation) return std::nullopt;
  return mark;
}

std::int64_t MarkOwner::epoch_in_reason(std::string_view reason) const {
  const auto mark = mark_in_reason(reason);
  if (!mark || installation.empty() || mark->installation != installation) return 0;
  reason = reason.substr(0, reason.find(':'));
  const std::size_t at = reason.find(kEpoch);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = reason.substr(at + kEpoch.size());
  std::int64_t epoch = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), epoch);
  return error == std::errc{} && end == digits.data() + digits.size() && epoch > 0 ? epoch : 0;
}

void TargetReading::add_other(const PlanMark& mark) {
  const auto same = std::ranges::find(others, mark.installation, &PlanMark::installation);
  if (same != others.end())
    same->plan = std::max(same->plan, mark.plan);
  else if (others.size() < kMostOtherMarks)
    others.push_back(mark);
}

bool same_target(const Entity& a, const Entity& b) {
  if (a.kind != EntityKind::kHost || b.kind != EntityKind::kHost) return a.same_as(b);
  return same_host(a.host, b.host);
}

bool Plan::refused() const {
  return std::ranges::any_of(guards, [](const GuardVerdict& guard) { return guard.result == GuardResult::kRefused; });
}

std::string RemedyStatus::stop_reason() const {
  if (!hands_off) return file_brake;
  return file_brake.empty() ? hands_off_reason : hands_off_reason + "; " + file_brake;
}

std::string modes_text(const std::vector<std::string>& automatic, const std::vector<std::string>& proposed,
                       bool is_stopped) {
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  if (automatic.empty() && proposed.empty()) return "Weft does nothing by itself, and proposes nothing.";
  const std::string acts = is_stopped ? "While nothing stops it, Weft acts by itself: " : "Weft acts by itself: ";
  return (automatic.empty() ? "Weft begins nothing by itself" : acts + listed(automatic)) +
         (proposed.empty() ? "" : ". It proposes: " + listed(proposed)) +
         ". What fails on its return is taken out again without asking.";
}

std::string plan_name(std::uint64_t id) {
  return "PLAN-" + std::to_string(id);
}

std::optional<std::uint64_t> parse_plan_name(std::string_view text) {
  constexpr std::string_view kPrefix = "PLAN-";
  if (text.size() > kPrefix.size() && std::ranges::equal(text.substr(0, kPrefix.size()), kPrefix, [](char a, char b) {
        return std::toupper(static_cast<unsigned char>(a)) == b;
      }))
    text.remove_prefix(kPrefix.size());
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return id;
}

}  // namespace weft
