// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/field_reader.hpp"

#include <infiniband/mad.h>

#include <array>
#include <bit>

namespace weft::infiniband {

FieldReader::FieldReader(int field, int base, int bits)
    : bits_(static_cast<std::uint8_t>(bits)), top_(bits == 64 ? ~0ULL : (1ULL << bits) - 1) {
  // libibmad keeps its table to itself, but writes where it reads: all ones show the place.
  std::array<std::uint8_t, kMadSize> mad{};
  if (bits == 64)
    mad_set_field64(mad.data(), base, static_cast<MAD_FIELDS>(field), ~0ULL);
  else
    mad_set_field(mad.data(), base, static_cast<MAD_FIELDS>(field), static_cast<std::uint32_t>(top_));
  std::size_t first = 0;
  while (first < mad.size() - 8 && mad[first] == 0) ++first;
  byte_ = static_cast<std::uint16_t>(bits == 64 ? first : first & ~std::size_t{3});
  if (bits == 64) return;
  std::uint32_t word = 0;
  std::memcpy(&word, mad.data() + byte_, sizeof word);
  shift_ = static_cast<std::uint8_t>(std::countr_zero(__builtin_bswap32(word)));
}

}  // namespace weft::infiniband
