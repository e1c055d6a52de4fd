// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connection to the HTTP server, byte by byte.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace weft::api {

/// A TCP connection that says what it is told to say.
class Wire {
 public:
  /// From the address 127.0.0.`from`.
  explicit Wire(std::uint16_t port, std::uint8_t from = 1)
      : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{30, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Wire() { close(descriptor_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void say(const std::string& text) const {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t got = send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (got <= 0) return;
      sent += static_cast<std::size_t>(got);
    }
  }
  /// Nothing more is said; the answers can still be heard.
  void end() const { shutdown(descriptor_, SHUT_WR); }
  /// All until the other side closes.
  std::string hear_all() const {
    std::string text;
    char buffer[65536];
    for (ssize_t got = 0; (got = recv(descriptor_, buffer, sizeof buffer, 0)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }
  /// Until `end` has been heard, or the other side closes.
  std::string hear_until(const std::string& end) const {
    std::string text;
    char c = 0;
    while (text.find(end) == std::string::npos && recv(descriptor_, &c, 1, 0) == 1) text += c;
    return text;
  }

 private:
  int descriptor_;
};

}  // namespace weft::api
