// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scenarios by the thousand: from a group's name and a seed, always the same one.

#include <string>
#include <string_view>
#include <vector>

#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// How large the fabrics are.
enum class Scale : std::uint8_t {
  kSmall,  ///< 64 to 128 adapters
  kMixed,  ///< mostly small ones, some up to 1,024
};

inline constexpr const char* kQuiet = "quiet";
inline constexpr const char* kQuietDay = "quiet_day";  ///< a whole day, a sweep every half a minute
inline constexpr const char* kTwo = "two_at_once";
inline constexpr const char* kOnCongestion = "on_congestion";
/// Before the name of a fault, or "quiet": the same on Ethernet. Half of the fabrics have collectors on their switches.
inline constexpr std::string_view kEthernet = "ethernet_";

/// The rows of the report: "quiet", "quiet_day", one for each kind of fault, "two_at_once", "on_congestion"; then those
/// of Ethernet fabrics, "ethernet_quiet", "ethernet_incast" …
const std::vector<std::string>& groups();
/// Those of --table: habits, and groups with assumptions, see habits.hpp and assumptions.hpp.
const std::vector<std::string>& further_groups();
/// FNV-1a: every group has chances of its own.
std::uint64_t number_of(std::string_view group);
/// A random scenario of that group, truths included, and the plan of its fabric.
struct Case {
  Scenario scenario;
  Plan plan;
};
Case generate(std::string_view group, std::uint64_t seed, Scale scale);
/// The same for the groups of a fault, or of none.
Case write_case(std::string_view group, std::uint64_t seed, Scale scale);

}  // namespace weft::scenarios
