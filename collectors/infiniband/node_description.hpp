// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeDescription (InfiniBand Architecture vol. 1, 14.2.5.2): 64 bytes that anybody may have written, made fit for
// people.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/topology.hpp"

namespace weft::infiniband {

/// `text` up to its first NUL as valid UTF-8: bytes that are no UTF-8 become U+FFFD, control characters (C0, DEL, C1)
/// become spaces, spaces at both ends go. Never fails; the result is at most three times as long.
std::string to_valid_utf8(std::string_view text);
std::string to_valid_utf8(std::span<const std::byte> bytes);

/// Whether a node is a switch's SHARP engine: an adapter of that device id (0xcf09 under the OUI 0x2c9), or one that
/// calls itself an aggregation node, as older firmware does under other ids.
bool is_aggregation_node(NodeType type, std::uint32_t vendor_id, std::uint16_t device_id, std::string_view description);

}  // namespace weft::infiniband
