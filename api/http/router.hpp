// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which answer a request gets: no sockets, no threads, one snapshot for the whole answer.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/assets.hpp"
#include "api/metrics/daemon_metrics.hpp"
#include "api/metrics/negotiate.hpp"
#include "api/metrics/scrape.hpp"
#include "api/request/target.hpp"
#include "fabric/metric_groups.hpp"
#include "fabric/result.hpp"

namespace weft {
class Clock;
}
namespace weft::api::access {
class Gate;
struct Principal;
}  // namespace weft::api::access

namespace weft::api {

class Commands;
struct EvidenceSource;
class HistoryDesk;
class Publication;
class RemedyCommands;
class SiteQueries;

/// What the router needs of a request. Headers are empty when they were not sent.
struct HttpRequest {
  std::string method;
  std::string target;
  std::string accept;
  std::string accept_encoding;
  std::string authorization{};                   ///< the header, whole
  std::vector<std::string> certificate_names{};  ///< of the client's verified certificate
  std::string peer{};                            ///< its address
  std::string host{};                            ///< the header; so are these
  std::string origin{};
  std::string content_type{};
  std::string body{};
  std::string if_none_match{};
  std::vector<std::pair<std::string, std::string>> fields{};  ///< all headers, where the gate trusts proxies
  bool is_local = false;                                      ///< the peer is on this machine
};

/// Makes an answer's body piece by piece: fills `piece`, or returns false at the end.
using BodySource = std::function<bool(std::string& piece)>;

/// An answer to be sent.
struct HttpReply {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;   ///< the whole of it, unless there is a
  BodySource stream;  ///< of a body too big to hold
};

/// Who takes what users ask for, who lets them, and the page's files; each may be missing: nothing is taken, everybody
/// is let in, "/" leads to the plain page.
struct HttpCommandTargets {
  Commands* commands = nullptr;
  RemedyCommands* remedies = nullptr;
  access::Gate* gate = nullptr;
  Assets assets{};
  const SiteQueries* site = nullptr;          ///< null: snapshots answer everything
  HistoryDesk* history = nullptr;             ///< null: there is no history
  MetricGroups groups = MetricGroups::all();  ///< that /metrics has
  const EvidenceSource* evidence = nullptr;  ///< null: evidence packs do not say who made them. Must outlive the server
};

/// Chooses and makes the answer to each request.
class Router {
 public:
  /// Takes the answer.
  using Done = std::function<void(HttpReply)>;

  Router(const Publication& publication, const Clock& clock, Collectables collectables, HttpCommandTargets desks = {});
  /// Never fails: an error is an answer too. `done` is called once: at once, or for a command later and from any
  /// thread.
  void answer(const HttpRequest& request, Done done) const;
  /// The answer may come later: a command, a question about the past or the audit trail, evidence, or one that other
  /// shards are asked, too.
  bool may_wait(const HttpRequest& request) const;
  /// For what is answered at once: where may_wait() is false.
  HttpReply handle(const HttpRequest& request) const;

 private:
  bool is_for_site(const std::vector<std::string>& path) const;
  HttpReply read(const HttpRequest& request, HttpTarget target, const access::Principal& principal) const;
  std::function<std::string_view()> pieces_of(const Scrape& scrape, MetricsFormat format) const;
  HttpReply metrics(const HttpRequest& request, const HttpTarget& target) const;
  const Publication* publication_;
  const Clock* clock_;
  Collectables collectables_;
  HttpCommandTargets desks_;
};

/// The error as JSON with its status.
HttpReply error_reply(const Error& error);
/// The same with a status that no ErrorCode stands for: 405, 408, 413, 431.
HttpReply error_reply(unsigned status, const std::string& code, const std::string& message);

}  // namespace weft::api
