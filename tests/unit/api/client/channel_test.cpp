// SPDX-License-Identifier: Apache-2.0
#include "api/client/channel.hpp"

#include <gtest/gtest.h>

namespace weft::api {
namespace {

TEST(Channel, SendsNoTokenInClearTextToAnotherMachine) {
  ClientSecurity security;
  security.token = "secret";
  for (const char* server : {"mgmt1:9641", "192.0.2.2:9641", "[2001:db8::1]:9641", "dns:///127.0.0.1:9641"}) {
    const auto channel = open_channel(server, security, {});
    ASSERT_FALSE(channel) << server;
    EXPECT_EQ(channel.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(channel.error().message.find("would go to " + std::string(server) + " in clear text"), std::string::npos)
        << channel.error().message;
    EXPECT_TRUE(open_channel(server, {}, {})) << "there is none";
  }
  for (const char* server : {"127.0.0.1:9641", "localhost:9641", "[::1]:9641", "unix:/run/weft/weftd.sock"})
    EXPECT_TRUE(open_channel(server, security, {})) << server;
}

// As gRPC 1.51 with OpenSSL 3 says it.
TEST(UnreachableReason, IsInWords) {
  EXPECT_EQ(unreachable_reason("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
                               "connect to remote host: Connection refused"),
            "Connection refused");
  EXPECT_EQ(unreachable_reason("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9641: Ssl "
                               "handshake failed: SSL_ERROR_SSL: error:0A00010B:SSL routines::wrong version number"),
            "what it says is no TLS: does it serve TLS?");
  EXPECT_EQ(unreachable_reason("empty address list: "),
            "its address, or a file of ours for TLS (CA, certificate, key), cannot be used");
  EXPECT_EQ(unreachable_reason("weftd is stopping"), "weftd is stopping");
}

}  // namespace
}  // namespace weft::api
