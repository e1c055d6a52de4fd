// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cable_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::cabling {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> read(std::string_view text, std::size_t most = 100) {
  Faults faults(text);
  std::vector<std::string> list;
  for (const CableLine& cable : read_cable_table(text, most, faults))
    list.push_back(std::to_string(cable.line) + ": " + cable.a.node + " [" + cable.a.port + "] " + cable.b.node + " [" +
                   cable.b.port + ']');
  if (!faults.empty()) list.push_back(faults.error().message);
  return list;
}

TEST(CableTable, FindsItsColumnsByName) {
  const std::string cable = "2: leaf-1 [1] gpu-01 [mlx5_0]";
  for (const char* header :
       {"node_a,port_a,node_b,port_b", "Source Device;Source Port;Destination Device;Destination Port",
        "start device\tstart port\tend device\tend port", "source,source_port,target,target_port",
        "switch,port,peer,peer port", "Host1,If1,Host2,If2", "from,fromport,to,toport",
        "local node,local interface,remote node,remote interface", "device,interface,remote_device,remote_interface",
        "side_a_device,side_a_name,side_b_device,side_b_name", "\"a\",\"a port\",\"b\",\"b port\""}) {
    const std::string separator(1, std::string_view(header).find(';') != std::string_view::npos    ? ';'
                                   : std::string_view(header).find('\t') != std::string_view::npos ? '\t'
                                                                                                   : ',');
    const std::string line = "leaf-1" + separator + '1' + separator + "gpu-01" + separator + "mlx5_0\r\n";
    EXPECT_TRUE(is_cable_table(std::string(header) + '\n' + line)) << header;
    EXPECT_THAT(read(std::string(header) + "\r\n" + line), ElementsAre(cable)) << header;
  }
}

TEST(CableTable, ColumnsStandInAnyOrderAmongOthers) {
  EXPECT_THAT(
      read("length,port b,node b,note,port a,node a\n3,mlx5_0,gpu-01,\"new; \"\"blue\"\", short\",1,leaf-1,,\n"),
      ElementsAre("2: leaf-1 [1] gpu-01 [mlx5_0]"));
}

TEST(CableTable, ReadsTheLayoutsOfUfm) {
  EXPECT_THAT(
      read("#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
           "ib-01,Port 21,core-A,Blade 16_Port 2/20,Data\n"
           "gpu-01,gpu-01 ibp11s0f0,ib-01,Port 1, Data\n"
           "gpu-01,mgmt,oob,Port 2,Management\n"),
      ElementsAre("2: ib-01 [Port 21] core-A [Blade 16_Port 2/20]", "3: gpu-01 [gpu-01 ibp11s0f0] ib-01 [Port 1]"));
  EXPECT_THAT(read(",rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,"
                   "EndDeviceLocation,U height,LinkType,Speed,,Cable Length,,,,,\n"
                   ",Rack 1,U41,ib-01,Port 21,R1,ib-02,Port 3,R2,U25,Data,200000,HDR cable,10,,,,,Rack 1\n"),
              ElementsAre("2: ib-01 [Port 21] ib-02 [Port 3]"));
  EXPECT_THAT(read("rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,"
                   "EndDeviceLocation,U height_1,LinkType,Speed,_2,Cable Length,_3,_4,_5,_6,_7,State,Domain\n"
                   ",,SwitchX -  Mellanox Technologies,Port 26,,gpu-64 mlx5_0,Port 1,,,,,,,,,,,,Active,In-Scope\n"),
              ElementsAre("2: SwitchX -  Mellanox Technologies [Port 26] gpu-64 mlx5_0 [Port 1]"));
}

TEST(CableTable, LeavesOutWhatIsNoCable) {
  EXPECT_THAT(read("# made by hand\n\nnode1,port1,node2,port2\n# spare\n,,,\nleaf-1,4,,\nleaf-1,5,leaf-2,6"),
              ElementsAre("7: leaf-1 [5] leaf-2 [6]"));
}

TEST(CableTable, SaysWhatAHeaderLacks) {
  EXPECT_THAT(read("node1,port1,node2,cable\na,1,b,2\n"),
              ElementsAre("line 1: no column of the header is the port of the other end"));
  EXPECT_THAT(read("# plan\nnode1,port1,node2,port2,Port 2\na,1,b,2,3\n"),
              ElementsAre("line 2: more than one column of the header is the port of the other end"));
  EXPECT_THAT(read("#StartDevice,StartPort,EndDevice,LinkType\na,1,b,Data\n"),
              ElementsAre("line 1: no column of the header is the port of the other end"));
  EXPECT_THAT(read("rack,unit,length,colour\n1,2,3,4\n"),
              ElementsAre("line 1: no column of the header is the node of the first end"));
  EXPECT_THAT(read("\n# nothing\n"), ElementsAre("line 1: it has no header"));
}

TEST(CableTable, SaysWhichLinesAreNone) {
  EXPECT_THAT(read("node1,port1,node2,port2\na,1,b\na,2,b,3\na,\"3,b,4\n"),
              ElementsAre("3: a [2] b [3]",
                          "line 2: 3 columns; the header needs 4\nline 4: a quote is not closed in this line"));
  EXPECT_THAT(read("node1,port1,node2,port2\na\n"), ElementsAre("line 2: 1 column; the header needs 4"));
  EXPECT_THAT(read("node1,port1,node2,port2\n" + std::string(20000, 'x') + '\n'),
              ElementsAre("line 2: longer than 16384 characters"));
}

TEST(CableTable, LooksForItsHeaderWithinBounds) {
  std::string columns = "node1,port1,node2,port2";
  const std::string cable = "a,1,b,2\n";
  for (int i = 0; i < 252; ++i) columns += ",x";
  EXPECT_THAT(read(columns + '\n' + cable), ElementsAre("2: a [1] b [2]"));
  EXPECT_THAT(read(columns + ",x\n" + cable), ElementsAre("line 1: more than 256 columns"));
  EXPECT_TRUE(is_cable_table(columns + ",x\n" + cable));
  EXPECT_FALSE(is_cable_table('#' + columns + ",x\n"));
  std::string comments;
  for (int i = 0; i < 1000; ++i) comments += "# comment\n";
  EXPECT_THAT(read(comments + "node1,port1,node2,port2\n" + cable), ElementsAre("1002: a [1] b [2]"));
  EXPECT_FALSE(is_cable_table(comments + "#node1,port1,node2,port2\n"));
}

TEST(CableTable, IsNotReadBeyondItsBound) {
  const std::string text = "node1,port1,node2,port2\na,1,b,2\n\na,2,b,3\n";
  EXPECT_THAT(read(text, 2), ElementsAre("2: a [1] b [2]", "4: a [2] b [3]"));
  EXPECT_THAT(read(text + "a,3,b,4\nnone\n", 2), ElementsAre("line 5: more than 2 lines with cables"));
}

TEST(CableTable, IsToldByItsFirstLine) {
  EXPECT_TRUE(is_cable_table("rack,unit,length,colour\n"));
  EXPECT_TRUE(is_cable_table("# a comment, with commas, in it, and one more\n\nnode1;port1;node2;port2\n"));
  for (const char* other :
       {"", "\n# nothing\n", "hello\n", "vendid=0x2c9\n", "Switch\t36 \"S-1\"\t\t# \"a,b,c,d\" base port 0\n",
        "#\n# Topology file: generated on Tue Jun  5 14:15:10 2007\n#\nvendid=0x2c9\n",
        "CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7cfe9003009ce5b0 ( 'o0001 HCA-1' - 'ib-i1l1s01 ' )\n"})
    EXPECT_FALSE(is_cable_table(other)) << other;
}

}  // namespace
}  // namespace weft::cabling
