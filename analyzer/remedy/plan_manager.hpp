// SPDX-License-Identifier: Apache-2.0
#pragma once
// All plans, from proposal to outcome: what is to be done, whether it may be, and what to ask of the world next.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/clock_steps.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/plan_runner.hpp"
#include "analyzer/remedy/settings.hpp"
#include "analyzer/remedy/tree_cache.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

/// What must be on disk before anything follows from it, and what follows.
struct RemedyBatch {
  std::vector<Plan> plans;          ///< as they are now
  std::vector<AuditRecord> audit;   ///< without sequence and hash, which the store gives
  bool status_changed = false;      ///< hands off, breaker
  std::vector<RemedyOrder> orders;  ///< to be given to actuators when the rest is on disk, and not before
  /// Nothing to save and nothing to order.
  bool empty() const { return plans.empty() && audit.empty() && !status_changed && orders.empty(); }
};

/// Plans of all fabrics. What it decides it says in drain_changes(): the caller writes that down, then carries the
/// orders out, and answers each. Nothing here acts by itself, so that a process killed at any point leaves a journal
/// from which the next one knows what to read.
class PlanManager {
 public:
  /// Continues with the plans of the process before. `steady`: as RemedyView::steady, of `now`.
  PlanManager(RemedySettings settings, RemedyMemory memory, TimePoint now, std::optional<Duration> steady = {});

  /// Goes on with the clock of the process before, once and first of all. How much time until `now` counts as none;
  /// negative when the clock was set back. `boot`: as of ClockSteps::resume().
  Duration resume_clock(const ClockMemory& memory, TimePoint now, std::string boot = {});
  /// What the next process needs for resume_clock().
  ClockMemory clock_memory() const { return clock_.memory(); }
  /// Looks at everything anew: after each sweep, after answers of actuators, and about once a second otherwise.
  void review(const RemedyView& view);

  /// kNotFound; kFailedPrecondition: not proposed (any more), of another revision, too late, or refused by a guard.
  Result<Plan> approve(std::uint64_t id, std::uint64_t revision, const std::string& who, const RemedyView& view);
  /// kNotFound; kFailedPrecondition when the plan is neither proposed nor approved. A return that a person rejects or
  /// aborts is not proposed again: Plan::kept_out.
  Result<Plan> reject(std::uint64_t id, const std::string& why, const std::string& who, TimePoint now);
  /// Ends a plan that is not over: what was not begun is rejected, what is under way is undone. Nothing is sent while
  /// all automation is stopped. kNotFound; kFailedPrecondition when it is over: what it took out is returned by
  /// request().
  Result<Plan> abort(std::uint64_t id, const std::string& why, const std::string& who, TimePoint now);
  /// The same; kFailedPrecondition also when a guard forbids to take out again what a plan on probation brought back:
  /// then the plan goes on.
  Result<Plan> abort(std::uint64_t id, const std::string& why, const std::string& who, const RemedyView& view);
  /// Ends a plan whose target is back in service, or has been read to be, and leaves it so: nothing more is sent. Of
  /// one that waits for what may never come: a probation, what failed on its return, or what was undone and nobody can
  /// look at. kNotFound; kFailedPrecondition, with the next step, of any other plan, and where a sweep has seen since
  /// that the link is down or disabled.
  Result<Plan> leave(std::uint64_t id, const std::string& why, const std::string& who, const RemedyView& view);
  /// A person's own plan, approved at once. kFailedPrecondition: refused by a guard, or there is nothing of ours to be
  /// taken back; kAlreadyExists: a plan for the same is under way. `only_cost`: of kRestoreLink, when only the link's
  /// cost may be taken back.
  Result<Plan> request(RemedyAction action, const Entity& target, const std::string& why, const std::string& who,
                       const RemedyView& view, bool only_cost = false);
  /// What request() would begin: with every guard, also those that refuse, and what else could be done. It has no id,
  /// and nothing is kept. Fails as request() where the refusal is no guard's.
  Result<Plan> preview(RemedyAction action, const Entity& target, const std::string& why, const std::string& who,
                       const RemedyView& view, bool only_cost = false);
  /// The host that a person means: as the free function of that name.
  Result<Entity> find_host(std::string_view text, const RemedyView& view);
  /// A person's brake: stops all automation, or lets it go on as far as that brake goes. Nothing when it is so already.
  void set_hands_off(bool hands_off, const std::string& why, const std::string& who, TimePoint now);
  /// The file's brake, as RemedyStatus::file_brake.
  void set_file_brake(const std::string& why, TimePoint now);
  /// `who` else may act on `fabric`, in words; empty: nobody else does, or the fabric is watched no more. While
  /// somebody does, the breaker is tripped. Say it again while it holds: after ActingWeftds::kLease it is out of date.
  void set_other_actors(const std::string& fabric, const std::string& who, TimePoint now);
  /// The hosts that are drained, as the actuator of that name tells. Say first of one that can that it has not told
  /// yet: until then it is not asked for a drain.
  void set_drained_hosts(const std::string& actuator, DrainedHosts hosts) { drained_[actuator] = std::move(hosts); }
  /// The ports of links that are avoided, by whomever, as the actuator of that name tells. Say first of one that can
  /// that it has not told yet: until then no link is taken out.
  void set_avoided_ports(const std::string& actuator, AvoidedPorts ports);
  /// Why the actuator of that name did not tell when it was asked last; empty: it did.
  void set_list_trouble(const std::string& actuator, const std::string& why) { list_troubles_[actuator] = why; }
  /// kFailedPrecondition while it is not tripped, and while another weftd may act on a fabric and
  /// RemedySettings::stop_for_other_weftd.
  Result<void> reset_breaker(const std::string& why, const std::string& who, TimePoint now);

  /// What changed since the last call, and what is to be asked now.
  RemedyBatch drain_changes(TimePoint now);
  /// The batch did not reach the disk: its orders were not carried out, and its changes are told again. What was to be
  /// done is judged anew before it is ordered again.
  void take_back(RemedyBatch batch, TimePoint now);
  /// Whoever approved or asked for the plan was told that it could not be written down, and must not be surprised by it
  /// later: while nothing was sent it is a proposal again, or over when it was a person's own wish.
  void withdraw(std::uint64_t id, TimePoint now);
  /// The plan still waits for the answer to that order, and nobody aborted it.
  bool awaits(std::uint64_t order) const;
  /// The kAct order was not sent, and `why`: its plan is judged anew. `is_late`: the actuator had it, and was too slow
  /// for what the guards had seen. An order that is unknown or out of date is ignored.
  void answer_held(std::uint64_t order, const std::string& why, TimePoint now, bool is_late = false);
  /// The result of a kRead order. An order that is unknown or out of date is ignored.
  void answer_reading(std::uint64_t order, const Result<TargetReading>& reading, TimePoint now);
  /// The result of a kAct order. An order that is unknown or out of date is ignored.
  void answer_action(std::uint64_t order, const Result<void>& result, TimePoint now);

  /// Ascending by id, as Snapshot::plans wants them. The same pointer as before when nothing changed.
  std::shared_ptr<const std::vector<PlanPtr>> all() const;
  /// The plan, or null.
  PlanPtr find(std::uint64_t id) const;
  /// The state of automation as a whole, with the actions of the last hour counted at `now`.
  RemedyStatus status(TimePoint now) const;
  /// Sets what others took out, as of the last review.
  void add_out_by_others(RemedyStatus& status) const;
  /// What holds automation back now, and `without_plan`; its other figures are not filled in.
  const RemedyStatus& brakes() const { return status_; }
  const RemedySettings& settings() const { return settings_; }
  /// The random id of our store, as RemedyMemory::installation.
  const std::string& installation() const { return installation_; }

 private:
  struct Entry {
    Plan plan;
    PlanWork work;
    TimePoint checked = kNever;      ///< when what is in force was last read
    TimePoint doubted = kNever;      ///< when it was first seen not to be held any more; a second sight decides
    TimePoint asked = kNever;        ///< when its last order was given out
    TimePoint last_window = kNever;  ///< the sweep of the last window
    double weight = 0;               ///< of a link that automation may isolate: what it loses now
    unsigned held = 0;               ///< times that a guard came to refuse what was about to be sent
    TimePoint held_until = kNever;   ///< it does not begin again before
    unsigned found_down = 0;         ///< how often on end its link was down when it was to be sent
    bool asked_while_down = false;   ///< a person wanted the link isolated, and saw it down; not known after a restart
    bool down_as_reviewed = false;   ///< RemedyOrder::down_as_reviewed of its next change
    /// Since when the incident of what is in force is over: when it was resolved, or when it was first found forgotten,
    /// which says nothing of when it ended; kNever: it is open, or nobody looked since a restart.
    TimePoint over_since = kNever;
    TimePoint hurt_at = kNever;        ///< when an open incident last hurt its target, whichever it was
    TimePoint watched_since = kNever;  ///< since when we look whether one does; before, nobody knows
    std::uint64_t weighed = 0;         ///< revision of the incident that its candidates are reckoned from, with
    std::uint64_t weighed_in = 0;      ///< TreeCache::version() of then
    /// When its link was about to go out, with Plan::routes_before; null after a restart.
    std::shared_ptr<const Topology> topology_before{};
    std::shared_ptr<const Routes> tables_before{};
    std::shared_ptr<const Routes> tables_seen{};  ///< those of the last window, and since when they were the same
    TimePoint tables_since = kNever;
    bool failed_too_often = false;  ///< of what is held: guard REINSTATEMENT leaves its return to a person
    /// What is added to Plan::waits_for where it is shown: see fabric/plan_prospects.hpp.
    std::string prospects{};
    bool changed = false;
  };

  /// Whether automation may bring back what a plan took out.
  struct ReturnDue {
    enum class Is : std::uint8_t { kDue, kNotYet, kUnknown };
    Is is = Is::kNotYet;
    std::string why;  ///< one sentence; of kUnknown what is not known yet
  };

  /// The last sweep of a fabric, and when it was first seen, by RemedyView::steady.
  struct SeenSweep {
    TimePoint started = kNever;
    Duration since{};
  };

  /// Who else may act on a fabric, and when that was last told.
  struct OtherActor {
    std::string who;
    TimePoint told = kNever;
  };

  Entry* entry(std::uint64_t id);
  void show(Entry& entry);
  /// `recorded`: ACTION of its record in the audit trail; null: the plan's state.
  void note(Entry& entry, const std::string& who, std::string what, TimePoint now, bool grows = true,
            const char* recorded = nullptr);
  void audit(const Plan* plan, const std::string& who, std::string what, std::string detail, TimePoint now);
  PlanRunner runner(Entry& entry, TimePoint now);
  void end(Entry& entry, PlanState state, const std::string& who, std::string outcome, TimePoint now,
           const char* recorded = nullptr);
  std::string taken_out_by_person(const Plan& plan) const;
  void keep_out_of_person(Entry& held);
  void keep_out(Entry& back, const char* ended, const std::string& why, const std::string& who, TimePoint now);

  std::optional<PortKey> end_of(const Plan& plan, const RemedyView& view) const;
  Result<std::uint64_t> plan_undone_by(RemedyAction action, const Entity& target, const RemedyView& view,
                                       bool only_cost) const;
  bool is_told_before(const Entity& target, TimePoint now) const;
  std::string drained_by_others(const Entity& target, const RemedyView& view) const;
  std::string raised_by_others(const Entity& target, const RemedyView& view) const;
  std::uint64_t let_go(const Entity& target) const;
  const Incident* incident_of(const Entity& target, const RemedyView& view) const;  ///< that is open; null: none
  enum class Before { kNothing, kHeld, kLetGo };
  Before what_held(const Plan& back) const;
  Entry& add(RemedyAction action, Entity target, const std::string& who, const RemedyView& view);
  /// Why it is not known what others took out, of what the plan would take out; nullopt: it is known.
  std::optional<std::string> untold_list(const Plan& plan, const RemedyView& view) const;
  /// A plan that gave back through that actuator what was out, within `span`; null: none.
  const Plan* given_back_within(const std::string& actuator, Duration span, TimePoint now) const;
  std::vector<GuardVerdict> guards_of(const Plan& plan, const RemedyView& view);
  std::size_t count_links(const RemedyView& view);  ///< of all fabrics, those of two names once
  bool may_approve(const Plan& plan) const;         ///< we ourselves, while no guard refuses it
  /// Reckons the candidates of a proposal anew when its incident or what it would cost has changed. True: it did,
  /// and is to be shown.
  bool weigh(Entry& entry, const RemedyView& view);
  /// What the guards say of the plan, and of what else could be done.
  void take_verdicts(Plan& plan, std::vector<GuardVerdict> guards, const RemedyView& view);
  /// Jobs that use the target now; nullopt where that is not known.
  std::optional<std::vector<std::string>> jobs_on(const Entity& target, const RemedyView& view);
  /// The jobs of a plan that is not over, or that holds its target, as they are now.
  void renew_jobs(Entry& entry, const RemedyView& view);
  bool is_given_up(const Plan& plan) const;  ///< for its incident, while that is open
  bool is_tried(const Incident& incident, const Remedy& remedy, const RemedyView& view) const;
  bool is_wished_still(const Plan& plan, const RemedyView& view) const;  ///< that its target stays in service
  bool is_taken(const Entity& target) const;                             ///< by a plan that is not over
  bool is_changed(const Entity& target) const;              ///< by a plan under way, or it may be at any moment
  static std::array<TimePoint*, 10> moments(Entry& entry);  ///< those that move with the clock
  void set_back(Duration by, TimePoint now);
  TimePoint ended(const Plan& plan, TimePoint now) const;
  bool ended_since_it_began(const Plan& plan, const Incident& incident, TimePoint now) const;
  static void note_beginning(Plan& plan, const RemedyView& view);
  bool may_forget(const Plan& plan, const RemedyView& view) const;
  void set_forward(Duration by, TimePoint now);
  void note_sweeps(const RemedyView& view);
  void note_out_by_others(const RemedyView& view);
  std::vector<LinkKey> just_enabled(const RemedyView& view) const;
  std::vector<LinkKey> just_given_back(const RemedyView& view) const;
  /// As TreeCache::counts(). Time between two sweeps that are far apart makes nobody missing for longer.
  const SweepCounts& counts(const std::string& name, const RemedyView& view);
  Duration known_for(const std::string& fabric, const RemedyView& view) const;  ///< as GuardInput::known_for
  void propose(const RemedyView& view);
  static std::uint64_t hurt_by(const Entity& target, const RemedyView& view);  ///< an open incident; 0: none
  static void note_over(Entry& out, const RemedyView& view);
  ReturnDue is_over_for_long(const Entry& held, const RemedyView& view) const;
  ReturnDue return_due(const Entry& held, const RemedyView& view) const;
  void reckon(Entry& entry) const;                                      ///< what of its plan is not stored
  bool is_only_by_hand(const Entry& out) const;                         ///< Plan::only_by_hand of it
  TimePoint return_after(const Entry& out) const;                       ///< Plan::return_after of it
  TimePoint held_since(const Plan& plan) const;                         ///< Plan::held_since of it
  ReturnDue still_due(const Plan& plan, const RemedyView& view) const;  ///< kDue of any plan that is no such return
  bool is_failed_lately(const Plan& back, TimePoint now) const;         ///< a return that did not bring its target back
  void propose_returns(const RemedyView& view);
  void choose(const RemedyView& view);
  static bool was_often_down(const Entry& entry, TimePoint now);  ///< when it was to be sent, and lately
  std::vector<Entry*> in_turn();
  bool renew(Entry& entry, const RemedyView& view);
  void wait_for_person(Entry& entry, const GuardVerdict& why, TimePoint now);
  void refresh(Entry& entry, const RemedyView& view);
  void act(Entry& entry, const RemedyView& view);
  bool lacks_sweep(const Plan& plan, TimePoint now) const;  ///< its link cannot be read yet: nobody knows the way to it
  void wait_for_reading(Entry& entry, TimePoint now);
  void wait_for_next_try(Entry& entry, const Result<TargetReading>& reading);
  void read_at_once(const std::string& fabric, TimePoint now);  ///< what could not be read before its first sweep
  bool is_unswept(const Plan& plan, TimePoint now) const;  ///< its link's fabric, since this book began a while ago
  void wait_again(Entry& entry, const GuardVerdict& why, TimePoint now);
  std::string breaker_text() const;
  std::string brake_text() const;  ///< why nothing is sent, as Plan::waits_for says it
  void wait_for(Entry& entry, std::string why);
  std::optional<std::string> obstacle_to_undo(const Plan& plan, const RemedyView& view);
  std::uint64_t newly_lost(const Entry& entry, const Sweep& sweep, const RouteReview& now,
                           std::vector<NodeIndex>& towards) const;
  LinkSight sight_for(const Entry& entry, const RemedyView& view) const;
  std::string how_to_leave(const Entry& entry, const RemedyView& view) const;
  bool is_well_again(const Entry& entry, const RemedyView& view) const;
  void look_ahead(Entry& entry, const RemedyView& view);
  void look_meanwhile(Entry& entry, const RemedyView& view);
  void check_routes(Entry& entry, const RemedyView& view, Window& window);
  void check_neighbours(const Entry& entry, const RemedyView& view, Window& window) const;
  void watch(Entry& entry, const RemedyView& view);
  void excuse(Entry& entry, TimePoint now, Duration interval, Window& window) const;
  void watch_undoing(Entry& entry, const RemedyView& view);
  void watch_held(Entry& entry, const RemedyView& view);
  void trip(const RemedyView& view);
  void trip_breaker(const std::string& why, TimePoint now);
  std::string other_actors_reason(TimePoint now) const;  ///< why the breaker is not to be reset; empty: it may be
  void notice_others(const TargetReading& reading, TimePoint now);
  MarkOwner owner_of(const RemedyOrder& order) const;
  bool is_due(const Entry& entry, TimePoint now) const;  ///< a reading of what is over
  TimePoint unresolved_until(const Plan& plan) const;    ///< Plan::unresolved_until of it
  bool is_watched_late(const Entry& entry) const;        ///< what was sent for it might have landed after it was read
  std::string let_go(Entry& entry) const;                ///< of what a return failed to bring back; what to say of it
  bool is_first_sight(Entry& of, TargetState state, TimePoint now);  ///< of what we hold not being held
  std::string may_land_by_others(const Plan& plan, TimePoint now) const;
  void settle(const Entry& back, TargetState state, TimePoint now);
  void note_before(const Plan& back, const std::string& what, TimePoint now);
  void prune(const RemedyView& view);

  RemedySettings settings_;
  RemedyStatus status_;
  HostIdentities hosts_;  ///< of the last view
  TimePoint reviewed_ = kNever;
  TimePoint began_at_ = kNever;     ///< when this book did, by the clock of now
  TimePoint set_back_at_ = kNever;  ///< when the clock was last set back, or we began: what lies ahead was before
  ClockSteps clock_;
  std::string installation_;  ///< our store's id
  IdSeries ids_;
  std::uint64_t next_order_ = 1;
  std::map<std::uint64_t, Entry> entries_;
  std::vector<PlanPtr> shown_;                     ///< one for each entry, in order
  std::map<std::uint64_t, std::uint64_t> orders_;  ///< that are out: number → plan
  std::map<std::uint64_t, Outdone> outdone_;       ///< plans for which others were preferred
  std::size_t wanted_ = 0;                         ///< incidents with a remedy that began lately
  std::vector<AuditRecord> unsaved_audit_;
  bool status_changed_ = false;
  std::map<std::string, OtherActor> other_actors_;    ///< by fabric
  std::map<std::string, SeenSweep> seen_sweeps_;      ///< by fabric
  std::set<std::string> swept_;                       ///< fabrics whose last sweep is known, as of the last review
  std::map<std::string, DrainedHosts> drained_;       ///< by actuator, of those that can tell
  std::map<std::string, AvoidedPorts> avoided_;       ///< by actuator, of those that can tell
  std::map<std::string, std::string> list_troubles_;  ///< by actuator: why its list was not read last
  TreeCache trees_;
  struct {
    std::vector<std::pair<std::shared_ptr<const Topology>, bool>>
        of;  ///< by fabric: as swept, and whether it is watched
    std::size_t links = 0;
  } counted_links_;                               ///< count_links() of that
  std::uint32_t out_by_others_ = 0;               ///< as of the last review, with
  std::vector<std::string> links_out_by_others_;  ///< the first of them; see RemedyStatus
  mutable std::shared_ptr<const std::vector<PlanPtr>> all_;
};

/// `plans`, as they were stored, with what is not stored each time that it moves: the sweeps that their verification
/// passed by now, what they wait for, and of plans that wait the words of the guards and the costs of the candidates.
/// The same pointer when they say the same.
std::shared_ptr<const std::vector<PlanPtr>> with_progress(std::shared_ptr<const std::vector<PlanPtr>> plans,
                                                          const PlanManager& book);

}  // namespace weft::analyzer
