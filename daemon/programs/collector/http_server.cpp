// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/http_server.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "api/metrics/gzip.hpp"

namespace weft::collector {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr unsigned kMostSessions = 16;
constexpr std::uint32_t kLongestHeader = 8 * 1024;
constexpr auto kPatience = std::chrono::seconds(10);

using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

std::string_view target_of(const Request& request) {
  return {request.target().data(), request.target().size()};
}
std::string_view path_of(const Request& request) {
  return target_of(request).substr(0, target_of(request).find('?'));
}
std::string_view field(const Request& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

}  // namespace

/// One connection, from request to request. Lives as long as an operation of it is pending.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, HttpServer& server) : stream_(std::move(socket)), server_(server) { ++server_.sessions_; }
  ~Session() { --server_.sessions_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kLongestHeader);
    parser_->body_limit(0);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) return self->answer();
      if (error == http::error::end_of_stream || error == beast::error::timeout) return self->close();
      if (error == http::error::header_limit || error == http::error::body_limit ||
          error.category() == http::make_error_code(http::error::bad_method).category())
        self->refuse();
    });
  }

 private:
  void refuse() {
    response_ = Response(http::status::bad_request, 11);
    response_.keep_alive(false);
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.body() = "bad request\n";
    write(false);
  }

  void answer() {
    const Request& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    response_ = Response(http::status::ok, request.version());
    response_.keep_alive(request.keep_alive());
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.set(http::field::cache_control, "no-store");
    const std::string_view path = path_of(request);
    if (request.method() != http::verb::get && !head) {
      response_.result(http::status::method_not_allowed);
      response_.set(http::field::allow, "GET, HEAD");
      response_.body() = "method not allowed: only GET and HEAD\n";
    } else if (path == "/metrics") {
      metrics(request);
    } else if (path == "/healthz") {
      response_.body() = "ok\n";
    } else if (path == "/") {
      response_.body() = "weft-collector: /metrics, /healthz\n";
    } else {
      response_.result(http::status::not_found);
      response_.body() = "not found: the paths are /metrics and /healthz\n";
    }
    write(head);
  }

  void metrics(const Request& request) {
    const api::MetricsFormat format = api::choose_format(field(request, http::field::accept));
    Result<std::string> page = server_.page_(target_of(request), format);
    if (!page) {
      response_.result(http::status::bad_request);
      response_.body() = page.error().message + '\n';
      return;
    }
    response_.set(http::field::content_type, std::string(api::content_type(format)));
    if (!api::accepts_gzip(field(request, http::field::accept_encoding))) {
      response_.body() = std::move(*page);
      return;
    }
    response_.set(http::field::content_encoding, "gzip");
    api::GzipStream gzip;
    gzip.compress(*page, response_.body());
    gzip.finish(response_.body());
  }

  void write(bool head) {
    response_.prepare_payload();
    if (head) response_.body().clear();  // the length stays what GET would have
    const bool keep_alive = response_.keep_alive();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep_alive](beast::error_code error, std::size_t) {
                        self->response_ = {};
                        if (error) return;
                        if (keep_alive) return self->read();
                        self->close();
                      });
  }

  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  HttpServer& server_;
  beast::flat_buffer buffer_{kLongestHeader + 1024};
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
};

Result<void> HttpServer::listen(const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) return fail(ErrorCode::kInvalidArgument, "HTTP: invalid address: " + address);
  const tcp::endpoint endpoint(parsed, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(kMostSessions, error);
  if (error) {
    const std::string where = parsed.is_v6() ? '[' + address + ']' : address;
    return fail(ErrorCode::kUnavailable,
                "HTTP: cannot listen on " + where + ':' + std::to_string(port) + ": " + error.message());
  }
  accept();
  return {};
}

std::uint16_t HttpServer::port() const {
  boost::system::error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void HttpServer::accept() {
  acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) return;
    if (!error && sessions_ < kMostSessions) std::make_shared<Session>(std::move(socket), *this)->read();
    accept();
  });
}

}  // namespace weft::collector
