// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/cohort_vote.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weft::analyzer {
namespace {

/// A place is of one mind when so many of its ports have one value.
constexpr double kOfOneMind = 0.9;
/// Below so many hosts a place is of one mind only when all of its ports are, and a majority needs two thirds: by
/// chance one place in 1,500 of eight hosts is, four tenths of whose ports drifted, and one in 100 of five.
constexpr std::uint32_t kFewHosts = 8;
constexpr double kMajorityOfFew = 2.0 / 3;
/// On too few hosts to tell which host is right, one port may still differ from all around it: of so many ports,
constexpr std::size_t kLeastPlain = 16;
/// when so many of them agree.
constexpr double kPlainMajority = 0.75;

using Positions = std::vector<std::uint32_t>;

std::uint32_t hosts_of(std::span<const Ballot> ballots, const Positions& group) {
  std::vector<std::uint32_t> hosts;
  hosts.reserve(group.size());
  for (const std::uint32_t i : group) hosts.push_back(ballots[i].host);
  std::ranges::sort(hosts);
  return static_cast<std::uint32_t>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
}

std::vector<ValueCount> count_values(std::span<const Ballot> ballots, const Positions& group) {
  std::unordered_map<std::string_view, std::uint32_t> counts;
  for (const std::uint32_t i : group) ++counts[ballots[i].value];
  std::vector<ValueCount> values;
  values.reserve(counts.size());
  for (const auto& [value, count] : counts) values.push_back({value, count});
  std::ranges::sort(values, [](const ValueCount& a, const ValueCount& b) {
    return a.ballots != b.ballots ? a.ballots > b.ballots : a.value < b.value;
  });
  return values;
}

/// Is it plain who differs, on however few hosts? Most agree, within each host too, and wherever one differs another
/// host has at the same place what most have.
bool is_plain(std::span<const Ballot> ballots, const Positions& group, const ValueCount& most) {
  if (group.size() < kLeastPlain ||
      static_cast<double>(most.ballots) < kPlainMajority * static_cast<double>(group.size()))
    return false;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> hosts;  // with most, against it
  std::unordered_map<std::string_view, std::pair<std::uint32_t, std::uint32_t>> places;
  for (const std::uint32_t i : group) {
    const bool is_most = ballots[i].value == most.value;
    ++(is_most ? hosts[ballots[i].host].first : hosts[ballots[i].host].second);
    ++(is_most ? places[ballots[i].place].first : places[ballots[i].place].second);
  }
  return hosts.size() > 1 && !places.contains({}) &&
         std::ranges::all_of(hosts, [](const auto& host) { return host.second.first > host.second.second; }) &&
         std::ranges::all_of(places, [](const auto& at) { return at.second.first > 0 || at.second.second == 0; });
}

Vote vote_of(std::span<const Ballot> ballots, const Positions& group, std::string_view stem,
             const ConfigDriftLimits& limits) {
  Vote vote;
  vote.stem = stem;
  vote.ballots = static_cast<std::uint32_t>(group.size());
  vote.hosts = hosts_of(ballots, group);
  vote.values = count_values(ballots, group);
  const std::uint32_t most = vote.values.front().ballots;
  if (vote.values.size() == 1) {
    vote.state = vote.hosts < limits.least_hosts ? VoteState::kTooFew : VoteState::kAgreed;
    return vote;
  }
  if (vote.hosts < limits.least_hosts && !is_plain(ballots, group, vote.values.front())) {
    vote.state = VoteState::kTooFew;
    return vote;
  }
  const double wanted = vote.hosts < kFewHosts ? std::max(limits.majority, kMajorityOfFew) : limits.majority;
  if (static_cast<double>(most) < wanted * static_cast<double>(group.size()) || most * 2 <= group.size()) {
    vote.state = VoteState::kNoMajority;
    return vote;
  }
  vote.state = VoteState::kDiffers;
  for (const std::uint32_t i : group)
    if (ballots[i].value != vote.values.front().value) vote.differing.push_back(i);
  return vote;
}

/// The value of the ports of one place, where they are of one mind.
std::optional<std::string_view> mind_of(std::span<const Ballot> ballots, const Positions& place,
                                        const ConfigDriftLimits& limits) {
  const std::uint32_t hosts = hosts_of(ballots, place);
  if (hosts < limits.least_hosts) return std::nullopt;
  const std::vector<ValueCount> values = count_values(ballots, place);
  const double wanted = hosts < kFewHosts ? 1 : kOfOneMind;
  if (static_cast<double>(values.front().ballots) < wanted * static_cast<double>(place.size())) return std::nullopt;
  return values.front().value;
}

/// Adds the votes of hosts that are called alike.
void vote_by_place(std::span<const Ballot> ballots, Positions group, std::string_view stem,
                   const ConfigDriftLimits& limits, std::vector<Vote>& votes) {
  std::map<std::string_view, Positions> places;
  for (const std::uint32_t i : group) places[ballots[i].place].push_back(i);
  std::map<std::string_view, std::pair<Positions, std::vector<std::string_view>>> minds;
  Positions rest;
  for (auto& [place, of_place] : places) {
    const auto mind = place.empty() ? std::nullopt : mind_of(ballots, of_place, limits);
    if (!mind) {
      std::ranges::copy(of_place, std::back_inserter(rest));
      continue;
    }
    auto& [positions, names] = minds[*mind];
    std::ranges::copy(of_place, std::back_inserter(positions));
    names.push_back(place);
  }
  if (minds.size() < 2) {
    votes.push_back(vote_of(ballots, group, stem, limits));
    return;
  }
  for (auto& [value, mind] : minds) {
    Vote vote = vote_of(ballots, mind.first, stem, limits);
    vote.places = std::move(mind.second);
    votes.push_back(std::move(vote));
  }
  if (!rest.empty()) votes.push_back(vote_of(ballots, rest, stem, limits));
}

}  // namespace

std::string stem_of(std::string_view host) {
  std::string stem;
  for (const char letter : host.substr(0, host.find('.'))) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
    if (!is_digit)
      stem += letter;
    else if (stem.empty() || stem.back() != '#')
      stem += '#';
  }
  return stem;
}

std::vector<Vote> hold_votes(std::span<const Ballot> ballots, const ConfigDriftLimits& limits) {
  std::vector<Vote> votes;
  if (ballots.empty()) return votes;
  std::map<std::string_view, Positions> stems;
  for (std::uint32_t i = 0; i < ballots.size(); ++i) stems[ballots[i].stem].push_back(i);
  // Names that no five hosts share tell nothing of their roles: then all vote together.
  const bool names_tell = std::ranges::any_of(
      stems, [&](const auto& entry) { return hosts_of(ballots, entry.second) >= limits.least_hosts; });
  if (names_tell) {
    for (auto& [stem, group] : stems) vote_by_place(ballots, std::move(group), stem, limits, votes);
    return votes;
  }
  Positions all(ballots.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  vote_by_place(ballots, std::move(all), {}, limits, votes);
  return votes;
}

}  // namespace weft::analyzer
