// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which value of a fact most ports of one make have, and who differs. Pure.
//
// A fleet is never one: storage hosts, another place in the chassis or the second port may be set up otherwise, on
// purpose. What is set up on purpose is uniform within such a role, what drifted is not. So a vote is held among hosts
// that are called alike (their names without digits), where enough are, and within them the ports of one place in the
// host vote on their own where places are each of one mind and do not agree.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/thresholds/config_drift.hpp"
#include "fabric/clock.hpp"

namespace weft::analyzer {

/// One port or adapter with its value. What is pointed at must outlive the vote.
struct Ballot {
  std::string_view value;
  std::string_view stem;     ///< of its host's name: stem_of()
  std::string_view place;    ///< in its host: PCI address and port; empty: none
  std::uint32_t host = 0;    ///< ballots of one host have the same
  TimePoint since = kNever;  ///< it has that value for so long at least
};

/// A value with those that have it.
struct ValueCount {
  std::string_view value;
  std::uint32_t ballots = 0;
};

/// How a vote ended.
enum class VoteState : std::uint8_t {
  kAgreed,     ///< all have one value
  kDiffers,    ///< most have one value, and some do not
  kTooFew,     ///< on too few hosts to tell who is right
  kNoMajority  ///< no value that enough have
};

/// The vote of one group.
struct Vote {
  VoteState state = VoteState::kAgreed;
  std::string_view stem;      ///< of all hosts of the group; empty: names tell nothing here
  std::uint32_t ballots = 0;  ///< of the whole group
  std::uint32_t hosts = 0;
  std::vector<ValueCount> values;        ///< most first; of equal ones the smaller text first
  std::vector<std::uint32_t> differing;  ///< with kDiffers: positions of those that have another value than the first
  /// Places whose ports voted on their own, for people: "0000:17:00 port 1"; empty: all that did not.
  std::vector<std::string_view> places;
};

/// The name of a host without its digits: "gpu-0001" is "gpu-#", as "gpu-2" is. Without its domain.
std::string stem_of(std::string_view host);

/// Holds the votes: one or more groups, every ballot in one of them. Groups are in the order of their stems.
std::vector<Vote> hold_votes(std::span<const Ballot> ballots, const ConfigDriftLimits& limits);

}  // namespace weft::analyzer
