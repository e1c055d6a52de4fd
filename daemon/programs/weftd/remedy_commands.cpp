// SPDX-License-Identifier: Apache-2.0
// What people order of plans and of automation, and when they are answered.

#include <algorithm>
#include <utility>

#include "analyzer/remedy/plan_texts.hpp"
#include "daemon/programs/weftd/log_texts.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {
namespace {

using analyzer::PlanPtr;

constexpr const char* kNotWritten = "not done because it could not be stored";
constexpr const char* kNotWrittenYet = "not done because it could not be stored yet";
constexpr const char* kStoppedUnsaved = "automation is stopped, but that could not be stored yet: a restart forgets it";
/// Nothing is sent for an abort before it is stored.
std::string aborted_unsaved(const Plan& plan) {
  return "the abort is taken, but that could not be stored yet: the plan " + analyzer::undone_when_stored_text(plan) +
         ". After a restart of weftd, abort it again";
}
constexpr const char* kEndedUnsaved =
    "the plan is ended, but that could not be stored yet: after a restart of weftd, end it again";
/// A person is answered by then, also when the disk hangs: clients give up after 15 s.
constexpr Duration kPatience = std::chrono::seconds(5);

/// A sentence with what had begun, for an answer that is an error and has no room for a list.
std::string with_under_way(std::string sentence, const std::vector<OrderUnderWay>& under_way) {
  for (std::size_t i = 0; i < under_way.size(); ++i)
    sentence += std::string(i == 0 ? ". Under way: " : ", ") + plan_name(under_way[i].plan) + ' ' +
                to_string(under_way[i].action) + ' ' + under_way[i].target;
  return sentence;
}

}  // namespace

// Whichever comes first, the disk or the end of patience, answers: true from what is returned when it did.
// `unsaved`: what is so when it could not be stored; `given_up`: what follows from saying so.
template <typename Answer>
std::function<bool(Result<Answer>)> RemedyController::answer_in_time(std::function<void(Result<Answer>)> callback,
                                                                     const std::string& unsaved,
                                                                     const std::function<void()>& given_up) {
  const auto waiting = std::make_shared<std::function<void(Result<Answer>)>>(std::move(callback));
  const auto once = [waiting](Result<Answer> answer) {
    const auto person = std::exchange(*waiting, nullptr);
    if (person) person(std::move(answer));
    return static_cast<bool>(person);
  };
  std::erase_if(impatient_, [](const Impatient& each) { return each.is_answered(); });
  impatient_.push_back({clock_.steady() + kPatience, [waiting] { return !*waiting; },
                        [once, unsaved, given_up] {
                          once(fail(ErrorCode::kResourceExhausted, unsaved));
                          if (given_up) given_up();
                        }});
  return once;
}

void RemedyController::answer_the_impatient() {
  for (const Impatient& each : impatient_)
    if (clock_.steady() >= each.until && !each.is_answered()) each.give_up();
  std::erase_if(impatient_, [](const Impatient& each) { return each.is_answered(); });
}

void RemedyController::settle(Result<Plan> plan, PlanCallback callback) {
  if (!plan) {
    callback(std::move(plan));
  } else {
    // An abort is not withdrawn: what it undoes is sent as soon as it can be stored.
    const std::string unsaved = is_under_way(plan->state) ? aborted_unsaved(*plan)
                                : is_over(plan->state)    ? kEndedUnsaved
                                                          : kNotWritten;
    const auto withdraw = [this, id = plan->id] { plans_.withdraw(id, clock_.now()); };
    const auto once = answer_in_time<Plan>(std::move(callback), unsaved, withdraw);
    writes_.wait([this, id = plan->id, once, withdraw, unsaved](const runtime::WriteOutcome& outcome) {
      if (outcome.end == runtime::WriteEnd::kStopped) {
        once(stopping());
      } else if (!outcome) {
        if (once(fail(ErrorCode::kResourceExhausted, unsaved))) withdraw();
      } else {
        const PlanPtr now = plans_.find(id);
        once(now ? Result<Plan>(*now) : fail(ErrorCode::kNotFound, "no " + plan_name(id)));
      }
    });
  }
  work();
}

void RemedyController::answer_when_saved(StatusCallback callback, const std::string& unsaved,
                                         std::vector<OrderUnderWay> under_way) {
  const auto once = answer_in_time<RemedyStatus>(std::move(callback), unsaved, {});
  writes_.wait([this, once, unsaved, under_way = std::move(under_way)](const runtime::WriteOutcome& outcome) {
    if (outcome.end == runtime::WriteEnd::kStopped) {
      once(stopping());
    } else if (!outcome) {
      once(fail(ErrorCode::kResourceExhausted, unsaved));
    } else {
      RemedyStatus status = status_;
      status.under_way = under_way;
      once(std::move(status));
    }
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
  settle(plans_.abort(plan, why, who, view()), std::move(callback));
}

void RemedyController::leave(std::uint64_t plan, const std::string& why, const std::string& who,
                             PlanCallback callback) {
  if (stopped_) return callback(stopping());
  settle(plans_.leave(plan, why, who, view()), std::move(callback));
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
    std::vector<OrderUnderWay> under_way = gate_.under_way();
    const std::string unsaved = hands_off ? with_under_way(kStoppedUnsaved, under_way) : kNotWrittenYet;
    answer_when_saved(callback, unsaved, std::move(under_way));
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
  audit_reads_.read(before, limit, std::move(callback));
}

}  // namespace weft::daemon
