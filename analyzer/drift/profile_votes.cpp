// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/profile_votes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "fabric/site.hpp"

namespace weft::analyzer {
namespace {

/// One comparison while its ports are counted.
struct Tally {
  HeldVote vote;
  std::map<std::string_view, std::uint32_t> others;  ///< values that are not wanted
  std::optional<std::uint32_t> last_host;
};

void close(const ExpectedSetting& setting, Tally& tally) {
  HeldVote& vote = tally.vote;
  vote.is_expected = true;
  vote.values.push_back({wanted_text(setting), vote.ballots - static_cast<std::uint32_t>(vote.deviants.size())});
  if (vote.deviants.empty()) return;
  vote.state = VoteState::kDiffers;
  std::vector<DriftValue> others;
  for (const auto& [value, count] : tally.others) others.push_back({std::string(value), count});
  std::ranges::stable_sort(others, std::ranges::greater(), &DriftValue::count);
  for (DriftValue& one : others) {
    if (vote.values.size() < kMostDriftValues)
      vote.values.push_back(std::move(one));
    else
      vote.values_left_out += one.count;
  }
}

}  // namespace

std::string wanted_text(const ExpectedSetting& setting) {
  std::string text;
  for (const std::string& value : setting.values) text += (text.empty() ? "" : " or ") + value;
  return text;
}

std::vector<ProfileVote> hold_profiles(const Cohorts& cohorts) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Tally> tallies;
  for (const auto& [name, host] : cohorts.hosts()) {
    for (const DriftMember& member : host.members) {
      for (const Expectation& one : member.expected) {
        const FactValue& told = member.facts->facts[one.told];
        const bool of_adapter = row_of(told.fact).scope == FactScope::kAdapter;
        if (of_adapter ? !member.stands_for_adapter : !member.was_up) continue;
        Tally& tally = tallies[{one.profile, one.setting}];
        ++tally.vote.ballots;
        if (tally.last_host != host.number) ++tally.vote.hosts;
        tally.last_host = host.number;
        const ExpectedSetting& setting = cohorts.profiles()[one.profile].settings[one.setting];
        if (std::ranges::any_of(setting.values,
                                [&](const std::string& wanted) { return matches_pattern(wanted, told.value); }))
          continue;
        ++tally.others[told.value];
        tally.vote.deviants.push_back({{name, member.device, member.number}, told.value, member.since[one.told]});
      }
    }
  }
  std::vector<ProfileVote> votes;
  for (auto& [place, tally] : tallies) {
    const SettingProfile& profile = cohorts.profiles()[place.first];
    const ExpectedSetting& setting = profile.settings[place.second];
    close(setting, tally);
    votes.push_back({&profile, setting.fact, std::move(tally.vote)});
  }
  return votes;
}

}  // namespace weft::analyzer
