// SPDX-License-Identifier: Apache-2.0
#pragma once
// What files of sysfs say (most of them drivers/infiniband/core/sysfs.c). Pure; hostile text gives nullopt or
// "unknown", never more.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/host.hpp"
#include "fabric/ids.hpp"

namespace weft::sysfs {

/// The text without blanks and line ends around it.
std::string_view trimmed(std::string_view text);
/// "12345\n"; nullopt for everything else: "", "N/A (no PMA)", negative or too large numbers.
std::optional<std::uint64_t> parse_counter(std::string_view text);
/// "-5000\n", as hwmon has it; nullopt for everything else.
std::optional<std::int64_t> parse_signed(std::string_view text);
/// The last line of an AER file, "TOTAL_ERR_COR 12"; nullopt without one.
std::optional<std::uint64_t> parse_aer_total(std::string_view text);
/// The number of "4: ACTIVE"; nullopt where the text does not begin with one.
std::optional<std::uint64_t> parse_numbered(std::string_view text);
/// "4: ACTIVE". "5: ACTIVE_DEFER" and what is not known give kUnknown.
PortState parse_port_state(std::string_view text);
/// "5: LinkUp"
PortPhysicalState parse_physical_state(std::string_view text);
/// "InfiniBand", "Ethernet"
LinkLayer parse_link_layer(std::string_view text);
/// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" → bits per second; 0 when it is not that.
std::uint64_t parse_rate(std::string_view text);
/// "0x1a"; Lid{} when it is not that.
Lid parse_lid(std::string_view text);
/// The interface part of "fe80:0000:0000:0000:0a7f:bc12:45ef:d23b"; 0 for the empty GID and for anything else.
/// With `link_local_only` a GID of another prefix (a RoCE GID made of an IP address) gives 0 as well.
PortGuid parse_gid(std::string_view text, bool link_local_only);
/// "0a7f:bc12:45ef:d23b"
NodeGuid parse_node_guid(std::string_view text);
/// Whether `name` is a PCI address, "0000:17:00.0".
bool is_pci_address(std::string_view name);
/// The address of the function that a device path leads through, ".../0000:17:00.0/mlx5_core.sf.2"; empty without one.
std::string pci_address_in(std::string_view path);

}  // namespace weft::sysfs
