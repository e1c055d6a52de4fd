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

/// The rows of the report: "quiet", "quiet_day", one for each kind of fault, "two_at_once", "on_congestion"; then those
/// of Ethernet fabrics, "ethernet_quiet", "ethernet_incast" …
const std::vector<std::string>& groups();
/// A random scenario of that group, truths included, and the plan of its fabric.
struct Case {
  Scenario scenario;
  Plan plan;
};
Case generate(std::string_view group, std::uint64_t seed, Scale scale);

}  // namespace weft::scenarios
