// SPDX-License-Identifier: Apache-2.0
#pragma once
// Netlink messages made by hand, as the kernel would send them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace weft::tests {

class MessageBytes {
 public:
  template <typename Header>
  MessageBytes& header(const Header& value) {
    return append(&value, sizeof(value));
  }
  template <typename Number>
  MessageBytes& number(std::uint16_t type, Number value) {
    return attribute(type, &value, sizeof(value));
  }
  MessageBytes& text(std::uint16_t type, std::string_view value) {
    std::vector<char> zero_ended(value.begin(), value.end());
    zero_ended.push_back('\0');
    return attribute(type, zero_ended.data(), zero_ended.size());
  }
  MessageBytes& nested(std::uint16_t type, const MessageBytes& inside) {
    return attribute(type, inside.bytes_.data(), inside.bytes_.size());
  }
  MessageBytes& attribute(std::uint16_t type, const void* data, std::size_t size) {
    const std::uint16_t head[] = {static_cast<std::uint16_t>(size + 4), type};
    append(head, sizeof(head));
    return append(data, size);
  }

  operator std::span<const std::byte>() const { return bytes_; }  // NOLINT: it is what it is
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  /// Pads to four bytes, as netlink does behind everything.
  MessageBytes& append(const void* data, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize((at + size + 3) & ~std::size_t{3});
    if (size > 0) std::memcpy(bytes_.data() + at, data, size);
    return *this;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace weft::tests
