#pragma once
// One HTTP connection: bounded in size and time at every step.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/http/router.hpp"
#include "api/http/server.hpp"

namespace boost::asio::ssl {
class context;
}

namespace weft::api {

/// A connection that waits for the daemon to answer its command.
struct WaitingCommand {
  std::optional<HttpReply> reply;
  boost::asio::steady_timer timer;
};

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

/// What the connections of a server share. All on the server's thread.
struct HttpServerState {
  HttpOptions options;
  Router router;
  access::Gate* gate = nullptr;
  unsigned connections = 0;
  unsigned streams = 0;
  std::map<std::string, unsigned> addresses{};  ///< connections of each
  std::shared_ptr<CommandReplies> door{};
  std::uint64_t commands = 0;
  std::map<std::uint64_t, WaitingCommand*> waiting{};
  std::shared_ptr<const access::TlsFiles> tls_files{};  ///< those that `tls` was made of
  std::shared_ptr<boost::asio::ssl::context> tls{};
};

/// Serves requests until the peer leaves, errs or dawdles; over TLS where the options say so. `hall` must outlive it.
boost::asio::awaitable<void> serve_connection(boost::beast::tcp_stream stream, HttpServerState& hall);

}  // namespace weft::api
