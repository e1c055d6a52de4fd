// SPDX-License-Identifier: Apache-2.0
// What RemedyController does from time to time, whatever happens to plans.

#include <exception>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {
namespace {

// So much of the time before a restart counts as none.
constexpr Duration kKeepClockEvery = std::chrono::minutes(1);
constexpr Duration kReadDrainedEvery = std::chrono::minutes(1);

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

// What others drained counts in the budgets of drains. A list that cannot be read stays as it was, and is soon too old
// to count.
void RemedyController::read_drained_hosts() {
  const analyzer::RemedySettings& settings = plans_.settings();
  const std::string& name = settings.actuator(RemedyAction::kDrainNode);
  const auto actor = actors_.find(name);
  if (stopped_ || settings.mode(RemedyAction::kDrainNode) == RemedyMode::kOff || actor == actors_.end() ||
      !actor->second.actuator->tells_drained_hosts() ||
      (drained_asked_ && clock_.steady() - *drained_asked_ < kReadDrainedEvery))
    return;
  drained_asked_ = clock_.steady();
  actor->second.lane->post([this, name, actuator = actor->second.actuator.get()] {
    if (lanes_stop_) return;
    const Duration asked = clock_.steady();  // what is drained meanwhile is not in it
    Result<std::vector<std::vector<std::string>>> hosts = std::vector<std::vector<std::string>>{};
    try {
      hosts = actuator->drained_hosts();
    } catch (const std::exception& error) {
      hosts = fail(ErrorCode::kInternal, error.what());
    }
    post_([this, name, asked, hosts = std::move(hosts)] {
      const std::string trouble = hosts ? "" : hosts.error().message;
      if (!trouble.empty() && trouble != drained_trouble_)
        logger("remedies")->warn("which hosts are drained is not known any more: {}", trouble);
      drained_trouble_ = trouble;
      if (!hosts) return;
      plans_.set_drained_hosts(name, {*hosts, asked});
      work();
    });
  });
}

}  // namespace weft::daemon
