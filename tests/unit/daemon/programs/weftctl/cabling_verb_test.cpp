// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/fakes/fabric_builder.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

struct CablingVerb : Verbs {
  void publish(std::shared_ptr<const CablingDifferences> cabling) {
    FabricView view;
    view.name = "ib0";
    view.sweep = std::make_shared<const Sweep>(fabric.sweep());
    view.cabling = std::move(cabling);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->taken = api::kNow;
    snapshot->fabrics.push_back(std::move(view));
    publication.publish(std::move(snapshot));
  }
  NamedPort port(const std::string& node, std::uint8_t number) {
    return {fabric.key_of(fabric.port_of(node, number)), node};
  }

  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 4, 4);
  std::string any;
};

TEST_F(CablingVerb, CountsFirstAndListsThen) {
  CablingDifferences differences;
  differences.planned_links = 9;
  const NamedPort absent{{NodeGuid{0x77}, PortNum{3}}, "far"};
  differences.missing.push_back({port("leaf-1", 1), absent});
  differences.misled.push_back({{port("leaf-1", 2), port("leaf-2", 2)}, port("spine-1", 1), std::nullopt});
  differences.absent_nodes = {"far", "farther"};
  publish(std::make_shared<const CablingDifferences>(differences));
  EXPECT_EQ(say(Exit::kBadNews, show_cabling_differences, any),
            "ib0: 9 links are planned\n"
            "  1 planned link is not there\n"
            "  1 cable leads elsewhere\n"
            "  2 planned nodes are not in the fabric\n"
            "\n"
            "DIFFERENCE       ONE END        OTHER END      ONE END EXPECTS  OTHER END EXPECTS\n"
            "not there        leaf-1 port 1  far port 3     -                -\n"
            "leads elsewhere  leaf-1 port 2  leaf-2 port 2  spine-1 port 1   nothing\n"
            "no such node     far            -              -                -\n"
            "no such node     farther        -              -                -\n");
  const auto told = json(Exit::kBadNews, show_cabling_differences, any)["fabrics"][0];
  EXPECT_EQ(told["missingCount"], 1);
  EXPECT_EQ(told["missing"][0]["b"].value("nodeGuid", ""), "") << "its GUID is not known";
  EXPECT_EQ(told["misled"][0]["aExpects"]["node"], "spine-1");
  EXPECT_FALSE(told["misled"][0].contains("bExpects"));
}

TEST_F(CablingVerb, ListsWhatIsDownAndWhatThePlanDoesNotSayClearly) {
  CablingDifferences differences;
  differences.planned_links = 9;
  differences.down.push_back({port("leaf-1", 1), port("host-1-0 mlx5_0", 1)});
  differences.ignored.push_back({12, "gpu-1:1 -- leaf-1:3", "gpu-1 is the name of more than one node"});
  differences.ignored.push_back({0, "a:1 -- b:1", "both ends are one port"});
  publish(std::make_shared<const CablingDifferences>(differences));
  EXPECT_EQ(say(Exit::kBadNews, show_cabling_differences, any),
            "ib0: 9 links are planned\n"
            "  1 planned link is down\n"
            "  2 cables of the plan are not used\n"
            "\n"
            "DIFFERENCE  ONE END        OTHER END               ONE END EXPECTS  OTHER END EXPECTS\n"
            "down        leaf-1 port 1  host-1-0 mlx5_0 port 1  -                -\n"
            "\n"
            "not used:\n"
            "  line 12: gpu-1:1 -- leaf-1:3: gpu-1 is the name of more than one node\n"
            "  a:1 -- b:1: both ends are one port\n");
  const auto told = json(Exit::kBadNews, show_cabling_differences, any)["fabrics"][0];
  EXPECT_EQ(told["downCount"], 1);
  EXPECT_EQ(told["ignored"][0]["line"], 12);
}

TEST_F(CablingVerb, AnUnknownPortOfAKnownNodeIsNoNode) {
  CablingDifferences differences;
  differences.absent_nodes = {"far mlx5_0", "host-0-0 mlx5_7", "leaf-1 abc"};
  publish(std::make_shared<const CablingDifferences>(differences));
  const std::string text = say(Exit::kBadNews, show_cabling_differences, any);
  for (const char* line :
       {"\nno such node     far mlx5_0  ", "\nno such adapter  host-0-0 mlx5_7  ", "\nno such port     leaf-1 abc  "})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_F(CablingVerb, ManyAreListedInPart) {
  CablingDifferences differences;
  differences.unplanned.assign(1500, {port("leaf-1", 1), port("leaf-2", 1)});
  publish(std::make_shared<const CablingDifferences>(differences));
  const std::string text = say(Exit::kBadNews, show_cabling_differences, any);
  EXPECT_NE(text.find("  1500 links are not planned\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("and 500 more\n")) << text.substr(text.size() - 100);
}

TEST_F(CablingVerb, NoDifferencesAreGood) {
  publish(std::make_shared<const CablingDifferences>());
  EXPECT_EQ(say(Exit::kGood, show_cabling_differences, any), "ib0: 0 links are planned\n  no differences\n");
  publish(nullptr);
  EXPECT_EQ(say(Exit::kGood, show_cabling_differences, any),
            "No expected topology is configured (infiniband.expected_topology, ethernet.cabling).\n");
  EXPECT_EQ(fails(show_cabling_differences, std::string("ib7")).exit, Exit::kBadNews);
}

}  // namespace
}  // namespace weft::ctl
