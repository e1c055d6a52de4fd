// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of one connection, plain or under TLS. One class for both, and no template: its users are compiled once,
// and the operations of Beast and asio::ssl in one file.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace boost::asio::ssl {
class context;
}

namespace weft::api {

/// One operation at a time; it must end before the stream does. After one that failed only shut_down() may follow.
class ByteStream {
 public:
  /// An error, and the bytes that were read.
  using Outcome = std::tuple<boost::system::error_code, std::size_t>;

  explicit ByteStream(boost::asio::ip::tcp::socket socket);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// For the operations that begin after this call: one that is not done at `time` fails with beast::error::timeout,
  /// and the socket is closed.
  void expire_at(std::chrono::steady_clock::time_point time);
  void expire_after(std::chrono::steady_clock::duration time) { expire_at(std::chrono::steady_clock::now() + time); }

  /// The server's part of the handshake. What follows goes under TLS.
  boost::asio::awaitable<Outcome> accept_tls(const std::shared_ptr<boost::asio::ssl::context>& context);
  /// The names in the certificate that the peer showed in the handshake; none when it showed none.
  std::vector<std::string> certificate_names() const;

  /// Waits for at least one byte. asio::error::eof at the end of what the peer sends.
  boost::asio::awaitable<Outcome> read_some(boost::asio::mutable_buffer buffer);
  /// Sends all of the buffers, one after the other; the list is empty then. What they point to must stay until the end.
  boost::asio::awaitable<boost::system::error_code> write_all(std::vector<boost::asio::const_buffer>& buffers);
  /// Tells the peer that no more will come. Under TLS it waits until the peer says the same.
  boost::asio::awaitable<void> shut_down();

 private:
  struct Layers;
  std::unique_ptr<Layers> layers_;
};

}  // namespace weft::api
