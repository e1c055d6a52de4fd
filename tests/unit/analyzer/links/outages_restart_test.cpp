// SPDX-License-Identifier: Apache-2.0
// Outages that are open when weftd restarts stay the incidents that they are.
#include <set>
#include <string>

#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;

TEST(Restart, ASwitchThatComesBackStaysOneIncident) {
  Watch watch(FabricBuilder::fat_tree(4, 6, 8));
  watch.sweeps(3);
  const NodeIndex spine = watch.fabric.find("spine-2");
  watch.fabric.power_off(spine);
  watch.sweeps(20);
  const std::uint64_t id = watch.only().id;
  watch.fabric.power_on(spine);
  for (int l = 0; l < 6; ++l) {
    const PortIndex end = watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l));
    if (l < 3)
      watch.fabric.relink(end, PortState::kInitialize);
    else
      watch.fabric.unlink(end);
  }
  watch.sweeps(3);
  watch.restart();
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, id) << watch.describe();
  EXPECT_NE(watch.only().finding.summary.find("is coming back"), std::string::npos) << watch.only().finding.summary;
  for (int l = 0; l < 6; ++l) watch.fabric.relink(watch.fabric.port_towards("spine-2", "leaf-" + std::to_string(l)));
  watch.sweeps(3);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
}

TEST(Restart, ALinkToANodeThatIsGoneIsStillListed) {
  Watch watch(FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  const LinkKey link = watch.link("host-1-0 mlx5_0", "leaf-1");
  watch.fabric.power_off(watch.fabric.find("host-1-0 mlx5_0"));
  watch.sweeps(3);
  EXPECT_FALSE(watch.analysis.absent_links) << "the graph still has it";
  watch.fabric.rediscover();
  watch.restart();
  watch.sweeps(3);
  EXPECT_EQ(link_of(watch.only()), link) << watch.describe();
  ASSERT_TRUE(watch.analysis.absent_links);
  ASSERT_EQ(watch.analysis.absent_links->size(), 1U);
  const AbsentLink& absent = watch.analysis.absent_links->front();
  EXPECT_EQ(make_link_key(absent.ends.a.key, absent.ends.b.key), link);
  EXPECT_EQ(std::set({absent.ends.a.node, absent.ends.b.node}), (std::set<std::string>{"host-1-0 mlx5_0", "leaf-1"}));
  EXPECT_TRUE(absent.is_seen);
}

// Our own port is down, and the sweeper begins anew: its graph has ourselves alone.
TEST(Restart, AGraphOfOurselvesAloneTellsNothingOfOthers) {
  for (const bool is_restarted : {false, true}) {
    Watch watch(FabricBuilder::fat_tree(4, 6, 8));
    watch.sweeps(3);
    watch.fabric.power_off(watch.fabric.find("spine-2"));
    watch.sweeps(20);
    const std::uint64_t id = watch.only().id;
    const PortIndex own = watch.fabric.port_of("host-0-0 mlx5_0", 1);
    watch.fabric.unlink(own);
    const NodeIndex ourselves = watch.fabric.find("host-0-0 mlx5_0");
    for (NodeIndex node = 0; node < watch.fabric.nodes().size(); ++node)
      if (node != ourselves) watch.fabric.silence(node);
    watch.fabric.rediscover();
    if (is_restarted) watch.restart();
    watch.sweeps(40);
    ASSERT_EQ(watch.open().size(), 2U) << watch.describe();
    EXPECT_EQ(watch.open()[0].id, id) << "nobody has seen that it is up again";
    EXPECT_EQ(watch.open()[1].finding.kind, IncidentKind::kTelemetryLost) << watch.describe();
    EXPECT_EQ(watch.open()[1].finding.severity, Severity::kCritical);
    EXPECT_NE(watch.open()[1].finding.summary.find("the link that we ask through is down"), std::string::npos);
    EXPECT_EQ(watch.book.all()->size(), 2U) << watch.describe();
  }
}

TEST(Restart, AHostThatComesBackStaysOneIncident) {
  FabricBuilder fabric = FabricBuilder::fat_tree(2, 2, 8);
  for (const char* rail : {"rail-0", "rail-1"}) {
    const NodeIndex leaf = fabric.add_switch(rail, 12);
    for (PortIndex h = 0; h < 10; ++h) {
      const std::string adapter = "dgx-0" + std::to_string(h) + " mlx5_" + rail[5];
      fabric.connect(fabric.nodes()[leaf].first_port + 1 + h, fabric.nodes()[fabric.add_adapter(adapter)].first_port);
    }
  }
  Watch watch(std::move(fabric));
  watch.sweeps(3);
  for (const char* adapter : {"dgx-04 mlx5_0", "dgx-04 mlx5_1"}) watch.fabric.power_off(watch.fabric.find(adapter));
  watch.sweeps(5);
  const Incident down = watch.only();
  EXPECT_EQ(down.finding.kind, IncidentKind::kNodeDown);
  watch.fabric.power_on(watch.fabric.find("dgx-04 mlx5_1"));
  watch.sweeps(3);
  watch.restart();
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, down.id) << watch.describe();
}

TEST(Restart, ALinkThatIsNotActivatedStaysDown) {
  Watch watch(FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  watch.fabric.relink(watch.fabric.port_of("host-1-0 mlx5_0", 1), PortState::kInitialize);
  watch.sweeps(70);
  const std::uint64_t id = watch.only().id;
  watch.restart();
  for (int i = 0; i < 100; ++i) {
    watch.sweeps(1);
    ASSERT_EQ(watch.only().id, id) << watch.describe();
  }
  EXPECT_EQ(watch.only().occurrences, 1U);
}

TEST(Restart, LinksThatAreNotActivatedStayOneIncident) {
  Watch watch(FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  const std::vector<std::string> hosts{"host-1-0 mlx5_0", "host-1-1 mlx5_0", "host-2-0 mlx5_0"};
  for (const std::string& host : hosts) watch.fabric.relink(watch.fabric.port_of(host, 1), PortState::kInitialize);
  watch.sweeps(70);
  const Incident waiting = watch.only();
  EXPECT_EQ(waiting.finding.kind, IncidentKind::kLinksNotActivated);
  watch.restart();
  watch.sweeps(10);
  EXPECT_EQ(watch.only().id, waiting.id) << watch.describe();
  watch.fabric.relink(watch.fabric.port_of(hosts[0], 1));
  watch.sweeps(100);
  EXPECT_EQ(watch.only().id, waiting.id) << watch.describe();
  EXPECT_EQ(watch.only().occurrences, 1U);
  EXPECT_EQ(watch.only().finding.affected.size(), 2U);
}

}  // namespace
}  // namespace weft::analyzer
