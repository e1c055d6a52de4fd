// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/setting_profiles.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/runtime/regular_file.hpp"
#include "daemon/programs/weftd/toml_table.hpp"
#include "fabric/list_text.hpp"

namespace weft::daemon {
namespace {

using analyzer::ExpectedSetting;
using analyzer::SettingProfile;
using analyzer::SettingProfiles;

constexpr std::size_t kLargestProfilesFile = 1UL << 20;
constexpr std::size_t kLongestProfileName = 64;

/// What RoCE without loss is set up to as a rule: DSCP is trusted, with some value of it for priority 3, and PFC is on
/// for priority 3 alone (NVIDIA nic-configuration-operator, roceOptimized: trust dscp, pfc 0,0,0,1,0,0,0,0). The pause
/// of the whole port is off then: it would stop the other priorities as well.
SettingProfile roce() {
  return {.name = "roce",
          .hosts = {},
          .layer = LinkLayer::kEthernet,
          .boards = {},
          .settings = {
              {ConfigFact::kPfc, {"3"}}, {ConfigFact::kDscp, {"*=3*"}}, {ConfigFact::kPause, {"none", "autoneg"}}}};
}

bool is_profile_name(std::string_view name) {
  return name.size() <= kLongestProfileName && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_';
         });
}

/// A text or a whole number.
std::string value_of(const toml::node& node, std::string_view key) {
  if (node.is_integer()) return std::to_string(*node.value<std::int64_t>());
  if (!node.is_string()) refuse_toml(node, std::string(key) + " must be a text, a whole number, or a list of these");
  return toml_text(node, key);
}

ExpectedSetting setting_of(const toml::key& key, const toml::node& node) {
  const auto fact = parse_config_fact(key.str());
  if (!fact || row_of(*fact).scope == FactScope::kHost) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kConfigFacts; ++i)
      if (const ConfigFactRow& row = row_of(static_cast<ConfigFact>(i)); row.scope != FactScope::kHost)
        known.emplace_back(row.name);
    refuse_toml(node, "no setting named " + std::string(key.str()) + "; there are " + name_list(known, known.size()));
  }
  ExpectedSetting setting{*fact, {}};
  if (const toml::array* const list = node.as_array()) {
    if (list->empty() || list->size() > kMostProfileTexts)
      refuse_toml(node, std::string(key.str()) + " must be a list of 1 to " + std::to_string(kMostProfileTexts));
    for (const toml::node& one : *list) setting.values.push_back(value_of(one, key.str()));
  } else {
    setting.values.push_back(value_of(node, key.str()));
  }
  return setting;
}

void add_settings(const toml::table& table, SettingProfile& profile) {
  if (const toml::node* const node = table.get("expect")) {
    const toml::table* const expect = node->as_table();
    if (expect == nullptr || expect->empty()) refuse_toml(*node, "[profile.expect] must have a setting");
    for (const auto& [key, value] : *expect) profile.settings.push_back(setting_of(key, value));
  }
  if (const toml::node* const node = table.get("based_on")) {
    const SettingProfile base = roce();
    if (toml_text(*node, "based_on") != base.name) refuse_toml(*node, "based_on must be \"roce\"");
    if (profile.layer == LinkLayer::kInfiniBand) refuse_toml(*node, "\"roce\" is for ports of Ethernet");
    profile.layer = base.layer;
    for (const ExpectedSetting& one : base.settings)
      if (std::ranges::find(profile.settings, one.fact, &ExpectedSetting::fact) == profile.settings.end())
        profile.settings.push_back(one);
  }
  if (profile.settings.empty()) refuse_toml(table, "profile " + profile.name + " expects nothing");
}

SettingProfile profile_of(const toml::table& table) {
  constexpr std::array<std::string_view, 6> kKeys{"name", "hosts", "ports", "boards", "based_on", "expect"};
  refuse_unknown_toml(table, kKeys);
  SettingProfile profile;
  profile.name = wanted_toml_text(table, "name");
  if (!is_profile_name(profile.name))
    refuse_toml(*table.get("name"),
                "name must have 1 to " + std::to_string(kLongestProfileName) + " letters, digits, '.', '-' and '_'");
  profile.hosts = {"*"};
  if (const toml::node* const node = table.get("hosts")) profile.hosts = toml_texts(*node, "hosts", kMostProfileTexts);
  if (const toml::node* const node = table.get("boards"))
    profile.boards = toml_texts(*node, "boards", kMostProfileTexts);
  if (const toml::node* const node = table.get("ports")) {
    const std::string layer = toml_text(*node, "ports");
    if (layer != "ethernet" && layer != "infiniband")
      refuse_toml(*node, "ports must be \"ethernet\" or \"infiniband\"");
    profile.layer = layer == "ethernet" ? LinkLayer::kEthernet : LinkLayer::kInfiniBand;
  }
  add_settings(table, profile);
  return profile;
}

}  // namespace

Result<SettingProfiles> parse_profiles(std::string_view text) {
  return read_toml(text, [](const toml::table& root) {
    constexpr std::array<std::string_view, 1> kKeys{"profile"};
    refuse_unknown_toml(root, kKeys);
    SettingProfiles profiles;
    for (const toml::table* const one : toml_tables(root, "profile", kMostProfiles)) {
      SettingProfile profile = profile_of(*one);
      if (std::ranges::find(profiles, profile.name, &SettingProfile::name) != profiles.end())
        refuse_toml(*one, "there are two profiles named " + profile.name);
      profiles.push_back(std::move(profile));
    }
    return profiles;
  });
}

Result<std::shared_ptr<const SettingProfiles>> read_profiles(const std::filesystem::path& path) {
  if (path.empty()) return std::shared_ptr<const SettingProfiles>();
  const auto text = runtime::read_regular(path, kLargestProfilesFile);
  if (!text) return fail(text.error().code, "drift.profiles_file: " + text.error().message);
  auto profiles = parse_profiles(*text);
  if (!profiles) return fail(profiles.error().code, path.string() + ": " + profiles.error().message);
  return std::make_shared<const SettingProfiles>(std::move(*profiles));
}

}  // namespace weft::daemon
