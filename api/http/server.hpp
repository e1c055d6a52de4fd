// SPDX-License-Identifier: Apache-2.0
#pragma once
// The HTTP server: metrics, JSON, the page and the probes, on a thread of its own.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "api/access/tls.hpp"
#include "api/http/router.hpp"
#include "api/metrics/daemon_metrics.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// How the HTTP server listens, and its limits.
struct HttpOptions {
  std::string address = "127.0.0.1";           ///< an address or a name of this machine
  std::uint16_t port = 9640;                   ///< 0: any free one
  unsigned max_connections = 256;              ///< further ones get 503 at once
  unsigned max_connections_per_address = 128;  ///< the same for those of one address
  unsigned max_streams = 8;              ///< scrapes and whole lists being sent at the same time; further ones get 503
  unsigned max_streams_per_address = 6;  ///< the same for those of one address
  std::size_t max_unsent = 64UL << 20;   ///< bytes of whole answers that their readers have not taken; 503 beyond
  std::chrono::milliseconds request_timeout{10'000};  ///< from the connection, or a request's first byte, to its end
  std::chrono::milliseconds idle_timeout{60'000};     ///< from an answer to the next request's first byte
  std::chrono::milliseconds command_timeout{30'000};  ///< for the daemon to answer a command; 504 then
  std::chrono::milliseconds write_timeout{30'000};    ///< for the reader to take one piece
  std::chrono::milliseconds answer_timeout{300'000};  ///< for a whole answer
  std::size_t max_header = 16 * 1024;                 ///< 431 above
  std::size_t max_body = 64 * 1024;                   ///< 413 above
  const access::TlsKeys* tls = nullptr;               ///< null: plain HTTP. Must outlive the server
};

/// The HTTP server of weftd.
class HttpServer {
 public:
  /// Listens and starts the thread. kInvalidArgument for an address that is none, kUnavailable for one that is taken or
  /// not ours. What is passed by reference or pointer must outlive it.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, const Publication& publication,
                                                   const Clock& clock, Collectables collectables,
                                                   HttpCommandTargets desks = {});
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port that it listens on.
  std::uint16_t port() const;
  /// Closes all connections and joins the thread. May be called more than once. Commands may still be answered later:
  /// nobody hears it.
  void stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::api
