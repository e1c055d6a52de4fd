// SPDX-License-Identifier: Apache-2.0
#include "api/http/server.hpp"

#include <pthread.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <thread>

#include "api/access/gate.hpp"
#include "api/http/connection.hpp"

namespace weft::api {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Refuses without waiting for anything: whatever the socket's buffer takes at once.
void refuse(tcp::socket socket, bool silently) {
  static constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  if (!silently) socket.write_some(asio::buffer(kBusy), ignored);
  socket.close(ignored);
}

/// Has this address as many connections as one may have? Forgets those that have none.
bool is_crowded(HttpServerState& hall, const std::string& address) {
  if (hall.addresses.size() > 2UL * hall.options.max_connections)
    std::erase_if(hall.addresses, [](const auto& each) { return each.second.connections == 0; });
  const auto found = hall.addresses.find(address);
  return found != hall.addresses.end() && found->second.connections >= hall.options.max_connections_per_address;
}

/// A coroutine that throws (no memory) ends; the others go on.
void ignore_exception(const std::exception_ptr&) {}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, HttpServerState& hall) {
  asio::steady_timer pause(acceptor.get_executor());
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) co_return;
    if (error) {
      // Out of descriptors, most likely: give connections time to end.
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    const std::string address = peer_of(socket).address().to_string();
    if (hall.connections >= hall.options.max_connections || is_crowded(hall, address)) {
      if (hall.gate != nullptr)
        hall.gate->refuse({"an HTTP connection", address, {}, {ErrorCode::kResourceExhausted, "too many connections"}});
      refuse(std::move(socket), hall.options.tls != nullptr);
      continue;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(acceptor.get_executor(), serve_connection(std::move(socket), hall), ignore_exception);
  }
}

Result<tcp::endpoint> find_endpoint(asio::io_context& context, const HttpOptions& options) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (!error) return tcp::endpoint(address, options.port);
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(options.address, std::to_string(options.port), error);
  if (error || found.empty())
    return fail(ErrorCode::kInvalidArgument, "HTTP: not an address of this machine: " + options.address);
  return found.begin()->endpoint();
}

Error cannot_listen(const tcp::endpoint& endpoint, const boost::system::error_code& error) {
  const std::string where =
      (endpoint.address().is_v6() ? '[' + endpoint.address().to_string() + ']' : endpoint.address().to_string()) + ':' +
      std::to_string(endpoint.port());
  return {ErrorCode::kUnavailable, "HTTP: cannot listen on " + where + ": " + error.message()};
}

}  // namespace

struct HttpServer::State {
  HttpServerState hall;
  std::uint16_t port = 0;
  // After the hall: it takes down what is left of the connections, and they point into the hall.
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  std::thread thread;

  explicit State(HttpServerState the_hall) : hall(std::move(the_hall)) {}
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, const Publication& publication,
                                                      const Clock& clock, Collectables collectables,
                                                      HttpCommandTargets desks) {
  auto state = std::make_unique<State>(
      HttpServerState{options, Router(publication, clock, std::move(collectables), desks), desks.gate});
  state->hall.replies = std::make_shared<CommandReplies>(state->context, state->hall);
  const auto endpoint = find_endpoint(state->context, options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  boost::system::error_code error;
  state->acceptor.open(endpoint->protocol(), error);
  if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) state->acceptor.bind(*endpoint, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return tl::unexpected(cannot_listen(*endpoint, error));
  state->port = state->acceptor.local_endpoint().port();
  asio::co_spawn(state->acceptor.get_executor(), accept_all(state->acceptor, state->hall), ignore_exception);
  state->thread = std::thread([raw = state.get()] {
    pthread_setname_np(pthread_self(), "weft-http");
    raw->context.run();
  });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() {
  stop();
}
std::uint16_t HttpServer::port() const {
  return state_->port;
}

void HttpServer::stop() {
  state_->hall.replies->close();
  state_->context.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace weft::api
