// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/target_list.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::switches {
namespace {

TEST(TargetList, LinesHaveANameAnAddressAndWhatIsSpecial) {
  const auto targets = parse_targets(
      "# two leaves\n\nleaf01 192.0.2.11:9339\n"
      "spine01\tspine01.example:57400  credentials=spines login=basic certificate=switch # the first\r\n"
      "test [::1]:1 tls=off",
      10);
  ASSERT_TRUE(targets) << targets.error().message;
  ASSERT_EQ(targets->size(), 3U);
  EXPECT_EQ((*targets)[0], (TargetLine{.name = "leaf01", .address = "192.0.2.11:9339"}));
  EXPECT_EQ((*targets)[1], (TargetLine{.name = "spine01",
                                       .address = "spine01.example:57400",
                                       .credentials = "spines",
                                       .login = Login::kBasic,
                                       .certificate_name = "switch"}));
  EXPECT_TRUE((*targets)[2].plain_text);
}

TEST(TargetList, WhatIsWrongIsToldWithItsLine) {
  const auto wrong = [](std::string_view text) {
    const auto targets = parse_targets(text, 2);
    return targets ? std::string("nothing") : targets.error().message;
  };
  EXPECT_EQ(wrong("\nleaf01"), "line 2: a target is its name and HOST:PORT");
  EXPECT_NE(wrong("le/af 192.0.2.1:1").find("is no name"), std::string::npos);
  EXPECT_NE(wrong("leaf01 192.0.2.1").find("line 1: "), std::string::npos);
  EXPECT_NE(wrong("leaf01 192.0.2.1:1 login=magic").find("'login=magic' is none of"), std::string::npos);
  EXPECT_NE(wrong("leaf01 192.0.2.1:1 credentials=../x").find("a name has"), std::string::npos);
  EXPECT_NE(wrong("leaf01 192.0.2.1:1 tls=off").find("would be read in clear text"), std::string::npos);
  EXPECT_NE(wrong("leaf01 leaf01.example:1 tls=off").find("would be read in clear text"), std::string::npos);
  EXPECT_EQ(wrong("a 192.0.2.1:1\na 192.0.2.2:1"), "line 2: a is there twice");
  EXPECT_EQ(wrong("a 192.0.2.1:1\nb 192.0.2.2:1\nc 192.0.2.3:1"), "line 3: more than 2 targets (gnmi.max_targets)");
}

TEST(TargetList, ALineSaysHowItsPortsAreSetOrThatTheyAreNot) {
  const auto set_by = [](const std::string& words, std::vector<std::string> models) {
    const auto targets = parse_targets("leaf01 192.0.2.1:1 " + words, 1);
    if (!targets) return targets.error().message;
    const gnmi::PortSetting* const row = port_setting_of(targets->front(), models);
    return row == nullptr ? std::string("nothing") : std::string(row->name);
  };
  EXPECT_EQ(set_by("", {"openconfig-interfaces"}), "openconfig");
  EXPECT_EQ(set_by("", {}), "nothing");
  EXPECT_EQ(set_by("set=openconfig", {}), "openconfig");
  EXPECT_EQ(set_by("set=off", {"openconfig-interfaces"}), "nothing");
  EXPECT_EQ(set_by("", {"openconfig-interfaces", "nvidia-if-ethernet-ext"}), "nothing");
  EXPECT_NE(set_by("set=nvidia", {}).find("ports are set as openconfig, srlinux or sonic"), std::string::npos);
  EXPECT_NE(set_by("set=", {}).find("ports are set as"), std::string::npos);
}

TEST(TargetList, TheFileAddsToTheConfiguration) {
  char pattern[] = "/tmp/weft-test-XXXXXX";
  const std::filesystem::path place = ::mkdtemp(pattern);
  const auto file = place / "targets";
  std::ofstream(file) << "b 192.0.2.2:1\n";
  const auto both = read_targets("a 192.0.2.1:1", file, 10);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->size(), 2U);
  EXPECT_NE(read_targets("b 192.0.2.1:1", file, 10).error().message.find("b is in gnmi.targets, too"),
            std::string::npos);
  EXPECT_NE(read_targets("x", {}, 10).error().message.find("gnmi.targets: line 1"), std::string::npos);
  EXPECT_NE(read_targets("a 192.0.2.1:1", file, 1).error().message.find("more than 1 targets"), std::string::npos);
  EXPECT_FALSE(read_targets("", place / "none", 10));
  std::filesystem::remove_all(place);
}

}  // namespace
}  // namespace weft::switches
