// SPDX-License-Identifier: Apache-2.0
#pragma once
// A NeighbourTable, packed: as telemetry.proto's Batch.neighbours and a body of the spool have it.
//
//   varint and count as in batch_codec.hpp; text: varint length, bytes
//
//   byte 1    the format
//   byte chassis type, text chassis id, text system name
//   ports     count, and for each  text interface, byte type of its own id, text own id, text own description,
//                                  varint left out, neighbours
//   neighbours count, and for each byte chassis type, text chassis id, byte port type, text port id, text system name,
//                                  text port description, addresses (count, texts), varint capabilities, varint TTL in
//                                  seconds, varint since in seconds

#include <cstddef>
#include <span>
#include <vector>

#include "fabric/neighbours.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Of a packed table; a tidy one is shorter.
inline constexpr std::size_t kMostNeighbourBytes = 1U << 20;

/// `table`, which is tidy().
std::vector<std::byte> encode_neighbours(const NeighbourTable& table);

/// The table, which is tidy() whoever made it. kInvalidArgument for what is longer than kMostNeighbourBytes or above a
/// limit, kProtocol for what is no such table.
Result<NeighbourTable> decode_neighbours(std::span<const std::byte> packed);

}  // namespace weft::api
