// SPDX-License-Identifier: Apache-2.0
#pragma once
// A FactTable, packed: as telemetry.proto's Batch.facts and a body of the spool have it.
//
//   varint, count and text as in packed_table.hpp
//
//   byte 1    the format
//   ports     count, and for each  text device, byte number, facts
//   facts     count, and for each  byte kind (ConfigFact), byte source (FactSource), text value
//
// A fact of a kind or source that the reader does not know is left out: newer collectors may tell more.

#include <cstddef>
#include <span>
#include <vector>

#include "fabric/config_facts.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Of a packed table. A host has some hundred bytes for each port, a switch of 1,024 ports some 100 KiB.
inline constexpr std::size_t kMostFactBytes = 512U << 10;

/// `table`, which is tidy(). Ports that would exceed kMostFactBytes are left out.
std::vector<std::byte> encode_facts(const FactTable& table);

/// The table, which is tidy() whoever made it. kInvalidArgument for what is longer than kMostFactBytes or above a limit
/// of FactLimits, kProtocol for what is no such table.
Result<FactTable> decode_facts(std::span<const std::byte> packed);

}  // namespace weft::api
