// SPDX-License-Identifier: Apache-2.0
#pragma once
// All rules over what collectors tell. One object for all hosts; not thread-safe, and needs no thread.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/advice/part_advisor.hpp"
#include "analyzer/congestion/host_signals.hpp"
#include "analyzer/congestion/pause_storms.hpp"
#include "analyzer/drift/config_drift.hpp"
#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/hangs/job_hangs.hpp"
#include "analyzer/host_silence.hpp"
#include "analyzer/incidents/mass_alarms.hpp"
#include "analyzer/links/host_links.hpp"
#include "analyzer/links/host_outages.hpp"
#include "analyzer/links/host_trends.hpp"
#include "analyzer/links/job_flaps.hpp"
#include "analyzer/loss/host_losses.hpp"
#include "analyzer/parts/host_parts.hpp"
#include "analyzer/ports/host_stalls.hpp"
#include "analyzer/ports/known_subnet.hpp"
#include "analyzer/rdma/job_troubles.hpp"
#include "analyzer/rdma/rdma_errors.hpp"
#include "analyzer/stragglers/host_stragglers.hpp"

namespace weft::analyzer {

/// Findings against collectors and ports that only a collector sees belong to no subnet: their fabric is this.
inline constexpr std::string_view kHostsFabric{};

/// A host's port that is also a port of a watched subnet (joined by its port GUID, on Ethernet by the names of its host
/// and interface) is that port: findings name it as the subnet does, and its LINK_DOWN is told at once here and carried
/// on by the sweeps, as one incident.
class HostAnalyzer {
 public:
  /// `now`: when we began to listen.
  HostAnalyzer(const Thresholds& thresholds, TimePoint now);

  /// An incident that was open when the process before ended: its port was up once, its host may still be down.
  void remember(const Incident& incident);
  /// What flaps() said of `host` in the process before.
  void restore(const std::string& host, std::span<const HostFlapState> flaps);
  /// What ports_seen() said of `host` in the process before: those that are down now are missed.
  void restore_ports(const std::string& host, std::span<const HostPortSeen> seen);
  /// InfiniBand subnets that are shown, again whenever others are shown or swept: what a port that no sweep finds any
  /// more is called.
  void set_known(std::vector<KnownSubnet> subnets);
  /// What subnets are watched, again whenever they have changed or were swept.
  void join(std::span<const FabricView> fabrics);

  /// The windows of planned work, from now on: what ports do meanwhile counts as no flap.
  void set_maintenance_windows(MaintenanceListPtr windows) { windows_ = std::move(windows); }

  /// Collectors may leave at `now` because of weftd itself, which cannot store what they tell: their silence is no
  /// news.
  void excuse_silence(TimePoint now) { silence_.excuse(now); }
  /// The collector of `host` was heard.
  void hear(const std::string& host, Duration interval, TimePoint now);
  /// Another shard hears the collector of `host`, which is not heard here; `ports` of it are up.
  void hear_elsewhere(const std::string& host, const std::string& shard, PortsThere ports, TimePoint now);
  /// Whether collectors that fall silent here may report to another shard: it is asked before their host is down.
  void set_others(bool has_others) { outages_.set_others(has_others); }
  /// Whether sweeps do not go on to tell of `cause`, of a fabric, without the collector of `host`: on Ethernet
  /// collectors are the sweep. True also of a fabric that was not swept yet.
  bool is_told_by(const std::string& host, const Entity& cause) const;
  /// `host` is known from before, and was last heard then; `jobs` held it.
  void expect(const std::string& host, TimePoint heard, std::vector<std::string> jobs = {});
  /// Removes the host with all that is remembered of it.
  void forget(const std::string& host);
  /// A batch of a host, in its order. True when flap penalties grew.
  bool take(const std::string& host, const HostBatch& batch);
  /// Flap penalties of the host's ports, to be saved, and handed to restore() by the next process.
  std::vector<HostFlapState> flaps(const std::string& host) const;

  /// Ports of the host that were up, to be saved, and handed to restore_ports() by the next process.
  std::vector<HostPortSeen> ports_seen(const std::string& host) const;
  /// Another number whenever ports_seen() has changed; 0: there was never one.
  std::uint64_t seen_revision(const std::string& host) const;

  /// What is remembered of the modules of hosts' ports: saved, and restored, host by host.
  ModuleMemory& modules() { return advisor_.modules(); }
  const ModuleMemory& modules() const { return advisor_.modules(); }

  /// Its collector was heard since then, and says that that port of a subnet that nobody sweeps now is up; port 0: any
  /// port of the adapter. One that is down may be told by nobody: it was never up, or somebody wants it so. It is its
  /// collector where the two have names of one host (same_host()); where no host named the adapter, any that has it.
  bool is_up_without_sweeps(PortKey port, TimePoint since = kNever) const;

  /// True when news() has something to report.
  bool has_news() const { return !news_.empty(); }
  /// What events have told since the last call, to be shown at once. It resolves nothing.
  std::vector<Finding> news(TimePoint now);
  /// Everything that is wrong now. Call it about once a second.
  Analysis judge(TimePoint now);

  /// How the site wants settings of ports; null: it does not say. Before the first reading.
  void set_profiles(std::shared_ptr<const SettingProfiles> profiles) { drift_.set_profiles(std::move(profiles)); }
  /// How configurations differ, as of the last judge(); null before.
  const std::shared_ptr<const DriftReport>& drift() const { return drift_.report(); }

  /// What hosts tell of marks at ports of the Ethernet fabric `fabric`, for FabricAnalyzer::analyze().
  std::vector<MarkedPort> marks(std::string_view fabric, TimePoint now) const;

  /// Adds what hosts know to the findings of `fabric`: the jobs of all hosts that one blames or affects, of a
  /// SLOW_RECEIVER whether its host stalls, and of what makes a host slow that it is a straggler, which is then no
  /// trouble of its own; and PFC_STORM of ports whose devices say so. A single flap is taken out where no job ran. And
  /// heeds them: what is lost on a link with errors is not lost silently, and transfers that an outage made fail are
  /// its doing.
  void complete(std::string_view fabric, std::vector<Finding>& findings, TimePoint now);
  /// Says in the findings of `fabric` which part of a link in trouble to touch first. `cases`: as its sweep has them.
  void advise(std::string_view fabric, std::vector<LinkCase> cases, std::vector<Finding>& findings, TimePoint now) {
    advisor_.learn(fabric, std::move(cases));
    advise(findings, now);
  }

 private:
  struct Subnet {
    std::string name;
    std::shared_ptr<const Topology> topology;
    bool is_blind = false;
  };

  /// The host, or null. Each reading of each host asks.
  HostWatch* find_host(std::string_view name);
  const HostWatch* find_host(std::string_view name) const;
  /// The host, a new one if it is not known.
  HostWatch& add_host(const std::string& name);
  void follow(HostWatch& host);
  bool take_reading(HostWatch& host, const HostReading& reading, bool is_late);
  bool is_missed_from(const HostWatch& host, TimePoint at) const;
  void rearrange(std::vector<Subnet> subnets);
  void place(HostWatch& host);
  /// What the fabric calls the host of an adapter, or called it; empty: not known, or nobody named it.
  std::string name_on_fabric(NodeGuid adapter) const;
  void claim(NodeGuid adapter, const std::string& host);
  bool find_place(const HostWatch& host, const PortWatch& port, std::pair<std::uint32_t, PortIndex>& place) const;
  /// Where `port` stood, which has no place any more; `was`: its place until now.
  std::optional<PlaceBefore> place_before(const PortWatch& port, const std::optional<SubnetPlace>& was) const;
  std::optional<Entity> known_link(const PortWatch& port) const;
  void mark_exempt(HostWatch& host, TimePoint at) const;
  void advise(std::vector<Finding>& findings, TimePoint now) {
    advisor_.advise(
        hosts_, [this](NodeGuid node) { return host_at(node); }, findings, now);
  }
  void add_jobs(std::vector<Finding>& findings) const;
  /// Of a host that is down, or has lost a link, and whose collector lately said that no job runs there, that.
  void note_idle(std::vector<Finding>& findings, TimePoint now) const;
  bool observed(IncidentKind kind, const Entity& cause, TimePoint now) const;
  /// Whether another shard has seen that the trouble of that host and port is over, or tells it itself. Errors that go
  /// on it finds itself; of a port that is down it may not know that it was up. A port is known by its GUID, its device
  /// may have got another name.
  bool is_over_elsewhere(IncidentKind kind, const HostWatch& host, const Entity& cause, TimePoint now) const;
  /// Whoever told of it, on a fabric, has no collector any more.
  bool is_forgotten(const Entity& cause) const;
  /// The same on an Ethernet fabric, where whoever has the interface told of it.
  bool is_forgotten_on_ethernet(IncidentKind kind, const Entity& cause) const;
  /// Is it an Ethernet fabric that is watched? Of its links, their rate and their light collectors tell.
  bool is_ethernet(std::string_view fabric) const;
  bool is_of_a_switch(const SubnetPlace& place) const;
  const HostWatch* host_at(NodeGuid node) const;
  const HostWatch* host_in(const std::unordered_map<NodeGuid, std::string>& names, NodeGuid node) const;

  Thresholds thresholds_;
  Hosts hosts_;
  std::unordered_map<std::string_view, HostWatch*> by_name_;  ///< all of hosts_
  PortSlots slots_;                                           ///< of the ports of all hosts
  HostMovement movement_;                                     ///< of the reading that is being taken
  MaintenanceListPtr windows_;
  std::vector<std::string> news_;  ///< hosts with ports that have something to tell
  HostSilence silence_;
  HostLinks links_;
  HostOutages outages_;
  HostTrends trends_;
  HostStalls stalls_;
  HostSignals signals_;
  PauseStorms pause_storms_;
  RdmaErrors rdma_errors_;
  HostLosses losses_;
  HostStragglers stragglers_;
  JobFlaps job_flaps_;
  JobTroubles job_troubles_;
  MassAlarms mass_;
  ConfigDrift drift_;
  PartAdvisor advisor_;
  HostParts parts_;
  JobHangs hangs_;

  std::vector<Subnet> subnets_;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, PortIndex>> by_port_guid_;  ///< subnet, port
  /// The same of Ethernet fabrics, by "HOST INTERFACE".
  std::unordered_map<std::string, std::pair<std::uint32_t, PortIndex>> by_interface_;
  std::unordered_map<NodeGuid, std::string> host_of_node_;
  std::unordered_map<NodeGuid, std::string> held_before_;  ///< the same before the last join()
  /// The same of hosts that were down when the process before ended: they have not said yet which ports they have.
  std::unordered_map<NodeGuid, std::string> down_before_;
  std::vector<KnownSubnet> known_;
  std::map<PortKey, std::pair<std::uint32_t, std::uint32_t>> known_ports_;  ///< of known_: subnet, link
};

}  // namespace weft::analyzer
