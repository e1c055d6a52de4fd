#include "api/http/connection.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <utility>

#include "api/http/tls_context.hpp"

namespace weft::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Steady = std::chrono::steady_clock;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
using Request = http::request<http::string_body>;

/// Counts up for as long as it lives.
class Count {
 public:
  explicit Count(unsigned& number) : number_(number) { ++number_; }
  ~Count() { --number_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  unsigned& number_;
};

template <typename Body>
http::response<Body> head_of(const HttpReply& reply, unsigned version, bool keep_alive) {
  http::response<Body> head(static_cast<http::status>(reply.status), version);
  head.set(http::field::content_type, reply.content_type);
  head.set(http::field::cache_control, "no-store");
  head.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : reply.headers) head.set(name, value);
  head.keep_alive(keep_alive);
  return head;
}

template <typename Stream>
asio::awaitable<bool> write_whole(Stream& stream, HttpReply reply, unsigned version, bool keep_alive, bool head_only,
                                  const HttpOptions& options) {
  beast::get_lowest_layer(stream).expires_after(options.write_timeout);
  const bool unchanged = reply.status == 304;  // has no body, and says nothing of the length of one
  if (head_only || unchanged) {
    auto head = head_of<http::empty_body>(reply, version, keep_alive);
    if (!reply.stream && !unchanged) head.content_length(reply.body.size());
    http::response_serializer<http::empty_body> serializer(head);
    const auto [error, bytes] = co_await http::async_write_header(stream, serializer, kToken);
    co_return !error;
  }
  auto response = head_of<http::string_body>(reply, version, keep_alive);
  response.body() = std::move(reply.body);
  response.prepare_payload();
  const auto [error, bytes] = co_await http::async_write(stream, response, kToken);
  co_return !error;
}

/// Makes a piece, sends it, makes the next: between two pieces the other connections get their turn.
template <typename Stream>
asio::awaitable<bool> write_stream(Stream& stream, HttpReply reply, unsigned version, bool keep_alive,
                                   const HttpOptions& options) {
  const auto deadline = Steady::now() + options.answer_timeout;
  const auto give_time = [&] {
    beast::get_lowest_layer(stream).expires_at(std::min(deadline, Steady::now() + options.write_timeout));
  };
  const bool chunked = version >= 11;  // an HTTP/1.0 reader learns from the closing that it was all
  auto head = head_of<http::empty_body>(reply, version, keep_alive && chunked);
  if (chunked) head.chunked(true);
  http::response_serializer<http::empty_body> serializer(head);
  give_time();
  if (const auto [error, bytes] = co_await http::async_write_header(stream, serializer, kToken); error) co_return false;
  std::string piece;
  while (reply.stream(piece)) {
    if (piece.empty()) continue;  // an empty chunk would be the end
    give_time();
    boost::system::error_code failed;
    if (chunked) {
      const auto [error, bytes] = co_await asio::async_write(stream, http::make_chunk(asio::buffer(piece)), kToken);
      failed = error;
    } else {
      const auto [error, bytes] = co_await asio::async_write(stream, asio::buffer(piece), kToken);
      failed = error;
    }
    if (failed) co_return false;
  }
  if (!chunked) co_return true;
  give_time();
  const auto [error, bytes] = co_await asio::async_write(stream, http::make_chunk_last(), kToken);
  co_return !error;
}

/// The answer to a request that could not be read, or nullopt when there is nobody to answer.
std::optional<HttpReply> reply_to_bad_request(const beast::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return error_reply(431, "INVALID_ARGUMENT", "the request header is too long");
  if (error == http::error::body_limit) return error_reply(413, "INVALID_ARGUMENT", "the request body is too long");
  if (error == beast::error::timeout || error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    return std::nullopt;
  return error_reply(400, "INVALID_ARGUMENT", "not an HTTP request");
}

/// Takes what the peer is still sending, up to a bound: a connection closed with unread bytes is reset, and the peer
/// never sees our last answer (RFC 9112, 9.6).
template <typename Stream>
asio::awaitable<void> swallow(Stream& stream) {
  constexpr auto kSilence = std::chrono::milliseconds(200);
  std::vector<char> dropped(16 * 1024);
  const auto end = Steady::now() + std::chrono::seconds(1);
  for (int reads = 0; reads < 64 && Steady::now() < end; ++reads) {
    beast::get_lowest_layer(stream).expires_after(kSilence);
    const auto [error, bytes] = co_await stream.async_read_some(asio::buffer(dropped), kToken);
    if (error) break;
  }
}

/// Waits for the daemon's answer.
asio::awaitable<HttpReply> carry_out(HttpServerState& hall, const HttpRequest& request) {
  const std::uint64_t command = ++hall.commands;
  const auto executor = co_await asio::this_coro::executor;
  WaitingCommand waiting{std::nullopt, asio::steady_timer(executor)};
  waiting.timer.expires_after(hall.options.command_timeout);
  hall.waiting[command] = &waiting;
  // The answer goes by number: it may come when the connection, or all of the server, is gone.
  hall.router.answer(request,
                     [door = hall.door, command](HttpReply reply) { door->answer(command, std::move(reply)); });
  co_await waiting.timer.async_wait(kToken);
  hall.waiting.erase(command);
  if (waiting.reply) co_return std::move(*waiting.reply);
  co_return error_reply({ErrorCode::kTimeout, "timeout; the command may still be executed"});
}

HttpRequest plain(Request& request, const std::string& peer, const std::vector<std::string>& certificate_names) {
  const auto field = [&request](http::field name) { return std::string(request[name]); };
  return {std::string(request.method_string()),
          std::string(request.target()),
          field(http::field::accept),
          field(http::field::accept_encoding),
          field(http::field::authorization),
          certificate_names,
          peer,
          field(http::field::host),
          field(http::field::origin),
          field(http::field::content_type),
          std::move(request.body()),
          field(http::field::if_none_match)};
}

/// Requests of one connection, one after the other.
template <typename Stream>
asio::awaitable<void> serve_requests(Stream& stream, HttpServerState& hall, const std::string& peer,
                                     const std::vector<std::string>& certificate_names) {
  const HttpOptions& options = hall.options;
  beast::flat_buffer buffer(options.max_header + options.max_body);
  bool first = true;
  bool go_on = true;
  while (go_on) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(options.max_header));
    parser.body_limit(options.max_body);
    if (!std::exchange(first, false) && buffer.size() == 0) {
      beast::get_lowest_layer(stream).expires_after(options.idle_timeout);
      const auto [error, bytes] = co_await stream.async_read_some(buffer.prepare(4096), kToken);
      if (error) break;
      buffer.commit(bytes);
    }
    beast::get_lowest_layer(stream).expires_after(options.request_timeout);
    const auto [read_error, read_bytes] = co_await http::async_read(stream, buffer, parser, kToken);
    if (read_error) {
      if (read_error == beast::error::timeout && hall.gate != nullptr)
        hall.gate->refuse({"an HTTP request", peer, {}, {ErrorCode::kTimeout, "timeout while reading it"}});
      if (auto reply = reply_to_bad_request(read_error)) {
        if (hall.gate != nullptr)
          hall.gate->refuse({"an HTTP request", peer, {}, {ErrorCode::kInvalidArgument, read_error.message()}});
        const bool is_too_much = reply->status == 413 || reply->status == 431;
        co_await write_whole(stream, std::move(*reply), 11, false, false, options);
        if (is_too_much) co_await swallow(stream);
      }
      break;
    }
    Request request = parser.release();
    const bool head_only = request.method() == http::verb::head;
    const HttpRequest asked = plain(request, peer, certificate_names);
    // No co_await within a conditional expression, nor with temporaries: g++ 12 destroys those twice.
    HttpReply reply;
    if (request.method() == http::verb::post) {
      reply = co_await carry_out(hall, asked);
    } else {
      reply = hall.router.handle(asked);
    }
    if (reply.stream && !head_only && hall.streams >= options.max_streams) {
      reply = error_reply({ErrorCode::kResourceExhausted, "too many scrapes and lists are being sent: retry"});
      reply.headers.emplace_back("Retry-After", "1");
    }
    const bool keep_alive = request.keep_alive();
    if (reply.stream && !head_only) {
      const Count one(hall.streams);
      const bool chunked = request.version() >= 11;
      go_on = co_await write_stream(stream, std::move(reply), request.version(), keep_alive, options) && keep_alive &&
              chunked;
    } else {
      go_on = co_await write_whole(stream, std::move(reply), request.version(), keep_alive, head_only, options) &&
              keep_alive;
    }
  }
}

asio::awaitable<void> serve_tls(beast::tcp_stream tcp, HttpServerState& hall, const std::string& peer) {
  const auto refuse = [&](const std::string& why) {
    if (hall.gate != nullptr)
      hall.gate->refuse({"a TLS handshake on HTTPS", peer, {}, {ErrorCode::kUnauthenticated, why}});
  };
  const auto context = current_tls(hall);
  if (!context) co_return refuse("the server's certificate cannot be used");
  beast::ssl_stream<beast::tcp_stream> stream(std::move(tcp), *context);
  beast::get_lowest_layer(stream).expires_after(hall.options.request_timeout);
  const auto [handshake_error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kToken);
  if (handshake_error) co_return refuse(handshake_error.message());
  std::vector<std::string> names;
  if (X509* const certificate = SSL_get0_peer_certificate(stream.native_handle()))
    names = access::certificate_names(certificate);
  co_await serve_requests(stream, hall, peer, names);
  beast::get_lowest_layer(stream).expires_after(std::chrono::seconds(1));
  co_await stream.async_shutdown(kToken);
}

}  // namespace

void CommandReplies::answer(std::uint64_t command, HttpReply reply) {
  const std::lock_guard lock(mutex_);
  if (context_ == nullptr) return;
  asio::post(*context_, [&hall = hall_, command, answer = std::move(reply)]() mutable {
    const auto found = hall.waiting.find(command);
    if (found == hall.waiting.end()) return;
    found->second->reply = std::move(answer);
    found->second->timer.cancel();
  });
}

void CommandReplies::close() {
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
}

asio::awaitable<void> serve_connection(beast::tcp_stream stream, HttpServerState& hall) {
  const Count connection(hall.connections);
  beast::error_code ignored;
  const auto remote = stream.socket().remote_endpoint(ignored);
  const std::string address = remote.address().to_string();
  const Count of_address(hall.addresses[address]);
  const std::string peer =
      (remote.address().is_v6() ? '[' + address + ']' : address) + ':' + std::to_string(remote.port());
  if (hall.options.tls != nullptr) {
    co_await serve_tls(std::move(stream), hall, peer);
  } else {
    const std::vector<std::string> no_names;
    co_await serve_requests(stream, hall, peer, no_names);
    stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }
}

}  // namespace weft::api
