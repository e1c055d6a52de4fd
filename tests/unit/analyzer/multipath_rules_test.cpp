// SPDX-License-Identifier: Apache-2.0
// Equal-cost ways of an Ethernet fabric: who loses packets where nobody knows which way a flow takes, and who waits for
// whom where nobody reads the switches.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "analyzer/congestion/congestion_finder.hpp"
#include "analyzer/loss/loss_tracker.hpp"
#include "fabric/graph/multipath.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

/// Four leaves with four hosts each, four spines; flows stay on the way that a hash gave them.
struct RoutedFabric {
  RoutedFabric() {
    const auto built = fabric.topology();
    std::vector<Node> nodes(built->nodes().begin(), built->nodes().end());
    std::vector<Port> ports(built->ports().begin(), built->ports().end());
    for (Port& port : ports) {
      port.width_active = port.width_enabled = port.width_supported = 0;
      port.speed_active = port.speed_enabled = port.speed_supported = 0;
      if (port.peer != kNoIndex) port.ethernet_rate = 100'000'000'000;
      port.wait_tick_seconds = 1e-6F;
    }
    std::vector<std::string> names;
    for (const Port& port : ports) names.push_back("swp" + std::to_string(port.number.value));
    topology =
        std::make_shared<const Topology>(1, nodes, ports, std::vector<DuplicateGuid>{}, LinkLayer::kEthernet, names);
    for (const Node& node : nodes)
      if (node.type == NodeType::kChannelAdapter) hosts.push_back(node.first_port);
    ends.resize(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      ends[i].port = hosts[i];
      ends[i].jobs = {0};
    }
    multipath = std::make_shared<const Multipath>(topology);
  }

  /// The ports that a flow is sent by.
  std::vector<PortIndex> way(std::size_t from, std::size_t to) {
    std::vector<PortIndex> sent{hosts[from]};
    std::mt19937 hash(static_cast<unsigned>(from * 131 + to * 7 + 5));
    while (topology->port(sent.back()).peer != hosts[to]) {
      const NodeIndex node = topology->port(topology->port(sent.back()).peer).node;
      const auto next = multipath->next_hops(node, hosts[to]);
      sent.push_back(next[hash() % next.size()]);
    }
    return sent;
  }
  void flow(std::size_t from, std::size_t to, double packets = 1e6) {
    double arrives = packets;
    for (const PortIndex port : way(from, to)) {
      const NodeIndex node = topology->port(port).node;
      arrives *= 1 - (lossy_node == node ? 1e-3 : 0);
      arrives *= 1 - (lossy_cable == port ? 1e-3 : 0);
    }
    ends[from].sent += packets;
    ends[from].sent_again += packets - arrives;
    ends[to].received += arrives;
    ends[to].out_of_sequence += packets - arrives;
  }
  void all_to_all() {
    for (std::size_t from = 0; from < hosts.size(); ++from)
      for (std::size_t to = 0; to < hosts.size(); ++to)
        if (from != to) flow(from, to, 1e5);
  }
  std::vector<LossHypothesis> find() {
    return find_losses({.topology = *topology, .multipath = multipath.get(), .ends = ends}, {}, {});
  }
  NodeIndex node(const std::string& name) const { return fabric.find(name); }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(4, 4, 4);
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Multipath> multipath;
  std::vector<PortIndex> hosts;
  std::vector<LossEnd> ends;
  PortIndex lossy_cable = kNoIndex;
  NodeIndex lossy_node = kNoIndex;
};

TEST(LossesOfEqualCostWays, AHostsOwnCableIsNamed) {
  RoutedFabric routed;
  routed.lossy_cable = routed.topology->port(routed.hosts[5]).peer;
  routed.all_to_all();
  const auto causes = routed.find();
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes[0].suspect.sender, routed.lossy_cable);
  EXPECT_FALSE(causes[0].around);
  EXPECT_EQ(causes[0].receivers.size(), 1U);
  EXPECT_EQ(causes.size(), 1U);
}

TEST(LossesOfEqualCostWays, OfCablesThatLookAlikeTheirSwitchIsNamed) {
  RoutedFabric routed;
  routed.lossy_cable = routed.fabric.port_towards("leaf-1", "spine-2");
  routed.all_to_all();
  const auto causes = routed.find();
  ASSERT_FALSE(causes.empty());
  EXPECT_TRUE(causes[0].around);
  EXPECT_EQ(causes[0].suspect.node, routed.node("leaf-1"));
  EXPECT_GE(causes[0].confidence, 0.9);
  EXPECT_EQ(causes[0].senders.size(), 4U) << "those of leaf-1";
}

TEST(LossesOfEqualCostWays, ASwitchThatAllCrossIsNamedAlone) {
  RoutedFabric routed;
  routed.lossy_node = routed.node("leaf-1");
  routed.all_to_all();
  const auto causes = routed.find();
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes[0].suspect.node, routed.node("leaf-1"));
  EXPECT_FALSE(causes[0].around);
}

TEST(LossesOfEqualCostWays, NoneOfTheSpinesIsSurelyIt) {
  RoutedFabric routed;
  routed.lossy_node = routed.node("spine-3");
  routed.all_to_all();
  for (const LossHypothesis& cause : routed.find()) EXPECT_LT(cause.confidence, 0.5);
}

TEST(LossesOfEqualCostWays, OneFlowThatLosesNamesNobodySurely) {
  RoutedFabric routed;
  // A ring: each host has one flow, and which cables inside it takes is not known.
  const auto hurt = routed.way(1, 5);
  routed.lossy_cable = hurt[1];
  for (std::size_t i = 0; i < 16; ++i) routed.flow(i, (i + 4) % 16);
  const auto causes = routed.find();
  ASSERT_FALSE(causes.empty());
  EXPECT_LT(causes[0].confidence, 0.9) << "a host's cable, a leaf's, a spine's: all explain one flow";
}

/// What a cable's two ends show while every thousandth packet of it is lost; `mirrored`: only the sender is read.
PacketBalance balance_of(const RoutedFabric& routed, PortIndex sender, bool mirrored) {
  const PortIndex receiver = routed.topology->port(sender).peer;
  PacketHistory history;
  Sweep sweep;
  sweep.topology = routed.topology;
  const TimePoint began{std::chrono::seconds(1'700'000'000)};
  for (int second = 1; second <= 12; ++second) {
    auto table = SampleTable::of_group(CounterGroup::kEverySweep, routed.topology->ports().size());
    sweep.finished = began + std::chrono::seconds(second);
    sweep.started = sweep.finished - std::chrono::milliseconds(1500);
    const TimePoint read = sweep.finished - std::chrono::milliseconds(300);
    const auto sent = static_cast<std::uint64_t>(second) * 1'000'000;
    const auto arrived = mirrored ? sent : sent - sent / 1000;
    table.set(sender, table.column(CounterId::kTransmitPackets), sent, false);
    table.set(sender, table.column(CounterId::kReceivePackets), 0, false);
    table.set(receiver, table.column(CounterId::kReceivePackets), arrived, false);
    table.set(receiver, table.column(CounterId::kTransmitPackets), 0, false);
    table.set_read_at(sender, read);
    table.set_read_at(receiver, mirrored ? read : read + std::chrono::microseconds(7));
    sweep.counters = std::make_shared<const SampleTable>(std::move(table));
    history.take(sweep);
    history.take(sweep);  // the same readings again are no new ones
  }
  return history.of_link(sender, 11'000, began);
}

TEST(LossesOfEqualCostWays, AReadingThatIsMirroredIsNoWitness) {
  RoutedFabric routed;
  const PortIndex sender = routed.hosts[3];
  const PacketBalance both = balance_of(routed, sender, false);
  EXPECT_GT(both.support, 5);
  EXPECT_EQ(both.passed, 10e6) << "since the first sweep that began after that";
  const PacketBalance one = balance_of(routed, sender, true);
  EXPECT_EQ(one.support, 0);
  EXPECT_EQ(one.passed, 0);
}

/// What is seen of one moment; hosts only are read, and the other ends of their cables mirrored.
struct Moment {
  explicit Moment(std::shared_ptr<const Topology> graph) {
    std::vector<Node> nodes(graph->nodes().begin(), graph->nodes().end());
    std::vector<Port> ports(graph->ports().begin(), graph->ports().end());
    std::vector<std::string> names;
    const auto of_host = [&](const Port& port) { return nodes[port.node].type == NodeType::kChannelAdapter; };
    for (Port& port : ports) {
      names.emplace_back(graph->port_name(static_cast<PortIndex>(names.size())));
      const bool read = of_host(port) || (port.peer != kNoIndex && of_host(ports[port.peer]));
      if (!read) port.state = PortState::kUnknown;
      line_rates.push_back(read ? static_cast<float>(port.ethernet_rate) : 0);
      elapsed.push_back(read ? 1.0F : 0.0F);
    }
    topology =
        std::make_shared<const Topology>(1, nodes, ports, std::vector<DuplicateGuid>{}, LinkLayer::kEthernet, names);
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    rates.assign(ports.size(), {kNan, kNan, kNan, kNan, kNan, 0});
    for (PortIndex port = 0; port < ports.size(); ++port)
      if (elapsed[port] > 0) load(port, 0.2, 0);
  }
  void load(PortIndex port, double share, double stall) {
    const auto rate = static_cast<double>(line_rates[port]);
    rates[port].transmit_bits_per_second = share * rate;
    rates[topology->port(port).peer].receive_bits_per_second = share * rate;
    rates[port].stall_ratio = stall;
  }
  std::vector<CongestionRoot> find(std::shared_ptr<const Multipath> multipath) {
    CongestionFinder finder(thresholds);
    return finder.find({.topology = topology,
                        .routes = nullptr,
                        .multipath = std::move(multipath),
                        .rates = rates,
                        .elapsed = elapsed,
                        .line_rates = line_rates,
                        .suspects = {},
                        .marks = {},
                        .known = {}});
  }
  CongestionThresholds thresholds;
  std::shared_ptr<const Topology> topology;
  std::vector<PortRates> rates;
  std::vector<float> elapsed, line_rates;
};

TEST(WaitingThroughSwitchesThatNobodyReads, IncastIsNamedAtTheHostThatAllSendTo) {
  RoutedFabric routed;
  Moment moment(routed.topology);
  const PortIndex egress = moment.topology->port(routed.hosts[0]).peer;
  moment.load(egress, 0.97, 0);
  for (const std::size_t sender : {5U, 9U, 10U, 14U}) moment.load(routed.hosts[sender], 0.24, 0.7);
  moment.load(routed.hosts[0], 0.3, 0.2);
  for (const bool ways : {true, false}) {
    const auto roots = moment.find(ways ? std::make_shared<const Multipath>(moment.topology) : nullptr);
    ASSERT_EQ(roots.size(), 1U);
    EXPECT_EQ(roots[0].kind, IncidentKind::kCongestionIncast);
    EXPECT_EQ(roots[0].egress, egress);
    EXPECT_EQ(roots[0].feeders, 4U) << "it does not wait for itself";
    EXPECT_EQ(roots[0].victim_count, 4U);
    EXPECT_EQ(roots[0].waits_for, std::vector<PortIndex>(4, egress));
  }
}

TEST(WaitingThroughSwitchesThatNobodyReads, AHostThatDoesNotTakeIsNamed) {
  RoutedFabric routed;
  Moment moment(routed.topology);
  const PortIndex egress = moment.topology->port(routed.hosts[0]).peer;
  moment.load(egress, 0.2, 0.8);
  moment.load(routed.hosts[7], 0.2, 0.8);
  const auto roots = moment.find(std::make_shared<const Multipath>(moment.topology));
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].kind, IncidentKind::kSlowReceiver);
  EXPECT_EQ(roots[0].victims, std::vector<PortIndex>{routed.hosts[7]});
}

TEST(WaitingThroughSwitchesThatNobodyReads, WhoWaitsForWhatNobodySeesIsNoCulprit) {
  RoutedFabric routed;
  Moment moment(routed.topology);
  for (const std::size_t sender : {5U, 6U, 7U}) moment.load(routed.hosts[sender], 0.4, 0.6);
  EXPECT_TRUE(moment.find(std::make_shared<const Multipath>(moment.topology)).empty());
}

TEST(WaitingForReadSwitches, FollowsEqualCostWaysOnly) {
  RoutedFabric routed;
  // All is read. leaf-1 cannot send over spine-2 to its own hosts.
  WaitForGraph graph;
  const PortIndex up = routed.fabric.port_towards("leaf-1", "spine-2");
  const PortIndex down = routed.fabric.port_towards("spine-2", "leaf-3");
  std::vector<HotLink> links;
  for (const PortIndex egress : {up, down, routed.topology->port(up).peer})
    links.push_back({.egress = egress, .rate = 1e11F, .held_back = true});
  std::ranges::sort(links, {}, &HotLink::egress);
  graph.build(routed.topology, {.routes = nullptr, .multipath = routed.multipath}, links);
  EXPECT_EQ(graph.positions(), 3U) << "no region where all is read";
  EXPECT_TRUE(graph.carries(up, down));
  EXPECT_FALSE(graph.carries(up, routed.topology->port(up).peer));
  const auto at = [&](PortIndex egress) {
    return static_cast<std::uint32_t>(std::ranges::find(links, egress, &HotLink::egress) - links.begin());
  };
  ASSERT_EQ(graph.waits_for(at(up)).size(), 1U);
  EXPECT_EQ(graph.waits_for(at(up))[0], at(down));
}

}  // namespace
}  // namespace weft::analyzer
