// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/acceptance_service.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "analyzer/acceptance/scope.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/log_texts.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestRun = std::chrono::hours(30 * 24);
constexpr Duration kShortestRun = 1s;
/// Each run is judged so often at most.
constexpr Duration kJudgeEvery = 1s;
/// Judging takes one part in so many of the main thread's time; so does answering judge().
constexpr int kShareOfTime = 20;
/// At its end a run waits so long for what is about to be judged: its first readings came some sweeps after its start.
constexpr Duration kLastReadings = 30s;

/// Something of it can be judged before then.
bool is_judged_by(const AcceptanceReport& report, TimePoint then) {
  return std::ranges::any_of(report.checks, [then](const AcceptanceCheck& check) {
    return check.verdict == AcceptanceVerdict::kNotYet && check.judged_at != kNever && check.judged_at <= then;
  });
}

/// Ports and hosts that its report names.
std::size_t rows_of(const AcceptanceRun& run) {
  std::size_t rows = run.targets.size();
  if (!run.report) return rows;
  rows += run.report->hosts.size();
  for (const AcceptanceCheck& check : run.report->checks) rows += check.ports.size();
  return rows;
}

Duration since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
}

AcceptanceRun finished(const AcceptanceRun& run, std::string who, TimePoint now,
                       std::shared_ptr<const AcceptanceReport> report) {
  AcceptanceRun over = run;
  over.ended = now;
  over.ended_by = std::move(who);
  over.report = std::move(report);
  return over;
}

}  // namespace

AcceptanceService::AcceptanceService(const analyzer::Thresholds& thresholds, AcceptanceList known, IdSeries ids,
                                     store::Store& store, runtime::Lane& store_lane,
                                     const api::Publication& publication, const Clock& clock, Post post,
                                     std::function<void()> changed)
    : judge_(thresholds),
      publication_(publication),
      clock_(clock),
      changed_(std::move(changed)),
      writes_(
          store_lane, std::move(post),
          [&store](const Write& write) { return store.save_acceptance(*write.run, write.forgotten); },
          [this](const Write& write, const runtime::WriteOutcome& outcome) { saved(write, outcome); }) {
  restore(std::move(known), ids);
}

void AcceptanceService::restore(AcceptanceList known, IdSeries ids) {
  ids_ = ids;
  std::ranges::sort(known, {}, &AcceptanceRun::id);
  if (!known.empty()) ids_.skip(known.back()->id);
  if (!runs_ || known != *runs_) runs_ = std::make_shared<const AcceptanceList>(std::move(known));
  live_.clear();
}

Result<void> AcceptanceService::check(const AcceptanceRun& run) const {
  if (run.length < kShortestRun || run.length > kLongestRun)
    return fail(ErrorCode::kInvalidArgument, "an acceptance lasts between " + config::format_duration(kShortestRun) +
                                                 " and " + config::format_duration(kLongestRun));
  const auto under_way = std::ranges::count_if(*runs_, [](const AcceptancePtr& known) { return known->runs(); });
  if (static_cast<std::size_t>(under_way) + writing_.size() >= kMostAcceptancesAtOnce)
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(kMostAcceptancesAtOnce) + " acceptances are under way: wait for one, or end one");
  return {};
}

void AcceptanceService::start(AcceptanceRun run, Callback callback) {
  if (stopped_) return callback(stopping());
  if (auto good = check(run); !good) return callback(tl::unexpected(good.error()));
  const TimePoint now = clock_.now();
  run.id = ids_.take();
  run.started = run.watched_since = now;
  run.until = now + run.length;
  run.ended = kNever;
  run.ended_by.clear();
  run.report.reset();
  save(std::make_shared<const AcceptanceRun>(std::move(run)), std::move(callback));
}

void AcceptanceService::end(std::uint64_t id, std::string who, Callback callback) {
  if (stopped_) return callback(stopping());
  const AcceptancePtr run = find(id);
  if (!run) return callback(fail(ErrorCode::kNotFound, "no acceptance " + acceptance_name(id)));
  if (!run->runs()) return callback(fail(ErrorCode::kFailedPrecondition, acceptance_name(id) + " has already ended"));
  if (writing_.contains(id))
    return callback(fail(ErrorCode::kFailedPrecondition, acceptance_name(id) + " is just being stored: retry"));
  const TimePoint now = clock_.now();
  const auto live = live_.find(id);
  auto report = report_of(*run, live == live_.end() ? Watches() : live->second.watches, now);
  save(std::make_shared<const AcceptanceRun>(finished(*run, std::move(who), now, std::move(report))),
       std::move(callback));
}

void AcceptanceService::judge(AcceptanceRun run, Callback callback) {
  if (stopped_) return callback(stopping());
  if (clock_.steady() < next_answer_)
    return callback(fail(ErrorCode::kResourceExhausted, "acceptance is judged too often: retry"));
  const auto start = std::chrono::steady_clock::now();
  const TimePoint now = clock_.now();
  run.id = 0;
  run.started = run.until = run.ended = now;
  run.report = std::make_shared<const AcceptanceReport>(judge_.judge(run, *publication_.load(), standing_, now));
  run.watched_since = run.report->watched_since;
  next_answer_ = clock_.steady() + since(start) * kShareOfTime;
  callback(std::move(run));
}

void AcceptanceService::take_sweep(const FabricView& fabric) {
  if (!fabric.sweep || !fabric.sweep->topology) return;
  const AcceptanceRun all;
  Scope& everything = everything_[fabric.name];
  if (everything.topology != fabric.sweep->topology)
    everything = {fabric.sweep->topology, analyzer::select_ports(all, *fabric.sweep->topology).ports};
  standing_[fabric.name].update(*fabric.sweep, everything.ports, fabric.stale_after);
  for (auto& [id, live] : live_)
    if (const AcceptancePtr run = find(id); run && run->runs()) watch(fabric, *run, live);
}

void AcceptanceService::watch(const FabricView& fabric, const AcceptanceRun& run, Live& live) const {
  if (!run.fabric.empty() && run.fabric != fabric.name) return;
  Scope& scope = live.scopes[fabric.name];
  if (scope.topology != fabric.sweep->topology)
    scope = {fabric.sweep->topology, analyzer::select_ports(run, *fabric.sweep->topology).ports};
  live.watches[fabric.name].update(*fabric.sweep, scope.ports, fabric.stale_after);
}

void AcceptanceService::tick() {
  const TimePoint now = clock_.now();
  for (const AcceptancePtr& run : *runs_)
    if (run->runs() && !live_.contains(run->id) && !writing_.contains(run->id)) begin_anew(run, now);
  judge_next(now);
}

void AcceptanceService::begin_anew(const AcceptancePtr& run, TimePoint now) {
  AcceptanceRun anew = *run;
  anew.watched_since = now;
  anew.until = now + anew.length;
  anew.report.reset();
  logger("incidents")
      ->info("{}: what its ports counted before this weftd led is not known; its readings begin anew, for {}",
             acceptance_name(run->id), config::format_duration(anew.length));
  live_.try_emplace(run->id);
  save(std::make_shared<const AcceptanceRun>(std::move(anew)), nullptr);
}

void AcceptanceService::judge_next(TimePoint now) {
  const Duration steady = clock_.steady();
  if (live_.empty() || steady < next_judgement_) return;
  AcceptancePtr next;
  for (auto& [id, live] : live_) {
    if (writing_.contains(id) || (live.judged != Duration::min() && steady - live.judged < kJudgeEvery)) continue;
    if (next && live_.at(next->id).judged <= live.judged) continue;
    if (const AcceptancePtr run = find(id); run && run->runs()) next = run;
  }
  if (!next) return;
  const auto start = std::chrono::steady_clock::now();
  Live& live = live_.at(next->id);
  live.judged = steady;
  AcceptanceRun run = *next;
  run.report = report_of(run, live.watches, now);
  next_judgement_ = steady + since(start) * kShareOfTime;
  const bool waits = now < run.until + kLastReadings && is_judged_by(*run.report, run.until + kLastReadings);
  if (now >= run.until && !waits)
    return save(std::make_shared<const AcceptanceRun>(finished(run, {}, now, run.report)), nullptr);
  show(std::make_shared<const AcceptanceRun>(std::move(run)));
}

std::shared_ptr<const AcceptanceReport> AcceptanceService::report_of(const AcceptanceRun& run, const Watches& watches,
                                                                     TimePoint now) {
  return std::make_shared<const AcceptanceReport>(judge_.judge(run, *publication_.load(), watches, now));
}

void AcceptanceService::save(AcceptancePtr run, Callback callback) {
  const std::uint64_t id = run->id;
  auto forgotten = run->runs() ? std::vector<std::uint64_t>{} : forgotten_after(*run);
  writing_[id] = std::move(callback);
  if (!writes_.write({std::move(run), std::move(forgotten)})) return;
  const Callback told = std::move(writing_.extract(id).mapped());
  if (told) told(fail(ErrorCode::kUnavailable, "the store is busy: retry"));
}

void AcceptanceService::saved(const Write& write, const runtime::WriteOutcome& outcome) {
  const AcceptanceRun& run = *write.run;
  auto waiting = writing_.extract(run.id);
  const Callback told = waiting.empty() ? nullptr : std::move(waiting.mapped());
  if (!outcome) {
    logger("store")->error("{} could not be stored: {}", acceptance_name(run.id), outcome.error.message);
    if (told) told(tl::unexpected(outcome.error));
    return;
  }
  if (!run.runs()) {
    live_.erase(run.id);
    logger("incidents")
        ->info("{} {}: {}, {}", acceptance_name(run.id), run.ended_by.empty() ? "is over" : "ended by " + run.ended_by,
               targets_text(run), run.report ? to_string(run.report->verdict) : "not judged");
  } else if (!find(run.id)) {
    logger("incidents")
        ->info("{} started by {}: {}, for {}", acceptance_name(run.id), run.who, targets_text(run),
               config::format_duration(run.length));
  }
  if (run.runs()) live_.try_emplace(run.id);
  if (!write.forgotten.empty()) {
    AcceptanceList next = *runs_;
    std::erase_if(next, [&write](const AcceptancePtr& known) {
      return std::ranges::find(write.forgotten, known->id) != write.forgotten.end();
    });
    runs_ = std::make_shared<const AcceptanceList>(std::move(next));
  }
  show(write.run);
  changed_();
  if (told) told(run);
}

void AcceptanceService::show(const AcceptancePtr& run) {
  AcceptanceList next = *runs_;
  const auto known = std::ranges::lower_bound(next, run->id, {}, &AcceptanceRun::id);
  if (known != next.end() && (*known)->id == run->id)
    *known = run;
  else
    next.insert(known, run);
  runs_ = std::make_shared<const AcceptanceList>(std::move(next));
}

std::vector<std::uint64_t> AcceptanceService::forgotten_after(const AcceptanceRun& run) const {
  std::vector<std::uint64_t> forgotten;
  std::size_t count = 1, rows = rows_of(run);
  for (auto known = runs_->rbegin(); known != runs_->rend(); ++known) {
    if ((*known)->runs() || (*known)->id == run.id) continue;
    rows += rows_of(**known);
    if (++count > kMostAcceptancesKept || rows > kMostAcceptanceRows) forgotten.push_back((*known)->id);
  }
  return forgotten;
}

AcceptancePtr AcceptanceService::find(std::uint64_t id) const {
  const auto known = std::ranges::lower_bound(*runs_, id, {}, &AcceptanceRun::id);
  return known != runs_->end() && (*known)->id == id ? *known : nullptr;
}

void AcceptanceService::store_again() {
  for (const AcceptancePtr& run : *runs_)
    if (!writing_.contains(run->id)) save(run, nullptr);
}

void AcceptanceService::stop() {
  stopped_ = true;
  for (auto& [id, callback] : std::exchange(writing_, {}))
    if (callback) callback(stopping());
}

}  // namespace weft::daemon
