// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/packing.hpp"

#include <zlib.h>

namespace weft::store {
namespace {

constexpr int kCompressionLevel = 3;  // 6 takes three times as long for 2 % less

}  // namespace

std::vector<std::byte> pack(std::span<const std::uint8_t> raw) {
  uLongf size = compressBound(raw.size());
  std::vector<std::byte> packed(size);
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, raw.data(), raw.size(), kCompressionLevel);
  packed.resize(size);
  return packed;
}

Result<std::span<const std::uint8_t>> unpack(std::span<const std::byte> data, std::span<std::uint8_t> room) {
  uLongf size = room.size();
  if (uncompress(room.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size()) != Z_OK)
    return damaged("cannot be decompressed");
  return room.first(size);
}

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "a chunk of history " + what);
}

}  // namespace weft::store
