// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed rows of history: zlib around small bytes, read without trust.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/result.hpp"

namespace weft::store {

/// `raw` as a zlib stream.
std::vector<std::byte> pack(std::span<const std::uint8_t> raw);
/// Puts what pack() was given at the beginning of `room`, and returns that part of it; kCorrupt for what is no such
/// stream, or has no room.
Result<std::span<const std::uint8_t>> unpack(std::span<const std::byte> data, std::span<std::uint8_t> room);
/// kCorrupt: a row of history `what`, such as "is cut short".
tl::unexpected<Error> damaged(const std::string& what);

/// Reads bytes one after the other.
class ByteReader {
 public:
  /// `data` must live as long.
  explicit ByteReader(std::span<const std::uint8_t> data) : data_(data) {}
  /// All was read.
  bool at_end() const { return position_ == data_.size(); }
  /// More was read than there is; all of that was 0.
  bool failed() const { return failed_; }
  /// The next byte.
  std::uint8_t byte() {
    if (position_ < data_.size()) return data_[position_++];
    failed_ = true;
    return 0;
  }
  /// The next number, seven bits a byte, the lowest first; failed() for one that does not end.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if ((next & 0x80) == 0) return value;
    }
    failed_ = true;
    return value;
  }

 private:
  std::span<const std::uint8_t> data_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace weft::store
