#pragma once
// Which answer a request gets: no sockets, no threads, one snapshot for the whole answer.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/metrics/daemon_metrics.hpp"
#include "api/publication/publication.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api {

struct HttpRequest {
  std::string method;
  std::string target;
  std::string accept;
  std::string accept_encoding;
};

/// Makes an answer's body piece by piece: fills `piece`, or returns false at the end.
using BodySource = std::function<bool(std::string& piece)>;

struct HttpReply {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;   ///< the whole of it, unless there is a
  BodySource stream;  ///< of a body too big to hold
};

class Router {
 public:
  Router(const Publication& publication, const Clock& clock, Collectables collectables);
  /// Never fails: an error is an answer too.
  HttpReply handle(const HttpRequest& request) const;

 private:
  HttpReply metrics(const HttpRequest& request) const;
  const Publication* publication_;
  const Clock* clock_;
  Collectables collectables_;
};

/// The error as JSON with its status.
HttpReply error_reply(const Error& error);
/// The same with a status that no ErrorCode stands for: 405, 408, 413, 431.
HttpReply error_reply(unsigned status, const std::string& code, const std::string& message);

}  // namespace weft::api
