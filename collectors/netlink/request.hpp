// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writing netlink requests: made once, sent again and again.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

struct nlmsghdr;
struct nlattr;

namespace weft::netlink {

/// A whole message with its header, aligned and padded as the kernel wants it.
using Request = std::vector<std::byte>;

/// Builds one request of at most 1024 bytes; what does not fit is left out, and the kernel will refuse the rest.
class RequestBuilder {
 public:
  /// `type` is the message's; NLM_F_REQUEST is added to `flags`.
  explicit RequestBuilder(std::uint16_t type, std::uint16_t flags = 0);

  /// The family's fixed header: ifinfomsg, genlmsghdr, dcbmsg.
  template <typename Header>
  RequestBuilder& header(const Header& value) {
    return raw_header(&value, sizeof(value));
  }
  /// Adds an attribute of 1 byte.
  RequestBuilder& u8(std::uint16_t type, std::uint8_t value);
  /// Adds an attribute of 4 bytes.
  RequestBuilder& u32(std::uint16_t type, std::uint32_t value);
  /// Adds a text with its NUL.
  RequestBuilder& text(std::uint16_t type, std::string_view value);
  /// Adds an attribute without a payload.
  RequestBuilder& flag(std::uint16_t type);
  /// Begins a nested attribute; end_nest() closes the innermost one.
  RequestBuilder& begin_nest(std::uint16_t type);
  RequestBuilder& end_nest();

  /// The message, with its length filled in.
  Request finish() const;

 private:
  static constexpr std::size_t kSize = 1024;

  RequestBuilder& raw_header(const void* data, std::size_t size);
  nlmsghdr* message() { return reinterpret_cast<nlmsghdr*>(buffer_.data()); }

  std::vector<std::byte> buffer_;
  std::vector<nlattr*> nests_;
};

}  // namespace weft::netlink
