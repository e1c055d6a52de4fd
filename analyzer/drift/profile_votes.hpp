// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings compared with what a site's profiles want.

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/drift/held_vote.hpp"

namespace weft::analyzer {

/// One setting of one profile, compared with all ports that it speaks of.
struct ProfileVote {
  const SettingProfile* profile = nullptr;
  ConfigFact fact = ConfigFact::kCount;
  HeldVote vote;
};

/// What a profile wants, for people: "9000", "28.41.1000 or 28.43.1014".
std::string wanted_text(const ExpectedSetting& setting);

/// All settings of all profiles, in their order; those that no port tells of are left out. A setting of a port counts
/// once the port was up, as in votes.
std::vector<ProfileVote> hold_profiles(const Cohorts& cohorts);

}  // namespace weft::analyzer
