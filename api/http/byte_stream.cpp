// SPDX-License-Identifier: Apache-2.0
#include "api/http/byte_stream.hpp"

#include <openssl/ssl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "api/access/tls.hpp"

namespace weft::api {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Buffers = std::vector<asio::const_buffer>;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

// The operations of Beast and asio::ssl are compiled anew for each type of handler, which takes seconds each time. So
// all handlers have one type here. It hides the executor of the coroutine that waits; without one Asio takes the
// socket's, and that is the same. It hides the coroutine's cancellation slot too: no single operation is cancelled.
using Signature = void(error_code, std::size_t);
using Handler = std::function<Signature>;
using Start = std::function<void(Handler)>;

/// The handler behind a std::function, also if it can only be moved.
template <typename Hidden>
Handler hide(Hidden&& handler) {
  const auto held = std::make_shared<std::decay_t<Hidden>>(std::forward<Hidden>(handler));
  return [held](error_code error, std::size_t bytes) { (*held)(error, bytes); };
}

/// Starts an operation and lets the coroutine wait for its end.
asio::awaitable<ByteStream::Outcome> perform(const Start& start) {
  return asio::async_initiate<decltype(kAsTuple), Signature>(
      [](auto handler, const Start& begin) { begin(hide(std::move(handler))); }, kAsTuple, start);
}

/// A beast::tcp_stream, also as the layer below asio::ssl::stream.
class TcpLayer {
 public:
  using executor_type = asio::any_io_executor;
  using lowest_layer_type = asio::ip::tcp::socket;

  explicit TcpLayer(asio::ip::tcp::socket socket) : tcp_(std::move(socket)) {}
  executor_type get_executor() { return tcp_.get_executor(); }
  lowest_layer_type& lowest_layer() { return tcp_.socket(); }
  void expire_at(std::chrono::steady_clock::time_point time) { tcp_.expires_at(time); }

  void read(asio::mutable_buffer buffer, Handler handler) { tcp_.async_read_some(buffer, std::move(handler)); }
  void write(const Buffers& buffers, Handler handler) { tcp_.async_write_some(buffers, std::move(handler)); }

  template <typename Hidden>
  void async_read_some(asio::mutable_buffer buffer, Hidden&& handler) {
    read(buffer, hide(std::forward<Hidden>(handler)));
  }
  template <typename Hidden>
  void async_write_some(asio::const_buffer buffer, Hidden&& handler) {
    write({buffer}, hide(std::forward<Hidden>(handler)));
  }

 private:
  boost::beast::tcp_stream tcp_;
};

/// Removes the bytes that have been sent.
void drop(Buffers& buffers, std::size_t bytes) {
  auto first = buffers.begin();
  for (; first != buffers.end() && first->size() <= bytes; ++first) bytes -= first->size();
  buffers.erase(buffers.begin(), first);
  if (!buffers.empty()) buffers.front() += bytes;
}

}  // namespace

struct ByteStream::Layers {
  explicit Layers(asio::ip::tcp::socket socket) : tcp(std::move(socket)) {}

  TcpLayer tcp;
  std::shared_ptr<asio::ssl::context> context;
  std::optional<asio::ssl::stream<TcpLayer&>> tls;
};

ByteStream::ByteStream(asio::ip::tcp::socket socket) : layers_(std::make_unique<Layers>(std::move(socket))) {}
ByteStream::~ByteStream() = default;

void ByteStream::expire_at(std::chrono::steady_clock::time_point time) {
  layers_->tcp.expire_at(time);
}

asio::awaitable<ByteStream::Outcome> ByteStream::accept_tls(const std::shared_ptr<asio::ssl::context>& context) {
  layers_->context = context;
  layers_->tls.emplace(layers_->tcp, *layers_->context);
  return perform([&tls = *layers_->tls](const Handler& handler) {
    tls.async_handshake(asio::ssl::stream_base::server, [handler](error_code error) { handler(error, 0); });
  });
}

std::vector<std::string> ByteStream::certificate_names() const {
  X509* const certificate = layers_->tls ? SSL_get0_peer_certificate(layers_->tls->native_handle()) : nullptr;
  return certificate != nullptr ? access::certificate_names(certificate) : std::vector<std::string>();
}

asio::awaitable<ByteStream::Outcome> ByteStream::read_some(asio::mutable_buffer buffer) {
  return perform([&layers = *layers_, buffer](Handler handler) {
    if (layers.tls) return layers.tls->async_read_some(buffer, std::move(handler));
    layers.tcp.read(buffer, std::move(handler));
  });
}

asio::awaitable<error_code> ByteStream::write_all(Buffers& buffers) {
  const Start write_some = [&layers = *layers_, &buffers](Handler handler) {
    if (layers.tls) return layers.tls->async_write_some(buffers, std::move(handler));
    layers.tcp.write(buffers, std::move(handler));
  };
  while (!buffers.empty()) {
    const auto [error, bytes] = co_await perform(write_some);
    if (error) co_return error;
    drop(buffers, bytes);
  }
  co_return error_code();
}

asio::awaitable<void> ByteStream::shut_down() {
  if (layers_->tls) {
    const Start end = [&tls = *layers_->tls](const Handler& handler) {
      tls.async_shutdown([handler](error_code error) { handler(error, 0); });
    };
    co_await perform(end);
  } else {
    error_code ignored;
    layers_->tcp.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }
}

}  // namespace weft::api
