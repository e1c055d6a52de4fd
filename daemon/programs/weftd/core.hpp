// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of weftd: what every fabric looks like, what is wrong, what is shown. One thread owns it.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "analyzer/places/place_finder.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/write_behind.hpp"
#include "daemon/programs/weftd/acceptance_service.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "daemon/programs/weftd/maintenance_service.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"
#include "fabric/expected_cabling.hpp"
#include "fabric/graph/known_cables.hpp"
#include "fabric/moved_counters.hpp"

namespace weft::daemon {

/// It is watched, and not from behind a port of ours that is down (of such a subnet this host alone is seen), nor with
/// most of its switches out of reach, which makes our own place in it suspect.
bool is_seen(const FabricView& fabric);

/// The switches of that subnet, sorted: all that are known there, or those that can be reached.
std::vector<NodeGuid> switches_of(const Topology& topology, bool must_be_reached);

/// `span` is over since then; also when the clock was set back: better early than not for hours.
bool passed(TimePoint now, TimePoint since, Duration span);

/// Takes sweeps and silences in, has them judged, remembers, and publishes. No incident is shown before it is on disk;
/// when the disk refuses, that is said, incidents are shown all the same and written when it takes them again. All
/// members are called on one thread; `post` brings the store lane's answers back to it. Hosts are the matter of
/// hosts(), which may save when all incidents are on their way to the disk. What is to be done about it all is the
/// matter of `remedies`, which judges each picture before it is published.
class Core {
 public:
  /// Brings a function to the thread that owns the object; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  Core(const config::WeftdConfig& config, store::Store& store, store::Restored restored, runtime::Lane& store_lane,
       RemedyController& remedies, api::Publication& publication, const Clock& clock, Post post);

  /// A subnet that shall be watched: it is shown, as waited for, from now on. `through`: as FabricView::through.
  void add_fabric(const std::string& name, LinkLayer layer = LinkLayer::kInfiniBand, const std::string& through = {});
  /// It is watched through another port already, or not any more.
  void remove_fabric(const std::string& name);
  /// What is expected of the cabling of all InfiniBand subnets, or of the Ethernet fabric, from their next sweeps on.
  void expect(LinkLayer layer, ExpectedCabling expected);
  /// How the site wants settings of ports; null: it does not say. Before the first collector tells.
  void expect(std::shared_ptr<const analyzer::SettingProfiles> profiles);
  /// Links of a fabric that were up, as they were kept when weftd was started or took over.
  std::span<const KnownLink> known_links(const std::string& fabric) const;
  /// A sweep arrived. It is ignored when its fabric is not known.
  void take_sweep(Sweep sweep);
  /// Collectors told something. What their events mean is shown as soon as it is on disk.
  void take_hosts();
  /// Plans on disk changed: they are shown.
  void take_plans();
  /// The fabric cannot be watched now, for this reason; it counts as a silence.
  void take_trouble(const std::string& fabric, const std::string& why);
  /// Time passes: silences are noticed, the store is tended, ages grow. Call it a few times in each sweep interval.
  void tick();
  /// The last sweep of that fabric, or null.
  std::shared_ptr<const Sweep> last_sweep(const std::string& fabric) const;
  /// False before the fabric's first sweep, and while its sweeps do not arrive.
  bool is_watching(const std::string& fabric) const;
  /// An incident that is not resolved has its cause in that fabric, whether it is watched or not.
  bool has_open_incident(const std::string& fabric) const;

  /// See api::Commands.
  void acknowledge(std::uint64_t incident, std::string who, api::Commands::Callback callback);
  /// See api::Commands.
  void silence(std::uint64_t incident, TimePoint until, std::string who, api::Commands::Callback callback);
  /// Hosts with a collector: their streams, and how far each was heard.
  HostSessions& hosts() { return hosts_; }
  /// Announced work; what it explains alarms nobody.
  MaintenanceService& maintenance() { return maintenance_; }
  /// Runs that decide whether hosts, switches and links are fit for jobs.
  AcceptanceService& acceptances() { return acceptances_; }

  /// Another weftd leads from the beginning: call it before the first sweep. Fabrics are watched and judged, and
  /// nothing is opened, resolved or saved.
  void stand_by();
  /// What the leader has stored since, to be shown by a standby.
  void follow(store::Restored ledger);
  /// This weftd leads from now on, and goes on with `ledger` as a new one would; what it knows of fabrics it keeps.
  void lead(store::Restored ledger);
  /// Who leads, to be shown with the next picture; at once when it is another or in another state.
  void show(Leadership leadership);
  /// The InfiniBand subnets that this weftd watches. Ethernet fabrics are none of them: what they are is told to the
  /// weftd that leads, whichever that is.
  std::vector<FabricSight> sights() const;
  /// What the store says of itself is another: it is shown at once.
  void show_store();
  /// The site that this weftd is a part of, to be shown with the next picture; at once when it changed.
  void show(SitePtr site);
  /// Switches that are read by gNMI, to be shown with the next picture.
  void show(std::shared_ptr<const std::vector<SwitchTarget>> targets) { switch_targets_ = std::move(targets); }
  /// Shows why there is no port to monitor a subnet through, as of Snapshot::no_port; empty: there is one.
  void show_no_port(std::string why) { no_port_ = std::move(why); }

  /// The end: commands whose change did not reach the disk, and all later ones, get kUnavailable. Call it when the
  /// store lane has stopped and its last answers were posted.
  void stop();

  /// Time the last analysis took, by fabric, in seconds.
  const std::map<std::string, double>& analysis_seconds() const { return analysis_seconds_; }

 private:
  /// As a revision of what is stored.
  static constexpr std::uint64_t kNothingSaved = ~std::uint64_t{0};

  struct Fabric {
    analyzer::FabricAnalyzer analyzer;
    FabricView view;
    LinkLayer layer;
    KnownCables cables;
    std::string trouble;            // why there are no sweeps; empty while there are
    std::string silence;            // of nodes, as no_answer() has it
    TimePoint last_sweep = kNever;  // when one arrived, or when we began to wait
    std::uint64_t saved_links = 0, saved_history = 0;
    TimePoint nodes_saved = kNever;
    TimePoint baselines_saved = kNever;
    bool tell_differences = true;                           // from what is expected: in the log, once
    std::optional<TableMoves> counter_moves, detail_moves;  // where counters that never moved are left out
    std::vector<NodeGuid> switches{};                       // that were reached in the last graph with any, sorted
    std::vector<NodeGuid> first_switches{};        // that made it this subnet: those known, else the first ones
    LinkKey own_cable{};                           // in that graph
    std::shared_ptr<const Topology> told_apart{};  // see tell_apart()
    std::vector<store::FabricMemory> apart{};      // to be stored before anything is stored of this one
    bool stores_apart = false;                     // the store is asked to
    std::uint64_t apart_changes = 0;               // grows with each change of `apart`
    bool was_seen = false;                         // a sweep told of more than ourselves
  };
  struct Batch {
    std::vector<Incident> incidents;
    std::vector<store::Event> events;
    std::shared_ptr<const analyzer::IncidentList> shown;  ///< when they are with the store
  };

  void take_incidents(store::Restored& ledger);
  void remember_fabrics(std::vector<store::FabricMemory> memories);
  /// Sweeps of what the ledger knows may still be about to begin.
  bool is_beginning(TimePoint now) const;
  /// Nobody has read that subnet for kLongestUnseen.
  bool is_given_up(const store::FabricMemory& memory, TimePoint now) const;
  /// The InfiniBand subnets that are shown, or known, by name and with who tells of them; without their links.
  std::vector<analyzer::KnownSubnet> subnets_seen(TimePoint now) const;
  /// Tells the rules of hosts, and those of health, what they are.
  void tell_swept(TimePoint now);
  /// True: `name` is a subnet already. One that was only known is watched through that port from now on.
  bool is_found(const std::string& name, const std::string& through);
  /// Of a subnet that no sweep told of yet, by the links that the ledger knows there; sorted.
  std::vector<NodeGuid> known_switches(const std::string& fabric) const;
  /// Tells its rules which incidents of that fabric are open.
  void remember_incidents(analyzer::FabricAnalyzer& rules, const std::string& fabric) const;
  /// Rules that know what the ledger and open incidents tell of that fabric.
  analyzer::FabricAnalyzer rules_of(const std::string& name, LinkLayer layer) const;
  /// All other subnets that are swept. Two ports may lead to one subnet: that is no other.
  analyzer::OtherSubnets others(Fabric& fabric);
  /// A port leads to another subnet than the one that is known by this name: that gets a name of its own.
  void tell_apart(Fabric& fabric, const Sweep& sweep, TimePoint now);
  /// The same where this one was swept before the ledger was read; else its rules learn what the leader alone saw.
  void tell_apart_from_ledger(Fabric& fabric);
  void keep_apart(Fabric& fabric, store::FabricMemory memory);
  /// What the subnet of those links is called where another one has its name.
  std::string name_of_kept(const std::string& name, std::span<const KnownLink> links) const;
  /// As sights(), with the switches that were reached last.
  std::vector<FabricSight> reached_subnets() const;
  /// What the ledger knows under another name than `name` is the subnet of those switches: it was kept apart, or no
  /// port of ours has that name, now that all have had time to come up, or that another weftd led, and the switches are
  /// most of it, or are of it where those that `rules` knows are most of it. Null: it knows none.
  bool is_same_subnet(const store::FabricMemory& memory, const std::string& name, std::span<const NodeGuid> switches,
                      const analyzer::FabricAnalyzer* rules) const;
  /// Another fabric that is the same subnet goes on with what is known and open of `gone`. False: there is none.
  bool continue_elsewhere(const Fabric& gone);
  /// What the ledger knows of the subnet of those switches under other names is `name` from now on. False: nothing.
  /// `rules`: of `name`, which know more of it than the ledger; null: they knew another subnet. They are to be renewed.
  bool take_back_kept(const std::string& name, const std::vector<NodeGuid>& switches,
                      const analyzer::FabricAnalyzer* rules);
  /// Rules that know what the ledger tells of that name now.
  void renew_rules(Fabric& fabric);
  /// Switches of lost subnets that are found in `fabric`, with what hangs from them there, are its own from now on.
  void take_along(Fabric& fabric);
  void forget_kept(const std::string& name);
  /// True: nothing of another subnet is to be stored before what is known of this one.
  bool store_apart(Fabric& fabric);
  void call_incidents(const std::string& before, const std::string& since);
  /// Shows subnets that the ledger knows and no port of this host leads to, as fabrics that are not watched.
  void watch_over_known(TimePoint now);
  void look_at_known(TimePoint now);
  void give_up(const std::string& fabric, TimePoint now,
               const char* why = "its subnet is no longer monitored under this name");
  void give_up_what_nobody_watches(TimePoint now);
  void judged(Fabric& fabric, analyzer::Analysis analysis, TimePoint now);
  void judge_hosts(TimePoint now);
  void follow_moves(Fabric& fabric, const Sweep& sweep);
  std::vector<FabricView> views() const;
  void update_incidents(std::string_view fabric, std::vector<Finding> findings, const analyzer::Coverage& coverage,
                        TimePoint now);
  void note(std::vector<Incident> changed, TimePoint now, const std::string& who, const char* what);
  void save();
  void save_hosts();
  void store_again();
  void take_back(Batch batch);
  void saved(Batch batch, const runtime::WriteOutcome& outcome);
  void answer_when_saved(std::uint64_t incident, api::Commands::Callback callback);
  void remember(Fabric& fabric, TimePoint now);
  void set_maintenance_windows();
  void look_after();
  void publish();
  /// Standing by: hosts that only collectors could tell of have that as their reason.
  void explain_sight(std::vector<FabricView>& fabrics) const;
  void explain_standby(std::vector<NodeHealth>& health) const;

  const config::WeftdConfig& config_;
  std::map<LinkLayer, ExpectedCabling> expected_;
  analyzer::PlaceHints place_hints_;
  store::Store& store_;
  runtime::Lane& store_lane_;
  RemedyController& remedies_;
  api::Publication& publication_;
  const Clock& clock_;
  Post post_;
  std::shared_ptr<const analyzer::SettingProfiles> profiles_;
  analyzer::HostAnalyzer host_rules_;
  HostSessions hosts_;
  analyzer::IncidentManager incidents_;
  MaintenanceService maintenance_;
  AcceptanceService acceptances_;
  MaintenanceListPtr planned_;  ///< what was announced, and what our plans hold
  std::map<std::string, store::FabricMemory> memories_;
  std::array<std::uint64_t, static_cast<std::size_t>(IncidentKind::kCount)> opened_before_{};
  std::map<std::string, Fabric> fabrics_;
  std::vector<analyzer::KnownSubnet> known_subnets_;  ///< what tell_swept() told last
  std::set<std::string> unwatched_;                   ///< of fabrics_: see watch_over_known()
  std::map<std::string, double> analysis_seconds_;

  // Incidents on their way to the disk: at most one batch is there, the next one gathers.
  std::map<std::uint64_t, Incident> unsaved_;
  std::vector<store::Event> unsaved_events_;
  runtime::WriteBehind<Batch> writes_;
  bool stopped_ = false;
  bool leads_ = true;
  bool took_over_ = false;  ///< another weftd led before us
  /// Of the store lane: a write of incidents threw, and has not been tried again.
  bool incidents_lost_ = false;
  std::uint64_t losses_ = 0;  ///< of the store, as far as store_again() was called for them
  Leadership leadership_;
  SitePtr site_;  ///< null: none
  std::shared_ptr<const std::vector<SwitchTarget>> switch_targets_;
  std::string no_port_;
  std::shared_ptr<const analyzer::IncidentList> shown_;
  std::uint64_t revision_ = 0;
  TimePoint started_;
  TimePoint maintained_ = kNever;
  TimePoint known_looked_ = kNever;  ///< see watch_over_known()
  bool is_looked_at_ = false;        ///< look_at_known() was called
  TimePoint subnets_told_ = kNever;  ///< see tell_swept()
  TimePoint published_ = kNever;
  TimePoint hosts_judged_ = kNever;
  TimePoint unheld_since_ = kNever;  ///< since when we lead without being sure of it
};

}  // namespace weft::daemon
