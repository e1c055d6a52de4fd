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

}  // namespace
}  // namespace weft::api
