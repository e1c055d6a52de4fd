// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftd knows of every host that has a collector, and how far each collector was heard. One thread owns it.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "api/publication/telemetry_sink.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/write_behind.hpp"
#include "fabric/clock_memory.hpp"
#include "fabric/host.hpp"
#include "fabric/moved_counters.hpp"

namespace weft::daemon {

/// All hosts with a collector, sorted by name.
using HostList = std::vector<std::shared_ptr<const HostView>>;

/// Figures of the telemetry that hosts sent.
struct HostFigures {
  std::uint64_t duplicates = 0;  ///< batches that had been taken before, ever
  std::uint64_t held_back = 0;   ///< late batches whose stream had to wait because we were behind, ever
};

/// Takes hellos and batches, counts what is lost, ignores what came before, and acknowledges to a collector only what
/// is on disk. A batch that was taken when weftd died and was not on disk comes again and counts once.
class HostSessions {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// A collector's stream.
  using Stream = api::TelemetrySink::Stream;

  /// `rules` hear what hosts tell; from the store, `known` and the open ones of `incidents` are remembered there.
  /// `may_save` is asked on the store lane before each write; false: what batches led to is not with the store.
  HostSessions(
      const config::Telemetry& config, std::vector<store::CollectorMark> known, std::span<const Incident> incidents,
      analyzer::HostAnalyzer& rules, store::Store& store, runtime::Lane& store_lane, const Clock& clock, Post post,
      std::function<bool()> may_save = [] { return true; });

  // As api::TelemetrySink has them, on the one thread.
  void hello(const Stream& stream, api::CollectorHello hello);
  /// As api::TelemetrySink::batch().
  void batch(const Stream& stream, HostBatch batch, Duration clock_offset);
  /// As api::TelemetrySink::gone().
  void gone(const Stream& stream);

  /// As a standby: how far the leader has heard each collector. All streams are refused; see refuse().
  void follow(std::vector<store::CollectorMark> marks);
  /// As a leader from now on: goes on with these, as a new object would.
  void restore(std::vector<store::CollectorMark> known, std::span<const Incident> incidents);
  /// Hellos are answered with this failure (kUnavailable) from now on; empty: they are heard.
  void refuse(std::string why) { refusal_ = std::move(why); }
  /// Hellos of collectors that belong to another shard are answered with its addresses from now on.
  void show(SitePtr site);

  /// Values that were never other than zero have no series on /metrics from now on; first movements are withheld for
  /// `hold` there.
  void leave_out_zeros(Duration hold) { hold_ = hold; }
  /// We are behind with our work: streams that only tell of the past wait meanwhile.
  void set_behind(bool behind);
  /// What is open of a host, other than that nothing is heard of it, or the plan that holds it: "INC-7", "PLAN-3";
  /// empty: nothing.
  using OpenTrouble = std::function<std::string(const std::string& host)>;
  /// Time passes: collectors fall silent or are forgotten. One that moved to another shard stays as long as there is
  /// trouble, and is heard there: the other shard has not seen how it was before. With trouble it is not forgotten
  /// before each other shard has said that it is not there: no answer is no knowledge. `clock`: how the wall clock was
  /// set; nobody is forgotten because of that.
  void tick(const OpenTrouble& trouble = {}, const ClockMemory& clock = {});
  /// Names of hosts whose collectors are not connected, and not only for a moment: `most` of them, the next ones with
  /// each call.
  std::vector<std::string> lost(std::size_t most);
  /// What another shard says of `asked`, which lost() gave: it knows collectors of `known` of them. Where one is
  /// connected there, with the adapters of the one that was heard here, the host is removed with the next tick(): it
  /// has moved. Where the site says whose collector that of the host is, this counts instead, so that one of another
  /// host of the same name moves nothing.
  void answered(const std::string& shard, std::span<const std::string> asked, std::vector<HeardThere> known);
  /// Writes how far collectors were heard, about once a second, and acknowledges what is written. To be called when all
  /// incidents that batches led to are stored or on the store lane.
  void save();
  /// All hosts, sorted by name; the same list as before when nothing changed. Null while there was never one.
  std::shared_ptr<const HostList> views();
  /// The store may have lost what it had confirmed: jobs and ports of all hosts are written once more with the next
  /// save().
  void store_again();
  /// Streams get kUnavailable; nothing is acknowledged any more.
  void stop();
  /// The figures so far.
  const HostFigures& figures() const { return figures_; }

 private:
  struct Host {
    HostView view;  ///< what is published next; its state is set by tick()
    std::shared_ptr<const HostView> shown;
    Stream stream;  ///< null while there is none
    TimePoint first_seen = kNever;
    std::uint64_t adapters = 0;          ///< of its last reading of now, also before weftd was started; 0: not known
    std::string moved_to;                ///< the shard that hears it, or did; empty: none
    TimePoint heard_elsewhere = kNever;  ///< when that shard was last known to hear it
    TimePoint saved_seen = kNever;       ///< as the store has it: last_seen()
    bool is_in_doubt = false;            ///< it is to be forgotten, when nobody knows it
    std::set<std::string> not_in{};      ///< of these: the shards that said since that it is not there
    bool counted_from = false;           ///< a gap before the next batch is a loss
    bool changed = true;                 ///< `shown` is out of date
    std::optional<HostMoves> moves;
    bool unsaved = false;
    bool flapped = false;            ///< flap penalties of its ports are not saved
    bool has_new_jobs = false;       ///< its jobs are not saved
    std::uint64_t stored_stays = 0;  ///< ModuleMemory::revision() of what is saved
    std::uint64_t stored_ports = 0;  ///< HostAnalyzer::seen_revision() of the ports that are saved
  };
  using Hosts = std::map<std::string, Host>;
  /// After a restart other shards are asked first whether they hear those of which something is open.
  static constexpr Duration kAskOthersFirst = std::chrono::minutes(1);
  struct Batch {
    std::vector<store::CollectorMark> marks;
    std::vector<std::string> forgotten;
  };

  void add(store::CollectorMark mark);
  Host* host_of(const Stream& stream);
  Host* admit(const Stream& stream, const api::CollectorHello& hello, TimePoint now);
  void take(Host& host, HostBatch batch);
  void keep(Host& host, const std::string& open, TimePoint now);
  bool heard_in(const std::string& shard, Host& host, HeardThere& there);
  bool may_forget(Host& host, const std::string& open, TimePoint now);
  static TimePoint last_seen(const Host& host);
  void saved(Batch batch, const runtime::WriteOutcome& outcome);
  static store::CollectorMark mark_of(const Host& host);
  static CollectorState state_of(const Host& host, TimePoint now);

  const config::Telemetry& config_;
  const Clock& clock_;
  analyzer::HostAnalyzer& rules_;
  Hosts hosts_;
  std::unordered_map<const api::CollectorStream*, Hosts::iterator> by_stream_;
  std::vector<Stream> waiting_;         ///< streams with late batches, held back
  std::vector<std::string> forgotten_;  ///< to be deleted from the store
  std::shared_ptr<const HostList> list_;
  bool list_changed_ = false;
  bool behind_ = false;
  runtime::WriteBehind<Batch> writes_;
  TimePoint saved_at_ = kNever;
  TimePoint keep_until_ = kNever;  ///< until then nobody of whom something is open is forgotten
  bool is_save_failing_ = false;   ///< and that is logged
  HostFigures figures_;
  std::string refusal_;     ///< of hellos; empty: none
  SitePtr site_;            ///< null: all collectors are ours
  TimePoint old_ = kNever;  ///< whoever was heard last before that has been silent for forget_after
  std::optional<Duration> hold_;
  std::string last_lost_;  ///< of the names that lost() gave last
};

}  // namespace weft::daemon
