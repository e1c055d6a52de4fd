// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading netlink attributes (linux/netlink.h, struct nlattr) out of bytes that may be anything. Pure.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace weft::netlink {

/// Bytes of a message that somebody else owns.
using Bytes = std::span<const std::byte>;

/// One attribute. Numbers are in the machine's order, as the kernel writes them.
struct Attribute {
  std::uint16_t type = 0;  ///< without the flags "nested" and "network order"
  Bytes payload;

  /// The number when the payload has exactly its size.
  template <typename Number>
  std::optional<Number> number() const {
    static_assert(std::is_trivially_copyable_v<Number>);
    if (payload.size() != sizeof(Number)) return std::nullopt;
    Number value;
    std::memcpy(&value, payload.data(), sizeof(Number));
    return value;
  }
  /// An unsigned number of 4 or 8 bytes: NLA_UINT, and what grew from one to the other.
  std::optional<std::uint64_t> any_unsigned() const {
    if (const auto wide = number<std::uint64_t>()) return wide;
    return number<std::uint32_t>();
  }
  /// The text up to its first NUL.
  std::string_view text() const {
    const std::string_view whole(reinterpret_cast<const char*>(payload.data()), payload.size());
    return whole.substr(0, whole.find('\0'));
  }
};

/// The attributes one after the other: `while (const auto a = reader.next())`. Stops at the first one that does not fit
/// into what is left.
class AttributeReader {
 public:
  explicit AttributeReader(Bytes bytes) : rest_(bytes) {}

  /// The next attribute; nullopt at the end, or when the rest is malformed.
  std::optional<Attribute> next() {
    constexpr std::size_t kHeader = 4;
    constexpr std::uint16_t kTypeMask = 0x3FFF;  // NLA_TYPE_MASK
    if (rest_.size() < kHeader) return std::nullopt;
    std::uint16_t length = 0;
    std::uint16_t type = 0;
    std::memcpy(&length, rest_.data(), sizeof(length));
    std::memcpy(&type, rest_.data() + sizeof(length), sizeof(type));
    if (length < kHeader || length > rest_.size()) return std::nullopt;
    const Attribute attribute{static_cast<std::uint16_t>(type & kTypeMask), rest_.subspan(kHeader, length - kHeader)};
    const std::size_t aligned = (static_cast<std::size_t>(length) + 3) & ~std::size_t{3};
    rest_ = aligned < rest_.size() ? rest_.subspan(aligned) : Bytes();
    return attribute;
  }

 private:
  Bytes rest_;
};

/// The first attribute of that type; nullopt when there is none.
inline std::optional<Attribute> find_attribute(Bytes bytes, std::uint16_t type) {
  AttributeReader reader(bytes);
  while (const auto attribute = reader.next())
    if (attribute->type == type) return attribute;
  return std::nullopt;
}

}  // namespace weft::netlink
