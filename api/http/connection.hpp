#pragma once
// One HTTP connection: bounded in size and time at every step.

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "api/http/router.hpp"
#include "api/http/server.hpp"

namespace weft::api {

/// What the connections of a server share. All on the server's thread.
struct HttpHall {
  HttpOptions options;
  Router router;
  unsigned connections = 0;
  unsigned streams = 0;
};

/// Serves requests until the peer leaves, errs or dawdles. `hall` must outlive it.
boost::asio::awaitable<void> serve_connection(boost::beast::tcp_stream stream, HttpHall& hall);

}  // namespace weft::api
