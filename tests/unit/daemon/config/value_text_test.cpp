// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/value_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::config {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsReadOrRefusedInAWholeSentence) {
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_THAT(parse_duration("5").error(), testing::StartsWith("\"5\" is not a duration; give a number and a unit"));
  EXPECT_EQ(parse_duration("99999999999d").error(), "\"99999999999d\" is too long; at most 106000d");
}

TEST(Bytes, ReadsBinaryUnits) {
  EXPECT_EQ(parse_bytes("512").value().value, 512U);
  EXPECT_EQ(parse_bytes("20GiB").value().value, 20ULL << 30);
  EXPECT_EQ(format_bytes({20ULL << 30}), "20GiB");
  EXPECT_EQ(format_bytes({1025}), "1025");
  for (const char* text : {"", "GiB", "20GB", "-1", "1e30"}) EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Address, ReadsNumericOnes) {
  EXPECT_EQ(parse_address("127.0.0.1:9640").value(), (Address{"127.0.0.1", 9640}));
  EXPECT_EQ(parse_address("[::1]:0").value(), (Address{"::1", 0}));
  EXPECT_EQ(format_address({"::1", 9641}), "[::1]:9641");
  for (const char* text :
       {"", "127.0.0.1", ":9640", "localhost:1", "::1:9640", "[127.0.0.1]:1", "1.2.3.4:65536", "1.2.3.4:"})
    EXPECT_FALSE(parse_address(text)) << text;
}

TEST(Ports, ReadsPlacesAndNames) {
  EXPECT_TRUE(parse_ports({"auto"}).value().automatic);
  const InfinibandPorts ports = parse_ports({"compute=mlx5_0:1", "mlx5_1:2"}).value();
  ASSERT_EQ(ports.named.size(), 2U);
  EXPECT_EQ(ports.named[0], (InfinibandPort{"compute", "mlx5_0", 1}));
  EXPECT_EQ(ports.named[1], (InfinibandPort{"mlx5_1-2", "mlx5_1", 2}));
  EXPECT_EQ(parse_ports(format_ports(ports)).value(), ports);
}

TEST(Ports, RefusesWhatWouldBeWatchedTwice) {
  EXPECT_FALSE(parse_ports({}));
  EXPECT_FALSE(parse_ports({"auto", "mlx5_0:1"}));
  EXPECT_FALSE(parse_ports({"a=mlx5_0:1", "b=mlx5_0:1"}));
  EXPECT_FALSE(parse_ports({"a=mlx5_0:1", "a=mlx5_1:1"}));
  for (const char* text : {"mlx5_0", "mlx5_0:0", "mlx5_0:255", ":1", "../x:1", "a b=mlx5_0:1", "=mlx5_0:1",
                           "..=mlx5_0:1", ".=mlx5_0:1", "..:1"})
    EXPECT_FALSE(parse_ports({text})) << text;
}

TEST(Peer, NamesAndAddressesWithAPortAreTaken) {
  for (const char* text : {"weft:9641", "weft.example.:1", "192.0.2.1:65535", "[2001:db8::1]:9641"}) {
    const auto peer = parse_peer(text);
    ASSERT_TRUE(peer) << text;
    EXPECT_EQ(format_peer(*peer), text);
  }
  for (const char* text :
       {"", "weft", ":9641", "weft:0", "weft:65536", "weft:x", "a b:1", "[::1", "[weft]:1", "::1:9641"})
    EXPECT_FALSE(parse_peer(text)) << text;
}

TEST(Peers, AreEachNamedOnceAndAtMostSixteen) {
  EXPECT_EQ(parse_peers({"a:1", "b:1,c:1"}).value(), (std::vector<Peer>{{"a", 1}, {"b", 1}, {"c", 1}}));
  EXPECT_TRUE(parse_peers({}).value().empty());
  EXPECT_TRUE(parse_peers({""}).value().empty());
  EXPECT_EQ(parse_peers({"a:1", "b:1, a:1"}).error(), "\"a:1\" is listed twice");
  for (const char* text : {"a:1,", ",a:1", "a:1,,b:1", "a"}) EXPECT_FALSE(parse_peers({text})) << text;
  std::vector<std::string> many;
  for (int i = 0; i < 17; ++i) many.push_back("weft" + std::to_string(i) + ":9641");
  EXPECT_FALSE(parse_peers(many));
  many.pop_back();
  EXPECT_EQ(format_peers(parse_peers(many).value()), many);
}

}  // namespace
}  // namespace weft::config
