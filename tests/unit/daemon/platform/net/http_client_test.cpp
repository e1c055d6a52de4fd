// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/http_client.hpp"
#include "daemon/platform/runtime/boot_time.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::net {
namespace {

// What happens on a wire is shown by tests/partners, with receivers that hang, lie and close half-way.

TEST(HttpClient, RefusesWhatItMustNotSend) {
  EXPECT_EQ(http_request({.url = "file:///etc/passwd"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(http_request({.url = "ftp://127.0.0.1/"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(http_request({.url = "http://127.0.0.1:99999/"}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(http_request({.url = "http://127.0.0.1:1/", .headers = {"A: b\r\nC: d"}}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(HttpClient, ThatReachesNobodySaysUnavailableWithoutTheQuery) {
  const auto answer = http_request({.url = "http://127.0.0.1:1/x?token=secret", .timeout = std::chrono::seconds(2)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message.find("secret"), std::string::npos) << answer.error().message;
}

TEST(HttpClient, ThatReachesNobodyHasChangedNothing) {
  for (const char* url : {"http://127.0.0.1:1/x", "http://nobody.invalid/x"}) {
    const auto answer = http_request({.method = "POST", .url = url, .timeout = std::chrono::seconds(2)});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kFailedPrecondition) << answer.error().message;
  }
}

// Linux accepts connections for a listener that never does.
TEST(HttpClient, AfterItsTimeARequestIsNotSent) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  HttpRequest request{.method = "POST",
                      .url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x",
                      .body = "{}",
                      .timeout = std::chrono::seconds(1)};
  const auto sent_bytes = [&] {
    const int connection = ::accept(listener, nullptr, nullptr);
    char buffer[4096];
    const ssize_t got = connection < 0 ? -1 : ::recv(connection, buffer, sizeof buffer, 0);
    ::close(connection);
    return got;
  };
  request.before = runtime::boot_time();
  const auto late = http_request(request);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kFailedPrecondition) << late.error().message;
  EXPECT_NE(late.error().message.find("nothing was sent"), std::string::npos) << late.error().message;
  EXPECT_EQ(sent_bytes(), 0) << "it connected, and that was all";
  request.before = runtime::boot_time() + std::chrono::hours(1);
  EXPECT_EQ(http_request(request).error().code, ErrorCode::kTimeout);
  EXPECT_GT(sent_bytes(), 0);
  ::close(listener);
}

TEST(HttpFailure, TellsWhatMayHaveBeenTakenFromWhatWasRefused) {
  const auto code = [](int status) { return http_failure("POST x", {status, ""}).code; };
  for (const int status : {500, 502, 503, 504, 599}) EXPECT_EQ(code(status), ErrorCode::kUnavailable) << status;
  EXPECT_EQ(code(408), ErrorCode::kTimeout);
  EXPECT_EQ(code(404), ErrorCode::kNotFound);
  EXPECT_EQ(code(429), ErrorCode::kResourceExhausted);
  for (const int status : {401, 403, 409}) EXPECT_EQ(code(status), ErrorCode::kFailedPrecondition) << status;
  for (const int status : {300, 301, 304, 307}) EXPECT_EQ(code(status), ErrorCode::kProtocol) << status;
  for (const int status : {400, 405, 422}) EXPECT_EQ(code(status), ErrorCode::kInvalidArgument) << status;
  EXPECT_EQ(http_failure("POST x", {500, "no\nway\xff"}).message, "POST x answered 500: no way?");
  EXPECT_LT(http_failure("POST x", {500, std::string(9999, 'a')}).message.size(), 300U);
}

TEST(PercentEncoded, LeavesOnlyWhatIsUnreserved) {
  EXPECT_EQ(percent_encoded("dgx-07.example_x~"), "dgx-07.example_x~");
  EXPECT_EQ(percent_encoded("a b/../?&=\xc3\xa4"), "a%20b%2F..%2F%3F%26%3D%C3%A4");
}

}  // namespace
}  // namespace weft::net
