// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/remedy_controller.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/target_lists.hpp"
#include "analyzer/remedy/windows.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/log_texts.hpp"

namespace weft::daemon {
namespace {

using analyzer::PlanPtr;

/// After the first sweep of each fabric: collectors come one after the other.
constexpr Duration kListsPatience = std::chrono::minutes(1);
constexpr const char* kNotWritten = "not done because it could not be stored";
constexpr const char* kNotWrittenYet = "not done because it could not be stored yet";
constexpr const char* kStoppedUnsaved = "automation is stopped, but that could not be stored yet: a restart forgets it";

constexpr std::size_t kMostLooks = 16;

runtime::LaneOptions lane_options(std::string name, std::size_t capacity) {
  return {.name = std::move(name),
          .capacity = capacity,
          .when_full = runtime::WhenFull::kRefuse,
          .on_failure = [](const std::string& what) { logger("remedies")->error("{}", what); }};
}

}  // namespace

RemedyController::RemedyController(RemedyControllerOptions options, const RemedyMemory& restored, store::Store& store,
                                   runtime::Lane& store_lane, const Clock& clock, Post post)
    : plans_(std::move(options.settings), restored, clock.now(), clock.steady()),
      hands_off_file_(std::move(options.hands_off_file), options.hands_off_patience,
                      std::move(options.hands_off_probe)),
      store_(store),
      store_lane_(store_lane),
      clock_(clock),
      post_(std::move(post)),
      writes_(
          store_lane, post_, [this](const Batch& batch) { return write(batch); },
          [this](Batch batch, const runtime::WriteOutcome& outcome) { saved(std::move(batch), outcome); }),
      ended_(restored.ended),
      shown_(plans_.all()),
      status_(plans_.status(clock.now())),
      file_lane_(lane_options("hands-off", kMostLooks)) {
  take(hands_off_file_.look());  // before anything is judged
  status_ = plans_.status(clock.now());
  for (auto& actuator : options.actuators) {
    const std::string name = actuator->name();
    auto lane = std::make_unique<runtime::Lane>(lane_options("act-" + name, options.lane_capacity));
    actors_.emplace(name, Actor{std::move(actuator), std::move(lane)});
  }
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
  return view;
}

void RemedyController::complete(Snapshot& snapshot, std::vector<std::pair<std::uint64_t, TimePoint>> last_evidence) {
  seen_ = snapshot;
  last_evidence_ = std::move(last_evidence);
  has_seen_ = true;
  check_lists();
  work();
  snapshot.plans = shown_;
  snapshot.remedy = status_;
  snapshot.remedy.without_plan = plans_.brakes().without_plan;
  snapshot.remedy.under_way = gate_.under_way();
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
  if (!looking_ && hands_off_file_.is_configured()) {
    looking_ = true;
    look_at_file([this] {
      looking_ = false;
      work();
    });
  }
  work();
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

// Stopped is what is stopped now, and what is stopped as far as the disk knows: a brake holds from when it is set until
// its release is written.
void RemedyController::tell_gate() {
  const RemedyStatus& now = plans_.brakes();
  const RemedyStatus& stopped = now.is_stopped() ? now : status_;
  ActGate::Stops stops;
  if (lanes_stop_)
    stops.everything = "weftd is stopping";
  else if (stopped.is_stopped())
    stops.everything = "all automation is stopped: " + stopped.stop_reason();
  if (now.breaker_tripped || status_.breaker_tripped) stops.taking_out = "the circuit breaker is tripped";
  gate_.stop(std::move(stops));
  gate_.keep([this](std::uint64_t order) { return plans_.awaits(order); });
}

MaintenanceList RemedyController::windows() const {
  MaintenanceList windows;
  for (const PlanPtr& plan : *shown_) {
    // A link that is only costly stays up: that it goes down is trouble.
    if (analyzer::outward_action(*plan) == RemedyAction::kRaiseLinkCost) continue;
    if (auto window = window_of(*plan)) windows.push_back(std::move(*window));
  }
  return windows;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> RemedyController::looked_after() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const PlanPtr& plan : *shown_)
    if (plan->incident != 0 && analyzer::is_looked_after(*plan, view().hosts))
      all.emplace_back(plan->incident, plan->id);
  return all;
}

void RemedyController::work() {
  if (stopped_ || !has_seen_) return;
  plans_.review(view());
  save();
  tell_gate();
}

void RemedyController::save() {
  if (writes_.is_writing() || stopped_) return;
  Batch batch;
  batch.changes = plans_.drain_changes(clock_.now());
  if (batch.changes.empty() && !writes_.is_awaited()) return;
  batch.shown = plans_.all();
  batch.status = plans_.status(clock_.now());
  if (auto back = writes_.write(std::move(batch)))
    plans_.take_back(std::move(back->changes), clock_.now());  // the lane has no room: with the next call
}

Result<void> RemedyController::write(const Batch& batch) const {
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
    logger("store")->error("plans could not be stored, so no action is taken: {}", outcome.error.message);
    plans_.take_back(std::move(batch.changes), clock_.now());  // tried again with the next tick
    return;
  }
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

void RemedyController::carry_out(const RemedyOrder& order) {
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
  if (order.kind == OrderKind::kAct) gate_.admit(order.number);
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
    return post_([this, number, reading] {
      plans_.answer_reading(number, reading, clock_.now());
      work();
    });
  }
  const HandsOffFile::Look look = hands_off_file_.look();
  const std::optional<std::string> held =
      look.why.empty() ? gate_.start(order, clock_.steady(), clock_.now()) : "all automation is stopped: " + look.why;
  if (held)
    return post_([this, number, look, why = *held] {
      take(look);
      plans_.answer_held(number, why, clock_.now());
      work();
    });
  Result<void> done;
  try {
    done = actuator.apply(order);
  } catch (const std::exception& error) {
    // It may have been sent: what is so is read.
    done = fail(ErrorCode::kUnavailable, error.what());
  }
  gate_.finish(number);
  post_([this, number, done] {
    plans_.answer_action(number, done, clock_.now());
    work();
  });
}

void RemedyController::settle(Result<Plan> plan, PlanCallback callback) {
  if (!plan) {
    callback(std::move(plan));
  } else {
    writes_.wait([this, id = plan->id, callback = std::move(callback)](const runtime::WriteOutcome& outcome) {
      if (outcome.end == runtime::WriteEnd::kStopped) return callback(stopping());
      if (!outcome) {
        callback(fail(ErrorCode::kResourceExhausted, kNotWritten));
        return plans_.withdraw(id, clock_.now());
      }
      const PlanPtr now = plans_.find(id);
      callback(now ? Result<Plan>(*now) : fail(ErrorCode::kNotFound, "no " + plan_name(id)));
    });
  }
  work();
}

// `unsaved`: what is so when it could not be stored.
void RemedyController::answer_when_saved(StatusCallback callback, const char* unsaved,
                                         std::vector<OrderUnderWay> under_way) {
  writes_.wait([this, callback = std::move(callback), unsaved,
                under_way = std::move(under_way)](const runtime::WriteOutcome& outcome) {
    if (outcome.end == runtime::WriteEnd::kStopped) return callback(stopping());
    if (!outcome) return callback(fail(ErrorCode::kResourceExhausted, unsaved));
    RemedyStatus status = status_;
    status.under_way = under_way;
    callback(std::move(status));
  });
}

void RemedyController::approve(std::uint64_t plan, std::uint64_t revision, const std::string& who,
                               PlanCallback callback) {
  if (stopped_) return callback(stopping());
  settle(plans_.approve(plan, revision, who, view()), std::move(callback));
}

void RemedyController::reject(std::uint64_t plan, const std::string& why, const std::string& who,
                              PlanCallback callback) {
  if (stopped_) return callback(stopping());
  settle(plans_.reject(plan, why, who, clock_.now()), std::move(callback));
}

void RemedyController::abort(std::uint64_t plan, const std::string& why, const std::string& who,
                             PlanCallback callback) {
  if (stopped_) return callback(stopping());
  settle(plans_.abort(plan, why, who, clock_.now()), std::move(callback));
}

Result<Entity> RemedyController::find_target(RemedyAction action, const std::string& text) const {
  if (action == RemedyAction::kDrainNode || action == RemedyAction::kUndrainNode) {
    const NodeHealth* health = api::find_health(seen_, text);
    if (!health) return fail(ErrorCode::kNotFound, "no host named '" + text + "'");
    return analyzer::host_entity(health->node);
  }
  // On Ethernet ports go by their names: "leaf01:swp3".
  for (const api::FoundPort& found : api::find_ports(seen_, text)) {
    const Topology& topology = *found.fabric->sweep->topology;
    if (topology.is_ethernet() && topology.link_of(found.port))
      return analyzer::link_entity(found.fabric->name, topology, found.port);
  }
  const std::size_t colon = text.rfind(':');
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  if (colon == std::string::npos || std::from_chars(text.data() + colon + 1, end, number).ptr != end || number == 0 ||
      number > 254)
    return fail(ErrorCode::kInvalidArgument, "'" + text + "' is not a link: name one of its ends as NODE:PORT");
  const auto nodes = api::find_nodes(seen_, text.substr(0, colon), 2);
  if (nodes.empty()) return fail(ErrorCode::kNotFound, "no node named '" + text.substr(0, colon) + "'");
  if (nodes.size() > 1)
    return fail(ErrorCode::kInvalidArgument, "'" + text.substr(0, colon) + "' matches several nodes: use a GUID");
  const Topology& topology = *nodes[0].fabric->sweep->topology;
  const PortIndex port = topology.find_port({topology.node(nodes[0].node).guid, {static_cast<std::uint8_t>(number)}});
  if (port != kNoIndex && !topology.link_of(port)) {
    // A subnet that was discovered while the link was out does not know it; its plan does.
    const PortKey key = topology.key_of(port);
    for (const PlanPtr& plan : *shown_)
      if ((plan->in_force || plan->unresolved) && plan->target.kind == EntityKind::kLink &&
          plan->target.fabric == nodes[0].fabric->name && (plan->target.port == key || plan->target.peer == key))
        return plan->target;
  }
  if (port == kNoIndex || !topology.link_of(port))
    return fail(ErrorCode::kNotFound, "no link was ever seen at '" + text + "'");
  return analyzer::link_entity(nodes[0].fabric->name, topology, port);
}

void RemedyController::request(const api::RemedyWish& wish, PlanCallback callback) {
  if (stopped_) return callback(stopping());
  auto entity = find_target(wish.action, wish.target);
  if (!entity) return callback(tl::unexpected(entity.error()));
  if (wish.dry_run) return callback(plans_.preview(wish.action, *entity, wish.why, wish.who, view(), wish.only_cost));
  settle(plans_.request(wish.action, *entity, wish.why, wish.who, view(), wish.only_cost), std::move(callback));
}

void RemedyController::set_hands_off(bool hands_off, const std::string& why, const std::string& who,
                                     StatusCallback callback) {
  if (stopped_) return callback(stopping());
  const auto set = [this, hands_off, why, who, callback = std::move(callback)] {
    if (stopped_) return callback(stopping());
    plans_.set_hands_off(hands_off, why, who, clock_.now());
    tell_gate();  // nothing starts from here on
    answer_when_saved(callback, hands_off ? kStoppedUnsaved : kNotWrittenYet, gate_.under_way());
    work();
  };
  if (hands_off || !hands_off_file_.is_configured()) return set();
  look_at_file(set);
}

void RemedyController::reset_breaker(const std::string& why, const std::string& who, StatusCallback callback) {
  if (stopped_) return callback(stopping());
  if (auto reset = plans_.reset_breaker(why, who, clock_.now()); !reset) return callback(tl::unexpected(reset.error()));
  answer_when_saved(std::move(callback), kNotWrittenYet);
  work();
}

void RemedyController::audit(std::uint64_t before, std::size_t limit, AuditCallback callback) {
  if (stopped_) return callback(stopping());
  if (!store_lane_.post([&store = store_, before, limit, callback] { callback(store.audit(before, limit)); }))
    callback(fail(ErrorCode::kUnavailable, "the store is busy"));
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
}

}  // namespace weft::daemon
