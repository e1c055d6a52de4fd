// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an entry of remedy.allow and remedy.deny means: a host's name, short or qualified; an adapter's name, "n2
// mlx5_0", which means the host as well; a switch's name; a GUID of a node or of an adapter's port, in any spelling
// that parse_guid() reads with 0x or all sixteen digits; or one port, as "name:7", "GUID:7" or on Ethernet
// "leaf01:swp3". Names are compared without regard to case.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/remedy/host_identity.hpp"
#include "analyzer/remedy/settings.hpp"

namespace weft::analyzer {

/// The GUID that a person wrote: only what nobody would take for a name, "cafe" is a host.
std::optional<std::uint64_t> written_guid(std::string_view text);
/// The entry names the host, or one of its adapters.
bool means_host(std::string_view entry, std::string_view host, const HostIdentities& hosts);
/// The entry names the port or its node. Without a topology (null) GUIDs alone are known.
bool means_port(std::string_view entry, PortKey port, const Topology* topology);
/// Entries of the settings' lists that name nothing in the view: misspelt, or gone. In their order, deny before allow.
std::vector<std::string> entries_without_target(const RemedySettings& settings, const RemedyView& view);

}  // namespace weft::analyzer
