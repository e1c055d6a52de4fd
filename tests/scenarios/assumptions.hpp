// SPDX-License-Identifier: Apache-2.0
#pragma once
// What real fabrics do, as changes to a scenario: each an assumption with a name, so that the same scenario can be
// shown with and without it.

#include <string_view>
#include <vector>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// One of them.
struct Assumption {
  std::string_view name;
  /// The groups that are shown with it.
  std::vector<std::string_view> groups;
};

/// All, in the order of the report. A group with one is called "loss_on_link+adaptive_routing".
const std::vector<Assumption>& assumptions();

/// Makes it so. What is left to chance follows from `random`. False for an unknown name.
bool assume(std::string_view assumption, Random& random, Case& made);

/// A loss rate as CorrOpt found them on 350,000 links of a cloud's Ethernet (SIGCOMM 2017, Table 1), share of packets.
double loss_of_corropt(Random& random);

}  // namespace weft::scenarios
