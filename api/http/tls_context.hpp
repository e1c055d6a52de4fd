#pragma once
// TLS for HTTP, from the files in force.

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "api/http/connection.hpp"

namespace weft::api {

/// A context of these files; null when OpenSSL does not take them (they were checked before: no memory).
std::shared_ptr<boost::asio::ssl::context> make_tls_context(const access::TlsFiles& files);
/// That of the files of now, made anew when they have changed. The last good one when a new one cannot be made.
std::shared_ptr<boost::asio::ssl::context> current_tls(HttpServerState& hall);

}  // namespace weft::api
