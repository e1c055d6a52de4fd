// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cables as a table: one a line, in columns that the first line names. What spreadsheets and inventories export.

#include <cstddef>
#include <string_view>
#include <vector>

#include "collectors/cabling/cable_line.hpp"

namespace weft::cabling {

/// Whether the first line that is neither empty nor a comment (#) is the header of such a table, or has at least four
/// columns separated by commas or semicolons. A header may itself begin with #, among the first 1,000 lines that do; it
/// has 256 columns at most.
bool is_cable_table(std::string_view text);

/// Reads a table as of RFC 4180, separated by commas, semicolons or tabs, whichever the header has most of. A quoted
/// field ends in its line.
///
/// The header names the columns of both nodes and both ports; case, blanks and signs make no difference, and other
/// columns are left alone. A name is the end with the thing, in either order: "start device", "device_a", "Peer Port",
/// "node1". The ends are a/b, 1/2, start/end, source/destination (src, dst, dest, target), from/to, local/remote,
/// left/right; the other one of a column without an end is peer or remote. The things are node, device, dev, host,
/// hostname, switch or system (an end by itself is a node), and port, interface, intf or if. NetBox' side_a_device and
/// side_a_name are known too, and the layouts of UFM's NDT plug-in (github.com/Mellanox/ufm_sdk_3.0,
/// UFM_NDT_Plugin): "#StartDevice,StartPort,EndDevice,EndPort,LinkType" and "rack #,U height,#Fields:StartDevice,...".
/// With a column LinkType those lines count whose type is Data, in any case, or empty (NVIDIA UFM Enterprise User
/// Manual, "NDT Plugin").
///
/// Lines that are empty or begin with # are left out, and so is a line with an end of which neither node nor port is
/// given: that port has no cable. Notes in `faults` what is wrong, and returns what could be read; nothing where that
/// is more than `most` cables.
std::vector<CableLine> read_cable_table(std::string_view text, std::size_t most, Faults& faults);

}  // namespace weft::cabling
