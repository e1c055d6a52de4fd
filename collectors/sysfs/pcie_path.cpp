// SPDX-License-Identifier: Apache-2.0
#include "collectors/sysfs/pcie_path.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::sysfs {
namespace {

/// Vendors of bridges that exist in software alone: Red Hat (QEMU's pcie-root-port) and VMware (pci.ids).
constexpr std::string_view kVirtualBridges[] = {"0x1b36", "0x15ad"};

std::optional<PcieRate> read_rate(const std::string& function, const std::string& which) {
  return parse_pcie_rate(read_text(function + '/' + which + "_link_speed"),
                         read_text(function + '/' + which + "_link_width"));
}

bool is_virtual_bridge(const std::string& function) {
  return std::ranges::find(kVirtualBridges, read_text(function + "/vendor")) != std::end(kVirtualBridges);
}

}  // namespace

std::vector<std::string> pcie_functions(const std::string& path) {
  std::vector<std::string> functions;
  std::string at = real_path(path);
  while (at.size() > 1) {
    const std::size_t slash = at.rfind('/');
    if (is_pci_address(std::string_view(at).substr(slash + 1)))
      functions.push_back(at);
    else if (!functions.empty())
      break;
    at.resize(slash);
  }
  return functions;
}

std::vector<PcieLink> read_pcie_links(const std::vector<std::string>& functions) {
  std::vector<PcieLink> links;
  // Every second step is a link: device - downstream port, upstream port of that switch - port above. Between the two
  // ports of a switch there is none.
  for (std::size_t i = 0; i + 1 < functions.size() && links.size() < kMostPcieLinks; i += 2) {
    const std::string& lower = functions[i];
    const std::string& upper = functions[i + 1];
    const auto now = read_rate(lower, "current");
    const auto below = read_rate(lower, "max");
    const auto above = read_rate(upper, "max");
    if (!now || !below || !above || is_virtual_bridge(upper)) continue;
    links.push_back({lower.substr(lower.rfind('/') + 1), *now, *below, *above});
  }
  return links;
}

}  // namespace weft::sysfs
