// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens to the fabric, the hosts and the machine, whatever weftd does.

#include <string>

#include "tests/remedies/tally.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Something happens, by the dice. In words; empty when nothing did.
std::string change_world(World& world, Dice& dice, Tally& tally);

}  // namespace weft::remedies
