// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields of a datagram read fast: libibmad says once where each one lies, after that it is a load, a shift and a mask.

#include <cstdint>
#include <cstring>

#include "collectors/infiniband/mad_codec.hpp"

namespace weft::infiniband {

/// One field of at most 32 bits, or of exactly 64.
class FieldReader {
 public:
  /// `field`: a MAD_FIELDS of libibmad; `base`: bytes before the structure it belongs to; `bits`: its width.
  FieldReader(int field, int base, int bits);

  /// The value of the field, in the machine's byte order.
  std::uint64_t read(ConstMadBytes mad) const {
    if (bits_ == 64) {
      std::uint64_t value = 0;
      std::memcpy(&value, mad.data() + byte_, sizeof value);
      return __builtin_bswap64(value);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, mad.data() + byte_, sizeof word);
    return (__builtin_bswap32(word) >> shift_) & top_;
  }
  /// All ones of its width.
  std::uint64_t top() const { return top_; }

 private:
  std::uint16_t byte_ = 0;  ///< of the 32-bit word that holds it, or of its first byte
  std::uint8_t shift_ = 0;
  std::uint8_t bits_ = 0;
  std::uint64_t top_ = 0;
};

}  // namespace weft::infiniband
