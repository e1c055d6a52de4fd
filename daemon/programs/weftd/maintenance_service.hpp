// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planned work: what users announce, kept on disk before it counts. One thread owns it.

#include <functional>
#include <map>
#include <string>

#include "api/publication/commands.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/write_behind.hpp"
#include "fabric/maintenance.hpp"

namespace weft::daemon {

/// Adds and ends windows. One that is being written does not count yet, but takes its place; when the disk refuses,
/// nothing has changed. Bounded by config::Maintenance.
class MaintenanceService {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// Takes the window after the change, or why there was none.
  using Callback = api::Commands::MaintenanceCallback;

  /// `known` of the store; over ones are forgotten `retention` after their end (the store keeps them longer).
  /// `changed` is called when windows() has changed, before whoever asked is told.
  MaintenanceService(const config::Maintenance& limits, Duration retention, MaintenanceList known, IdSeries ids,
                     store::Store& store, runtime::Lane& store_lane, const Clock& clock, Post post,
                     std::function<void()> changed);

  /// What the ledger holds takes the place of what was known; `changed` is not called.
  void restore(MaintenanceList known, IdSeries ids);
  /// See api::Commands::add_maintenance().
  void add(MaintenanceWindow window, Callback callback);
  /// See api::Commands::end_maintenance().
  void end(std::uint64_t id, std::string who, Callback callback);
  /// Time passes: windows that are over for long are forgotten.
  void tick();
  /// Whose change has not reached the disk, and who comes later, gets kUnavailable.
  void stop();

  /// Ascending by id, never null; the same list as before when nothing changed.
  const MaintenanceListPtr& windows() const { return windows_; }

 private:
  Result<void> check(MaintenanceWindow& window, TimePoint now) const;
  void save(MaintenanceWindow window, Callback callback);
  void saved(const MaintenanceWindow& window, const runtime::WriteOutcome& outcome);

  const config::Maintenance& limits_;
  Duration retention_;
  MaintenanceListPtr windows_;
  IdSeries ids_;
  const Clock& clock_;
  std::function<void()> changed_;
  runtime::WriteBehind<MaintenanceWindow> writes_;
  std::map<std::uint64_t, Callback> writing_;  ///< by window: at most one change of each is on its way
  bool stopped_ = false;
};

}  // namespace weft::daemon
