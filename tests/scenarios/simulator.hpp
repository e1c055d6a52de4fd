// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a scenario in simulated time and reads it, sweep by sweep, as weft-sweeper would; on Ethernet sweeps are put
// together from what collectors read, as weftd does it. Pure: equal scenarios give equal sweeps.

#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "analyzer/ports/ethernet_fabric.hpp"
#include "fabric/routes.hpp"
#include "fabric/sweep.hpp"
#include "tests/scenarios/actions.hpp"
#include "tests/scenarios/collectors.hpp"
#include "tests/scenarios/corrections.hpp"
#include "tests/scenarios/harm.hpp"
#include "tests/scenarios/registers.hpp"
#include "tests/scenarios/subnet_manager.hpp"
#include "tests/scenarios/traffic.hpp"
#include "tests/scenarios/wire_speeds.hpp"

namespace weft::scenarios {

/// The name of the simulated subnet.
inline constexpr const char* kFabricName = "simulated";

/// One beat of the watcher: a sweep, or the lack of one.
struct Tick {
  std::optional<Sweep> sweep;
  std::vector<Delivery> heard;  ///< of collectors since the beat before, in the order of hearing
  TimePoint now = kNever;       ///< by the watcher's clock, which may have been set
  double at = 0;                ///< seconds since the scenario began
};

class Simulator {
 public:
  /// `plan` is the scenario's own, and outlives the simulator.
  Simulator(const Scenario& scenario, const Plan& plan);

  /// The next beat; false when the scenario is over.
  bool next(Tick& tick);

  /// The installation as it should be; null on Ethernet, whose cables are known from their plan.
  std::shared_ptr<const Topology> expected() const { return expected_; }
  /// Cabled ports that are watched.
  std::size_t cabled_ports() const { return cabled_; }
  /// Between two readings of a host by its collector.
  Duration collector_interval() const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(collectors_.interval()));
  }
  // For tests: what is true now.
  const Loads& loads() { return traffic_.loads(); }
  const std::vector<Port>& ports() const { return ports_; }
  Registers& registers() { return registers_; }
  bool is_powered(NodeIndex node) const { return powered_[node] != 0; }
  /// What the port's counters say at the end of the beat, into its row of a sweep's table: a sweep reads node after
  /// node. What stands still, or says anything, stays as the table has it.
  void read_now(PortIndex port, SampleTable& table) const {
    if (!frozen_[port] && !mad_[port]) registers_.read(port, now_, table);
  }
  /// Who really held up whom so far.
  const HarmLedger& harm() const { return harm_; }
  /// When members of collectives began, and when the collectors read.
  const CollectiveStarts& beginnings() const { return traffic_.beginnings(); }
  /// In how many of its iterations was it to be seen that `endpoint` was late? See CollectiveStarts.
  unsigned visible_delays(std::uint32_t endpoint, double from, double to) const;

 private:
  struct Later {
    bool operator()(const Action& a, const Action& b) const { return a.at > b.at; }
  };
  struct ErrorSource {
    PortIndex port;
    double rate;    ///< errors per bit
    double growth;  ///< decades per minute
    double since;   ///< seconds
  };

  void advance(double to);
  void apply(const Action& action);
  void schedule(double at, ActionKind kind, std::uint32_t a, double value = 0);
  void cut(PortIndex port);
  void join(PortIndex port, double activation);
  void activate(PortIndex port);
  /// The subnet manager makes its next step.
  void manage();
  void power(NodeIndex node, bool on);
  void swap_cables(PortIndex a, PortIndex b);
  bool carries(PortIndex port) const;
  double rate_of(PortIndex port) const;
  void reroute();
  void publish_routes(const ForwardingTables& tables);
  /// The circle of a deadlock lies on these ways: what OpenSM's updn never does.
  void bend_into_circle(ForwardingTables& tables) const;
  void update_capacity();
  void update_rates();
  /// What the flows send and what arrives of it; the hosts at their ends notice what does not.
  void let_flow(const Loads& loads);
  /// Of what the port sends, so many packets were lost just now: the ends of a flow through it notice.
  void lose_packets(PortIndex sender, std::uint64_t packets);
  void read_hosts(double until);
  /// Packets that a receiver counts out of order for one that a flow of that rate (bits per second) lost.
  double late_packets(double rate) const;
  /// What full links have dropped in that time.
  void make_drops(double seconds);
  /// What members of collectives that began by `until` send before they wait for the others.
  void begin_sends(double until);
  void update_reachable();
  /// Nodes that can be reached from here over links for which `passes` says yes.
  template <typename Passes>
  void reach(const Passes& passes, std::vector<std::uint8_t>& reached) const;
  /// Does a request routed by LID reach the node, as the tables are now? Only a slow subnet manager lets it fail.
  bool is_routed(NodeIndex node) const;
  /// What the readings say of which nodes can be reached, as weft-sweeper concludes it.
  void look_for_ways();

  void make_errors(double now);
  void make_noise(double now);
  void hurt(PortIndex port, std::uint64_t symbols);
  Sweep read(double start);
  /// What weftd has heard of the collectors by now, and puts together.
  Sweep put_together(const std::vector<Delivery>& heard);
  void watch_ethernet();
  /// From now on sweeps have the speeds that the decoder makes of a PortInfo.
  void read_speeds_from_wire();
  float tick_of(PortIndex port) const;
  SpeedMask speed_read(SpeedMask active) const;
  void read_node(NodeIndex node, double now);
  TimePoint wall(double at) const;

  const Scenario& scenario_;
  const Plan& plan_;
  Random random_;
  std::vector<Port> ports_;                                ///< the truth; `peer` is the cable
  std::vector<std::uint8_t> powered_, muted_, reachable_;  ///< by node
  std::vector<std::uint8_t> frozen_, mad_;                 ///< by port
  std::vector<std::uint8_t> blocked_;   ///< by port: its host takes nothing; 2: and packets for it wait
  std::vector<float> lost_on_cable_;    ///< by sending port, share
  std::vector<float> lost_in_switch_;   ///< by node, share
  bool lossy_ = false;                  ///< any of the two
  std::vector<double> sent_, arrived_;  ///< by sending port, bits per second
  std::vector<double> drop_rates_;      ///< by sending port: packets per second that it drops because it is full
  std::vector<double> tick_bytes_;      ///< by node: bytes of line time in a tick
  std::vector<ErrorSource> error_sources_;
  std::vector<double> healthy_errors_;  ///< by port: running sum of errors per second that a healthy link makes
  Registers registers_;
  HarmLedger harm_;
  Traffic traffic_;
  Collectors collectors_;
  Corrections corrections_;
  bool reads_corrections_ = false;  ///< in this sweep
  Random losses_;                   ///< whose packets are lost; apart, so that what the hosts tell changes no sweep
  std::shared_ptr<Capacity> capacity_;
  std::priority_queue<Action, std::vector<Action>, Later> actions_;
  double now_ = 0;
  double next_change_ = 0;
  double errors_made_ = 0;
  double noise_made_ = 0;
  bool states_moved_ = false;
  bool reroute_planned_ = false;
  bool stopped_ = false;
  double clock_ = 0;  ///< seconds by which the watcher's clock was set

  std::vector<Node> seen_nodes_;
  std::vector<Port> seen_;  ///< as last read
  bool seen_changed_ = true;
  std::vector<std::pair<PortIndex, PortIndex>> new_cables_;
  SampleTable readings_ = SampleTable::of_group(CounterGroup::kEverySweep, 0);
  std::vector<std::uint64_t> changes_read_;  ///< by port, see Registers::read_on()
  std::vector<TimePoint> state_read_at_;
  std::vector<std::vector<double>> swept_at_;  ///< by endpoint, seconds; empty where no fault asks for it
  std::shared_ptr<const Topology> topology_, expected_;
  std::optional<analyzer::EthernetFabric> ethernet_;
  std::map<std::string, std::shared_ptr<HostView>, std::less<>> views_;  ///< of collectors, as weftd has them
  RouteTables route_book_{1};
  std::shared_ptr<const Routes> routes_;
  PortIndex local_ = 0;
  PortIndex master_ = 0;  ///< where the subnet manager runs
  SubnetManager manager_;
  std::map<SpeedMask, WireSpeeds> wire_speeds_;  ///< by active speed: what sweeps read; empty where that is the same
  std::vector<PortIndex> discovered_;            ///< links that it knows and will activate
  std::vector<std::uint8_t> routed_;  ///< by node: reached by LID; only kept while the subnet manager is slow
  std::uint64_t sweeps_ = 0;
  double next_sweep_ = 0;
  std::size_t cabled_ = 0;
};

}  // namespace weft::scenarios
