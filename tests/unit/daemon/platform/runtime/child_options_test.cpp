// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/child_options.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "daemon/platform/runtime/stream.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::runtime {
namespace {

struct SampleOptions {
  std::string name;
  std::filesystem::path path;
  std::uint32_t count = 1;
  bool flag = false;
  Duration interval{};
  std::optional<std::uint8_t> level;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit(self.name, self.path, self.count, self.flag, self.interval, self.level);
  }
  Result<void> check() const { return check_bounds("count", count, 1, 10); }
  bool operator==(const SampleOptions&) const = default;
};

SampleOptions sample_options() {
  return {"a name", "/a/path", 7, true, std::chrono::milliseconds(250), std::uint8_t{3}};
}

struct Timeout {
  std::chrono::milliseconds value{};

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit(self.value);
  }
  Result<void> check() const { return check_milliseconds("timeout", value, 1, 1000); }
};

struct SocketPair {
  SocketPair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    parent = UniqueFd(ends[0]);
    child = UniqueFd(ends[1]);
  }
  UniqueFd parent, child;
};

TEST(ChildOptions, AreReceivedAsSent) {
  SocketPair sockets;
  ASSERT_TRUE(send_options(sockets.parent.get(), sample_options()));
  ASSERT_TRUE(write_all(sockets.parent.get(), std::as_bytes(std::span("next", 4))));
  const auto received = receive_options<SampleOptions>(sockets.child.get());
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(*received, sample_options());
  std::array<std::byte, 4> next{};
  EXPECT_TRUE(read_all(sockets.child.get(), next)) << "what follows the message is left in the socket";
}

TEST(ChildOptions, AnyCutOrLongerMessageIsRefused) {
  std::vector<std::byte> bytes = pack_options(sample_options());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto options = unpack_options<SampleOptions>(std::span(bytes).first(size));
    ASSERT_FALSE(options) << size;
    EXPECT_EQ(options.error().code, ErrorCode::kCorrupt);
  }
  bytes.push_back({});
  EXPECT_FALSE(unpack_options<SampleOptions>(bytes));
}

TEST(ChildOptions, AValueOutOfBoundsIsNamed) {
  SampleOptions options = sample_options();
  options.count = 11;
  const auto unpacked = unpack_options<SampleOptions>(pack_options(options));
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(unpacked.error().message, "count is 11; it must be 1 to 10");
}

TEST(ChildOptions, ATimeThatADurationCannotHoldIsRefused) {
  EXPECT_TRUE(unpack_options<Timeout>(pack_options(Timeout{std::chrono::milliseconds(1000)})));
  EXPECT_FALSE(unpack_options<Timeout>(pack_options(Timeout{std::chrono::milliseconds::max()})));
  EXPECT_FALSE(unpack_options<Timeout>(pack_options(Timeout{std::chrono::milliseconds::min()})));
}

TEST(ChildOptions, AnOversizedMessageIsNotSent) {
  SocketPair sockets;
  SampleOptions options = sample_options();
  options.path = std::string(kMostOptionBytes, 'x');
  const auto sent = send_options(sockets.parent.get(), options);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kInvalidArgument);
}

TEST(ChildOptions, TheLongestMessageIsSentWithoutAReader) {
  SocketPair sockets;
  const std::vector<std::byte> bytes(kMostOptionBytes);
  ASSERT_TRUE(send_options_message(sockets.parent.get(), bytes));
  EXPECT_EQ(receive_options_message(sockets.child.get()).value(), bytes);
}

TEST(ChildOptions, AnOversizedOrForeignHeaderIsRefused) {
  for (const std::array<std::uint32_t, 2> header :
       {std::array<std::uint32_t, 2>{0x4F505453, kMostOptionBytes + 1}, std::array<std::uint32_t, 2>{1, 4}}) {
    SocketPair sockets;
    ASSERT_TRUE(write_all(sockets.parent.get(), std::as_bytes(std::span(header))));
    const auto received = receive_options_message(sockets.child.get());
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ChildOptions, AMissingParentIsReported) {
  SocketPair sockets;
  sockets.parent.reset();
  EXPECT_EQ(receive_options_message(sockets.child.get()).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(receive_options_message(-1).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(send_options_message(sockets.child.get(), {}).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace weft::runtime
