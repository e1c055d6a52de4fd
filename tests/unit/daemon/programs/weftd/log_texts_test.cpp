// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/log_texts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/found_cabling.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::daemon {
namespace {

TEST(LogTexts, DifferencesAreCounted) {
  CablingDifferences differences;
  differences.planned_links = 128;
  EXPECT_EQ(differences_text(differences), "128 links are planned; no differences");
  differences.missing.resize(2);
  differences.misled.resize(1);
  differences.absent_nodes.resize(4);
  EXPECT_EQ(differences_text(differences),
            "128 links are planned; 2 planned links are not there, 1 cable leads elsewhere, 4 planned nodes are not in "
            "the fabric");
}

TEST(LogTexts, TheFirstCablesThatAreNotUsedAreNamed) {
  CablingDifferences differences;
  EXPECT_TRUE(ignored_texts(differences).empty());
  differences.ignored.assign(7, {12, "gpu-1:1 -- leaf-1:3", "both ends are one port"});
  differences.ignored[1].line = 0;
  const std::vector<std::string> texts = ignored_texts(differences);
  ASSERT_EQ(texts.size(), 6U);
  EXPECT_EQ(texts[0], "line 12 of the expected topology is not used: gpu-1:1 -- leaf-1:3: both ends are one port");
  EXPECT_EQ(texts[1], "a cable of the expected topology is not used: gpu-1:1 -- leaf-1:3: both ends are one port");
  EXPECT_EQ(texts[5], "2 more cables of the expected topology are not used; see weftctl topology --differences");
}

TEST(LogTexts, AnIncidentThatBecomesGraverIsNotMerelyUpdated) {
  const auto at = [](int second) { return TimePoint(std::chrono::seconds(second)); };
  Incident incident;
  incident.id = 7;
  incident.revision = 1;
  incident.updated = at(1);
  incident.timeline = {{.at = at(1), .change = IncidentChange::kOpened, .severity = Severity::kWarning}};
  EXPECT_STREQ(what_happened(incident, {}), "opened");
  const auto change = [&](int second, IncidentChange what, Severity severity) {
    ++incident.revision;
    incident.updated = at(second);
    incident.timeline.push_back({.at = at(second), .change = what, .severity = severity});
    return what_happened(incident, {});
  };
  EXPECT_STREQ(change(31, IncidentChange::kSeverityChanged, Severity::kCritical), "severity raised");
  incident.updated = at(32);  // its evidence moved on, which leaves no entry
  EXPECT_STREQ(what_happened(incident, {}), "updated");
  EXPECT_STREQ(change(40, IncidentChange::kSeverityChanged, Severity::kWarning), "updated");
  EXPECT_STREQ(change(50, IncidentChange::kUpdated, Severity::kWarning), "updated");
}

TEST(LogTexts, TheStatusOfAFoundFabricSaysWhatLldpDoesNotTell) {
  Sweep sweep = fakes::EthernetFabric::leaf_spine(2, 2, 1).sweep();
  FoundCabling found;
  found.old.resize(1);
  found.unclear.resize(2);
  sweep.found = std::make_shared<const FoundCabling>(found);
  EXPECT_EQ(
      watching_status(sweep),
      "monitoring 4 switches, 2 interfaces; 1 cable is not reported by LLDP now; 2 LLDP neighbours are not clear");
}

TEST(LogTexts, TheStatusSaysWhoDoesNotAnswerAndWhy) {
  Node node;
  node.guid = {1};
  node.type = NodeType::kSwitch;
  Port port;
  port.node = 0;
  Sweep sweep;
  sweep.topology =
      std::make_shared<const Topology>(1, std::vector{node}, std::vector{port}, std::vector<DuplicateGuid>());
  EXPECT_EQ(watching_status(sweep), "monitoring 1 switches, 0 adapters");
  sweep.statistics.silent_neighbors = 1;
  EXPECT_NE(watching_status(sweep).find("1 link is up and leads to a node that never answered: it hangs, or "),
            std::string::npos);
  sweep.statistics.silent_neighbors = 2;
  EXPECT_NE(watching_status(sweep).find("2 links are up and lead to nodes that never answered"), std::string::npos);
  sweep.statistics.nodes_with_other_key = 1;
  EXPECT_NE(watching_status(sweep).find("1 node has another M_Key"), std::string::npos);
  sweep.statistics.nodes_with_other_key = 3;
  EXPECT_NE(watching_status(sweep).find("3 nodes have another M_Key"), std::string::npos);
}

TEST(LogTexts, ALostSubnetNamesThePortThroughWhichItIsWatchedInstead) {
  auto fabric = fakes::FabricBuilder::fat_tree(2, 3, 2);
  const auto text = [](const Sweep& last, bool watching, fakes::FabricBuilder& seen) {
    FabricView other;
    other.name = "mlx5_1-1";
    other.watching = watching;
    other.sweep = std::make_shared<const Sweep>(seen.sweep());
    return instead_text(last, std::vector{other});
  };
  fabric.unlink(fabric.port_of("host-0-0 mlx5_0", 1));
  const Sweep last = fabric.sweep();
  EXPECT_EQ(text(last, true, fabric), "; mlx5_1-1, on the same subnet, is watched instead");
  EXPECT_EQ(text(last, false, fabric), "");
  EXPECT_EQ(instead_text(last, {}), "");
  fabric.silence(fabric.find("leaf-0"));
  EXPECT_EQ(text(last, true, fabric), "") << "nobody reaches the switch";
  fakes::FabricBuilder another;
  another.add_switch("storage", 8);
  another.node(0).guid.value |= 0xB0000000000;
  EXPECT_EQ(text(last, true, another), "") << "that is another subnet";
}

}  // namespace
}  // namespace weft::daemon
