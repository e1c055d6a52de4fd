#include "api/http/connection.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>

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

asio::awaitable<bool> write_whole(beast::tcp_stream& stream, HttpReply reply, unsigned version, bool keep_alive,
                                  bool head_only, const HttpOptions& options) {
  stream.expires_after(options.write_timeout);
  if (head_only) {
    auto head = head_of<http::empty_body>(reply, version, keep_alive);
    if (!reply.stream) head.content_length(reply.body.size());
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
asio::awaitable<bool> write_stream(beast::tcp_stream& stream, HttpReply reply, unsigned version, bool keep_alive,
                                   const HttpOptions& options) {
  const auto deadline = Steady::now() + options.answer_timeout;
  const auto give_time = [&] { stream.expires_at(std::min(deadline, Steady::now() + options.write_timeout)); };
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
    return error_reply(431, "INVALID_ARGUMENT", "the request's header is too long");
  if (error == http::error::body_limit) return error_reply(413, "INVALID_ARGUMENT", "the request's body is too long");
  if (error == beast::error::timeout || error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    return std::nullopt;
  return error_reply(400, "INVALID_ARGUMENT", "not an HTTP request");
}

}  // namespace

asio::awaitable<void> serve_connection(beast::tcp_stream stream, HttpHall& hall) {
  const Count connection(hall.connections);
  const HttpOptions& options = hall.options;
  beast::flat_buffer buffer(options.max_header + options.max_body);
  bool first = true;
  bool go_on = true;
  while (go_on) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(options.max_header));
    parser.body_limit(options.max_body);
    stream.expires_after(first ? options.request_timeout : options.idle_timeout);
    first = false;
    const auto [read_error, read_bytes] = co_await http::async_read(stream, buffer, parser, kToken);
    if (read_error) {
      if (auto reply = reply_to_bad_request(read_error))
        co_await write_whole(stream, std::move(*reply), 11, false, false, options);
      break;
    }
    const Request request = parser.release();
    const bool head_only = request.method() == http::verb::head;
    HttpReply reply = hall.router.handle({std::string(request.method_string()), std::string(request.target()),
                                          std::string(request[http::field::accept]),
                                          std::string(request[http::field::accept_encoding])});
    if (reply.stream && !head_only && hall.streams >= options.max_streams) {
      reply = error_reply({ErrorCode::kResourceExhausted, "too many scrapes and lists are being sent: try again"});
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
  beast::error_code ignored;
  stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

}  // namespace weft::api
