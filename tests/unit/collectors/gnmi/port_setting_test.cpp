// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/port_setting.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace weft::gnmi {
namespace {

std::string chosen(std::vector<std::string> models) {
  const PortSetting* const row = choose_port_setting(models);
  return row == nullptr ? "" : std::string(row->name);
}

PortTold told_by(std::initializer_list<std::pair<std::string_view, Value>> values, std::string_view port) {
  PortTold told;
  for (const auto& [text, value] : values) {
    auto path = parse_path(text);
    EXPECT_TRUE(path) << text;
    if (path) take_port(*path, value, port, told);
  }
  return told;
}

TEST(PortSetting, EachRowHasPathsAndAValue) {
  std::set<std::string_view> names;
  for (const PortSetting& row : port_settings()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_port_setting(row.name), &row);
    EXPECT_EQ(setting_json(row, true).empty(), row.kind == SettingKind::kNone) << row.name;
    if (row.kind == SettingKind::kNone) continue;
    EXPECT_NE(setting_json(row, true), setting_json(row, false)) << row.name;
    for (const std::string_view path : {row.leaf, row.state, row.oper, row.neighbours}) {
      const auto text = path_of_port(path, "ethernet-1/1");
      ASSERT_TRUE(text) << path;
      EXPECT_NE(text->find("=ethernet-1/1]"), std::string::npos) << *text;
      EXPECT_TRUE(parse_path(*text)) << *text;
    }
  }
  EXPECT_EQ(find_port_setting("magic"), nullptr);
}

TEST(PortSetting, TheModelsOfATargetSayWhichRowItIs) {
  EXPECT_EQ(chosen({"openconfig-interfaces", "arista-intf-augments"}), "openconfig");
  EXPECT_EQ(chosen({"openconfig-interfaces", "urn:nokia.com:srlinux:chassis:interfaces:srl_nokia-interfaces"}),
            "srlinux");
  EXPECT_EQ(chosen({"openconfig-interfaces", "sonic-port"}), "sonic");
  // Cumulus Linux tells OpenConfig's models, and has no Set.
  EXPECT_EQ(chosen({"openconfig-interfaces", "openconfig-if-ethernet", "nvidia-if-ethernet-ext"}), "nvidia");
  EXPECT_EQ(find_port_setting("nvidia")->kind, SettingKind::kNone);
  EXPECT_EQ(chosen({"openconfig-lldp"}), "");
  EXPECT_EQ(chosen({}), "");
}

TEST(PortSetting, ANameThatWouldLeaveItsKeyIsRefused) {
  const auto& row = *find_port_setting("openconfig");
  for (const char* name : {"", "Ethernet1]/../x[a=b", "a\\b", "[x"}) EXPECT_FALSE(path_of_port(row.leaf, name)) << name;
}

TEST(PortSetting, ValuesAreReadByTypeAndAsJson) {
  const auto open = told_by({{"/interfaces/interface[name=Ethernet1]/config/enabled", true},
                             {"/interfaces/interface[name=Ethernet1]/state/admin-status", std::string_view("UP")},
                             {"/interfaces/interface[name=Ethernet1]/state/oper-status", std::string_view("DOWN")}},
                            "Ethernet1");
  EXPECT_TRUE(open.is_enabled());
  EXPECT_EQ(to_text(open), "enabled, admin UP, oper DOWN");

  const auto sonic =
      told_by({{"/openconfig-interfaces:interfaces/interface[name=Ethernet0]/config/enabled",
                Json{R"({"openconfig-interfaces:enabled":false})"}},
               {"/openconfig-interfaces:interfaces/interface[name=Ethernet0]/state/admin-status", Json{R"("UP")"}}},
              "Ethernet0");
  EXPECT_TRUE(sonic.is_shut()) << "it is configured so, and not in force yet";
  EXPECT_FALSE(sonic.is_enabled());

  const auto whole = told_by({{"/interfaces", Json{R"({"openconfig-interfaces:interface":[
      {"name":"Ethernet1","config":{"name":"Ethernet1","enabled":false}},
      {"name":"Ethernet2","config":{"name":"Ethernet2","enabled":true},"state":{"admin-status":"UP"}}]})"}}},
                             "Ethernet2");
  EXPECT_EQ(to_text(whole), "enabled, admin UP");

  const auto nokia = told_by({{"/interface[name=ethernet-1/1]/admin-state", Json{R"("disable")"}},
                              {"/interface[name=ethernet-1/1]/oper-state", Json{R"("down")"}}},
                             "ethernet-1/1");
  EXPECT_TRUE(nokia.is_shut());
}

TEST(PortSetting, AbsentIsNeitherAndAnotherPortIsLeftOut) {
  EXPECT_FALSE(PortTold().is_shut());
  EXPECT_FALSE(PortTold().is_enabled());
  EXPECT_EQ(to_text(PortTold()), "nothing was told");
  const auto other =
      told_by({{"/interfaces/interface[name=Ethernet2]/config/enabled", false},
               {"/interfaces/interface[name=Ethernet1]/state/admin-status", std::string_view("TESTING")},
               {"/interfaces/interface[name=Ethernet1]/subinterfaces/subinterface[index=0]/x/enabled", false}},
              "Ethernet1");
  EXPECT_EQ(to_text(other), "nothing was told");
}

TEST(PortSetting, NeighboursAreNamed) {
  const auto told = told_by({{"/lldp/interfaces/interface[name=Ethernet1]/neighbors/neighbor[id=7]/state/system-name",
                              std::string_view("spine01")},
                             {"/lldp/interfaces/interface[name=Ethernet2]/neighbors/neighbor[id=8]/state/system-name",
                              std::string_view("spine02")}},
                            "Ethernet1");
  EXPECT_EQ(told.systems, std::vector<std::string>{"spine01"});
}

}  // namespace
}  // namespace weft::gnmi
