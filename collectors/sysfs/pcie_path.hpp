// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PCIe links from a device up to the root, as sysfs tells them.

#include <string>
#include <vector>

#include "fabric/pcie_links.hpp"

namespace weft::sysfs {

/// Functions on the bus from the one that the device at `path` is a part of up to the root port, by their folders below
/// /sys/devices; empty for what is on no PCI bus.
std::vector<std::string> pcie_functions(const std::string& path);

/// The links between these, the lowest first. A link is left out where one of its numbers cannot be read, and where the
/// bridge above was made by a hypervisor: what such a bridge can says nothing of the slot.
std::vector<PcieLink> read_pcie_links(const std::vector<std::string>& functions);

}  // namespace weft::sysfs
