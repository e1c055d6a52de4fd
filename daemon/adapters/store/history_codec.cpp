// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history_codec.hpp"

#include <algorithm>
#include <bit>

#include "daemon/adapters/store/packing.hpp"

namespace weft::store {
namespace {

// A chunk is a zlib stream of: format, number of ports, then planes of one byte for each port (four of `present`, four
// of `at_least`, two of each dense counter, high byte first), then (port, counter, increase as a varint) for each
// increase of another counter that is not 0. Planes, because equal bytes side by side pack to almost nothing.
constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kPlanes = 4 + 4 + 2 * kDenseCounters;
constexpr std::size_t kLargestSparse = 12;
constexpr std::size_t kLargest =
    2 + kChunkPorts * (kPlanes + (kHistoryCounters.size() - kDenseCounters) * kLargestSparse);
static_assert(kHistoryCounters.size() <= 32);

/// A small floating-point number: 9 significant bits, ordered like the values. Below 512 it is the value.
std::uint16_t to_code(std::uint64_t value) {
  if (value < 512) return static_cast<std::uint16_t>(value);
  auto shift = static_cast<unsigned>(std::bit_width(value)) - 9;
  std::uint64_t mantissa = (value >> shift) + ((value >> (shift - 1)) & 1);  // rounded
  if (mantissa == 512) {
    mantissa = 256;
    ++shift;
  }
  return static_cast<std::uint16_t>(shift * 256U + mantissa);
}

std::uint64_t from_code(std::uint16_t code) {
  if (code < 512) return code;
  const unsigned shift = code / 256U - 1;
  const std::uint64_t mantissa = code - shift * 256U;
  if (shift > 55) return ~std::uint64_t{0};  // 2^64, rounded up
  return mantissa << shift;
}

void append_varint(std::vector<std::uint8_t>& raw, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) raw.push_back(static_cast<std::uint8_t>(value | 0x80));
  raw.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

std::uint64_t round_dense(std::uint64_t value) {
  return from_code(to_code(value));
}

std::vector<std::byte> encode_chunk(std::span<const ChunkPort> ports) {
  ports = ports.first(std::min(ports.size(), kChunkPorts));
  std::vector<std::uint8_t> raw;
  raw.reserve(2 + ports.size() * kPlanes);
  raw.push_back(kFormat);
  raw.push_back(static_cast<std::uint8_t>(ports.size() - 1));
  for (unsigned shift = 0; shift < 32; shift += 8)
    for (const ChunkPort& port : ports) raw.push_back(static_cast<std::uint8_t>(port.present >> shift));
  for (unsigned shift = 0; shift < 32; shift += 8)
    for (const ChunkPort& port : ports) raw.push_back(static_cast<std::uint8_t>(port.at_least >> shift));
  for (std::size_t counter = 0; counter < kDenseCounters; ++counter) {
    for (const ChunkPort& port : ports) raw.push_back(static_cast<std::uint8_t>(to_code(port.increase[counter]) >> 8));
    for (const ChunkPort& port : ports) raw.push_back(static_cast<std::uint8_t>(to_code(port.increase[counter])));
  }
  for (std::size_t port = 0; port < ports.size(); ++port)
    for (std::size_t counter = kDenseCounters; counter < kHistoryCounters.size(); ++counter)
      if (const std::uint64_t increase = ports[port].increase[counter]; increase != 0) {
        raw.push_back(static_cast<std::uint8_t>(port));
        raw.push_back(static_cast<std::uint8_t>(counter));
        append_varint(raw, increase);
      }
  return pack(raw);
}

Result<void> ChunkReader::read(std::span<const std::byte> data) {
  ports_ = 0;
  sparse_.clear();
  raw_.resize(kLargest);
  const auto raw = unpack(data, raw_);
  if (!raw) return tl::unexpected<Error>(raw.error());
  ByteReader header(*raw);
  if (header.byte() != kFormat) return damaged("has an unknown format");
  const std::size_t ports = header.byte() + std::size_t{1};
  if (raw->size() < 2 + ports * kPlanes) return damaged("is cut short");
  ByteReader rest(raw->subspan(2 + ports * kPlanes));
  while (!rest.at_end() && !rest.failed()) {
    const std::size_t port = rest.byte();
    const std::size_t counter = rest.byte();
    const std::uint64_t increase = rest.varint();
    if (port >= ports || counter < kDenseCounters || counter >= kHistoryCounters.size())
      return damaged("has an unknown counter");
    if (!sparse_.empty() && place_of(port, counter) <= sparse_.back().place) return damaged("is out of order");
    sparse_.push_back({place_of(port, counter), increase});
  }
  if (rest.failed()) return damaged("is cut short");
  ports_ = ports;
  return {};
}

std::uint64_t ChunkReader::increase(std::size_t port, std::size_t counter) const {
  if (counter < kDenseCounters) {
    const std::uint8_t* const high = plane(2 * kMaskBytes + 2 * counter);
    return from_code(static_cast<std::uint16_t>(high[port] << 8 | high[ports_ + port]));
  }
  const auto found = std::ranges::lower_bound(sparse_, place_of(port, counter), {}, &Sparse::place);
  return found == sparse_.end() || found->place != place_of(port, counter) ? 0 : found->increase;
}

Result<std::vector<ChunkPort>> decode_chunk(std::span<const std::byte> data) {
  ChunkReader reader;
  if (auto read = reader.read(data); !read) return tl::unexpected<Error>(read.error());
  std::vector<ChunkPort> ports(reader.ports());
  for (std::size_t port = 0; port < ports.size(); ++port)
    for (std::size_t counter = 0; counter < kHistoryCounters.size(); ++counter) {
      const std::uint32_t bit = 1U << counter;
      if (reader.present(port, counter)) ports[port].present |= bit;
      if (reader.at_least(port, counter)) ports[port].at_least |= bit;
      ports[port].increase[counter] = reader.increase(port, counter);
    }
  return ports;
}

}  // namespace weft::store
