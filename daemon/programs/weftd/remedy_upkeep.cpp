// SPDX-License-Identifier: Apache-2.0
// What RemedyController does from time to time, whatever happens to plans.

#include <algorithm>
#include <exception>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {
namespace {

// So much of the time before a restart counts as none.
constexpr Duration kKeepClockEvery = std::chrono::minutes(1);
constexpr Duration kReadOutEvery = std::chrono::minutes(1);
constexpr Duration kReadAfterAct = std::chrono::seconds(10);

}  // namespace

void RemedyController::resume_clock(const ClockMemory& before) {
  const Duration unseen = plans_.resume_clock(before, clock_.now(), boot_);
  if (unseen > kKeepClockEvery)
    logger("remedies")
        ->info(
            "{:.0f} s passed since the last moment that a leading weftd stored: no deadline of a plan "
            "counts them",
            seconds(unseen));
  if (unseen < -kKeepClockEvery)
    logger("remedies")->warn("the clock was set back by {:.0f} s while weftd did not run", -seconds(unseen));
  if (before.until != kNever) steps_on_disk_ = before.steps;
}

void RemedyController::store_again() {
  const auto plans = plans_.all();
  analyzer::RemedyBatch all;
  for (const analyzer::PlanPtr& plan : *plans) all.plans.push_back(*plan);
  all.status_changed = true;
  AuditRecord& record = all.audit.emplace_back();
  record.at = clock_.now();
  record.who = "weftd";
  record.what = "stored again";
  record.detail = "the database does not have what it had confirmed: records of the last moments are lost";
  plans_.take_back(std::move(all), clock_.now());
  save();
}

// Where it fails more of the time before a restart counts as none.
void RemedyController::keep_clock() {
  if (stopped_ || (clock_kept_ && clock_.steady() - *clock_kept_ < kKeepClockEvery)) return;
  if (store_lane_.post([this, memory = plans_.clock_memory()] { (void)write_clock(memory); }))
    clock_kept_ = clock_.steady();
}

Result<void> RemedyController::write_clock(const ClockMemory& clock) {
  auto kept = store_.save_clock(clock);
  if (kept) steps_on_disk_ = clock.steps;
  return kept;
}

// Something may be taken out of what the actuator tells of.
bool RemedyController::must_tell(const Actor& actor) const {
  const auto tells = actor.actuator->tells_out_of_service();
  const auto may = [this](RemedyAction action) { return plans_.settings().mode(action) != RemedyMode::kOff; };
  if (tells == EntityKind::kHost)
    return may(RemedyAction::kDrainNode) &&
           plans_.settings().actuator(RemedyAction::kDrainNode) == actor.actuator->name();
  // They count for drains as well.
  return tells &&
         (may(RemedyAction::kIsolateLink) || may(RemedyAction::kRaiseLinkCost) || may(RemedyAction::kDrainNode));
}

void RemedyController::take_out_of_service(const std::string& actuator, EntityKind kind, actuate::OutOfService out,
                                           std::optional<Duration> told) {
  if (kind == EntityKind::kHost)
    plans_.set_drained_hosts(actuator, told ? analyzer::DrainedHosts(out.hosts, *told) : analyzer::DrainedHosts());
  else
    plans_.set_avoided_ports(actuator, {std::move(out.ports), told});
}

void RemedyController::expect_to_be_told() {
  for (auto& [name, actor] : actors_) {
    actor.asked = std::nullopt;
    if (must_tell(actor)) take_out_of_service(name, *actor.actuator->tells_out_of_service(), {}, std::nullopt);
  }
}

// What we changed ourselves is no list of others. A partner may need a moment to do it.
void RemedyController::read_anew(const std::string& actuator) {
  Actor& from = actors_.at(actuator);
  if (from.asked) from.asked = std::min(*from.asked, clock_.steady() - kReadOutEvery + kReadAfterAct);
}

// What others took out counts in the budgets. A list that cannot be read stays as it was, and is soon too old to count.
void RemedyController::read_what_is_out() {
  if (stopped_ || !leads_) return;
  for (auto& [name, actor] : actors_) {
    if (!must_tell(actor) || actor.is_asked || (actor.asked && clock_.steady() - *actor.asked < kReadOutEvery))
      continue;
    actor.asked = clock_.steady();
    actor.is_asked = actor.lane->post([this, name = name, actuator = actor.actuator.get()] {
      if (lanes_stop_) return;
      const Duration asked = clock_.steady();  // what is taken out meanwhile is not in it
      Result<actuate::OutOfService> out;
      try {
        out = actuator->out_of_service();
      } catch (const std::exception& error) {
        out = fail(ErrorCode::kInternal, error.what());
      }
      post_([this, name, asked, out = std::move(out)] {
        Actor& from = actors_.at(name);
        from.is_asked = false;
        const std::string trouble = out ? "" : out.error().message;
        if (!trouble.empty() && trouble != from.trouble)
          logger("remedies")->warn("{}: what is out of service cannot be read: {}", name, trouble);
        from.trouble = trouble;
        plans_.set_list_trouble(name, trouble);
        if (!out) return;
        take_out_of_service(name, *from.actuator->tells_out_of_service(), *out, asked);
        work();
      });
    });
  }
}

}  // namespace weft::daemon
