// SPDX-License-Identifier: Apache-2.0
#pragma once
// One HTTP request and its answer, bounded in time and size, over libcurl. What schedulers' REST APIs and webhooks need
// and nothing more: no redirects, no proxies, no cookies, no retries.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::net {

/// How the other side is known and how we make ourselves known. Each text is PEM; an empty one is not used.
struct TlsIdentity {
  std::string certificate_authorities;  ///< that the server's certificate must come from; empty: the system's
  std::string client_certificate;
  std::string client_key;
};

/// A request to be sent once.
struct HttpRequest {
  std::string method = "GET";
  std::string url{};                            ///< http:// or https://; anything else is kInvalidArgument
  std::vector<std::string> headers{};           ///< "Name: value"; no line ends in them
  std::string body{};                           ///< sent with POST and PUT
  TlsIdentity tls{};                            ///< the server's certificate and name are always verified
  std::filesystem::path unix_socket{};          ///< connect there instead of to the URL's host; empty: do not
  Duration timeout = std::chrono::seconds(10);  ///< for all of it: name, connection, TLS, answer
  std::size_t most_answer = 1 << 20;            ///< bytes of the answer's body
  /// It is sent only before this, on runtime::boot_time(), looked at when the connection is there; nullopt: at any
  /// time.
  std::optional<Duration> before{};
};

/// The server's answer.
struct HttpAnswer {
  int status = 0;  ///< 200 …
  std::string body;
};

/// Sends it once. Any answer with a status is a success of this function. kTimeout and kUnavailable: it may or may not
/// have been taken; that includes an answer that is cut off, too large or no HTTP. kInvalidArgument: the URL or a
/// header is wrong; kFailedPrecondition: the server could not prove who it is, HttpRequest::before was over, or nobody
/// was there for a request other than GET; in all these cases nothing was sent.
Result<HttpAnswer> http_request(const HttpRequest& request);

/// The failure that a status other than 2xx stands for, as Actuator::apply() must tell it: 408 and 5xx may have been
/// taken (kTimeout, kUnavailable), all others were refused (429 kResourceExhausted, 404 kNotFound, 401 and 403
/// kFailedPrecondition, 409 kFailedPrecondition, 3xx kProtocol, others kInvalidArgument). `who` begins the sentence;
/// the beginning of the answer ends it.
Error http_failure(const std::string& who, const HttpAnswer& answer);

/// `text` with everything but letters, digits and -._~ as %XX (RFC 3986, 2.1): safe as one part of a path or a query.
std::string percent_encoded(const std::string& text);

}  // namespace weft::net
