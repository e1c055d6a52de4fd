// SPDX-License-Identifier: Apache-2.0
#pragma once
// The collector's small HTTP server: a page or two, on the thread that owns the io_context.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "api/metrics/negotiate.hpp"
#include "fabric/result.hpp"

namespace weft::collector {

/// Serves GET and HEAD of /metrics, /healthz and /. At most 16 connections at a time, 8 KiB of header, 10 s for each
/// step; more connections are closed at once.
class HttpServer {
 public:
  /// Makes the text of /metrics in the wanted format for a request's target, "/metrics?collect[]=ports"; an error is
  /// answered with status 400 and its text.
  using MetricsPage = std::function<Result<std::string>(std::string_view target, api::MetricsFormat)>;

  /// `page` makes the text of /metrics.
  HttpServer(boost::asio::io_context& context, MetricsPage page) : acceptor_(context), page_(std::move(page)) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// kInvalidArgument for an address that is none, kUnavailable for one that is taken or not ours.
  Result<void> listen(const std::string& address, std::uint16_t port);
  /// The port that it listens on.
  std::uint16_t port() const;

 private:
  class Session;
  void accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  MetricsPage page_;
  unsigned sessions_ = 0;
};

}  // namespace weft::collector
