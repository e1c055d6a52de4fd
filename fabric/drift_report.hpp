// SPDX-License-Identifier: Apache-2.0
#pragma once
// How settings differ among ports that should have the same: what people and programs are shown.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/incident.hpp"

namespace weft {

/// What is known of one setting of one group.
enum class ConfigDriftState : std::uint8_t {
  kDiffers,        ///< most have one value, others do not: an incident
  kRollingOut,     ///< the same, but so young that it may be a rollout that is under way
  kTooFew,         ///< values differ on too few hosts to tell who is right
  kNoMajority,     ///< no value that enough have
  kEndsDiffer,     ///< the two ends of a link: an incident
  kNotAsExpected,  ///< some are not as a profile of the site wants them: an incident
};
/// "DIFFERS", "ROLLING_OUT", "TOO_FEW", "NO_MAJORITY", "ENDS_DIFFER", "NOT_AS_EXPECTED"
const char* to_string(ConfigDriftState state);
/// Whether a difference of that state is an incident.
bool is_incident(ConfigDriftState state);

/// A value, and how many have it.
struct DriftValue {
  std::string value;
  std::uint32_t count = 0;
};

/// Who has another value than most.
struct DriftHolder {
  Entity where;  ///< its port; `host` is always set
  std::string value;
  TimePoint since = kNever;  ///< it has the value for so long at least
  bool is_young = false;     ///< it may be a rollout
};

/// One setting on which a group does not agree, or the ends of a link.
struct DriftDifference {
  ConfigFact fact = ConfigFact::kFirmware;
  ConfigDriftState state = ConfigDriftState::kDiffers;
  std::string group;          ///< "board MT_0000000838, hosts gpu-#", "profile gpu-roce"; of a link its name
  std::string expected;       ///< "9000", "28.41.1000 or 28.43.1014": what a profile wants; empty: none speaks of it
  std::uint32_t members = 0;  ///< ports or adapters of the group
  std::uint32_t hosts = 0;    ///< that they are in
  std::vector<DriftValue> values;  ///< what is expected, then most first, at most kMostDriftValues
  std::uint32_t values_left_out = 0;
  std::uint32_t differing = 0;       ///< have another value than most; 0 where none is meant
  std::uint32_t young = 0;           ///< of those: may be a rollout
  std::vector<DriftHolder> holders;  ///< of `differing`, at most kMostDriftHolders, old ones first
};
inline constexpr std::size_t kMostDriftValues = 8;
inline constexpr std::size_t kMostDriftHolders = 64;

/// Everything that differs. Immutable once published.
struct DriftReport {
  bool is_enabled = true;
  std::vector<DriftDifference> differences;  ///< at most kMostDriftDifferences, incidents first, then by fact and group
  std::uint32_t left_out = 0;                ///< differences that are not listed
  std::uint32_t hosts = 0;                   ///< that told of their configuration
  std::uint32_t groups = 0;                  ///< votes, one for each setting of each group
  std::uint32_t agreed = 0;                  ///< of those: all have one value
  std::uint32_t small = 0;                   ///< of those: all have one value, on too few hosts for it to mean much
  std::uint32_t unjudged = 0;                ///< ports of no known make, or of makes beyond the limit
  std::uint32_t untold = 0;                  ///< settings that profiles speak of, and that their ports do not tell
};
inline constexpr std::size_t kMostDriftDifferences = 256;

}  // namespace weft
