// SPDX-License-Identifier: Apache-2.0
// weftctl's verbs about an Ethernet fabric, against a server that publishes a made-up one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class EthernetVerbs : public Verbs {
 protected:
  EthernetVerbs() : fabric(fakes::EthernetFabric::leaf_spine(4, 2, 2)) {}
  template <typename Verb, typename... Given>
  std::string say(Exit expected, Verb verb, const Given&... given) {
    FabricView view;
    view.name = fabric.name();
    view.watching = true;
    view.status = "watching";
    view.stale_after = std::chrono::seconds(3);
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->revision = ++revision;
    snapshot->taken = api::kNow;
    snapshot->fabrics.push_back(std::move(view));
    snapshot->health = std::make_shared<const std::vector<NodeHealth>>();
    publication.publish(std::move(snapshot));
    return Verbs::say(expected, verb, given...);
  }
  fakes::EthernetFabric fabric;
  std::uint64_t revision = 0;
};

TEST_F(EthernetVerbs, APathIsAllWaysStageByStage) {
  EXPECT_EQ(say(Exit::kGood, show_path, std::string(), std::string("gpu-01"), std::string("gpu-03")),
            "gpu-01 eth2 to gpu-03 eth2: 4 ECMP paths\nSTAGE  SHARE  SENDS         RECEIVES      STATE  RATE      BUSY "
            " STALLED  INCIDENTS\n    1  all    gpu-01 eth2   leaf01 swp1   up     400 Gb/s     -        -  -\n    2  "
            "1/4    leaf01 swp49  spine01 swp1  up     400 Gb/s     -        -  -\n    2  1/4    leaf01 swp50  spine02 "
            "swp1  up     400 Gb/s     -        -  -\n    2  1/4    leaf01 swp51  spine03 swp1  up     400 Gb/s     -  "
            "      -  -\n    2  1/4    leaf01 swp52  spine04 swp1  up     400 Gb/s     -        -  -\n    3  1/4    "
            "spine01 swp2  leaf02 swp49  up     400 Gb/s     -        -  -\n    3  1/4    spine02 swp2  leaf02 swp50  "
            "up     400 Gb/s     -        -  -\n    3  1/4    spine03 swp2  leaf02 swp51  up     400 Gb/s     -        "
            "-  -\n    3  1/4    spine04 swp2  leaf02 swp52  up     400 Gb/s     -        -  -\n    4  all    leaf02 "
            "swp1   gpu-03 eth2   up     400 Gb/s     -        -  -\n");
}

TEST_F(EthernetVerbs, APathTellsWhatIsDownAndWhatNobodyReads) {
  fabric.set_state("leaf01 swp50", PortState::kDown);
  fabric.set_state("leaf01 swp51", PortState::kUnknown);
  const std::string text = say(Exit::kGood, show_path, std::string(), std::string("gpu-01"), std::string("leaf02"));
  EXPECT_THAT(text, HasSubstr("gpu-01 eth2 to leaf02: 3 ECMP paths of 4: the other is cut by links that are down\n"));
  EXPECT_THAT(text, HasSubstr("2  none   leaf01 swp50  spine02 swp1  not up    -"));
  EXPECT_THAT(text, HasSubstr("2  1/3    leaf01 swp51  spine03 swp1  not read  -"));
  fabric.set_state("gpu-01 eth2", PortState::kDown);
  EXPECT_THAT(say(Exit::kBadNews, show_path, std::string(), std::string("gpu-01"), std::string("leaf02")),
              HasSubstr("gpu-01 eth2 to leaf02: the link of gpu-01 eth2 is down\n"));
}

TEST_F(EthernetVerbs, ManyEqualWaysAreShownInPart) {
  fabric = fakes::EthernetFabric::leaf_spine(20, 2, 1);
  fabric.set_state("leaf01 swp68", PortState::kDown);
  const std::string text = say(Exit::kGood, show_path, std::string(), std::string("gpu-01"), std::string("gpu-02"));
  EXPECT_THAT(text, HasSubstr("19 ECMP paths of 20"));
  EXPECT_THAT(text, HasSubstr("leaf01 swp56"));
  EXPECT_THAT(text, Not(HasSubstr("leaf01 swp57")));
  EXPECT_THAT(text, HasSubstr("leaf01 swp68")) << "what is down is shown in any case";
  EXPECT_THAT(text, HasSubstr("and 11 more cables of stage 2, none down or with an incident; --json lists all\n"));
}

TEST_F(EthernetVerbs, PortsAndLinksGoByTheirNames) {
  fabric.set_state("leaf01 swp2", PortState::kDown);
  fabric.set_state("leaf01 swp49", PortState::kUnknown);
  const std::string ports = say(Exit::kGood, show_ports, std::string(), std::string("leaf01"), false);
  EXPECT_THAT(ports, HasSubstr("leaf01   swp1  ACTIVE    400 Gb/s"));
  EXPECT_THAT(ports, HasSubstr("gpu-01 eth2\n"));
  EXPECT_THAT(ports, HasSubstr("leaf01  swp49  not read"));
  EXPECT_THAT(ports, Not(HasSubstr(" port ")));
  EXPECT_THAT(ports, Not(HasSubstr("leaf01      0"))) << "port 0 is InfiniBand's";
  const std::string links = say(Exit::kGood, show_links, LinkChoice());
  EXPECT_THAT(links, HasSubstr("leaf01 swp1   gpu-01 eth2   up        -     400 Gb/s"));
  EXPECT_THAT(links, HasSubstr("leaf01 swp49  spine01 swp1  not read  -            -  ethernet"))
      << "a rate that was not read is absent, not zero";
  const std::string down = say(Exit::kGood, show_links, LinkChoice{"", "", "", true});
  EXPECT_THAT(down, HasSubstr("leaf01 swp2"));
  EXPECT_THAT(down, Not(HasSubstr("swp49"))) << "nobody knows that it is down";
  EXPECT_THAT(down, HasSubstr("STATE  LINK  RATE  FABRIC\n"));
  const std::string walk = say(Exit::kGood, show_topology, NodeChoice{});
  EXPECT_THAT(walk, HasSubstr("  swp1                 400 Gb/s  gpu-01 eth2\n"));
  EXPECT_THAT(walk, HasSubstr("  swp49  [not read]    "));
  const std::string status = say(Exit::kGood, show_status);
  EXPECT_THAT(status, HasSubstr("10 of 12, 1 not read"));
  EXPECT_THAT(status, ContainsRegex("INTERFACES +LINKS UP +LAST READ")) << "it has no adapters, and no sweeps";
  fabric.set_state("leaf01 swp2", PortState::kActive);
  EXPECT_EQ(say(Exit::kGood, show_links, LinkChoice{"", "", "", true}), "No links are down; not read: 1.\n");
}

TEST_F(EthernetVerbs, NodesThatNobodyReadDoNotAnswer) {
  fabric.set_state("gpu-02 eth2", PortState::kUnknown);
  const std::string nodes = say(Exit::kGood, show_nodes, NodeChoice{});
  EXPECT_THAT(nodes, ContainsRegex("gpu-01 eth2 [^\n]* yes\n"));
  EXPECT_THAT(nodes, ContainsRegex("gpu-02 eth2 [^\n]* not read\n"));
}

TEST_F(EthernetVerbs, OnePortIsNamedAsPeopleNameIt) {
  for (const char* name : {"leaf01 swp2", "leaf01:2", "leaf01 port 2", "LEAF01:2"}) {
    const std::string port = say(Exit::kGood, show_ports, std::string(), std::string(name), false);
    EXPECT_THAT(port, HasSubstr("leaf01  swp2")) << name;
    EXPECT_EQ(std::ranges::count(port, '\n'), 2) << port;
  }
  EXPECT_EQ(std::string(fails(show_ports, std::string(), std::string("leaf01:999"), false).what()),
            "leaf01 has no port 999");
  EXPECT_THAT(fails(show_ports, std::string(), std::string("nobody:2"), false).what(),
              HasSubstr("no node named nobody"));
  EXPECT_THAT(say(Exit::kGood, show_ports, std::string(), std::string("gpu-01 eth2"), false), HasSubstr("gpu-01 eth2"));
  const std::string links = say(Exit::kGood, show_links, LinkChoice{"", "leaf01", "", false});
  EXPECT_THAT(links, HasSubstr("leaf01 swp1   gpu-01 eth2"));
  EXPECT_THAT(links, Not(HasSubstr("leaf02 swp1 ")));
  const std::string link = say(Exit::kGood, show_links, LinkChoice{"", "leaf01 swp1", "", false});
  EXPECT_EQ(std::ranges::count(link, '\n'), 2) << link;
  EXPECT_EQ(say(Exit::kGood, show_links, LinkChoice{"", "leaf01 swp1", "", true}), "No links are down.\n");
}

TEST_F(EthernetVerbs, LinksAreFoundByAText) {
  const auto ask = [this](const std::string& text) {
    return say(Exit::kGood, show_links, LinkChoice{"", "", text, false});
  };
  const std::string leaf = ask("EAF01");
  EXPECT_THAT(leaf, HasSubstr("leaf01 swp1   gpu-01 eth2"));
  EXPECT_THAT(leaf, Not(HasSubstr("leaf02")));
  EXPECT_EQ(std::ranges::count(ask("leaf01:1"), '\n'), 2);
  EXPECT_THAT(ask("spine01 leaf02"), HasSubstr("spine01 swp2  leaf02 swp49"));
  EXPECT_EQ(ask("nobody"), "No links contain \"nobody\".\n");
  EXPECT_EQ(say(Exit::kGood, show_links, LinkChoice{"", "", "leaf01", true}), "No links are down.\n");
}

}  // namespace
}  // namespace weft::ctl
