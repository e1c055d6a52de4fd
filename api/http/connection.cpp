// SPDX-License-Identifier: Apache-2.0
#include "api/http/connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access/gate.hpp"
#include "api/http/byte_stream.hpp"

namespace weft::api {

/// A connection that waits for the daemon to answer its command.
struct WaitingCommand {
  std::optional<HttpReply> reply;
  boost::asio::steady_timer timer;
};

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Steady = std::chrono::steady_clock;
using boost::system::error_code;
using Head = http::response<http::empty_body>;
using Request = http::request<http::string_body>;
using Parser = http::request_parser<http::string_body>;
using RequestHead = http::request_header<>;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// Counts up for as long as it lives.
template <typename Number>
class Count {
 public:
  explicit Count(Number& number, Number by = 1) : number_(number), by_(by) { number_ += by_; }
  ~Count() { number_ -= by_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  Number& number_;
  const Number by_;
};

/// A whole answer up to this is always sent.
constexpr std::size_t kSmallBody = 64 * 1024;

/// Is there no room for the answer beside those that slow readers have not taken? One has room in any case.
bool has_no_room(const HttpReply& reply, const HttpServerState& hall) {
  return reply.body.size() > kSmallBody && hall.unsent > 0 && hall.unsent + reply.body.size() > hall.options.max_unsent;
}

HttpReply busy(const char* why) {
  HttpReply reply = error_reply({ErrorCode::kResourceExhausted, why});
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7), whatever the locale is.
std::string http_date(std::time_t at) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm time{};
  gmtime_r(&at, &time);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays.at(static_cast<std::size_t>(time.tm_wday)), time.tm_mday,
                kMonths.at(static_cast<std::size_t>(time.tm_mon)), time.tm_year + 1900, time.tm_hour, time.tm_min,
                time.tm_sec);
  return text.data();
}

Head head_of(const HttpReply& reply, unsigned version, bool keep_alive) {
  Head head(static_cast<http::status>(reply.status), version);
  head.set(http::field::date, http_date(std::time(nullptr)));
  head.set(http::field::content_type, reply.content_type);
  head.set(http::field::cache_control, "no-store");
  head.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : reply.headers) head.set(name, value);
  head.keep_alive(keep_alive);
  return head;
}

/// As it goes over the wire (RFC 9112, sections 4 and 5).
std::string text_of(const Head& head) {
  std::string text = head.version() >= 11 ? "HTTP/1.1 " : "HTTP/1.0 ";
  const auto append = [&text](std::string_view part, std::string_view end) { text.append(part).append(end); };
  append(std::to_string(head.result_int()), " ");
  append(head.reason(), "\r\n");
  for (const auto& field : head) {
    append(field.name_string(), ": ");
    append(field.value(), "\r\n");
  }
  return text + "\r\n";
}

asio::awaitable<bool> write_whole(ByteStream& stream, const HttpReply& reply, unsigned version, bool keep_alive,
                                  bool head_only, const HttpOptions& options) {
  stream.expire_after(options.write_timeout);
  const bool unchanged = reply.status == 304;  // has no body, and says nothing of the length of one
  Head head = head_of(reply, version, keep_alive);
  if (!reply.stream && !unchanged) head.content_length(reply.body.size());
  const std::string text = text_of(head);
  std::vector<asio::const_buffer> buffers{asio::buffer(text)};
  if (!head_only && !unchanged) buffers.push_back(asio::buffer(reply.body));
  const error_code error = co_await stream.write_all(buffers);
  co_return !error;
}

/// Makes a piece, sends it, makes the next: between two pieces the other connections get their turn.
asio::awaitable<bool> write_stream(ByteStream& stream, const HttpReply& reply, unsigned version, bool keep_alive,
                                   const HttpOptions& options) {
  const auto deadline = Steady::now() + options.answer_timeout;
  const auto give_time = [&] { stream.expire_at(std::min(deadline, Steady::now() + options.write_timeout)); };
  const bool chunked = version >= 11;  // an HTTP/1.0 reader learns from the closing that it was all
  Head head = head_of(reply, version, keep_alive && chunked);
  if (chunked) head.chunked(true);
  const std::string text = text_of(head);
  std::vector<asio::const_buffer> buffers{asio::buffer(text)};
  give_time();
  error_code error = co_await stream.write_all(buffers);
  std::string piece;
  while (!error && reply.stream(piece)) {
    if (piece.empty()) continue;  // an empty chunk would be the end
    give_time();
    // A chunk is its size in hexadecimal, a line's end, the piece and a line's end (RFC 9112, section 7.1).
    std::array<char, 24> size{};
    const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
    if (chunked) buffers.push_back(asio::buffer(size.data(), static_cast<std::size_t>(digits)));
    buffers.push_back(asio::buffer(piece));
    if (chunked) buffers.push_back(asio::buffer(kLineEnd));
    error = co_await stream.write_all(buffers);
  }
  if (error || !chunked) co_return !error;
  give_time();
  buffers.push_back(asio::buffer(kLastChunk));
  error = co_await stream.write_all(buffers);
  co_return !error;
}

/// The answer to a request that could not be read, or nullopt when there is nobody to answer.
std::optional<HttpReply> reply_to_bad_request(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return error_reply(431, "INVALID_ARGUMENT", "the request header is too long");
  if (error == http::error::body_limit) return error_reply(413, "INVALID_ARGUMENT", "the request body is too long");
  if (error == beast::error::timeout || error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    return std::nullopt;
  return error_reply(400, "INVALID_ARGUMENT", "not an HTTP request");
}

/// What is wrong with the headers of a request; nullopt: nothing. Some may be there once only: of two, another program
/// on the way may take the other one (RFC 9112, 3.2; RFC 9110, 5.3). HTTP/1.1 needs a Host (RFC 9112, 3.2). Where a
/// body is not coded in chunks but in another way, or by HTTP/1.0, nobody can tell where it ends (RFC 9112, 6.1
/// and 6.3).
std::optional<Error> wrong_header(const RequestHead& head) {
  const auto wrong = [](std::string why) { return Error{ErrorCode::kInvalidArgument, std::move(why)}; };
  for (const http::field field :
       {http::field::host, http::field::origin, http::field::authorization, http::field::transfer_encoding})
    if (head.count(field) > 1) return wrong("the header " + std::string(http::to_string(field)) + " is there twice");
  if (head.version() >= 11 && head.count(http::field::host) == 0) return wrong("the header Host is missing");
  if (head.count(http::field::transfer_encoding) > 0 &&
      (head.version() < 11 || !beast::iequals(head[http::field::transfer_encoding], "chunked")))
    return wrong("of all transfer codings only chunked is understood");
  return std::nullopt;
}

/// Takes what the peer is still sending, up to a bound: a connection closed with unread bytes is reset, and the peer
/// never sees our last answer (RFC 9112, 9.6).
asio::awaitable<void> swallow(ByteStream& stream) {
  constexpr auto kSilence = std::chrono::milliseconds(200);
  std::vector<char> dropped(16 * 1024);
  const asio::mutable_buffer space = asio::buffer(dropped);
  const auto end = Steady::now() + std::chrono::seconds(1);
  for (int reads = 0; reads < 64 && Steady::now() < end; ++reads) {
    stream.expire_after(kSilence);
    const auto [error, bytes] = co_await stream.read_some(space);
    if (error) break;
  }
}

/// Reads until the parser has a whole request. What comes behind it stays in the buffer: it is the next one's. `head`
/// is the request's without trailers: the parser would have them among the headers, but no proxy has looked at them
/// there (RFC 9110, 6.5.1).
asio::awaitable<error_code> read_request(ByteStream& stream, beast::flat_buffer& buffer, Parser& parser,
                                         RequestHead& head) {
  parser.eager(false);  // stops behind the header
  for (;;) {
    while (buffer.size() > 0) {
      error_code error;
      buffer.consume(parser.put(buffer.data(), error));
      if (error == http::error::need_more) break;
      if (!error && !parser.eager() && parser.is_header_done()) {
        head = parser.get().base();
        parser.eager(true);
      }
      if (error || parser.is_done()) co_return error;
    }
    const std::size_t room = beast::read_size(buffer, 65536);
    if (room == 0) co_return http::error::buffer_overflow;
    const asio::mutable_buffer space = buffer.prepare(room);
    const auto [read_error, bytes] = co_await stream.read_some(space);
    buffer.commit(bytes);
    if (read_error == asio::error::eof) {
      if (!parser.got_some()) co_return http::error::end_of_stream;
      error_code error;
      parser.put_eof(error);
      co_return error;
    }
    if (read_error) co_return read_error;
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
  hall.router.answer(
      request, [replies = hall.replies, command](HttpReply reply) { replies->answer(command, std::move(reply)); });
  co_await waiting.timer.async_wait(kToken);
  hall.waiting.erase(command);
  if (waiting.reply) co_return std::move(*waiting.reply);
  co_return error_reply({ErrorCode::kTimeout, "timeout; the command may still be executed"});
}

/// Who is at the other end.
struct Peer {
  std::string name;  ///< address and port
  bool is_local = false;
};

HttpRequest plain(Request& request, const Peer& peer, const std::vector<std::string>& certificate_names,
                  const access::Gate* gate) {
  std::vector<std::pair<std::string, std::string>> fields;
  if (gate != nullptr && gate->trusts_proxies())
    for (const auto& each : request) fields.emplace_back(each.name_string(), each.value());
  const auto field = [&request](http::field name) { return std::string(request[name]); };
  return {std::string(request.method_string()),
          std::string(request.target()),
          field(http::field::accept),
          field(http::field::accept_encoding),
          field(http::field::authorization),
          certificate_names,
          peer.name,
          field(http::field::host),
          field(http::field::origin),
          field(http::field::content_type),
          std::move(request.body()),
          field(http::field::if_none_match),
          std::move(fields),
          peer.is_local};
}

/// Requests of one connection, one after the other.
asio::awaitable<void> serve_requests(ByteStream& stream, HttpServerState& hall, AddressUse& address, const Peer& peer,
                                     const std::vector<std::string>& certificate_names) {
  const HttpOptions& options = hall.options;
  beast::flat_buffer buffer(options.max_header + options.max_body);
  bool first = true;
  bool go_on = true;
  while (go_on) {
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(options.max_header));
    parser.body_limit(options.max_body);
    if (!std::exchange(first, false) && buffer.size() == 0) {
      stream.expire_after(options.idle_timeout);
      const asio::mutable_buffer space = buffer.prepare(4096);
      const auto [error, bytes] = co_await stream.read_some(space);
      if (error) break;
      buffer.commit(bytes);
    }
    stream.expire_after(options.request_timeout);
    RequestHead head;
    const error_code read_error = co_await read_request(stream, buffer, parser, head);
    if (read_error) {
      if (read_error == beast::error::timeout && hall.gate != nullptr)
        hall.gate->refuse({"an HTTP request", peer.name, {}, {ErrorCode::kTimeout, "timeout while reading it"}});
      if (const auto reply = reply_to_bad_request(read_error)) {
        if (hall.gate != nullptr)
          hall.gate->refuse({"an HTTP request", peer.name, {}, {ErrorCode::kInvalidArgument, read_error.message()}});
        const bool is_too_much = reply->status == 413 || reply->status == 431;
        co_await write_whole(stream, *reply, 11, false, false, options);
        if (is_too_much) co_await swallow(stream);
      }
      break;
    }
    if (const std::optional<Error> why = wrong_header(head)) {
      if (hall.gate != nullptr) hall.gate->refuse({"an HTTP request", peer.name, {}, *why});
      const HttpReply reply = error_reply(*why);
      co_await write_whole(stream, reply, 11, false, false, options);
      break;
    }
    Request request = parser.release();
    request.base() = std::move(head);
    const bool head_only = request.method() == http::verb::head;
    const HttpRequest asked = plain(request, peer, certificate_names, hall.gate);
    // No co_await within a conditional expression, nor with temporaries: g++ 12 destroys those twice.
    HttpReply reply;
    if (hall.router.may_wait(asked)) {
      reply = co_await carry_out(hall, asked);
    } else {
      reply = hall.router.handle(asked);
    }
    if (reply.stream && !head_only &&
        (hall.streams >= options.max_streams || address.streams >= options.max_streams_per_address))
      reply = busy("too many scrapes and lists are being sent: retry");
    else if (!reply.stream && !head_only && has_no_room(reply, hall))
      reply = busy("too many long answers are being sent: retry");
    const bool keep_alive = request.keep_alive();
    if (reply.stream && !head_only) {
      const Count one(hall.streams);
      const Count of_address(address.streams);
      const bool chunked = request.version() >= 11;
      go_on = co_await write_stream(stream, reply, request.version(), keep_alive, options);
      go_on = go_on && keep_alive && chunked;
    } else {
      const Count held(hall.unsent, head_only ? 0 : reply.body.size());
      go_on = co_await write_whole(stream, reply, request.version(), keep_alive, head_only, options);
      go_on = go_on && keep_alive;
    }
  }
}

asio::awaitable<void> serve_tls(ByteStream& stream, HttpServerState& hall, AddressUse& address, const Peer& peer) {
  const auto refuse = [&](const std::string& why) {
    if (hall.gate != nullptr)
      hall.gate->refuse({"a TLS handshake on HTTPS", peer.name, {}, {ErrorCode::kUnauthenticated, why}});
  };
  const auto context = hall.tls.current(*hall.options.tls);
  if (!context) co_return refuse("the server's certificate cannot be used");
  stream.expire_after(hall.options.request_timeout);
  const auto [handshake_error, bytes] = co_await stream.accept_tls(context);
  if (handshake_error) co_return refuse(handshake_error.message());
  const std::vector<std::string> names = stream.certificate_names();
  co_await serve_requests(stream, hall, address, peer, names);
  stream.expire_after(std::chrono::seconds(1));
  co_await stream.shut_down();
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

asio::ip::tcp::endpoint peer_of(const asio::ip::tcp::socket& socket) {
  error_code ignored;
  const auto remote = socket.remote_endpoint(ignored);
  const asio::ip::address address = remote.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return remote;
  return {asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()), remote.port()};
}

asio::awaitable<void> serve_connection(asio::ip::tcp::socket socket, HttpServerState& hall) {
  const Count connection(hall.connections);
  const auto remote = peer_of(socket);
  const std::string name = remote.address().to_string();
  AddressUse& address = hall.addresses[name];  // stays as long as it has a connection
  const Count of_address(address.connections);
  const Peer peer{(remote.address().is_v6() ? '[' + name + ']' : name) + ':' + std::to_string(remote.port()),
                  remote.address().is_loopback()};
  ByteStream stream(std::move(socket));
  if (hall.options.tls != nullptr) {
    co_await serve_tls(stream, hall, address, peer);
  } else {
    const std::vector<std::string> no_names;
    co_await serve_requests(stream, hall, address, peer, no_names);
    co_await stream.shut_down();
  }
}

}  // namespace weft::api
