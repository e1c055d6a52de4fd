// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cabling_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::cabling {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSwitchPorts = "^(swp|Ethernet|Eth[0-9]+/|et-|xe-)";

std::string fault(std::string_view text) {
  const auto plan = parse_cabling(text, kSwitchPorts);
  if (plan) return "read";
  EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument);
  return plan.error().message;
}

std::vector<std::string> cables(const CablePlan& plan) {
  std::vector<std::string> list;
  for (const CablePlan::Cable& cable : plan.cables)
    list.push_back(plan.nodes[cable.a.node].name + ' ' + cable.a.port + ' ' + plan.nodes[cable.b.node].name + ' ' +
                   cable.b.port);
  return list;
}

TEST(CablingFile, ReadsWhatPtmReads) {
  const auto plan = parse_cabling(R"(graph G {
    // as in /etc/ptm.d/topology.dot
    "spine01":"swp1" -- "leaf01":"swp51";
    "leaf01":"swp2" -- "gpu-02":"eth2"
    "leaf01":"swp1" -- "gpu-01":"eth2" [left_mac="44:38:39:00:00:01"]
  })",
                                  kSwitchPorts);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->nodes, ElementsAre(CablePlan::Node{"spine01", true}, CablePlan::Node{"leaf01", true},
                                       CablePlan::Node{"gpu-02", false}, CablePlan::Node{"gpu-01", false}));
  EXPECT_THAT(cables(*plan),
              ElementsAre("spine01 swp1 leaf01 swp51", "leaf01 swp2 gpu-02 eth2", "leaf01 swp1 gpu-01 eth2"));
}

TEST(CablingFile, TheAttributeFunctionSaysWhoIsASwitch) {
  const auto plan = parse_cabling(R"(graph "air" {
    "leaf01" [function="leaf" os="sonic"]
    "hca" [function="host"]
    "oob" [function="oob-server"]
    "box" [function=server]
    "leaf01":"1" -- "hca":"swp9"
    "leaf01":"2" -- "box":"eth0"
  })",
                                  kSwitchPorts);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->nodes, ElementsAre(CablePlan::Node{"leaf01", true}, CablePlan::Node{"hca", false},
                                       CablePlan::Node{"box", false}));
}

TEST(CablingFile, TheSameEndsWhicheverWayRoundTheyStand) {
  // An undirected graph may turn an edge round; ports must turn with it.
  const auto plan = parse_cabling(R"(graph G {
    "a":"swp1" -- "b":"swp2"
    "b":"swp3" -- "a":"swp4"
  })",
                                  kSwitchPorts);
  ASSERT_TRUE(plan) << plan.error().message;
  for (const CablePlan::Cable& cable : plan->cables) {
    const auto port_at = [&](const char* name) {
      return plan->nodes[cable.a.node].name == name ? cable.a.port : cable.b.port;
    };
    EXPECT_TRUE((port_at("a") == "swp1" && port_at("b") == "swp2") ||
                (port_at("a") == "swp4" && port_at("b") == "swp3"));
  }
}

TEST(CablingFile, SaysWhereTheTextIsNoDot) {
  EXPECT_THAT(fault("graph G {\n  \"a\":\"swp1\" -- \"b\":\"swp2\"\n  \"c\" -- -- \"d\"\n}\n"),
              StartsWith("line 3: syntax error"));
  EXPECT_THAT(fault("hello\n"), StartsWith("line 1: syntax error"));
  EXPECT_THAT(fault(""), StartsWith("line 1: "));
  EXPECT_THAT(fault("graph G {\n\"a\":\"swp1"), StartsWith("line 2: "));
  EXPECT_THAT(fault(std::string_view("graph G {\n\0}", 12)), StartsWith("line 2: a zero byte"));
  EXPECT_EQ(fault("graph A {\n a:x -- b:y }\n\ngraph B { }"), "line 4: a second graph begins");
  EXPECT_EQ(fault("graph A { a:x -- b:y } graph B { }"), "line 1: a second graph begins");
  // A text that failed leaves nothing behind for the next one.
  EXPECT_EQ(fault("graph G { a:x -- b:y }"), "read");
}

TEST(CablingFile, SaysWhatNoCablingIs) {
  EXPECT_THAT(fault("graph G { }"), HasSubstr("no cable"));
  EXPECT_THAT(fault("strict graph G { a:x -- b:y }"), HasSubstr("strict"));
  EXPECT_THAT(fault("graph G {\n\n a:x -- a:y\n}"), StartsWith("line 3: the cable from \"a\":\"x\" leads back"));
  EXPECT_THAT(fault("graph G {\n a -- b:y\n}"), HasSubstr("needs a port name"));
  EXPECT_THAT(fault("graph G {\n a:\"eth 0\" -- b:y\n}"), StartsWith("line 2: the cable"));
  EXPECT_THAT(fault("graph G {\n \"\xc3\xa4\":x -- b:y\n}"), HasSubstr("printable ASCII"));
  EXPECT_EQ(fault("graph G {\n \"%1\":x -- b:y\n}"), "line 2: a node's name must not begin with %");
  EXPECT_EQ(fault("graph G {  // 100%\n a [label=\"% of 100%\"]\n subgraph \"%s\" {}\n b:y -- \"%1\":x\n}"),
            "line 4: a node's name must not begin with %");
  EXPECT_EQ(fault("graph G {\n a:\"%1\" -- \"\\\n%1\":x\n}"), "line 2: a node's name must not begin with %");
  EXPECT_THAT(fault("graph G {\n \"" + std::string(256, 'a') + "\":x -- b:y\n}"), HasSubstr("too long"));
}

TEST(CablingFile, APortTakesOneCable) {
  const std::string said = fault(R"(graph G {
    "leaf01":"swp1" -- "gpu-01":"eth2"
    "leaf01":"swp11" -- "gpu-03":"eth2"
    "leaf01":"swp1" -- "gpu-02":"eth2"
    "leaf01":"swp2" -- "gpu-01":"eth2"
  })");
  EXPECT_EQ(said, "line 4: \"leaf01\":\"swp1\" already has a cable\nline 5: \"gpu-01\":\"eth2\" already has a cable");
}

TEST(CablingFile, TwentyFaultsAreEnough) {
  std::string text = "graph G {\n";
  for (int i = 0; i < 50; ++i) text += "a:x -- b:y\n";
  const std::string said = fault(text + "}");
  EXPECT_EQ(std::ranges::count(said, '\n'), 19);
}

TEST(CablingFile, TheFirstFaultOfTheTextIsSaidFirst) {
  // Names are looked at before cables.
  EXPECT_THAT(fault("graph G {\n a:x -- a:y\n \"\xc3\xa4\":x -- b:y\n}"),
              AllOf(StartsWith("line 2: the cable from"), HasSubstr("\nline 3: a node's name")));
}

TEST(CablingFile, ADotTextStandsForNoMoreThanItsLength) {
  const std::string groups = "an edge from or to a subgraph: write one edge for each cable";
  EXPECT_EQ(fault("graph G {\n {a b}\n -- {c d}\n}"), "line 3: " + groups);
  EXPECT_EQ(fault("graph G {\n a:x -- /* b */\n SubGraph s {c d}\n}"), "line 3: " + groups);
  EXPECT_EQ(fault("digraph G {\n \"}\" -> {c d}\n}"), "line 2: " + groups);
  EXPECT_EQ(fault("graph G {\n a:x, b:x -- c:x\n}"), "line 2: a list of nodes: write one statement for each of them");
  EXPECT_EQ(fault("graph G {\n a\n \"b\" + \"c\"\n}"), "line 3: a name in pieces: write it as one");
  EXPECT_EQ(fault("graph G {\n" + std::string(17, '{') + std::string(18, '}')),
            "line 2: more than 16 subgraphs in one another");
  std::string attributes;
  for (int i = 0; i < 130; ++i) attributes += " a" + std::to_string(i) + "=1";
  EXPECT_EQ(fault("graph G {\n node [" + attributes + "]\n}"), "line 2: more than 128 attributes");
  EXPECT_EQ(fault("graph G {\n" + attributes + "\n}"), "line 2: more than 128 attributes");
}

TEST(CablingFile, BoundsOfADotTextAreThoseOfItsWordsOnly) {
  EXPECT_EQ(fault(R"(graph G {  // } -- { a, b
    # } -- {
    graph [label="a, } -- {" + "b\\"; x=<<b>, "</b> } -- {>, y="\" } -- { "]
    label = "one" + "two"
    "subgraph":"}" -- -.5:"{" /* } -- { */
    subgraph one { a:"1" } b
    a:2 -- 7:3; a:4 -- "subgraph":x
  })"),
            "read");
}

TEST(CablingFile, ReadsATable) {
  const auto plan = parse_cabling(
      "StartDevice,StartPort,EndDevice,EndPort,BandWidth\n"
      "leaf01,Ethernet0,gpu-01,eth2,400000\n"
      "leaf01,Ethernet4,gpu-02,eth2,400000\n"
      "gpu-01,eth2,leaf01,Ethernet0,400000\n",
      kSwitchPorts);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->nodes, ElementsAre(CablePlan::Node{"leaf01", true}, CablePlan::Node{"gpu-01", false},
                                       CablePlan::Node{"gpu-02", false}));
  EXPECT_THAT(cables(*plan), ElementsAre("leaf01 Ethernet0 gpu-01 eth2", "leaf01 Ethernet4 gpu-02 eth2"));
}

TEST(CablingFile, SaysWhichLinesOfATableAreWrong) {
  EXPECT_EQ(fault("node1,port1,node2,port2\na,swp1,b,swp1\na,swp 2,b,swp2\na,swp1,c,swp1\n\nb,swp1,b,swp5\n,x,b,y\n"),
            "line 3: the cable \"a\":\"swp 2\" -- \"b\":\"swp2\" needs a port name without blanks at both ends\n"
            "line 4: \"a\":\"swp1\" already has a cable, in line 2\n"
            "line 6: the cable from \"b\":\"swp1\" leads back to \"b\"\n"
            "line 7: a node's name is empty, too long, or not printable ASCII");
  EXPECT_EQ(fault("node1,port1,node2,port2\n"), "line 1: it has no cables");
}

TEST(CablingFile, ReadsTheCablesOfASubnet) {
  const auto plan = parse_subnet_cabling(
      "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
      "leaf-1,Port 21,core,Blade 16_Port 2/20,Data\n"
      "gpu-01,gpu-01 mlx5_0,leaf-1,Port 1,Data\n");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(cables(*plan), ElementsAre("leaf-1 21 core/L16/U2 20", "gpu-01 mlx5_0 1 leaf-1 1"));
  EXPECT_EQ(plan->cables[1].line, 3U);
  const auto graph = parse_subnet_cabling("graph G {\n \"leaf-1\":\"21\" -- \"gpu-01\":\"mlx5_0\"\n}\n");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_THAT(cables(*graph), ElementsAre("leaf-1 21 gpu-01 mlx5_0 1"));
}

TEST(CablingFile, TheFirstFaultOfATableIsSaidFirst) {
  std::string short_lines;
  for (int i = 0; i < 250; ++i) short_lines += "leaf-1,1\n";
  const auto plan = parse_subnet_cabling("node1,port1,node2,port2\nleaf-1,nonsense 9 9,leaf-2,1\n" + short_lines);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, AllOf(StartsWith("line 2: \"nonsense 9 9\" is not a port of \"leaf-1\""),
                                          HasSubstr("\nline 3: 2 columns"), HasSubstr("\nline 21: 2 columns")));
  EXPECT_THAT(fault("node1,port1,node2,port2\na,x,a,y\n" + short_lines), StartsWith("line 2: the cable from"));
}

TEST(CablingFile, SaysWhichPortsOfASubnetAreNone) {
  const auto plan = parse_subnet_cabling(
      "node1,port1,node2,port2\nleaf-1,1,leaf-2,1\nleaf-1,1/1/2,leaf-2,2\nleaf-1,Port 1,leaf-3,1\n");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message,
              AllOf(StartsWith("line 3: \"1/1/2\" is not a port of \"leaf-1\": expected a number"),
                    HasSubstr("\nline 4: \"leaf-1\":\"1\" already has a cable, in line 2")));
}

TEST(CablingFile, IsToldByItsFirstLines) {
  for (const char* text :
       {"graph G {", "// plan\n", "# plan\n\n  strict digraph", "node1,port1,node2,port2\n", "Graph{"})
    EXPECT_TRUE(is_cabling(text)) << text;
  for (const char* text : {"", "graphs", "vendid=0x2c9\ngraph G {", "Switch 4 \"S-1\"\n"})
    EXPECT_FALSE(is_cabling(text)) << text;
}

TEST(CablingFile, MayComeFromAnyEditor) {
  EXPECT_EQ(plan_text("\xEF\xBB\xBFgraph G {\n}\n"), "graph G {\n}\n");
  EXPECT_EQ(plan_text("a node,a port\rleaf-1,1\r"), "a node,a port\nleaf-1,1\n");
  for (const char* same : {"", "graph", "a node,a port\r\nleaf-1,1\r\n", "\xEF\xBB"}) EXPECT_EQ(plan_text(same), same);
  const auto wide = plan_text({"\xFF\xFEg\0r\0", 6});
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(wide.error().message, "line 1: a zero byte: save the file as UTF-8");
}

TEST(CablingFile, APatternMustBeOne) {
  const auto plan = parse_cabling("graph G { a:x -- b:y }", "(");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("regular expression"));
}

}  // namespace
}  // namespace weft::cabling
