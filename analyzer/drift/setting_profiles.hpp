// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a site wants its ports and adapters to be set up.

#include <string>
#include <vector>

#include "fabric/config_facts.hpp"
#include "fabric/link_rate.hpp"

namespace weft::analyzer {

/// A setting that a site wants.
struct ExpectedSetting {
  ConfigFact fact = ConfigFact::kCount;
  std::vector<std::string> values;  ///< patterns as of matches_pattern(); what fits any of these is right; at least one
};

/// How a site wants some of its ports and adapters to be set up.
struct SettingProfile {
  std::string name;
  std::vector<std::string> hosts;         ///< patterns as of matches_pattern(); one that fits is enough
  LinkLayer layer = LinkLayer::kUnknown;  ///< only ports of that layer; kUnknown: of each
  std::vector<std::string> boards;        ///< only adapters with one of these board ids; empty: all
  std::vector<ExpectedSetting> settings;  ///< each fact once
};
/// Of several profiles that speak of one setting of a port the first is right.
using SettingProfiles = std::vector<SettingProfile>;

}  // namespace weft::analyzer
