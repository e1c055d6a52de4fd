// SPDX-License-Identifier: Apache-2.0
#include "collectors/netlink/request.hpp"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <cstring>
#include <string>

namespace weft::netlink {

RequestBuilder::RequestBuilder(std::uint16_t type, std::uint16_t flags) : buffer_(kSize) {
  nlmsghdr* made = mnl_nlmsg_put_header(buffer_.data());
  made->nlmsg_type = type;
  made->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
}

RequestBuilder& RequestBuilder::raw_header(const void* data, std::size_t size) {
  std::memcpy(mnl_nlmsg_put_extra_header(message(), size), data, size);
  return *this;
}

RequestBuilder& RequestBuilder::u8(std::uint16_t type, std::uint8_t value) {
  mnl_attr_put_u8_check(message(), kSize, type, value);
  return *this;
}

RequestBuilder& RequestBuilder::u32(std::uint16_t type, std::uint32_t value) {
  mnl_attr_put_u32_check(message(), kSize, type, value);
  return *this;
}

RequestBuilder& RequestBuilder::text(std::uint16_t type, std::string_view value) {
  mnl_attr_put_strz_check(message(), kSize, type, std::string(value).c_str());
  return *this;
}

RequestBuilder& RequestBuilder::flag(std::uint16_t type) {
  mnl_attr_put_check(message(), kSize, type, 0, nullptr);
  return *this;
}

RequestBuilder& RequestBuilder::begin_nest(std::uint16_t type) {
  nests_.push_back(mnl_attr_nest_start_check(message(), kSize, type));
  return *this;
}

RequestBuilder& RequestBuilder::end_nest() {
  if (nests_.empty()) return *this;
  if (nests_.back() != nullptr) mnl_attr_nest_end(message(), nests_.back());
  nests_.pop_back();
  return *this;
}

Request RequestBuilder::finish() const {
  const auto* made = reinterpret_cast<const nlmsghdr*>(buffer_.data());
  Request request(buffer_.begin(), buffer_.begin() + made->nlmsg_len);
  request.resize(MNL_ALIGN(request.size()));
  return request;
}

}  // namespace weft::netlink
