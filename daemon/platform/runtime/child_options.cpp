// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/child_options.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "daemon/platform/runtime/stream.hpp"

namespace weft::runtime {
namespace {

constexpr std::uint32_t kOptionsMagic = 0x4F505453;  // "OPTS"

struct OptionsHeader {
  std::uint32_t magic = kOptionsMagic;
  std::uint32_t size = 0;
};

}  // namespace

Result<void> check_bounds(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " is " + std::to_string(value) + "; it must be " +
                                               std::to_string(least) + " to " + std::to_string(most));
}

Result<void> check_milliseconds(std::string_view name, Duration value, std::int64_t least, std::int64_t most) {
  return check_bounds(std::string(name) + " in milliseconds",
                      std::chrono::duration_cast<std::chrono::milliseconds>(value).count(), least, most);
}

Result<void> send_options_message(int socket, std::span<const std::byte> bytes) {
  if (bytes.size() > kMostOptionBytes)
    return fail(ErrorCode::kInvalidArgument, "the options have " + std::to_string(bytes.size()) + " bytes, more than " +
                                                 std::to_string(kMostOptionBytes) +
                                                 ": shorten the paths and names in the configuration");
  const OptionsHeader header{.size = static_cast<std::uint32_t>(bytes.size())};
  const auto head = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> message(head.begin(), head.end());
  message.insert(message.end(), bytes.begin(), bytes.end());
  const ssize_t sent = ::send(socket, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(message.size())) return {};
  return fail(ErrorCode::kUnavailable, "cannot send the options to the child: " +
                                           (sent < 0 ? std::generic_category().message(errno) : "no room"));
}

Result<std::vector<std::byte>> receive_options_message(int socket) {
  OptionsHeader header;
  if (!read_all(socket, std::as_writable_bytes(std::span(&header, 1))))
    return fail(ErrorCode::kUnavailable, "no options were received over descriptor " + std::to_string(socket));
  if (header.magic != kOptionsMagic || header.size > kMostOptionBytes)
    return fail(ErrorCode::kCorrupt, "what was received is no message with options");
  std::vector<std::byte> bytes(header.size);
  if (!read_all(socket, bytes)) return fail(ErrorCode::kCorrupt, "the message with the options was cut off");
  return bytes;
}

}  // namespace weft::runtime
