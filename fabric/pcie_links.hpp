// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PCIe links between an adapter and the root of its host, and what they could be. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What a PCIe link runs at, or can.
struct PcieRate {
  std::uint32_t speed = 0;  ///< of each lane, in tenths of a GT/s: 320 is 32 GT/s
  std::uint32_t lanes = 0;

  bool operator==(const PcieRate&) const = default;
  /// Data rate in one direction after line coding (PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b up to
  /// 32 GT/s, from 64 GT/s on FLITs of 256 bytes with 242 of payload), in bits per second.
  double bits_per_second() const;
};

/// One link on the way up.
struct PcieLink {
  std::string address;  ///< of the function at its lower end, "0000:17:00.0"
  PcieRate now;         ///< what was negotiated (LnkSta of `lspci -vv`)
  PcieRate below;       ///< what the lower end can (its LnkCap)
  PcieRate above;       ///< what the port above can (its LnkCap)

  bool operator==(const PcieLink&) const = default;
  /// What both ends can: of speed and lanes the lesser each. A short slot is no fault of the link.
  PcieRate most() const;
  /// It runs at fewer lanes, or slower, than both ends can.
  bool is_degraded() const { return now.lanes < most().lanes || now.speed < most().speed; }
};

/// Links that a text has at most: adapters sit below no more switches.
inline constexpr std::size_t kMostPcieLinks = 4;

/// What sysfs says of a link: "32.0 GT/s PCIe" and "16". nullopt for anything else: "Unknown", "133 MHz PCI-X", no lane
/// or 255 (drivers/pci/probe.c, pci-sysfs.c).
std::optional<PcieRate> parse_pcie_rate(std::string_view speed, std::string_view width);
/// "32 GT/s x16".
std::string to_text(PcieRate rate);
/// "0000:17:00.0 32x8/32x16/32x16", for each link what it runs at, what its lower end can and what the port above can;
/// the adapter's own link first. kMostPcieLinks of them.
std::string to_text(std::span<const PcieLink> links);
/// The reverse of it; what is not understood is left out with all that follows.
std::vector<PcieLink> parse_pcie_links(std::string_view text);

}  // namespace weft
