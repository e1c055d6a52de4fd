// SPDX-License-Identifier: Apache-2.0
#pragma once
// One HTTP connection: bounded in size and time at every step.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/http/router.hpp"
#include "api/http/server.hpp"
#include "api/http/tls_context.hpp"

namespace boost::asio {
class io_context;
}

namespace weft::api {

struct WaitingCommand;
struct HttpServerState;

/// The way of commands' answers back to the server's thread, for as long as there is one. Answers may outlive the
/// server.
class CommandReplies {
 public:
  CommandReplies(boost::asio::io_context& context, HttpServerState& hall) : context_(&context), hall_(hall) {}
  /// Hands the reply to the connection that waits for this command. Any thread; nothing after close().
  void answer(std::uint64_t command, HttpReply reply);
  /// The server ends: replies that come later are dropped.
  void close();

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_;  ///< null: closed
  HttpServerState& hall_;
};

/// What an address has of the server.
struct AddressUse {
  unsigned connections = 0;
  unsigned streams = 0;
};

/// What the connections of a server share. All on the server's thread.
struct HttpServerState {
  HttpOptions options;
  Router router;
  access::Gate* gate = nullptr;
  unsigned connections = 0;
  unsigned streams = 0;
  std::size_t unsent = 0;  ///< bytes of whole answers that are being sent
  std::map<std::string, AddressUse> addresses{};
  std::shared_ptr<CommandReplies> replies{};
  std::uint64_t commands = 0;
  std::map<std::uint64_t, WaitingCommand*> waiting{};  ///< by the command's number
  TlsContext tls{};
};

/// The other end. A socket of IPv6 that takes IPv4, too, has such clients as ::ffff:192.0.2.1: this says 192.0.2.1
/// (RFC 4291, 2.5.5.2). Without an address where there is none any more.
boost::asio::ip::tcp::endpoint peer_of(const boost::asio::ip::tcp::socket& socket);

/// Serves requests until the peer leaves, errs or dawdles; over TLS where the options say so. `hall` must outlive it.
boost::asio::awaitable<void> serve_connection(boost::asio::ip::tcp::socket socket, HttpServerState& hall);

}  // namespace weft::api
