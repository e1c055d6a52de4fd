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

Result<std::vector<std::uint8_t>> unpack(std::span<const std::byte> data, std::size_t largest) {
  std::vector<std::uint8_t> raw(largest);
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size()) != Z_OK)
    return damaged("cannot be decompressed");
  raw.resize(size);
  return raw;
}

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "a chunk of history " + what);
}

}  // namespace weft::store
