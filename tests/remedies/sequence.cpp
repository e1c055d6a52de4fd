// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/sequence.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "daemon/programs/weftd/act_gate.hpp"
#include "tests/remedies/act_rules.hpp"
#include "tests/remedies/changes.hpp"
#include "tests/remedies/executing_watch.hpp"
#include "tests/remedies/facts.hpp"
#include "tests/remedies/glimpses.hpp"
#include "tests/remedies/hand_rules.hpp"
#include "tests/remedies/partners.hpp"
#include "tests/remedies/return_rules.hpp"
#include "tests/remedies/rules.hpp"
#include "tests/remedies/story.hpp"
#include "tests/remedies/wish_rules.hpp"

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;
using analyzer::PlanManager;
using analyzer::RemedyBatch;
using analyzer::RemedySettings;

constexpr TimePoint kStart{std::chrono::hours(24 * 365)};
constexpr unsigned kSettlingSteps = 400;
constexpr const char* kFileThere = "the file exists";

class Sequence {
 public:
  Sequence(const Shape& shape, std::uint64_t seed, Tally& tally, bool tell)
      : dice_(seed), tally_(tally), tell_(tell), world_(shape, kStart), settings_(random_settings(dice_, shape)) {
    breach_.seed = seed;
    if (dice_.one_in(3)) world_.lay_rails();
    if (dice_.one_in(2)) {
      std::vector<unsigned> hosts;
      for (unsigned host = 0; host < shape.hosts(); ++host)
        if (dice_.one_in(2)) hosts.push_back(host);
      world_.place_job("slurm:1", hosts);
    }
    start();
  }

  std::optional<Breach> run() {
    // Few are long enough to take something out and return it.
    const unsigned steps = 6 + dice_.below(14) + (dice_.one_in(4) ? 20 : 0);
    for (unsigned step = 0; step < steps && !broken(); ++step) {
      happen();
      turn();
    }
    if (!broken()) settle();
    if (broken() && tell_) tell_plans(*book_->all(), kStart, breach_.story);
    ++tally_.sequences;
    tally_.steps += steps;
    for (const auto& [id, plan] : journal_) {
      if (!is_over(plan.state)) continue;
      tally_.forgotten += book_->find(id) == nullptr;
      tally_.begun_anew += begins_anew(plan);
      ++tally_.ended[static_cast<std::size_t>(plan.state)];
      ++tally_.by_action[static_cast<std::size_t>(plan.action)];
    }
    return broken() ? std::optional(breach_) : std::nullopt;
  }

 private:
  /// An order in the lane, and the truth when it was decided.
  struct Waiting {
    RemedyOrder order;
    Facts facts{};
  };

  bool broken() const { return !breach_.promise.empty(); }
  void say(std::string text) {
    if (tell_) breach_.story.push_back(std::to_string((world_.now() - kStart) / 1s) + " s  " + std::move(text));
  }
  void promise(bool kept, const std::string& what) {
    if (!kept && !broken()) breach_.promise = what;
  }

  // The process starts with what is in the journal.
  void start() {
    RemedyMemory memory;
    for (const auto& [id, plan] : journal_) memory.plans.push_back(plan);
    memory.ids = journal_.empty() ? 1 : journal_.rbegin()->first + 1;
    memory.holds = saved_status_;
    // What was not journalled did not happen.
    const auto is_unknown = [this](std::uint64_t id) {
      const auto plan = journal_.find(id);
      return plan == journal_.end() || !plan->second.aborted;
    };
    std::erase_if(aborted_, is_unknown);
    wish_rules_.restarted(journal_);
    return_rules_.restarted(journal_);
    hands_.restarted(journal_);
    book_.emplace(settings_, std::move(memory), world_.now(), world_.steady());
    book_->resume_clock(clock_, world_.now(), "the machine is never started anew");
    partners_.restart(*book_);
    world_.restarted();
    gate_.emplace();
    lane_.clear();
    person_stops_ = acknowledged_stop_;
    saved_status_.file_brake = file_there_ ? kFileThere : "";  // each process looks for itself
    look_at_file();
  }

  // What the daemon tells the gate whenever something changes (RemedyController::tell_gate()).
  void tell_gate() {
    const RemedyStatus& now = book_->brakes();
    const bool stopped = now.is_stopped() || saved_status_.is_stopped();
    gate_->stop({stopped ? "stopped" : "", now.breaker_tripped || saved_status_.breaker_tripped ? "tripped" : ""});
    gate_->keep([this](std::uint64_t order) { return book_->awaits(order); });
  }
  void look_at_file() {
    book_->set_file_brake(file_there_ ? kFileThere : "", world_.now());
    tell_gate();
  }

  // Few sequences come to where these can be done.
  void act_by_hand() {
    if (dice_.one_in(3))
      if (std::string what = hands_.disable(dice_, journal_, tally_); !what.empty()) say(std::move(what));
    const auto plans = book_->all();
    for (const auto& plan : *plans)
      if (hands_.may_be_left(*plan) && dice_.one_in(3)) leave(plan->id);
  }

  void happen() {
    act_by_hand();
    switch (dice_.below(26)) {
      case 0:
      case 1:
        answer_proposals();
        break;
      case 2:
        request();
        break;
      case 3:
        say("weftd is killed");
        ++tally_.crashes;
        start();
        break;
      case 4:
        blind_ = !blind_ && dice_.one_in(2);
        world_.go_blind(blind_);
        break;
      case 5:
        if (dice_.one_in(3)) {
          const bool off = !saved_status_.hands_off;
          say(off ? "automation stopped" : "automation resumed");
          if (!off) look_at_file();
          book_->set_hands_off(person_stops_ = off, "", "bob", world_.now());
          tell_gate();
        } else if (dice_.one_in(3)) {
          file_there_ = !file_there_;
          ++tally_.files;
          say(file_there_ ? "the file appears" : "the file is gone");
        }
        break;
      case 6:
        if (dice_.one_in(2)) (void)book_->reset_breaker("looked", "bob", world_.now());
        break;
      case 7:
        abort();
        break;
      case 8:
      case 9:
        if (std::string what = partners_.toggle(dice_, tally_); !what.empty()) say(std::move(what));
        break;
      default:
        if (std::string what = change_world(world_, dice_, tally_); !what.empty()) say(std::move(what));
    }
    constexpr std::array<Duration, 8> kSteps{1s, 1s, 2s, 5s, 30s, 3min, 20min, 2h};
    world_.pass(kSteps[dice_.below(kSteps.size())]);
  }

  void request() {
    const Shape& shape = world_.shape();
    const bool is_link = dice_.one_in(2);
    constexpr std::array kLinkActions{RemedyAction::kIsolateLink, RemedyAction::kRestoreLink};
    constexpr std::array kHostActions{RemedyAction::kDrainNode, RemedyAction::kUndrainNode};
    const RemedyAction action = is_link ? kLinkActions[dice_.below(2)] : kHostActions[dice_.below(2)];
    const Entity target = is_link ? shape.link(dice_.below(shape.links()))
                                  : analyzer::host_entity(shape.host(dice_.below(shape.hosts())));
    const auto asked = book_->request(action, target, "maintenance", "ann", world_.look());
    tally_.refused_requests += !asked;
    if (asked) return_rules_.approved(*asked, world_.steady());
    say(std::string("ann asks for ") + to_string(action) + ' ' + target.label +
        (asked ? "" : ": " + asked.error().message));
  }

  void answer_proposals() {
    const auto plans = book_->all();
    for (const auto& plan : *plans) {
      if (plan->state != PlanState::kProposed) continue;
      const std::uint64_t revision = dice_.one_in(4) ? plan->revision + 1 : dice_.one_in(2) ? plan->revision : 0;
      const bool rejects = dice_.one_in(5);
      const auto answer = rejects ? book_->reject(plan->id, "no", "bob", world_.now())
                                  : book_->approve(plan->id, revision, "bob", world_.look());
      say(std::string("bob ") + (rejects ? "rejects " : "approves ") + plan_name(plan->id) +
          (answer ? "" : ": " + answer.error().message));
      if (answer && rejects) return_rules_.ended(*plan);
      if (answer && !rejects) return_rules_.approved(*plan, world_.steady());
      if (rejects && answer && takes_out(plan->action)) wish_rules_.wished(*plan);
      promise(rejects || !answer || revision == 0 || revision == plan->revision,
              "a plan was approved that is not the one that was read");
      if (dice_.one_in(2)) break;
    }
  }

  void abort() {
    const auto plans = book_->all();
    std::vector<std::uint64_t> open;
    for (const auto& plan : *plans)
      if (!is_over(plan->state)) open.push_back(plan->id);
    if (open.empty()) return;
    const std::uint64_t id = open[dice_.below(static_cast<unsigned>(open.size()))];
    if (dice_.one_in(3)) return leave(id);
    abort(id);
  }

  void abort(std::uint64_t id) {
    say("bob aborts " + plan_name(id));
    promise(book_->abort(id, "", "bob", world_.now()).has_value(), "a plan that is not over could not be aborted");
    ++tally_.aborts;
    aborted_.insert(id);
    const analyzer::PlanPtr plan = book_->find(id);
    return_rules_.ended(*plan);
    if (takes_out(plan->action)) wish_rules_.wished(*plan);
  }

  void leave(std::uint64_t id) {
    const std::uint64_t before = book_->find(id)->revision;
    const bool is_failed = book_->find(id)->state == PlanState::kRollingBack;
    const auto left = book_->leave(id, "", "bob", world_.look());
    say("bob leaves in service " + plan_name(id) + (left ? "" : ": " + left.error().message));
    const analyzer::PlanPtr plan = book_->find(id);
    promise(left ? is_over(plan->state) && !plan->in_force : plan->revision == before,
            "what a person left in service did not end, or what could not be left was changed");
    promise(left || !hands_.may_be_left(*plan), "what was not taken out again could not be left in service");
    if (!left) return;
    ++tally_.left;
    tally_.held_then_left += is_failed && !takes_out(plan->action);
    wish_rules_.wished(*plan);
    wish_rules_.left(*plan);
  }

  // What the daemon does a few times for each thing that happens.
  void turn() {
    partners_.tell(world_, dice_, trouble_, tally_, *book_);
    for (unsigned i = 0; i < 4 && !broken(); ++i) {
      if (!trouble_ || dice_.one_in(3)) look_at_file();
      book_->review(world_.look());
      check_book();
      RemedyBatch batch = book_->drain_changes(world_.now());
      if (batch.empty() && lane_.empty()) return;
      if (trouble_ && dice_.one_in(40)) {  // the disk refuses
        ++tally_.unjournalled;
        book_->take_back(std::move(batch), world_.now());
        continue;
      }
      if (trouble_ && dice_.one_in(60)) return crash("before the journal");
      if (const ClockMemory now = book_->clock_memory(); now.steps != clock_.steps || clock_.until == kNever)
        clock_ = now;
      if (dice_.one_in(4)) clock_ = book_->clock_memory();  // weftd keeps it once a minute
      for (const Plan& plan : batch.plans) journal_[plan.id] = plan;
      if (batch.status_changed) {
        saved_status_ = book_->status(world_.now());
        acknowledged_stop_ = person_stops_;
        tally_.tripped += saved_status_.breaker_tripped;
      }
      if (trouble_ && dice_.one_in(40)) return crash("after the journal");
      tell_gate();
      for (const RemedyOrder& order : batch.orders) give_to_lane(order);
      if (!work_lane()) return;
    }
  }

  void give_to_lane(const RemedyOrder& order) {
    if (order.kind == OrderKind::kAct) gate_->admit(order.number), hands_.given_out(order);
    const auto usual = std::ranges::find(lane_, false, [](const Waiting& waiting) { return waiting.order.undo; });
    const auto [is_link, index] = world_.find(order.target);
    lane_.insert(order.undo ? usual : lane_.end(),
                 {order, facts_of(world_, partners_, settings_.limits, is_link, index)});
  }

  // The actuator takes its time: what it does not come to waits, and the world goes on. False: the process died.
  bool work_lane() {
    while (!lane_.empty() && !broken()) {
      if (trouble_ && dice_.one_in(4)) return true;
      const Waiting next = lane_.front();
      lane_.pop_front();
      if (!carry_out(next)) return false;
    }
    return true;
  }

  void crash(const char* when) {
    say(std::string("weftd is killed ") + when);
    ++tally_.crashes;
    start();
  }

  // False: the process died.
  bool carry_out(const Waiting& waiting) {
    const RemedyOrder& order = waiting.order;
    if (order.kind == OrderKind::kRead) {
      if (trouble_ && dice_.one_in(8)) {
        book_->answer_reading(order.number, fail(ErrorCode::kTimeout, "no answer"), world_.now());
        return true;
      }
      if (world_.is_forgotten(order.target)) {
        book_->answer_reading(order.number, fail(ErrorCode::kNotFound, "no such node"), world_.now());
        return true;
      }
      const bool by_cost = outward_action(journal_.at(order.plan)) == RemedyAction::kRaiseLinkCost;
      const auto [reading, is_wrong] = glimpses_.read(order.target, by_cost, trouble_, dice_);
      tally_.wrong_readings += is_wrong;
      if (is_wrong) say("it is read as in service for a moment");
      act_rules_.read(order.plan, reading.state);
      const auto known = book_->status(world_.now()).others;
      book_->answer_reading(order.number, reading, world_.now());
      promise(reading.others.empty() || (!known.empty() && known[0].plan >= reading.others[0].plan) ||
                  book_->status(world_.now()).breaker_tripped,
              "another weftd was seen, and automation went on");
      return true;
    }
    if (file_there_) look_at_file();
    if (const auto why = gate_->start(order, world_.steady(), world_.now())) {
      ++tally_.held;
      say(plan_name(order.plan) + " is held: " + *why);
      hands_.held(order);
      book_->answer_held(order.number, *why, world_.now());
      return true;
    }
    gate_->finish(order.number);
    if (const bool is_so = world_.is_disabled(order); is_so || world_.is_forgotten(order.target)) {
      hands_.held(order), tally_.already += is_so;
      const ErrorCode code = is_so ? ErrorCode::kAlreadyExists : ErrorCode::kFailedPrecondition;
      book_->answer_action(order.number, fail(code, "nothing was sent"), world_.now());
      return true;
    }
    ++tally_.acts;
    const bool takes = !trouble_ || !dice_.one_in(6);
    const bool lost = trouble_ && dice_.one_in(5);
    const Duration late = trouble_ && lost && dice_.one_in(3) ? Duration(1s) * (1 + dice_.below(600)) : Duration{};
    const Act act = world_.act(order, takes, late);
    say(plan_name(order.plan) + ' ' + to_string(order.action) + ' ' + order.target.label +
        (takes ? "" : ", not taken") + (lost ? ", reply lost" : "") + (late > Duration::zero() ? ", lands late" : ""));
    check_act(act, waiting.facts);
    hands_.sent(act, takes && !lost && act.before != Holder::kSomebodyElse, !lost);
    if (trouble_ && dice_.one_in(30)) {
      crash("before the answer");
      return false;
    }
    tally_.lost_replies += lost;
    if (lost)
      book_->answer_action(order.number, fail(dice_.one_in(2) ? ErrorCode::kTimeout : ErrorCode::kUnavailable, "?"),
                           world_.now());
    else if (!takes || act.before == Holder::kSomebodyElse)
      book_->answer_action(order.number, fail(ErrorCode::kFailedPrecondition, "refused"), world_.now());
    else
      book_->answer_action(order.number, {}, world_.now());
    return true;
  }

  void check_act(const Act& act, const Facts& decided) {
    const Plan& plan = journal_.at(act.order.plan);
    const bool undo = act.order.action != plan.action;
    keeps(wish_rules_.breach_of(plan, act));
    keeps(hands_.breach_of(plan, act));
    keeps(act_rules_.breach_of(plan, act, decided, {acknowledged_stop_, file_there_, saved_status_.breaker_tripped}));
    if (undo) return;
    keeps(return_rules_.breach_of_act(plan, decided, world_.steady()));
    if (!takes_out(plan.action)) return;
    tally_.out_beside_others += decided.by_others > 0;
    tally_.out_beside_missing += act.is_link && decided.missing > 0;
    tally_.out_beside_gone += act.is_link && decided.missing > decided.missing_lately;
  }

  void keeps(const char* breach) { promise(breach == nullptr, breach ? breach : ""); }

  void check_book() {
    unsigned on_links = 0, on_hosts = 0;
    const auto plans = book_->all();
    keeps(return_rules_.breach_of_book(*plans, world_.steady(), world_.now(), tally_));
    for (const auto& plan : *plans) {
      if (!is_over(plan->state)) keeps(return_rules_.breach_of_open(*plan));
      promise(plan->state != PlanState::kCommitted || !aborted_.contains(plan->id), "what was aborted was committed");
      for (const GuardVerdict& verdict : plan->guards)
        if (verdict.result == GuardResult::kRefused) ++tally_.refused[static_cast<std::size_t>(verdict.guard)];
      if (plan->state != PlanState::kExecuting && plan->state != PlanState::kRollingBack) continue;
      // Several returns may fail at one time; only one plan of all begins while another is at it.
      tally_.waited_for_lists +=
          plan->state == PlanState::kExecuting && plan->waits_for.find(" not told ") != std::string::npos;
      // What waited for a list may read beside another one; what it sends it sends alone.
      if (plan->state == PlanState::kExecuting && plan->intent != PlanIntent::kNone)
        ++(plan->target.kind == EntityKind::kLink ? on_links : on_hosts);
    }
    promise(on_links <= 1 && on_hosts <= 1, "two plans are at it on one fabric");
  }

  // Nothing is sent, and what somebody gives back, or lands late, is seen all the same.
  void wait_stopped() {
    book_->set_hands_off(person_stops_ = true, "", "bob", world_.now());
    const auto plans = book_->all();
    for (const auto& plan : *plans)
      if (is_under_way(plan->state) && takes_out(plan->action) && dice_.one_in(2)) abort(plan->id);
    for (unsigned step = 0, quiet = 0; quiet < 30 && step < 300 && !broken(); ++step) {
      quiet = world_.awaits_landing() ? 0 : quiet + 1;
      if (std::string what; step == 2 && !(what = hands_.give_back(*book_->all(), dice_, tally_)).empty()) say(what);
      world_.pass(step % 2 == 0 ? Duration(31s) : Duration(2s));
      turn();
    }
    if (!world_.awaits_landing()) keeps(hands_.breach_of_waiting(*book_->all()));
  }

  // No more trouble: in the end everything that is out is accounted for, once, and nothing is left under way.
  void settle() {
    trouble_ = false;
    world_.go_blind(false);
    world_.silence(0);
    world_.forget(0);
    world_.set_manager(ManagerSign::kHeard);
    partners_.answer();
    file_there_ = false;
    if (dice_.one_in(3)) wait_stopped();
    book_->set_hands_off(person_stops_ = false, "", "bob", world_.now());
    // Returns may go on for hours, each after the other: it ends between two.
    const auto is_busy = [this] {
      return std::ranges::any_of(*book_->all(), [](const auto& plan) { return is_under_way(plan->state); });
    };
    for (unsigned step = 0; (step < kSettlingSteps || (step < 2 * kSettlingSteps && is_busy())) && !broken(); ++step) {
      world_.pass(step % 2 == 0 ? Duration(61s) : Duration(2s));
      turn();
      const auto now = book_->all();
      const std::string slow = executing_.breach_of(*now, world_.steady());
      promise(slow.empty(), slow);
      if (step > 7 && !world_.awaits_landing() && std::ranges::none_of(*now, [](const auto& plan) {
            return is_under_way(plan->state) || plan->state == PlanState::kApproved || plan->unresolved;
          }))
        break;
    }
    // Nothing new begins. What is in force is read once more, and what is not any more twice; what was sent for that
    // may land yet.
    book_->set_hands_off(person_stops_ = true, "", "bob", world_.now());
    for (unsigned step = 0; step < kSettlingSteps && !broken(); ++step) {
      world_.pass(step == 0 ? Duration(301s) : step % 3 == 0 ? Duration(61s) : Duration(2s));
      turn();
      const auto now = book_->all();
      if (step >= 2 && std::ranges::none_of(*now, [](const auto& plan) { return plan->unresolved; })) break;
    }
    const auto plans = book_->all();
    for (const auto& plan : *plans) {
      promise(!is_under_way(plan->state), plan_name(plan->id) + " never ends: " + to_string(plan->state));
      promise(!plan->unresolved, plan_name(plan->id) + " stays unresolved though the world can be read");
      promise(is_over(plan->state) || plan->expires > world_.now() - 10min,
              plan_name(plan->id) + " waits beyond its expiry");
    }
    const std::string wrong = breach_of_holding(world_, *plans);
    promise(wrong.empty(), wrong);
  }

  Dice dice_;
  Tally& tally_;
  bool tell_;
  World world_;
  Partners partners_{dice_};
  RemedySettings settings_;
  ReturnRules return_rules_{settings_.limits};
  ActRules act_rules_{world_, settings_};
  WishRules wish_rules_{world_};
  HandRules hands_{world_};
  std::optional<PlanManager> book_;
  std::optional<daemon::ActGate> gate_;
  std::deque<Waiting> lane_;
  bool file_there_ = false;
  bool person_stops_ = false, acknowledged_stop_ = false;  ///< as people said it, whatever the book makes of it
  std::map<std::uint64_t, Plan> journal_;
  RemedyStatus saved_status_;
  Glimpses glimpses_{world_};
  ClockMemory clock_{};              // on disk
  std::set<std::uint64_t> aborted_;  // plans that a person ended, by the journal or since weftd was started
  ExecutingWatch executing_;         ///< while it settles
  bool trouble_ = true, blind_ = false;
  Breach breach_;
};

}  // namespace

std::optional<Breach> run_sequence(const std::vector<Shape>& shapes, std::uint64_t seed, Tally& tally, bool tell) {
  return Sequence(shapes[seed % shapes.size()], seed, tally, tell).run();
}

}  // namespace weft::remedies
