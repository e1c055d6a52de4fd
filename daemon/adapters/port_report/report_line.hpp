// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-port says of its one port: one line of JSON.

#include <string>
#include <string_view>

#include "collectors/infiniband/port_setting.hpp"

namespace weft::port {

/// {"outcome":"done","state":"Down","physical_state":"Disabled","behind":{"node":"0x…","port":3},"detail":"…"}, or
/// {"error":"unavailable","message":"…"}; with a line end.
std::string to_line(const Result<infiniband::PortReport>& report);

/// Reads it back; a failure that the line tells of is the result. kProtocol when it is no such line.
Result<infiniband::PortReport> parse_line(std::string_view line);

/// "0x1f": the M_Key of a file or descriptor, decimal or hexadecimal, white space around it. kInvalidArgument.
Result<std::uint64_t> parse_management_key(std::string_view text);

}  // namespace weft::port
