// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where plans meet the world: what the book of plans decides is written down first, then carried out, then answered.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/remedy/plan_manager.hpp"
#include "api/publication/commands.hpp"
#include "daemon/adapters/actuate/actuator.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/write_behind.hpp"
#include "daemon/programs/weftd/act_gate.hpp"
#include "daemon/programs/weftd/audit_reads.hpp"
#include "daemon/programs/weftd/hands_off_file.hpp"
#include "fabric/acting_weftds.hpp"
#include "fabric/clock.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/snapshot.hpp"

namespace weft::daemon {

/// What a RemedyController works with.
struct RemedyControllerOptions {
  analyzer::RemedySettings settings;
  std::vector<std::unique_ptr<actuate::Actuator>> actuators;
  std::string own_host{};                ///< as analyzer::RemedyView
  ClockMemory clock{};                   ///< of the process before
  std::string boot{};                    ///< as of analyzer::ClockSteps::resume()
  std::filesystem::path hands_off_file;  ///< while it exists nothing is done; empty: there is none
  HandsOffFile::Probe hands_off_probe = probe_hands_off_file;  ///< takes the looks at it
  Duration hands_off_patience = std::chrono::seconds(2);       ///< after which a look counts as "it stops"
  std::size_t lane_capacity = 64;                              ///< orders that wait for one actuator
  /// The right to act now, by the lease, or why there is none; does not block. None: this weftd always may.
  std::function<Result<ActPermit>()> permit{};
  /// The same, asked of the database at that moment. Asked on the actuators' lanes, directly before each act, and may
  /// block there for some seconds. None: as `permit`.
  std::function<Result<ActPermit>()> confirm{};
  /// Is told each TargetReading::epoch, on the actuators' lanes, before anything is decided by that reading.
  std::function<void(std::int64_t)> saw_epoch{};
  /// Nothing is asked of actuators for so long at first: orders of a weftd that led before may still be on their way.
  Duration patience{};
};

/// All members are called on one thread; `post` brings answers of lanes back to it. At most one batch is on its way to
/// the disk, and an actuator is asked only for what is on it. Each actuator has a lane of its own, on which orders of
/// plans that roll back go first. Directly before an actuator changes something the file and the gate are asked; what
/// they stop goes back to its plan.
class RemedyController {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// As of api::RemedyCommands.
  using PlanCallback = api::RemedyCommands::PlanCallback;
  /// As of api::RemedyCommands.
  using StatusCallback = api::RemedyCommands::StatusCallback;
  /// As of api::RemedyCommands.
  using AuditCallback = api::RemedyCommands::AuditCallback;

  RemedyController(RemedyControllerOptions options, const RemedyMemory& restored, store::Store& store,
                   runtime::Lane& store_lane, const Clock& clock, Post post);

  ~RemedyController() { stop_lanes(); }

  /// Another weftd leads from the beginning: call it before the first picture. Plans are shown; none is judged, and no
  /// actuator is asked.
  void stand_by();
  /// What the leader has stored since, to be shown by a standby.
  void follow(const RemedyMemory& ledger);
  /// This weftd leads from now on, and goes on with `ledger` as a new one would: what may have been sent is read first,
  /// after `patience` (RemedyControllerOptions::patience).
  void lead(const RemedyMemory& ledger, const ClockMemory& clock, Duration patience);
  /// The database lost what it had confirmed: all plans are stored once more, with a record of that.
  void store_again();

  /// Something changed that a snapshot should show.
  void set_on_news(std::function<void()> on_news) { on_news_ = std::move(on_news); }

  /// The picture that is about to be published: plans are judged by it, and those that are on disk become part of it.
  /// `last_evidence` as of the book of incidents.
  void complete(Snapshot& snapshot, std::vector<std::pair<std::uint64_t, TimePoint>> last_evidence);
  /// Time passes: the file is looked at, what could not be written is tried again.
  void tick();
  /// What the subnet administrator tells of `fabric`: another weftd there trips the breaker.
  void take_acting(const std::string& fabric, const ActingWeftds& acting, const Topology& topology);
  /// `fabric` is watched no more: what was told of it holds nothing.
  void forget_acting(const std::string& fabric);
  /// A plan holds a link of `fabric`, may hold one, is changing one or is approved to: without sweeps of a fabric of
  /// that name it can neither read it nor bring it back.
  bool changes_links_of(const std::string& fabric) const;
  /// A plan is changing the world, or undoes a change.
  bool is_changing() const;
  /// Windows of the links that our plans hold, by what is on disk: that those are down is expected.
  MaintenanceList windows() const;

  /// Incidents that a plan looks after with success, and the plan (analyzer::is_looked_after()).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> looked_after() const;
  /// "PLAN-7", which holds the host out of service or is under way there, by what is on disk; empty: none.
  std::string plan_of_host(const std::string& host) const;
  /// analyzer::let_go_text(), by what is on disk.
  std::string let_go(const Incident& incident) const;

  // As api::RemedyCommands.
  void approve(std::uint64_t plan, std::uint64_t revision, const std::string& who, PlanCallback callback);
  /// Ends a plan that was not begun.
  void reject(std::uint64_t plan, const std::string& why, const std::string& who, PlanCallback callback);
  /// Ends a plan that is not over, and undoes what is under way.
  void abort(std::uint64_t plan, const std::string& why, const std::string& who, PlanCallback callback);
  /// Ends a plan whose target is back in service, and leaves it so.
  void leave(std::uint64_t plan, const std::string& why, const std::string& who, PlanCallback callback);
  /// Makes a plan for a target that a person names, and approves it; or only tells what it would be.
  void request(const api::RemedyWish& wish, PlanCallback callback);
  /// A person's brake. When `hands_off` is answered, nothing more is sent to an actuator: the status says what was
  /// under way. When it lets go, the file is looked at first: the status says whether that still stops everything.
  void set_hands_off(bool hands_off, const std::string& why, const std::string& who, StatusCallback callback);
  /// Resets the circuit breaker; refused while it is not tripped, and while another weftd may act on a fabric.
  void reset_breaker(const std::string& why, const std::string& who, StatusCallback callback);
  /// The newest `limit` audit records before `before`.
  void audit(std::uint64_t before, std::size_t limit, AuditCallback callback);

  /// The steps of the wall clock, as far as they are noted.
  ClockMemory clock_memory() const { return plans_.clock_memory(); }

  /// The lanes of the actuators and of the file, for their figures.
  std::vector<runtime::Lane*> lanes();
  /// Nothing more is asked of actuators; returns when what is under way has ended. It may still post answers.
  void stop_lanes();
  /// The end: whoever waits gets kUnavailable. Call it when all lanes have stopped and their last answers were posted.
  void stop();

 private:
  struct Batch {
    analyzer::RemedyBatch changes;
    std::shared_ptr<const std::vector<analyzer::PlanPtr>> shown;  ///< when it is on disk
    RemedyStatus status;
    ClockMemory clock;
  };

  /// An actuator and the thread on which it is asked.
  struct Actor {
    std::unique_ptr<actuate::Actuator> actuator;
    std::unique_ptr<runtime::Lane> lane;
    std::optional<Duration> asked{};  ///< when it was last asked what is out of service, on the steady clock
    bool is_asked = false;            ///< and has not answered yet
    std::string trouble{};            ///< why that failed; empty: it did not
  };

  /// A person who waits for the disk, and what is done when that takes too long.
  struct Impatient {
    Duration until;  ///< on the steady clock
    std::function<bool()> is_answered;
    std::function<void()> give_up;
  };

  /// One end of a link, as a person named it.
  struct LinkEnd {
    Entity link;
    PortKey end;
    const FabricView* fabric;  ///< of seen_
  };

  analyzer::RemedyView view() const;
  void check_lists();
  void work();
  void save();
  Result<void> write(const Batch& batch);
  void saved(Batch batch, const runtime::WriteOutcome& outcome);
  void wait_for_late_orders(Duration patience);
  void carry_out_waiting();
  void carry_out(const RemedyOrder& order);
  void ask(actuate::Actuator& actuator, const RemedyOrder& order);
  void look_at_file(std::function<void()> then);
  void take(const HandsOffFile::Look& look);
  void tell_gate();
  void resume_clock(const ClockMemory& before);
  void keep_clock();
  /// On the lane of the store.
  Result<void> write_clock(const ClockMemory& clock);
  bool must_tell(const Actor& actor) const;
  void take_out_of_service(const std::string& actuator, EntityKind kind, actuate::OutOfService out,
                           std::optional<Duration> told);
  void expect_to_be_told();
  void take_sign(const std::string& fabric, ManagerSign sign);
  void read_what_is_out();
  void read_anew(const std::string& actuator);
  void count(const analyzer::RemedyBatch& batch);
  void settle(Result<Plan> plan, PlanCallback callback);
  void answer_when_saved(StatusCallback callback, const std::string& unsaved,
                         std::vector<OrderUnderWay> under_way = {});
  template <typename Answer>
  std::function<bool(Result<Answer>)> answer_in_time(std::function<void(Result<Answer>)> callback,
                                                     const std::string& unsaved, const std::function<void()>& given_up);
  void answer_the_impatient();
  RemedyStatus status_now() const;
  Result<Entity> find_target(RemedyAction action, const std::string& text);
  Result<Entity> find_link(const std::string& text) const;
  const Entity* find_held(const std::string& text) const;
  Result<LinkEnd> find_end(const std::string& text) const;
  Result<LinkEnd> find_written_end(const std::string& text) const;

  analyzer::PlanManager plans_;
  std::string own_host_;
  bool asks_managers_;  ///< weftd may act here: what its subnet managers do not tell is not known to be well
  HandsOffFile hands_off_file_;
  std::uint64_t looks_taken_ = 0;  ///< number of the newest look at the file
  bool looking_ = false;           ///< a look of tick() is on its way
  ActGate gate_;
  std::function<Result<ActPermit>()> permit_, confirm_;
  std::function<void(std::int64_t)> saw_epoch_;
  Duration orders_from_{};            ///< on the steady clock
  std::vector<RemedyOrder> waiting_;  ///< for that; one of each plan at most
  store::Store& store_;
  runtime::Lane& store_lane_;
  const Clock& clock_;
  std::string boot_;
  Post post_;
  std::function<void()> on_news_;

  std::optional<Duration> clock_kept_;                        ///< when, on the steady clock
  std::optional<std::vector<ClockStep>> steps_on_disk_;       ///< of the clock; used on the lane of the store
  std::map<std::string, ActingWeftds> acting_;                ///< by fabric, as last told
  std::map<std::string, ManagerSign, std::less<>> managers_;  ///< by fabric
  std::map<std::string, TimePoint> silent_since_;             ///< of those that are silent
  Snapshot seen_;                                             ///< the last picture
  std::vector<std::pair<std::uint64_t, TimePoint>> last_evidence_;
  bool has_seen_ = false;
  std::vector<Impatient> impatient_;
  std::optional<Duration> unsaved_told_;  ///< when it was last said that plans cannot be stored
  TimePoint known_since_ = kNever;        ///< every fabric was swept once
  bool are_lists_checked_ = false;
  runtime::WriteBehind<Batch> writes_;
  AuditReads audit_reads_;
  bool stopped_ = false;
  bool leads_ = true;
  std::map<std::uint64_t, PlanState> states_;  ///< of plans that are not over, as counted
  PlansEnded ended_{};
  std::shared_ptr<const std::vector<analyzer::PlanPtr>> shown_;
  RemedyStatus status_;  ///< as on disk, with the brakes that were set since
  std::atomic<bool> lanes_stop_ = false;
  runtime::Lane file_lane_;
  std::map<std::string, Actor> actors_;  ///< last: their threads use all the rest
};

}  // namespace weft::daemon
