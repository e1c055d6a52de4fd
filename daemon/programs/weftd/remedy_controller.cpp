// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/remedy_controller.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "analyzer/incidents/health.hpp"
#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/target_lists.hpp"
#include "analyzer/remedy/windows.hpp"
#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/programs/weftd/log_texts.hpp"
#include "fabric/host_names.hpp"

namespace weft::daemon {
namespace {

using analyzer::PlanPtr;

/// After the first sweep of each fabric: collectors come one after the other.
constexpr Duration kListsPatience = std::chrono::minutes(1);
constexpr std::size_t kMostLooks = 16;

runtime::LaneOptions lane_options(std::string name, std::size_t capacity) {
  return {.name = std::move(name),
          .capacity = capacity,
          .when_full = runtime::WhenFull::kRefuse,
          .on_failure = [](const std::string& what) { logger("remedies")->error("{}", what); }};
}

/// What a person or the breaker stopped before weftd was started, or took over.
void log_stored_brakes(const RemedyStatus& status) {
  if (status.hands_off) logger("remedies")->info("automation is still stopped by {}", status.hands_off_reason);
  if (status.breaker_tripped)
    logger("remedies")->info("the circuit breaker is still tripped: {}", status.breaker_reason);
}

std::vector<std::string> names_of(const std::vector<RemedyAction>& actions) {
  std::vector<std::string> names;
  for (const RemedyAction action : actions) names.emplace_back(to_string(action));
  return names;
}

void add_brakes(const RemedyStatus& now, RemedyStatus& status) {
  if (now.is_stopped()) {
    status.hands_off = now.hands_off;
    status.hands_off_reason = now.hands_off_reason;
    status.file_brake = now.file_brake;
  }
  if (now.breaker_tripped) {
    status.breaker_tripped = true;
    status.breaker_reason = now.breaker_reason;
  }
}

}  // namespace

RemedyController::RemedyController(RemedyControllerOptions options, const RemedyMemory& restored, store::Store& store,
                                   runtime::Lane& store_lane, const Clock& clock, Post post)
    : plans_(std::move(options.settings), restored, clock.now(), clock.steady()),
      own_host_(std::move(options.own_host)),
      asks_managers_(plans_.settings().may_act()),
      hands_off_file_(std::move(options.hands_off_file), options.hands_off_patience,
                      std::move(options.hands_off_probe)),
      permit_(options.permit),
      confirm_(options.confirm ? std::move(options.confirm) : std::move(options.permit)),
      saw_epoch_(std::move(options.saw_epoch)),
      store_(store),
      store_lane_(store_lane),
      clock_(clock),
      boot_(std::move(options.boot)),
      post_(std::move(post)),
      writes_(
          store_lane, post_, [this](const Batch& batch) { return write(batch); },
          [this](Batch batch, const runtime::WriteOutcome& outcome) { saved(std::move(batch), outcome); }),
      audit_reads_(store, store_lane, post_),
      ended_(restored.ended),
      shown_(plans_.all()),
      status_(plans_.status(clock.now())),
      file_lane_(lane_options("hands-off", kMostLooks)) {
  take(hands_off_file_.look());  // before anything is judged
  resume_clock(options.clock);
  status_ = plans_.status(clock.now());
  logger("remedies")
      ->info("{}", modes_text(names_of(status_.automatic), names_of(status_.proposed),
                              status_.is_stopped() || status_.breaker_tripped));
  log_stored_brakes(status_);
  wait_for_late_orders(options.patience);
  for (auto& actuator : options.actuators) {
    const std::string name = actuator->name();
    auto lane = std::make_unique<runtime::Lane>(lane_options("act-" + name, options.lane_capacity));
    actors_.emplace(name, Actor{std::move(actuator), std::move(lane)});
  }
  expect_to_be_told();
}

void RemedyController::stand_by() {
  leads_ = false;
  tell_gate();
}

void RemedyController::follow(const RemedyMemory& ledger) {
  plans_ = analyzer::PlanManager(plans_.settings(), ledger, clock_.now(), clock_.steady());
  waiting_.clear();
  expect_to_be_told();
  ended_ = ledger.ended;
  shown_ = plans_.all();
  status_ = plans_.status(clock_.now());
}

void RemedyController::lead(const RemedyMemory& ledger, const ClockMemory& clock, Duration patience) {
  follow(ledger);
  wait_for_late_orders(patience);
  take(hands_off_file_.look());  // before anything is judged
  resume_clock(clock);
  status_ = plans_.status(clock_.now());
  log_stored_brakes(status_);
  leads_ = true;
  tell_gate();
}

analyzer::RemedyView RemedyController::view() const {
  analyzer::RemedyView view;
  view.now = clock_.now();
  view.steady = clock_.steady();
  view.fabrics = seen_.fabrics;
  if (seen_.incidents) view.incidents = *seen_.incidents;
  if (seen_.hosts) view.hosts = *seen_.hosts;
  if (seen_.health) view.health = *seen_.health;
  view.last_evidence = last_evidence_;
  if (seen_.maintenance) view.maintenance = *seen_.maintenance;
  view.managers = &managers_;
  view.switches = seen_.switch_targets.get();
  view.own_host = own_host_;
  return view;
}

void RemedyController::complete(Snapshot& snapshot, std::vector<std::pair<std::uint64_t, TimePoint>> last_evidence) {
  seen_ = snapshot;
  last_evidence_ = std::move(last_evidence);
  has_seen_ = true;
  if (leads_) check_lists();
  work();
  snapshot.plans = analyzer::with_progress(shown_, plans_);
  // What plans are judged by is the host itself, without this.
  snapshot.health = analyzer::with_drains(snapshot.health, *snapshot.plans);
  snapshot.remedy = status_now();
  snapshot.figures.plans_ended = ended_;
}

// Once: a name in remedy.deny that is misspelt protects nobody.
void RemedyController::check_lists() {
  const bool is_known =
      std::ranges::all_of(seen_.fabrics, [](const FabricView& fabric) { return fabric.sweep != nullptr; });
  if (are_lists_checked_ || !is_known) return;
  const TimePoint now = clock_.now();
  known_since_ = known_since_ == kNever ? now : std::min(known_since_, now);
  if (now - known_since_ < kListsPatience) return;
  are_lists_checked_ = true;
  for (const std::string& entry : analyzer::entries_without_target(plans_.settings(), view()))
    logger("remedies")
        ->warn(
            "the entry '{}' of remedy.deny or remedy.allow has no effect: no host, switch, port or GUID is known by it",
            entry);
}

void RemedyController::tick() {
  answer_the_impatient();
  carry_out_waiting();
  read_what_is_out();
  if (!looking_ && hands_off_file_.is_configured()) {
    looking_ = true;
    look_at_file([this] {
      looking_ = false;
      work();
    });
  }
  work();
  keep_clock();  // after what plans have to write: the lane of the store may have room for one more only
}

// A file system that hangs holds up the lane of the file and nobody else.
void RemedyController::look_at_file(std::function<void()> then) {
  const bool posted = file_lane_.post([this, then] {
    post_([this, then, look = hands_off_file_.look()] {
      take(look);
      then();
    });
  });
  if (!posted) then();
}

void RemedyController::take(const HandsOffFile::Look& look) {
  if (look.number < looks_taken_) return;
  looks_taken_ = look.number;
  plans_.set_file_brake(look.why, clock_.now());
  tell_gate();
}

// A brake holds from when it is set, stored or not, until its release is stored.
RemedyStatus RemedyController::status_now() const {
  RemedyStatus status = status_;
  add_brakes(plans_.brakes(), status);
  status.without_plan = plans_.brakes().without_plan;
  plans_.add_out_by_others(status);
  for (const auto& [fabric, sign] : managers_)
    if (sign == ManagerSign::kSilent) status.silent_managers.push_back({fabric, silent_since_.at(fabric)});
  status.under_way = gate_.under_way();
  if (const Duration left = orders_from_ - clock_.steady(); leads_ && left > Duration{})
    status.orders_from = clock_.now() + left;
  return status;
}

void RemedyController::tell_gate() {
  add_brakes(plans_.brakes(), status_);
  const RemedyStatus stopped = status_now();
  ActGate::Stops stops;
  if (lanes_stop_)
    stops.everything = "weftd is stopping";
  else if (!leads_)
    stops.everything = "another weftd leads";
  else if (stopped.is_stopped())
    stops.everything = "all automation is stopped: " + stopped.stop_reason();
  if (stopped.breaker_tripped) stops.breaker = "the circuit breaker is tripped";
  gate_.stop(std::move(stops));
  gate_.keep([this](std::uint64_t order) { return plans_.awaits(order); });
}

bool RemedyController::changes_links_of(const std::string& fabric) const {
  return std::ranges::any_of(*plans_.all(), [&fabric](const PlanPtr& plan) {
    return plan->target.fabric == fabric &&
           (plan->in_force || plan->unresolved || is_under_way(plan->state) || plan->state == PlanState::kApproved);
  });
}

bool RemedyController::is_changing() const {
  return std::ranges::any_of(*plans_.all(), [](const PlanPtr& plan) {
    return plan->state == PlanState::kExecuting || plan->state == PlanState::kRollingBack;
  });
}

MaintenanceList RemedyController::windows() const {
  MaintenanceList windows;
  for (const PlanPtr& plan : *shown_) {
    // A link that is only costly stays up: that it goes down is trouble.
    if (outward_action(*plan) == RemedyAction::kRaiseLinkCost) continue;
    if (auto window = window_of(*plan)) windows.push_back(std::move(*window));
  }
  return windows;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> RemedyController::looked_after() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  const analyzer::RemedyView now = view();
  for (const PlanPtr& plan : *shown_)
    if (analyzer::is_looked_after(*plan, now))
      for (const std::uint64_t incident : analyzer::incidents_of(*plan, now.incidents))
        all.emplace_back(incident, plan->id);
  return all;
}

std::string RemedyController::plan_of_host(const std::string& host) const {
  for (const PlanPtr& plan : *shown_)
    if (plan->target.kind == EntityKind::kHost && (plan->in_force || plan->unresolved || is_under_way(plan->state)) &&
        same_host(plan->target.host, host))
      return plan_name(plan->id);
  return {};
}

std::string RemedyController::let_go(const Incident& incident) const {
  return analyzer::let_go_text(incident, *shown_);
}

void RemedyController::work() {
  if (stopped_ || !leads_ || !has_seen_) return;
  // Without the lease each order would come back from the gate: judged again with the next tick.
  if (!permit_ || permit_()) {
    plans_.review(view());
    save();
  }
  tell_gate();
}

void RemedyController::save() {
  if (writes_.is_writing() || stopped_ || !leads_) return;
  Batch batch;
  batch.changes = plans_.drain_changes(clock_.now());
  if (batch.changes.empty() && !writes_.is_awaited()) return;
  batch.shown = plans_.all();
  batch.status = plans_.status(clock_.now());
  batch.clock = plans_.clock_memory();
  if (auto back = writes_.write(std::move(batch)))
    plans_.take_back(std::move(back->changes), clock_.now());  // the lane has no room: with the next call
}

// Steps of the clock go first: without them a process that follows would take a plan for older than it is.
Result<void> RemedyController::write(const Batch& batch) {
  if (steps_on_disk_ != batch.clock.steps) {
    if (auto kept = write_clock(batch.clock); !kept) return kept;
  }
  return store_.save_plans(batch.changes.plans, batch.changes.status_changed ? &batch.status : nullptr,
                           batch.changes.audit);
}

void RemedyController::count(const analyzer::RemedyBatch& batch) {
  for (const Plan& plan : batch.plans) {
    if (!is_over(plan.state)) {
      states_[plan.id] = plan.state;
      continue;
    }
    // Counted when it ends, not each time that it is written afterwards.
    if (plan.finished != kNever && (states_.erase(plan.id) > 0 || plan.steps.size() == 1))
      ++ended_[static_cast<std::size_t>(plan.action)][static_cast<std::size_t>(plan.state)];
  }
}

void RemedyController::saved(Batch batch, const runtime::WriteOutcome& outcome) {
  if (!outcome) {
    // Tried several times in a second: it is said when it begins, and each minute.
    if (const Duration now = clock_.steady(); !unsaved_told_ || now - *unsaved_told_ >= std::chrono::minutes(1)) {
      unsaved_told_ = now;
      logger("store")->error("plans could not be stored, so no action is taken: {}", outcome.error.message);
    }
    plans_.take_back(std::move(batch.changes), clock_.now());  // tried again with the next tick
    return;
  }
  unsaved_told_.reset();
  count(batch.changes);
  for (const AuditRecord& record : batch.changes.audit)
    logger("remedies")
        ->info("{}{} by {}: {}", record.plan == 0 ? "" : plan_name(record.plan) + ' ', record.what, record.who,
               record.detail);
  shown_ = std::move(batch.shown);
  status_ = std::move(batch.status);
  tell_gate();
  for (const RemedyOrder& order : batch.changes.orders) carry_out(order);
  if (on_news_ && !(batch.changes.plans.empty() && !batch.changes.status_changed)) on_news_();
  writes_.answer(outcome);
  work();
}

void RemedyController::wait_for_late_orders(Duration patience) {
  if (patience <= Duration{}) return;
  orders_from_ = clock_.steady() + patience;
  logger("remedies")
      ->info(
          "the weftd that led before did not end in order: no action for {} s, because its last one may be on its way",
          patience / std::chrono::seconds(1));
}

void RemedyController::carry_out_waiting() {
  if (clock_.steady() < orders_from_) return;
  for (const RemedyOrder& order : std::exchange(waiting_, {})) carry_out(order);
}

void RemedyController::carry_out(const RemedyOrder& order) {
  if (clock_.steady() < orders_from_) return waiting_.push_back(order);
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    post_([this, number = order.number, kind = order.kind, code, why] {
      if (kind == OrderKind::kRead)
        plans_.answer_reading(number, fail(code, why), clock_.now());
      else
        plans_.answer_action(number, fail(code, why), clock_.now());
      work();
    });
  };
  const auto found = actors_.find(order.actuator);
  if (found == actors_.end())
    return refuse(ErrorCode::kFailedPrecondition, "no actuator named '" + order.actuator + "' is configured");

  RemedyOrder asked = order;
  if (const FabricView* fabric = view().fabric(order.target.fabric)) asked.sweep = fabric->sweep;
  // Its plan may have been aborted while the order was stored: then the gate refuses it.
  if (order.kind == OrderKind::kAct && plans_.awaits(order.number)) gate_.admit(order.number);
  const bool posted = found->second.lane->post(
      [this, actuator = found->second.actuator.get(), asked = std::move(asked)] { ask(*actuator, asked); },
      order.undo ? runtime::Turn::kFirst : runtime::Turn::kLast);
  // Not taken by the lane, so not sent: to a plan that is the same as no answer, and it is read.
  if (!posted) refuse(ErrorCode::kUnavailable, "too many actions in progress: retry later");
}

// On the lane of the actuator.
void RemedyController::ask(actuate::Actuator& actuator, const RemedyOrder& order) {
  if (lanes_stop_) return;  // nobody waits for it any more
  const std::uint64_t number = order.number;
  if (order.kind == OrderKind::kRead) {
    Result<TargetReading> reading = TargetReading{};
    try {
      reading = actuator.observe(order);
    } catch (const std::exception& error) {
      reading = fail(ErrorCode::kInternal, error.what());
    }
    if (reading && reading->epoch > 0 && saw_epoch_) saw_epoch_(reading->epoch);
    return post_([this, number, reading] {
      plans_.answer_reading(number, reading, clock_.now());
      work();
    });
  }
  const HandsOffFile::Look look = hands_off_file_.look();
  std::string why = look.why.empty() ? "" : "all automation is stopped: " + look.why;
  RemedyOrder permitted = order;
  if (why.empty() && confirm_) {
    if (const Result<ActPermit> permit = confirm_())
      permitted.permit = *permit;
    else
      why = permit.error().message;
  }
  const auto hold = [&](const std::string& reason, bool is_late = false) {
    post_([this, number, look, reason, is_late] {
      take(look);
      plans_.answer_held(number, reason, clock_.now(), is_late);
      work();
    });
  };
  const std::optional<std::string> held = why.empty() ? gate_.start(order, clock_.steady(), clock_.now()) : why;
  if (held) return hold(*held);
  // The actuator may be slow before it acts: it looks at the time last, by the clock that it knows.
  if (order.decided) permitted.before = runtime::boot_time() + kLongestDecision - (clock_.steady() - *order.decided);
  Result<void> done;
  try {
    done = actuator.apply(permitted);
  } catch (const std::exception& error) {
    // It may have been sent: what is so is read.
    done = fail(ErrorCode::kUnavailable, error.what());
  }
  gate_.finish(number);
  // Nothing was changed, perhaps because its time was over: judged anew, if this weftd still leads.
  const bool is_refused =
      !done && done.error().code != ErrorCode::kUnavailable && done.error().code != ErrorCode::kTimeout;
  if (is_refused && !actuate::check_time(actuate::last_moment(permitted)))
    return hold(done.error().message, !actuate::check_time(permitted.before));
  post_([this, number, done, name = actuator.name()] {
    plans_.answer_action(number, done, clock_.now());
    read_anew(name);
    work();
  });
}

std::vector<runtime::Lane*> RemedyController::lanes() {
  std::vector<runtime::Lane*> all{&file_lane_};
  for (auto& [name, actor] : actors_) all.push_back(actor.lane.get());
  return all;
}

void RemedyController::stop_lanes() {
  lanes_stop_ = true;
  tell_gate();
  for (runtime::Lane* lane : lanes()) lane->stop();
}

void RemedyController::stop() {
  stopped_ = true;
  writes_.stop();
  audit_reads_.stop(stopping().value());
}

}  // namespace weft::daemon
