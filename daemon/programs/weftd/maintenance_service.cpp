// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/maintenance_service.hpp"

#include <algorithm>
#include <utility>

#include "daemon/config/value_text.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/log_texts.hpp"

namespace weft::daemon {
namespace {

constexpr std::size_t kLongestReason = 512;  ///< bytes
/// Who plans further ahead has mistyped the year.
constexpr Duration kFurthestAhead = std::chrono::hours(366 * 24);

}  // namespace

MaintenanceService::MaintenanceService(const config::Maintenance& limits, Duration retention, MaintenanceList known,
                                       IdSeries ids, store::Store& store, runtime::Lane& store_lane, const Clock& clock,
                                       Post post, std::function<void()> changed)
    : limits_(limits),
      retention_(retention),
      clock_(clock),
      changed_(std::move(changed)),
      writes_(
          store_lane, std::move(post),
          [&store](const MaintenanceWindow& window) { return store.save_maintenance(window); },
          [this](const MaintenanceWindow& window, const runtime::WriteOutcome& outcome) { saved(window, outcome); }) {
  restore(std::move(known), ids);
}

void MaintenanceService::restore(MaintenanceList known, IdSeries ids) {
  ids_ = ids;
  std::ranges::sort(known, {}, &MaintenanceWindow::id);
  if (!known.empty()) ids_.skip(known.back().id);
  windows_ = std::make_shared<const MaintenanceList>(std::move(known));
}

Result<void> MaintenanceService::check(MaintenanceWindow& window, TimePoint now) const {
  const auto refuse = [](const std::string& why) { return fail(ErrorCode::kInvalidArgument, why); };
  if (window.reason.find_first_not_of(' ') == std::string::npos) return refuse("a maintenance window needs a reason");
  if (window.reason.size() > kLongestReason)
    return refuse("the reason is longer than " + std::to_string(kLongestReason) + " bytes");
  if (std::ranges::any_of(window.reason, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    return refuse("the reason contains control characters: use one line of text");
  if (window.until <= now) return refuse("the maintenance window has already ended");
  if (window.from - now > kFurthestAhead) return refuse("a maintenance window must begin within a year");
  window.from = std::max(window.from, now);
  if (window.until - window.from > limits_.longest)
    return refuse("a maintenance window lasts at most " + config::format_duration(limits_.longest) +
                  " (maintenance.longest): add a second window");
  const auto waiting = std::ranges::count_if(
      *windows_, [now](const MaintenanceWindow& known) { return state_at(known, now) != MaintenanceState::kOver; });
  if (static_cast<std::size_t>(waiting) + writing_.size() >= limits_.max_windows)
    return fail(ErrorCode::kResourceExhausted, "there are " + std::to_string(limits_.max_windows) +
                                                   " maintenance windows already (maintenance.max_windows)");
  return {};
}

void MaintenanceService::add(MaintenanceWindow window, Callback callback) {
  if (stopped_) return callback(stopping());
  const TimePoint now = clock_.now();
  if (auto good = check(window, now); !good) return callback(tl::unexpected(good.error()));
  window.id = ids_.take();
  window.added = now;
  window.ended = kNever;
  window.ended_by.clear();
  save(std::move(window), std::move(callback));
}

void MaintenanceService::end(std::uint64_t id, std::string who, Callback callback) {
  if (stopped_) return callback(stopping());
  const TimePoint now = clock_.now();
  const auto known = std::ranges::find(*windows_, id, &MaintenanceWindow::id);
  if (known == windows_->end())
    return callback(fail(ErrorCode::kNotFound, "no maintenance window " + maintenance_name(id)));
  if (state_at(*known, now) == MaintenanceState::kOver)
    return callback(fail(ErrorCode::kFailedPrecondition, maintenance_name(id) + " has already ended"));
  if (writing_.contains(id))
    return callback(fail(ErrorCode::kFailedPrecondition, maintenance_name(id) + " is already being ended"));
  MaintenanceWindow window = *known;
  window.ended = now;
  window.ended_by = std::move(who);
  save(std::move(window), std::move(callback));
}

void MaintenanceService::save(MaintenanceWindow window, Callback callback) {
  const std::uint64_t id = window.id;
  writing_[id] = std::move(callback);
  if (!writes_.write(std::move(window))) return;
  const Callback told = std::move(writing_.extract(id).mapped());
  told(fail(ErrorCode::kUnavailable, "the store is busy: retry"));
}

void MaintenanceService::saved(const MaintenanceWindow& window, const runtime::WriteOutcome& outcome) {
  auto waiting = writing_.extract(window.id);
  if (!outcome) {
    logger("store")->error("{} could not be stored: {}", maintenance_name(window.id), outcome.error.message);
    if (!waiting.empty()) waiting.mapped()(tl::unexpected(outcome.error));
    return;
  }
  logger("incidents")
      ->info("{} {} by {}: {}, {}", maintenance_name(window.id), window.ended == kNever ? "added" : "ended",
             window.ended == kNever ? window.added_by : window.ended_by, window.entity.label, in_words(window));
  MaintenanceList next = *windows_;
  const auto known = std::ranges::lower_bound(next, window.id, {}, &MaintenanceWindow::id);
  if (known != next.end() && known->id == window.id)
    *known = window;
  else
    next.insert(known, window);
  windows_ = std::make_shared<const MaintenanceList>(std::move(next));
  changed_();
  if (!waiting.empty()) waiting.mapped()(window);
}

void MaintenanceService::tick() {
  const TimePoint now = clock_.now();
  const auto is_forgotten = [&](const MaintenanceWindow& window) {
    return state_at(window, now) == MaintenanceState::kOver && now - end_of(window) > retention_;
  };
  if (!std::ranges::any_of(*windows_, is_forgotten)) return;
  MaintenanceList next = *windows_;
  std::erase_if(next, is_forgotten);
  windows_ = std::make_shared<const MaintenanceList>(std::move(next));
  changed_();
}

void MaintenanceService::stop() {
  stopped_ = true;
  for (auto& [id, callback] : std::exchange(writing_, {})) callback(stopping());
}

}  // namespace weft::daemon
