// SPDX-License-Identifier: Apache-2.0
#pragma once
// A made-up subnet that can be broken on purpose, and read sweep by sweep in simulated time.

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fabric/sweep.hpp"

namespace weft::fakes {

/// Build it (add_*, connect), then change it and take sweep() after sweep(). Links come up Active at 4X HDR.
class FabricBuilder {
 public:
  explicit FabricBuilder(std::string name = "test") : name_(std::move(name)) {}

  /// A two-level fat tree: every leaf has one link to every spine; host h of leaf l is "host-<l>-<h>" with one adapter.
  /// Switches are "spine-<s>" and "leaf-<l>". We ask through host-0-0.
  static FabricBuilder fat_tree(unsigned spines, unsigned leaves, unsigned hosts_per_leaf);

  NodeIndex add_switch(std::string name, std::uint16_t ports);
  NodeIndex add_adapter(std::string name, std::uint16_t ports = 1);
  /// Lays a cable between two ports and brings it up.
  void connect(PortIndex a, PortIndex b);

  NodeIndex find(const std::string& name) const;
  PortIndex port_of(const std::string& name, std::uint16_t number) const;
  /// The first port of `name` that is connected with `peer`.
  PortIndex port_towards(const std::string& name, const std::string& peer) const;
  PortKey key_of(PortIndex port) const { return {nodes_[ports_[port].node].guid, ports_[port].number}; }
  LinkKey link_of(PortIndex port) const { return make_link_key(key_of(port), key_of(ports_[port].peer)); }

  /// Free hands; touch() makes the next sweep carry a new topology.
  Node& node(NodeIndex index) { return touch(), nodes_[index]; }
  Port& port(PortIndex index) { return touch(), ports_[index]; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Port>& ports() const { return ports_; }
  std::vector<DuplicateGuid>& duplicates() { return touch(), duplicates_; }

  /// Both ends go Down/Polling, as when a cable is pulled, or come back in `state`.
  void unlink(PortIndex end);
  void relink(PortIndex end, PortState state = PortState::kActive);
  /// It answers nothing more; what it would say is not updated. Its links are untouched.
  void silence(NodeIndex node, bool silent = true);
  /// It loses power: silent, and the other ends of its links go down.
  void power_off(NodeIndex node);
  void power_on(NodeIndex node);
  /// Its counters are no longer read, its states are.
  void freeze_counters(NodeIndex node, bool frozen = true);
  /// A new discovery from nothing: only nodes reachable over links that are up, in another order; down ports have no
  /// peer.
  void rediscover();

  std::uint64_t counter(PortIndex port, CounterId id) const;
  void set_counter(PortIndex port, CounterId id, std::uint64_t value, bool saturated = false);
  void add_counter(PortIndex port, CounterId id, std::uint64_t delta) {
    set_counter(port, id, counter(port, id) + delta);
  }
  /// All counters of the port go to zero, as `perfquery -R` does it.
  void reset_counters(PortIndex port);
  /// Load and waits that fit together on every link that is up, for one interval: no congestion.
  void traffic(std::mt19937& random);

  /// What a subnet manager does: gives every node a LID that has none, and every switch a table of shortest ways over
  /// links that are up, the choice among equal ones by the LID. From then on sweeps carry routes().
  void route();
  /// Free hands: one entry of one table.
  void send(NodeIndex at, Lid to, PortNum through);
  std::shared_ptr<const Routes> routes() { return routes_.publish(); }
  Lid lid_of(const std::string& name) const;

  /// One interval in which `egress` sends this share of its rate, and has data and no credit for that share of the
  /// time.
  void load(PortIndex egress, double share, double stall);

  /// One interval passes; what a sweep then reads.
  Sweep sweep();

  TimePoint now() const { return now_; }
  void advance(Duration duration) { now_ += duration; }
  void set_interval(Duration interval) { interval_ = interval; }
  Duration interval() const { return interval_; }
  const std::string& name() const { return name_; }
  PortKey local_port() const { return local_port_; }
  void set_local_port(PortKey key) { local_port_ = key; }
  /// Where the subnet manager sits; until it is said: where we do.
  void set_subnet_manager(std::optional<PortKey> key) { subnet_manager_ = key, manager_said_ = true; }
  /// The graph as it stands now, e.g. as the expected one.
  std::shared_ptr<const Topology> topology();

 private:
  NodeIndex add_node(std::string name, NodeType type, std::uint16_t ports);
  void touch() { topology_.reset(); }

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<DuplicateGuid> duplicates_;
  std::vector<bool> silent_;                                                    ///< by node
  std::vector<bool> counters_frozen_;                                           ///< by node
  SampleTable counters_ = SampleTable::of_group(CounterGroup::kEverySweep, 0);  ///< what the hardware holds
  SampleTable readings_ = SampleTable::of_group(CounterGroup::kEverySweep, 0);  ///< what was last read
  std::vector<TimePoint> state_read_at_;
  std::shared_ptr<const Topology> topology_;
  RouteTables routes_{1};
  std::uint64_t epoch_ = 1;
  std::uint64_t number_ = 0;
  TimePoint now_{std::chrono::seconds(1'700'000'000)};
  Duration interval_ = std::chrono::seconds(1);
  PortKey local_port_;
  std::optional<PortKey> subnet_manager_;
  bool manager_said_ = false;
};

}  // namespace weft::fakes
