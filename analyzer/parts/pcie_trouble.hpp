// SPDX-License-Identifier: Apache-2.0
#pragma once
// HOST_DEGRADED of an adapter whose PCIe link runs below what both of its ends can. Pure.

#include <optional>
#include <span>

#include "analyzer/parts/part_trouble.hpp"
#include "fabric/clock.hpp"
#include "fabric/pcie_links.hpp"

namespace weft::analyzer {

/// Of the links that run below what both ends can the slowest one; null: none does.
const PcieLink* worst_link(std::span<const PcieLink> links);

/// "x8 of x16", "16 of 32 GT/s", "16 GT/s x8 of 32 GT/s x16".
std::string shortfall_text(const PcieLink& link);

/// What is to be said of `link`, which is degraded since `since`. `port_rate`: of all ports of the adapter together, in
/// bits per second; 0: not known. INFO where the link still carries all that its ports can.
PartTrouble pcie_trouble(const PcieLink& link, double port_rate, const Entity& where, TimePoint since, TimePoint now);

}  // namespace weft::analyzer
