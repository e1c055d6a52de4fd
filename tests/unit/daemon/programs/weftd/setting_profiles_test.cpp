// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/setting_profiles.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::daemon {
namespace {

using analyzer::ExpectedSetting;

std::string why_not(const std::string& text) {
  const auto parsed = parse_profiles(text);
  return parsed ? "" : parsed.error().message;
}

TEST(SettingProfiles, AreReadWithWhatTheyAreBasedOn) {
  const auto profiles = parse_profiles(R"(
[[profile]]
name = "gpu-roce"
hosts = ["gpu-*", "dgx-0?"]
boards = ["MT_0000000838"]
based_on = "roce"
[profile.expect]
mtu = 9000
firmware = ["28.41.*", "28.43.1014"]
pause = "rx,tx"
[[profile]]
name = "all"
ports = "infiniband"
[profile.expect]
mtu = "4092"
)");
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 2U);
  const analyzer::SettingProfile& roce = profiles->front();
  EXPECT_EQ(roce.layer, LinkLayer::kEthernet);
  EXPECT_EQ(roce.hosts.size(), 2U);
  const auto values = [&](ConfigFact fact) {
    for (const ExpectedSetting& one : roce.settings)
      if (one.fact == fact) return one.values;
    return std::vector<std::string>();
  };
  EXPECT_EQ(values(ConfigFact::kMtu), std::vector<std::string>{"9000"});
  EXPECT_EQ(values(ConfigFact::kPfc), std::vector<std::string>{"3"});
  EXPECT_EQ(values(ConfigFact::kPause), std::vector<std::string>{"rx,tx"}) << "its own word counts";
  EXPECT_EQ(values(ConfigFact::kFirmware).size(), 2U);
  EXPECT_EQ(profiles->back().hosts, std::vector<std::string>{"*"});
  EXPECT_EQ(profiles->back().layer, LinkLayer::kInfiniBand);
}

TEST(SettingProfiles, SayWhatIsWrongAndWhere) {
  const std::string begin = "[[profile]]\nname = \"a\"\n";
  EXPECT_EQ(why_not(""), "there is no [[profile]]");
  EXPECT_EQ(why_not("profile = 1"), "there is no [[profile]]");
  EXPECT_NE(why_not("[[profile]\n").find("line 1: "), std::string::npos);
  EXPECT_EQ(why_not(begin), "line 1: profile a expects nothing");
  EXPECT_EQ(why_not(begin + "expect.mtus = 1").rfind("line 3: no setting named mtus; there are ", 0), 0U);
  EXPECT_EQ(why_not(begin + "expect.host_model = \"x\"").rfind("line 3: no setting named host_model", 0), 0U);
  EXPECT_EQ(why_not(begin + "expect.mtu = []"), "line 3: mtu must be a list of 1 to 64");
  EXPECT_EQ(why_not(begin + "expect.mtu = 1.5"), "line 3: mtu must be a text, a whole number, or a list of these");
  EXPECT_EQ(why_not(begin + "based_on = \"iwarp\""), "line 3: based_on must be \"roce\"");
  EXPECT_EQ(why_not(begin + "based_on = \"roce\"\nports = \"infiniband\""),
            "line 3: \"roce\" is for ports of Ethernet");
  EXPECT_EQ(why_not(begin + "ports = \"token ring\""), "line 3: ports must be \"ethernet\" or \"infiniband\"");
  EXPECT_EQ(why_not(begin + "hots = [\"x\"]").rfind("line 3: unknown key hots; there are name, hosts", 0), 0U);
  EXPECT_EQ(why_not(begin + "based_on = \"roce\"\n" + begin + "based_on = \"roce\""),
            "line 4: there are two profiles named a");
  EXPECT_NE(why_not("[[profile]]\nname = \"a b\"\nbased_on = \"roce\"").find("letters"), std::string::npos);
}

}  // namespace
}  // namespace weft::daemon
