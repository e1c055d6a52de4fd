// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is to be done about trouble: a plan, why it is allowed or refused, and how far it has come.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/id_series.hpp"
#include "fabric/incident.hpp"

namespace weft {

struct Sweep;

/// What can be done to one link or one host. Each but kNothing is turned on for itself (RemedyMode).
enum class RemedyAction : std::uint8_t {
  kNothing,        ///< leave it as it is: always among the candidates
  kIsolateLink,    ///< one end's PortPhysicalState = Disabled; the subnet manager routes round it
  kRestoreLink,    ///< the same end = Polling, then probation
  kRaiseLinkCost,  ///< the link stays up and the subnet manager avoids it
  kDrainNode,      ///< the scheduler starts nothing new there; what runs may finish
  kUndrainNode,    ///< takes our own drain back, never anybody else's
  kCount,
};
const char* to_string(RemedyAction action);  ///< "NOTHING", "ISOLATE_LINK", …
/// The reverse of to_string(). The spelling must be exact; nullopt for any other text.
std::optional<RemedyAction> parse_remedy_action(std::string_view text);
/// The action that undoes it: isolate ↔ restore, drain ↔ undrain; kNothing where there is none.
RemedyAction inverse_of(RemedyAction action);

/// How far automation may go with an action.
enum class RemedyMode : std::uint8_t { kOff, kPropose, kAuto };
const char* to_string(RemedyMode mode);  ///< "off", "propose", "auto"
/// The reverse of to_string(); nullopt for any other text.
std::optional<RemedyMode> parse_remedy_mode(std::string_view text);

/// The life of a plan. From kCommitted on it is over.
enum class PlanState : std::uint8_t {
  kProposed,     ///< waits for a person, or for its guards
  kApproved,     ///< will be carried out as soon as it is its turn
  kExecuting,    ///< the world is being read, changed and read back
  kVerifying,    ///< it is in force; is the symptom gone, are the neighbours no worse, are routes as predicted?
  kRollingBack,  ///< it is being undone
  kCommitted,    ///< it is in force and did good
  kRolledBack,   ///< it was undone; the world is as before
  kFailed,       ///< it stopped half-way: `outcome` says what a person must look at
  kRejected,     ///< a person said no
  kExpired,      ///< nobody approved it in time, or its reason is gone
  kCount,
};
const char* to_string(PlanState state);  ///< "PROPOSED", "ROLLING_BACK", …
/// The reverse of to_string(); nullopt for any other text.
std::optional<PlanState> parse_plan_state(std::string_view text);
/// How the outcome of what a person aborted begins, also while it is being undone.
inline constexpr std::string_view kAbortedBy = "aborted by ";

/// Nothing more happens to a plan in this state.
constexpr bool is_over(PlanState state) {
  return state >= PlanState::kCommitted;
}
/// Somebody or something is changing the world for it, or may be.
constexpr bool is_under_way(PlanState state) {
  return state == PlanState::kExecuting || state == PlanState::kVerifying || state == PlanState::kRollingBack;
}

/// Checks that stand before every action, in the order in which they are made.
enum class Guard : std::uint8_t {
  kHandsOff,       ///< nobody stopped all automation
  kEnabled,        ///< the action is turned on
  kLists,          ///< the target is on no deny list and, where there is an allow list, on that
  kMaintenance,    ///< nobody works on it
  kFreshData,      ///< the picture is fresh and complete
  kSensor,         ///< not everything failed at once: then our own sight is to be suspected
  kIdentity,       ///< somebody else than the host itself says which adapters are its own
  kTwoSignals,     ///< two independent signals, or both ends, say so
  kOneActor,       ///< nothing else is under way on this fabric
  kBreaker,        ///< the breaker is not tripped
  kBudget,         ///< actions in an hour; what is out at once: fabric, switch, rail, job
  kCoolDown,       ///< time since the last action on the same target
  kReinstatement,  ///< it did not come back and fail again too often
  kOwnPath,        ///< neither our own way into the fabric nor the subnet manager's
  kAlternative,    ///< no access link: those have no way round
  kReachability,   ///< every pair of leaves keeps a way up and down, so nobody is cut off and no credit loop arises
  kRouting,        ///< the routing engine leads round it without turns that it forbids
  kLeafCapacity,   ///< every leaf keeps its share of ways up
  kJobCapacity,    ///< every pair of leaves of one job keeps its share of common spines
  kRailCapacity,   ///< every rail keeps its share of uplinks
  kBisection,      ///< groups of a dragonfly and halves of a torus keep their share of the cables between them
  kBenefit,        ///< it costs less than doing nothing
  kCount,
};
const char* to_string(Guard guard);  ///< "HANDS_OFF", "ENABLED", …
/// The reverse of to_string(); nullopt for any other text.
std::optional<Guard> parse_guard(std::string_view text);

/// What one guard decided; kNotNeeded where it does not apply to the action, kNeedsPerson where automation may not do
/// it and a person's approval may.
enum class GuardResult : std::uint8_t { kPassed, kRefused, kNotNeeded, kNeedsPerson };
const char* to_string(GuardResult result);  ///< "PASSED", "REFUSED", "NOT_NEEDED", "NEEDS_PERSON"
/// The reverse of to_string(); nullopt for any other text.
std::optional<GuardResult> parse_guard_result(std::string_view text);

/// One guard's decision about a plan, with its reason.
struct GuardVerdict {
  Guard guard = Guard::kHandsOff;
  GuardResult result = GuardResult::kPassed;
  std::string explanation;  ///< one sentence with the numbers in it
  bool operator==(const GuardVerdict&) const = default;
};

/// What could be done about an incident, and what is expected of it.
struct Candidate {
  RemedyAction action = RemedyAction::kNothing;
  Entity target;            ///< of kNothing the incident's cause
  double cost_ratio = 0;    ///< of the time of the jobs concerned that the action costs, 0..1
  double harm_ratio = 0;    ///< … that is still lost to the trouble afterwards, 0..1
  bool allowed = false;     ///< no guard refuses it
  std::string explanation;  ///< one sentence with the numbers in it

  /// Expected loss if this candidate is carried out: its own cost and the harm that remains.
  double total_ratio() const { return cost_ratio + harm_ratio; }
  /// They say the same.
  bool operator==(const Candidate& other) const {
    return action == other.action && target.same_as(other.target) && cost_ratio == other.cost_ratio &&
           harm_ratio == other.harm_ratio && allowed == other.allowed && explanation == other.explanation;
  }
};

/// One thing that happened to a plan, oldest first.
struct PlanStep {
  TimePoint at = kNever;
  PlanState state = PlanState::kProposed;  ///< after it
  std::string who;                         ///< a person's name; "weftd" for itself
  std::string what;                        ///< one sentence: before, after, what was read
  bool operator==(const PlanStep&) const = default;
};

/// weftd itself, as the one who asks and approves.
inline constexpr std::string_view kOurselves = "weftd";

/// Whether two targets are the same: hosts by same_host(), anything else by Entity::same_as().
bool same_target(const Entity& a, const Entity& b);

/// What is being asked of the world for a plan. Journalled before it is done.
enum class PlanIntent : std::uint8_t {
  kNone,
  kApply,  ///< `action` may have been sent, and may or may not be in force
  kUndo,   ///< its inverse may have been sent
  kCount,
};
const char* to_string(PlanIntent intent);  ///< "NONE", "APPLY", "UNDO"
/// The reverse of to_string(); nullopt for any other text.
std::optional<PlanIntent> parse_plan_intent(std::string_view text);

/// How far a fabric's forwarding tables led when a plan was about to act, as RouteReview counts it.
struct RoutesBefore {
  std::uint64_t known = 0;  ///< LIDs
  std::uint64_t lost = 0;   ///< pairs of a sending port and a LID that do not arrive
  bool operator==(const RoutesBefore&) const = default;
};

/// A plan with its life. Ids are given once and never reused: "PLAN-7".
struct Plan {
  std::uint64_t id = 0;
  std::uint64_t revision = 0;  ///< grows with each change that matters to who approves it, or is told of it
  PlanState state = PlanState::kProposed;
  RemedyAction action = RemedyAction::kIsolateLink;
  Entity target;               ///< a link; or a node by its host's name in `host`
  std::string actuator;        ///< that carries it out: "infiniband_port", "slurm", "kubernetes", "webhook", …
  std::uint64_t incident = 0;  ///< that it is for; 0: a person's own wish
  /// Which beginning of the incident it is for, or ended in: began() of it, to be compared for equality alone. The
  /// clock may have been set back since, so it says nothing of before and after. kNever: not known, as of a plan from
  /// before this was noted.
  TimePoint incident_began = kNever;
  std::uint64_t undoes = 0;  ///< the plan that this one takes back; 0: none
  /// What takes back what it does; of kRestoreLink the action that it takes back itself. It stands here because the
  /// plan that it undoes may be forgotten by the time. kNothing: inverse_of(action).
  RemedyAction inverse = RemedyAction::kNothing;
  /// The end of the link that it sets, or that was set by the plan that it takes back: chosen once, and the one that is
  /// looked at and brought back, whichever end is nearer to us by then. nullopt: none was chosen yet.
  std::optional<PortKey> end{};
  std::string reason;                 ///< one sentence: why
  std::string requested_by;           ///< who wished it; "weftd" for itself
  std::string approved_by;            ///< empty: nobody yet; "weftd" where the mode is auto
  std::vector<std::string> jobs;      ///< that use the target
  std::vector<Candidate> candidates;  ///< best first
  std::vector<GuardVerdict> guards;   ///< in order, as last checked
  std::vector<PlanStep> steps;        ///< the newest kMostPlanSteps
  TimePoint created = kNever;
  TimePoint updated = kNever;
  TimePoint expires = kNever;   ///< while proposed or approved
  TimePoint started = kNever;   ///< when the world was first asked to change
  TimePoint finished = kNever;  ///< kNever until it is over
  PlanIntent intent = PlanIntent::kNone;
  bool in_force = false;    ///< what it did is still so, as far as we know: nobody took it back
  bool unresolved = false;  ///< failed, and how the world is is not known
  /// It was undone by one order that was answered: nothing that was sent for it may still land.
  bool undone_once = false;
  /// A person rejected or aborted the return of its target: "ann rejected its return PLAN-9: the cable is out".
  /// Or a person took it out, and this is a return of it that failed. While it is in force automation does not return
  /// it by itself. Empty: nobody did.
  std::string kept_out{};
  bool aborted = false;          ///< a person aborted it, whatever becomes of it
  bool left_in_service = false;  ///< a person ended it, and left its target in service as it was
  /// What it gave back, or its undoing did, was read to be back. What is out since without an order of this plan,
  /// others took out, or an order of before that landed late.
  bool read_back = false;
  std::uint32_t windows_good = 0;  ///< sweeps of the verification that found everything well
  std::uint32_t windows_needed = 0;
  /// Of what came back and is being verified: its probation began anew because weftd was started anew, and it was up
  /// before. When it is down now, it failed again.
  bool was_up = false;
  /// Of what came back and is being verified: when its probation ends if no fault is seen. Reckoned anew with each
  /// sweep and not stored; kNever: it has not begun.
  TimePoint probation_until = kNever;
  /// Of a link that automation took out and holds isolated: not before then does it propose its return. Not stored;
  /// kNever: no time decides that.
  TimePoint return_after = kNever;
  /// While it is in force: automation does not return its target, because a person took it out or keeps it out, or
  /// returns are off. Not stored.
  bool only_by_hand = false;
  /// While it holds its target, or is taking it out: since when that has been out of service, or avoided by routes, as
  /// of what failed on its return since it went out again. Not stored; kNever: it is in service, or nobody knows.
  TimePoint held_since = kNever;
  /// While it is unresolved: until then what was sent for it may still land. It is read then. Not stored; kNever:
  /// nothing of it is on its way, or it is not over.
  TimePoint unresolved_until = kNever;
  /// While it is under way: why it does not go on, in words; of one that is verified without good sweeps why the last
  /// one did not pass. While it is approved and held by us: until when. Not stored.
  std::string waits_for{};
  /// Nodes beside the link that answered when it was about to act, ascending, and the routes then. While it is under
  /// way: who falls silent, or is no longer reached, has lost a way by it, also when weftd is started anew meanwhile.
  std::vector<NodeGuid> neighbours{};
  std::optional<RoutesBefore> routes_before{};  ///< nullopt: no tables were read
  std::string outcome;                          ///< one sentence when it is over, or why it is undone or is to be

  bool refused() const;  ///< some guard says no
};
inline constexpr std::size_t kMostPlanSteps = 64;

/// The plan that took out what `plan` holds: of a return that failed the one before it, where that is still among
/// `plans`, which ascend by id.
const Plan& first_out(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans);

/// `outcome` without the reason in it that a person gave by a step of the plan: `who` and `what` of that ("abort: it is
/// the wrong link").
std::string without_reason(std::string outcome, std::string_view who, std::string_view what);
/// The plan's outcome in Weft's own words: a person's reason may say anything.
std::string own_words(const Plan& plan);
/// Whether a plan with those own_words() left its target out of service because somebody else holds it: who disabled
/// the port or drained the host brings it back.
bool is_left_to_others(std::string_view words);
/// Whether the circuit breaker was why it ended so: what failed on its return could not be taken out again.
bool is_about_breaker(std::string_view words);

/// "PLAN-7".
std::string plan_name(std::uint64_t id);
/// "Weft acts by itself: ISOLATE_LINK, RESTORE_LINK. It proposes: DRAIN_NODE." Of the names of actions whose mode is
/// auto and propose. `is_stopped`: something stops it now.
std::string modes_text(const std::vector<std::string>& automatic, const std::vector<std::string>& proposed,
                       bool is_stopped);
/// Reads "PLAN-7", "plan-7" or "7".
std::optional<std::uint64_t> parse_plan_name(std::string_view text);

/// What the mark of a weftd on a scheduler's node, or in a file, says of who made it.
struct PlanMark {
  std::uint64_t plan = 0;
  /// The random id of the store that the plan is in; a copy of the database carries it too. Empty: a mark of the format
  /// before, without an id.
  std::string installation{};
  bool operator==(const PlanMark&) const = default;
};
/// "PLAN-7.1c9e0b7a5d3f2468": also fit for the value of a Kubernetes label; "PLAN-7" without an installation.
std::string mark_text(const PlanMark& mark);
/// The reverse of mark_text(); nullopt for any other text.
std::optional<PlanMark> parse_plan_mark(std::string_view text);
/// The mark in a reason that RemedyOrder::marked_reason() made; nullopt for what anybody else wrote.
std::optional<PlanMark> mark_in_reason(std::string_view reason);

/// Which marks are our own.
struct MarkOwner {
  std::string installation{};          ///< id of our store; empty: none is known
  std::vector<std::uint64_t> plans{};  ///< of ours that hold the target, by the journal: marks without an id are theirs
  /// The mark is one of ours.
  bool owns(const PlanMark& mark) const;
  /// The same for the mark in a reason; false where there is none.
  bool owns_reason(std::string_view reason) const;
  /// The mark of another installation in a reason; nullopt where there is none. A mark without an id is no sign of one.
  std::optional<PlanMark> others_mark(std::string_view reason) const;
  /// The epoch in a reason with a mark of our installation (RemedyOrder::marked_reason()); 0 where there is none.
  std::int64_t epoch_in_reason(std::string_view reason) const;
};

/// How the world stands towards a plan's target: what the planner wants, what an actuator reads.
enum class TargetState : std::uint8_t {
  kClear,    ///< the link is in service, the node takes jobs
  kOurs,     ///< out of service, and it was us: our mark is on it, or nobody else could have done it
  kForeign,  ///< out of service by somebody else: hands off
};
const char* to_string(TargetState state);  ///< "clear", "ours", "foreign"

/// The state of a target, as an actuator read it.
struct TargetReading {
  TargetState state = TargetState::kClear;
  std::string detail;  ///< what was read, in its own words: "DRAIN, reason 'disk' set by root"
  /// Marks of other installations that were seen on the way, on whatever target: one for each, the newest plan's.
  std::vector<PlanMark> others{};
  /// The greatest epoch (ActPermit) of our own installation that was seen on the way; 0: none.
  std::int64_t epoch = 0;

  /// Adds a mark to `others`, if it is newer than the one of its installation.
  void add_other(const PlanMark& mark);
};
/// Other installations that are remembered at most.
inline constexpr std::size_t kMostOtherMarks = 16;

/// To read a target's state, or to change it.
enum class OrderKind : std::uint8_t { kRead, kAct };

/// The right to act for a moment, where two weftd share a database. Who acts looks at it last, directly before.
struct ActPermit {
  std::int64_t epoch = 0;  ///< of the lease: a later leader has a greater one
  /// From then on another weftd may lead: time since the machine started, also while it slept (CLOCK_BOOTTIME).
  Duration until{};
  bool operator==(const ActPermit&) const = default;
};

/// One request to an actuator, with everything that it takes. Only ever given out when the plan that says so has been
/// journalled.
struct RemedyOrder {
  std::uint64_t number = 0;  ///< of this run of the daemon; given by the planner with the order
  std::uint64_t plan = 0;
  TimePoint created = kNever;  ///< Plan::created: after a backup was restored another plan may have the number
  OrderKind kind = OrderKind::kRead;
  RemedyAction action = RemedyAction::kNothing;  ///< the plan's, or its inverse while it rolls back
  Entity target;
  std::string actuator;  ///< as Plan::actuator
  std::string reason;    ///< one sentence for people, without our mark
  std::uint64_t incident = 0;
  MarkOwner owner{};  ///< by which our own marks are known
  /// Other hosts that may bear the target's short name: a scheduler's node that may be one of them is not drained.
  std::vector<std::string> namesakes{};
  /// The fabric as last swept, from which ways to ports are worked out. Null for hosts and while the planner holds the
  /// order: it is filled in when the order is sent.
  std::shared_ptr<const Sweep> sweep{};
  bool undo = false;  ///< it takes back what its own plan did
  /// It is not sent while the circuit breaker is tripped: what takes something out, and automation's own returns.
  bool breaker_stops = false;
  /// To disable a link that is down: whoever decided saw it down, so that its peer need not be asked directly before.
  bool down_as_reviewed = false;
  /// When the guards allowed it, on a clock that never steps (RemedyView::steady); nullopt: no guard was asked.
  std::optional<Duration> decided{};
  std::optional<PortKey> end{};  ///< as Plan::end
  /// Filled in when the order is carried out; nullopt: no other weftd shares our database, or the order only reads.
  std::optional<ActPermit> permit{};
  /// Filled in when the order is carried out: from then on what the guards saw is too old to act on, on the clock of
  /// ActPermit::until; nullopt: no guard was asked.
  std::optional<Duration> before{};

  /// "PLAN-7.1c9e0b7a5d3f2468": by which we know our own work again.
  std::string mark() const { return mark_text({plan, owner.installation}); }
  /// "weft PLAN-7.1c9e0b7a5d3f2468 INC-17 epoch 4: " and the reason: what a scheduler shows. Without incident or permit
  /// without those words.
  std::string marked_reason() const;
};

/// What holds automation back. It survives a restart; a fresh store has this default.
struct RemedyHolds {
  bool hands_off = false;        ///< a person stopped everything, and only a person lets it go on
  std::string hands_off_reason;  ///< who and why
  bool breaker_tripped = false;  ///< only a person resets it
  std::string breaker_reason;
  TimePoint breaker_since = kNever;
  /// The newest mark seen of each other weftd: one that is newer trips the breaker.
  std::vector<PlanMark> others{};
  bool operator==(const RemedyHolds&) const = default;
};

/// A change that an actuator has begun to carry out and has not answered.
struct OrderUnderWay {
  std::uint64_t plan = 0;
  RemedyAction action = RemedyAction::kNothing;  ///< as RemedyOrder::action
  std::string target;                            ///< its label
  TimePoint since = kNever;
  bool operator==(const OrderUnderWay&) const = default;
};

/// A fabric whose subnet manager does not answer.
struct SilentManager {
  std::string fabric;
  TimePoint since = kNever;  ///< when weftd found it silent
  bool operator==(const SilentManager&) const = default;
};

/// How automation as a whole stands.
struct RemedyStatus : RemedyHolds {
  static constexpr std::size_t kMostNamedLinks = 100;
  /// The second brake: why the hands-off file stops everything, "PATH exists" or why it cannot be looked at. Empty: it
  /// does not. Each process looks for itself; neither brake releases the other.
  std::string file_brake{};
  std::vector<OrderUnderWay> under_way{};  ///< what a brake set now comes too late for
  /// After a takeover from a weftd that did not end in order: before this time nothing is asked of actuators, for what
  /// that one asked last may still come. kNever: nothing waits.
  TimePoint orders_from = kNever;
  std::uint32_t actions_last_hour = 0;
  std::uint32_t actions_per_hour = 0;  ///< the limit
  std::uint32_t out_of_service = 0;    ///< links and hosts that our plans hold out of service
  std::uint32_t out_by_others = 0;     ///< links between switches that others disabled, or have avoided
  /// Labels of those, ascending; of more than kMostNamedLinks the first.
  std::vector<std::string> links_out_by_others{};
  std::vector<SilentManager> silent_managers{};  ///< ascending by fabric
  std::uint32_t on_probation = 0;                ///< links and hosts that plans brought back and watch now
  std::uint32_t unresolved = 0;                  ///< plans of which nobody knows whether they are in force
  std::uint32_t undone_by_others = 0;            ///< plans of which analyzer::is_undone_by_others() is true
  std::uint32_t without_plan = 0;                ///< incidents without a plan because too many plans are open
  std::vector<RemedyAction> automatic{};         ///< actions that need no approval: their mode is auto
  std::vector<RemedyAction> proposed{};          ///< those that wait for one: their mode is propose

  /// Some brake stops everything.
  bool is_stopped() const { return hands_off || !file_brake.empty(); }
  /// Who and why, of each brake that holds; empty: none does.
  std::string stop_reason() const;
  bool operator==(const RemedyStatus&) const = default;
};

/// How many plans ended, by action and final state.
using PlansEnded = std::array<std::array<std::uint64_t, static_cast<std::size_t>(PlanState::kCount)>,
                              static_cast<std::size_t>(RemedyAction::kCount)>;

/// What a new weftd needs to go on with the plans of the process before.
struct RemedyMemory {
  /// Those not over, those lately over and all that are in force or unresolved.
  std::vector<Plan> plans;
  IdSeries ids{};      ///< of those to come
  PlansEnded ended{};  ///< ever; those that were deleted since too
  RemedyHolds holds;
  std::string installation{};  ///< the store's random id, 16 hexadecimal digits
};

/// One line of the audit trail. `hash` covers everything before it: a line that is changed or taken out shows.
struct AuditRecord {
  std::uint64_t sequence = 0;  ///< from 1, without gaps
  TimePoint at = kNever;
  std::string who;
  std::string what;            ///< "proposed", "approved", "executing", "automation stopped", …
  std::uint64_t plan = 0;      ///< 0: none
  std::uint64_t incident = 0;  ///< 0: none
  std::string detail;          ///< before, after, why
  std::string hash;            ///< SHA-256 of the previous hash and this record, 64 hexadecimal digits
};

}  // namespace weft
