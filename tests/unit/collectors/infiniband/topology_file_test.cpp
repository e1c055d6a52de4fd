// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/topology_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace weft::infiniband {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSmall = R"(#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
# Initiated from node 0000000000000a01 port 0000000000000a02

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x51
switchguid=0x50(52)
Switch	65 "S-0000000000000050"		# "MF0;leaf "one" lid 9:MQM9701/U1" enhanced port 0 lid 73 lmc 2
[1]	"H-0000000000000a01"[2](a02) 		# "dgx-04 mlx5_5" lid 647 4xNDR
[3]	"S-0000000000000060"[7]		# "spine" lid 236 2xHDR
[65]	"H-0000000000000b00"[1](b00) 		# "Mellanox Technologies Aggregation Node" lid 193 4xNDR

vendid=0x2c9
devid=0xd2f2
switchguid=0x60(60)
Switch	8 "S-0000000000000060"		# "spine" base port 0 lid 236 lmc 0
[7]	"S-0000000000000050"[3]		# "MF0;leaf "one" lid 9:MQM9701/U1" lid 73 2xHDR

vendid=0x2c9
devid=0x1021
caguid=0xa01
Ca	2 "H-0000000000000a01"		# "dgx-04 mlx5_5"
[2](a02) 	"S-0000000000000050"[1]		# lid 647 lmc 1 "MF0;leaf "one" lid 9:MQM9701/U1" lid 73 4xNDR

vendid=0x2c9
devid=0xcf09
caguid=0xb00
Ca	1 "H-0000000000000b00"		# "Mellanox Technologies Aggregation Node"
[1](b00) 	"S-0000000000000050"[65]		# lid 193 lmc 0 "leaf" lid 73 4xNDR
)";

std::string message_of(std::string_view text) {
  const Result<Topology> parsed = parse_topology_file(text);
  return parsed ? "parsed" : parsed.error().message;
}

PortKey key(std::uint64_t node, std::uint8_t port) {
  return {NodeGuid{node}, PortNum{port}};
}

TEST(TopologyFile, ReadsNodesWithTheirProperties) {
  const Result<Topology> parsed = parse_topology_file(kSmall);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->nodes().size(), 4U);
  EXPECT_EQ(parsed->ports().size(), 66U + 9U + 2U + 1U);
  const Node& leaf = parsed->node(parsed->find_node(NodeGuid{0x50}));
  EXPECT_EQ(leaf.type, NodeType::kSwitch);
  EXPECT_EQ(leaf.port_count, 65);
  EXPECT_EQ(leaf.vendor_id, 0x2c9U);
  EXPECT_EQ(leaf.device_id, 0xd2f2U);
  EXPECT_EQ(leaf.system_image_guid, 0x51U);
  EXPECT_TRUE(leaf.enhanced_port0);
  EXPECT_EQ(leaf.description, R"(MF0;leaf "one" lid 9:MQM9701/U1)");
  EXPECT_EQ(leaf.name, leaf.description);
  const Node& spine = parsed->node(parsed->find_node(NodeGuid{0x60}));
  EXPECT_FALSE(spine.enhanced_port0);
  EXPECT_EQ(spine.system_image_guid, 0U) << "properties hold for one node only";
  EXPECT_TRUE(parsed->node(parsed->find_node(NodeGuid{0xb00})).aggregation_node);
  EXPECT_FALSE(parsed->node(parsed->find_node(NodeGuid{0xa01})).aggregation_node);
}

TEST(TopologyFile, ReadsPortsWithBothEnds) {
  const Result<Topology> parsed = parse_topology_file(kSmall);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const PortIndex leaf = parsed->find_port(key(0x50, 1));
  const PortIndex adapter = parsed->find_port(key(0xa01, 2));
  EXPECT_EQ(parsed->port(leaf).peer, adapter);
  EXPECT_EQ(parsed->port(adapter).peer, leaf);
  EXPECT_EQ(parsed->port(leaf).guid.value, 0x52U);
  EXPECT_EQ(parsed->port(leaf).lid.value, 73);
  EXPECT_EQ(parsed->port(leaf).lid_mask_control, 2);
  EXPECT_EQ(parsed->port(adapter).guid.value, 0xa02U);
  EXPECT_EQ(parsed->port(adapter).lid.value, 647);
  EXPECT_EQ(parsed->port(adapter).lid_mask_control, 1);
  EXPECT_EQ(parsed->port(adapter).width_active, 2);
  EXPECT_EQ(parsed->port(adapter).speed_active, kSpeedNdr);
  EXPECT_TRUE(parsed->port(adapter).is_up());
  const Port& split = parsed->port(parsed->find_port(key(0x60, 7)));
  EXPECT_EQ(lanes(split.width_active), 2);
  EXPECT_EQ(split.speed_active, kSpeedHdr);
}

TEST(TopologyFile, LeavesUnlistedPortsDown) {
  const Result<Topology> parsed = parse_topology_file(kSmall);
  ASSERT_TRUE(parsed);
  const Port& idle = parsed->port(parsed->find_port(key(0xa01, 1)));
  EXPECT_EQ(idle.state, PortState::kDown);
  EXPECT_EQ(idle.peer, kNoIndex);
  EXPECT_EQ(idle.width_active, 0);
  EXPECT_EQ(parsed->port(parsed->find_port(key(0x50, 0))).state, PortState::kActive);
}

TEST(TopologyFile, ReadsXdrLinks) {
  // As ibnetdiscover of rdma-core 47 and later writes them.
  const Result<Topology> parsed = parse_topology_file(
      "switchguid=0x7\nSwitch 4 \"S-7\"\n[1] \"H-1\"[1](1) # \"dgx mlx5_0\" lid 4 4xXDR\n"
      "[2] \"H-2\"[1](2) # \"dgx mlx5_1\" lid 5 1xXDR\n"
      "Ca 1 \"H-1\"\nCa 1 \"H-2\"\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Port& port = parsed->port(parsed->find_port(key(1, 1)));
  EXPECT_EQ(port.speed_active, kSpeedXdr);
  EXPECT_DOUBLE_EQ(port.bits_per_second(), 800e9);
  EXPECT_DOUBLE_EQ(parsed->port(parsed->find_port(key(2, 1))).bits_per_second(), 200e9) << "one plane of four";
}

TEST(TopologyFile, ReadsHandWrittenNetworks) {
  const Result<Topology> parsed = parse_topology_file(
      "# by hand\r\n"
      "switchguid=0x7\r\n"
      "Switch 4 \"leaf\"\r\n"
      "[1] \"H-1\" [1]  w=2 s=4 # spare cable\r\n"
      "[2] \"H-2\"\r\n"
      "\n"
      "Hca 1 \"H-1\"\n"
      "[1] \"leaf\"[1]\n"
      "Hca 1 \"H-2\"   # to be labelled");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->node(parsed->find_node(NodeGuid{7})).name, "leaf");
  EXPECT_EQ(parsed->link_of(parsed->find_port(key(1, 1))), make_link_key(key(7, 1), key(1, 1)));
  EXPECT_EQ(parsed->link_of(parsed->find_port(key(2, 1))), make_link_key(key(7, 2), key(2, 1)))
      << "a cable listed from one end is a cable";
  EXPECT_TRUE(parsed->port(parsed->find_port(key(2, 1))).is_up());
}

TEST(TopologyFile, ReadsGroupedAndFullOutput) {
  const Result<Topology> parsed = parse_topology_file(
      "Chassis 1 (guid 0x99)\n# Spine Nodes\nsysimgguid=0x99\t\t# Chassis 1\nswitchguid=0x5(5)\t\t# Chassis 1 spine 2\n"
      "Switch 24 \"S-5\" # \"spine\" base port 0 lid 6 lmc 0\n"
      "[2][ext 14]\t\"R-6\"[1][ext 3](8)\t\t# \"router\" lid 3 12xQDR s=4 w=2 v=4 m=4096\n\n"
      "Non-Chassis Nodes\nrtguid=0x6\nRt 1 \"R-6\"\t\t# \"router\"\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Port& port = parsed->port(parsed->find_port(key(6, 1)));
  EXPECT_EQ(parsed->node_of(port).type, NodeType::kRouter);
  EXPECT_EQ(port.guid.value, 8U);
  EXPECT_EQ(lanes(port.width_active), 12);
  EXPECT_EQ(port.speed_active, kSpeedQdr);
}

TEST(TopologyFile, UnknownRateTextIsUnknownNotZeroNorAnError) {
  const Result<Topology> parsed = parse_topology_file(
      "Switch 2 \"S-5\"\n[1] \"S-6\"[1] # \"b\" lid 3 4x???\n[2] \"S-6\"[2] # \"b\" lid 3 7xNDR\nSwitch 2 \"S-6\"\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->port(parsed->find_port(key(5, 1))).speed_active, 0);
  EXPECT_EQ(parsed->port(parsed->find_port(key(5, 1))).width_active, 2);
  EXPECT_EQ(parsed->port(parsed->find_port(key(5, 2))).width_active, 0);
}

TEST(TopologyFile, ReportsEveryFaultWithItsLine) {
  const std::string message = message_of(
      "Switch 0 \"S-1\"\n"              // 1
      "[1] \"swallowed\n"               // 2: belongs to a node that is faulty itself
      "vendid=tree\n"                   // 3
      "[4] \"S-2\"[1]\n"                // 4
      "Switch 4 \"S-2\"\n"              // 5
      "[1] \"S-404\"[1]\n"              // 6
      "[5] \"S-2\"[2]\n"                // 7
      "[0] \"S-2\"[2]\n"                // 8
      "[300] \"S-2\"[2]\n"              // 9
      "[2] S-2\n"                       // 10
      "[2] \"S-2\"[2]\n"                // 11
      "[3] \"S-2\"[4] and more\n"       // 12
      "Hca 1 \"Hca1\"\n"                // 13
      "Ca 1 \"H-2\"\n"                  // 14
      "Switch 4 \"S-2\"\n"              // 15
      "what is this\n"                  // 16
      "switchguid=0x0\n"                // 17
      "colour=red\n"                    // 18
      "caguid=0x11223344556677889\n");  // 19
  EXPECT_THAT(message, HasSubstr("line 1: a node must have 1 to 254 ports"));
  EXPECT_THAT(message, Not(HasSubstr("line 2:")));
  EXPECT_THAT(message, HasSubstr("line 3: vendid is not a hexadecimal number: 'tree'"));
  EXPECT_THAT(message, HasSubstr("line 4: a port outside of a node"));
  EXPECT_THAT(message, Not(HasSubstr("line 5:")));
  EXPECT_THAT(message, HasSubstr("line 6: the peer 'S-404' is not described anywhere"));
  EXPECT_THAT(message, HasSubstr("line 7: 'S-2' has no port 5 to connect, it has 1 to 4"));
  EXPECT_THAT(message, HasSubstr("line 8: 'S-2' has no port 0"));
  EXPECT_THAT(message, HasSubstr("line 9: expected a port number from 1 to 254"));
  EXPECT_THAT(message, HasSubstr("line 10: after the port there must be the peer's id"));
  EXPECT_THAT(message, HasSubstr("line 11: the port is connected to itself"));
  EXPECT_THAT(message, HasSubstr("line 12: unexpected 'and'"));
  EXPECT_THAT(message, HasSubstr("line 13: 'Hca1' has no GUID"));
  EXPECT_THAT(message, HasSubstr("line 14: another node has the GUID 0x0000000000000002"));
  EXPECT_THAT(message, HasSubstr("line 15: the node 'S-2' is already described"));
  EXPECT_THAT(message, HasSubstr("line 16: expected a node, a port or a property"));
  EXPECT_THAT(message, HasSubstr("line 17: switchguid must not be zero"));
  EXPECT_THAT(message, HasSubstr("line 18: unknown property 'colour'"));
  EXPECT_THAT(message, HasSubstr("line 19: caguid is not a hexadecimal number"));
}

TEST(TopologyFile, ReportsNoFaultThatFollowsFromALaterOne) {
  EXPECT_THAT(message_of("Switch 4 \"S-1\"\n[1] \"S-2\"[1]\n[2] \"S-3\"[1]\nSwitch 0 \"S-2\"\nSwitch 4 \"S-3\n"),
              AllOf(StartsWith("line 4: a node must have 1 to 254 ports"), Not(HasSubstr("not described anywhere"))));
}

TEST(TopologyFile, ReportsEndsThatContradictEachOther) {
  EXPECT_THAT(message_of("Switch 4 \"S-1\"\n[1] \"S-2\"[1]\n[2] \"S-2\"[1]\nSwitch 4 \"S-2\"\n[1] \"S-1\"[1]\n"),
              AllOf(HasSubstr("line 3:"), HasSubstr("but an earlier line connects it to 'S-1' port 1")));
  EXPECT_THAT(message_of("Switch 4 \"S-1\"\n[1] \"S-2\"[1]\nSwitch 4 \"S-2\"\n[1] \"S-1\"[3]\n"), HasSubstr("line 4:"));
  EXPECT_THAT(message_of("Switch 4 \"S-1\"\n[1] \"S-2\"[1]\n[1] \"S-2\"[1]\nSwitch 4 \"S-2\"\n"),
              HasSubstr("line 3: port 1 is already in line 2"));
  EXPECT_THAT(message_of("Switch 4 \"S-1\"\n[1] \"H-2\"[1](22)\nCa 1 \"H-2\"\n[1](23) \"S-1\"[1]\n"),
              HasSubstr("line 2: 'H-2' port 1 has the GUID 0x0000000000000022 here"));
}

TEST(TopologyFile, IsToldByItsFirstLine) {
  for (const char* text : {"# Topology file: generated on Tue\n\n vendid=0x2c9\nwhat\n", "Switch 4 \"S-1\"\n",
                           "Hca\t1 \"H-1\"\n", "Chassis 0 (guid 0x1)\n", "Non-Chassis Nodes\n", "[1] \"S-1\"[1]\n",
                           "colour=red\n", "SW   1 1 0x1\n", "", "#\n"})
    EXPECT_TRUE(is_topology_file(text)) << text;
  for (const char* text :
       {"source,source port,destination\n", "from,to\nvendid=0x2c9\n", "# plan\nhello world\n", "hello\n"})
    EXPECT_FALSE(is_topology_file(text)) << text;
}

TEST(TopologyFile, IsBounded) {
  EXPECT_THAT(message_of(""), HasSubstr("the file has no nodes"));
  EXPECT_THAT(message_of("# nothing\n\n"), HasSubstr("the file has no nodes"));
  EXPECT_THAT(message_of("Switch 4 \"" + std::string(5000, 'x') + "\"\n"), HasSubstr("line 1: longer than 4096"));
  EXPECT_THAT(message_of("Switch 255 \"S-1\"\n"), HasSubstr("1 to 254"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "nonsense\n";
  const std::string message = message_of(many);
  EXPECT_THAT(message, AllOf(HasSubstr("line 20:"), Not(HasSubstr("line 21:")), HasSubstr("there may be more")));
}

TEST(TopologyFile, CutAnywhereNeitherCrashesNorInventsALink) {
  const std::string whole = kSmall;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Result<Topology> parsed = parse_topology_file(std::string_view(whole).substr(0, length));
    if (!parsed) continue;
    EXPECT_EQ(Topology::validate(parsed->nodes(), parsed->ports()), "");
    EXPECT_LE(parsed->nodes().size(), 4U);
  }
}

TEST(TopologyFile, ReadsThePortsReport) {
  const Result<Topology> parsed = parse_topology_file(
      "CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'o0001 HCA-1' - 'ib-i1l1s01 ' )\n"
      "SW  1719 10 0x7cfe9003009ce5b0 4x EDR - CA   134  1 0x7cfe9003003b4bde ( 'ib-i1l1s01 ' - 'o0001 HCA-1' )\n"
      "SW  1719  1 0x7cfe9003009ce5b0 4x EDR - SW  1516  3 0x7cfe900300b07320 ( 'ib-i1l1s01' - 'ib-i1l2s01' )\n"
      "SW  2052 37 0x506b4b03005c2740 4x ???                                    'ib-i4l1s01'\n"
      "SW   479 22 0x0002c9020040f161 4x QDR                                   Infiniscale-IV Mellanox Technologies\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->nodes().size(), 5U);
  const Port& adapter = parsed->port(parsed->find_port(key(0x7cfe9003003b4bde, 1)));
  EXPECT_EQ(adapter.lid.value, 134);
  EXPECT_EQ(parsed->node_of(adapter).name, "o0001 HCA-1");
  EXPECT_EQ(adapter.peer, parsed->find_port(key(0x7cfe9003009ce5b0, 10)));
  EXPECT_EQ(adapter.speed_active, kSpeedEdr);
  const Node& leaf = parsed->node(parsed->find_node(NodeGuid{0x7cfe9003009ce5b0}));
  EXPECT_EQ(leaf.name, "ib-i1l1s01");
  EXPECT_EQ(leaf.port_count, 10);
  const Port& idle = parsed->port(parsed->find_port(key(0x506b4b03005c2740, 37)));
  EXPECT_EQ(idle.state, PortState::kDown);
  EXPECT_EQ(idle.width_active, 0) << "meaningless while down";
  EXPECT_EQ(parsed->node(parsed->find_node(NodeGuid{0x0002c9020040f161})).name, "Infiniscale-IV Mellanox Technologies");
}

TEST(TopologyFile, ReportsFaultsOfThePortsReport) {
  const std::string message = message_of(
      "SW 1 1 0x5 4x EDR - CA 2 1 0x6 ( 'a' - 'b' )\n"
      "SW 1 2 0x5 4x EDR - CA 2 1 0x6 ( 'a' - 'b' )\n"
      "SW 1 0 0x5 4x EDR\n"
      "SW 1 3 0x5 4x EDR - CA 2 1 ( 'a' - 'b' )\n");
  EXPECT_THAT(message, HasSubstr("line 2: "));
  EXPECT_THAT(message, HasSubstr("line 3: expected a type, a LID, a port and a GUID"));
  EXPECT_THAT(message, HasSubstr("line 4: expected the peer"));
}

std::string read_fixture(const char* name) {
  std::ifstream file(std::string(WEFT_FIXTURES "/ibnetdiscover/") + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TopologyFile, ReadsARealFabric) {
  const std::string text = read_fixture("dgx-h100-ndr-40sw-582ca.ibnetdiscover");
  if (text.empty()) GTEST_SKIP() << "no fixtures";
  const Result<Topology> parsed = parse_topology_file(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  std::size_t switches = 0;
  std::size_t aggregation_nodes = 0;
  for (const Node& node : parsed->nodes()) {
    switches += node.type == NodeType::kSwitch;
    aggregation_nodes += node.aggregation_node;
  }
  EXPECT_EQ(parsed->nodes().size(), 622U);
  EXPECT_EQ(switches, 40U);
  EXPECT_EQ(aggregation_nodes, 40U);
  std::size_t connected = 0;
  for (const Port& port : parsed->ports()) {
    if (port.peer == kNoIndex) continue;
    EXPECT_EQ(port.speed_active, kSpeedNdr);
    ++connected;
  }
  std::size_t listed = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) listed += line.starts_with('[');
  EXPECT_EQ(connected, listed);
}

TEST(TopologyFile, ReadsRealPortsReports) {
  for (const char* name : {"small-test.ibnetdiscover", "small-test3.ibnetdiscover"}) {
    const std::string text = read_fixture(name);
    if (text.empty()) GTEST_SKIP() << "no fixtures";
    const Result<Topology> parsed = parse_topology_file(text);
    EXPECT_TRUE(parsed) << name << ": " << parsed.error().message;
  }
}

TEST(TopologyFile, SeesTheContradictionInAPublishedPortsReport) {
  const std::string text = read_fixture("small-test2.ibnetdiscover");
  if (text.empty()) GTEST_SKIP() << "no fixtures";
  // One aggregation node's port stands behind two switches there, as duplicate GUIDs do.
  EXPECT_THAT(message_of(text), HasSubstr("line 5: 'Mellanox Technologies Aggregation Node' port 1 is connected to"));
}

}  // namespace
}  // namespace weft::infiniband
