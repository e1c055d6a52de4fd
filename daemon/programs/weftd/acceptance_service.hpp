// SPDX-License-Identifier: Apache-2.0
#pragma once
// Acceptances: runs that people start, kept on disk before they count, watched sweep after sweep and judged. One thread
// owns it.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/acceptance/acceptance.hpp"
#include "analyzer/acceptance/acceptance_watch.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/write_behind.hpp"
#include "fabric/acceptance.hpp"
#include "fabric/clock.hpp"
#include "fabric/id_series.hpp"

namespace weft::daemon {

/// Runs that are under way at once; further ones are refused.
inline constexpr std::size_t kMostAcceptancesAtOnce = 256;
/// Runs that are over and kept. Fewer, the oldest first, where their reports name more than kMostAcceptanceRows ports
/// and hosts together.
inline constexpr std::size_t kMostAcceptancesKept = 500;
/// See kMostAcceptancesKept.
inline constexpr std::size_t kMostAcceptanceRows = 200'000;

/// Starts, judges and ends runs. A run that is over is never changed. What a port counted is kept in memory alone:
/// after a restart, and with a weftd that begins to lead, readings of runs that are under way begin anew, and last
/// their whole length once more.
class AcceptanceService {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// Takes the run after the change, or why there was none.
  using Callback = api::Commands::AcceptanceCallback;

  /// `known` of the store. What is judged is what `publication` shows. `changed` is called when a run began or ended,
  /// before whoever asked is told. What is passed by reference must outlive it.
  AcceptanceService(const analyzer::Thresholds& thresholds, AcceptanceList known, IdSeries ids, store::Store& store,
                    runtime::Lane& store_lane, const api::Publication& publication, const Clock& clock, Post post,
                    std::function<void()> changed);

  /// What the ledger holds takes the place of what was known; `changed` is not called. Readings of runs that are under
  /// way begin anew with the next tick().
  void restore(AcceptanceList known, IdSeries ids);
  /// See api::Commands::start_acceptance().
  void start(AcceptanceRun run, Callback callback);
  /// See api::Commands::end_acceptance().
  void end(std::uint64_t id, std::string who, Callback callback);
  /// See api::Commands::judge_acceptance().
  void judge(AcceptanceRun run, Callback callback);
  /// A sweep of that fabric arrived. O(ports) for each run that is about it.
  void take_sweep(const FabricView& fabric);
  /// Time passes: one run is judged, and ended where its time is over. Of a weftd that leads, a few times a second.
  void tick();
  /// All that is known, to be stored once more; see Store::save_acceptance().
  void store_again();
  /// Whose change has not reached the disk, and who comes later, gets kUnavailable.
  void stop();

  /// Ascending by id, never null; the same list as before when nothing changed.
  const AcceptanceListPtr& runs() const { return runs_; }

 private:
  using Watches = std::map<std::string, analyzer::AcceptanceWatch>;  ///< by fabric
  /// Which ports of one topology are watched.
  struct Scope {
    std::shared_ptr<const Topology> topology;
    std::vector<PortIndex> ports;
  };
  /// What is kept of a run that is under way.
  struct Live {
    Watches watches;
    std::map<std::string, Scope> scopes;  ///< by fabric
    Duration judged = Duration::min();    ///< when, on the steady clock
  };
  struct Write {
    AcceptancePtr run;
    std::vector<std::uint64_t> forgotten;
  };

  Result<void> check(const AcceptanceRun& run) const;
  void watch(const FabricView& fabric, const AcceptanceRun& run, Live& live) const;
  void begin_anew(const AcceptancePtr& run, TimePoint now);
  void judge_next(TimePoint now);
  std::shared_ptr<const AcceptanceReport> report_of(const AcceptanceRun& run, const Watches& watches, TimePoint now);
  void save(AcceptancePtr run, Callback callback);
  void saved(const Write& write, const runtime::WriteOutcome& outcome);
  void show(const AcceptancePtr& run);
  std::vector<std::uint64_t> forgotten_after(const AcceptanceRun& run) const;
  AcceptancePtr find(std::uint64_t id) const;

  const analyzer::AcceptanceJudge judge_;
  AcceptanceListPtr runs_;
  IdSeries ids_;
  const api::Publication& publication_;
  const Clock& clock_;
  std::function<void()> changed_;
  std::map<std::uint64_t, Live> live_;
  Watches standing_;                           ///< of all ports, since weftd was started
  std::map<std::string, Scope> everything_;    ///< by fabric
  Duration next_judgement_ = Duration::min();  ///< on the steady clock: judging takes a small share of the time only
  Duration next_answer_ = Duration::min();     ///< the same of judge()
  runtime::WriteBehind<Write> writes_;
  std::map<std::uint64_t, Callback> writing_;  ///< by run: at most one change of each is on its way
  bool stopped_ = false;
};

}  // namespace weft::daemon
