// SPDX-License-Identifier: Apache-2.0
#include "api/http/router.hpp"

#include <memory>

#include "api/access/gate.hpp"
#include "api/convert/errors.hpp"
#include "api/http/acceptance_reply.hpp"
#include "api/http/api_replies.hpp"
#include "api/http/audit_reply.hpp"
#include "api/http/commands.hpp"
#include "api/http/evidence_reply.hpp"
#include "api/http/files.hpp"
#include "api/http/history_reply.hpp"
#include "api/http/json.hpp"
#include "api/http/page.hpp"
#include "api/http/site_replies.hpp"
#include "api/metrics/exposition.hpp"
#include "api/metrics/gzip.hpp"
#include "api/metrics/infiniband_exporter_page.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/publication.hpp"
#include "api/request/target.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"

namespace weft::api {
namespace {

HttpReply text_reply(unsigned status, std::string text) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::move(text);
  return reply;
}

/// Snapshots come about once a second. An older one is of a weftd that hung, and says nothing of its lease.
constexpr Duration kFresh = std::chrono::seconds(3);

/// role=leader in the query asks for a leader that holds its lease. A probe that asks for anything else, mistyped
/// perhaps, must not be told that all is well.
HttpReply readiness(const Snapshot& snapshot, const HttpTarget& target, TimePoint now) {
  const std::string role = target.parameter("role");
  if (!target.query.empty() && (target.query.size() > 1 || role != "leader"))
    return error_reply({ErrorCode::kInvalidArgument, "the only parameter of /readyz is role=leader"});
  if (role == "leader" && snapshot.leadership.is_shared && now - snapshot.taken > kFresh)
    return text_reply(503, "not ready: it is not known who leads\n");
  if (role == "leader" && !snapshot.leadership.is_held)
    return text_reply(503, "not ready: " + leadership_text(snapshot.leadership) + '\n');
  if (is_ready(snapshot)) return text_reply(200, "ready\n");
  std::string text = "not ready: " + not_ready_text(snapshot) + '\n';
  for (const FabricView& fabric : snapshot.fabrics) text += fabric.name + ": " + fabric.status + '\n';
  return text_reply(503, std::move(text));
}

/// Says who answers where two weftd share a database: what a standby shows of the leader's is of a moment ago.
Router::Done with_role(const Leadership& leadership, Router::Done done) {
  if (!leadership.is_shared) return done;
  return [role = role_name(leadership), behind = leadership.leads ? "" : seconds_behind(leadership),
          is_troubled = knows_too_little(leadership), done = std::move(done)](HttpReply reply) {
    reply.headers.emplace_back(kRole, role);
    if (!behind.empty()) reply.headers.emplace_back(kBehind, behind);
    if (is_troubled) reply.headers.emplace_back(kTroubled, "1");
    done(std::move(reply));
  };
}

HttpReply whoami_reply(const access::Principal& principal) {
  return json_reply(to_json({{"name", principal.name.empty() ? "anybody" : principal.name},
                             {"role", std::string(access::to_string(principal.role))}}));
}

}  // namespace

HttpReply error_reply(unsigned status, const std::string& code, const std::string& message) {
  HttpReply reply = json_reply(to_json({{"code", code}, {"message", message}}));
  reply.status = status;
  return reply;
}

HttpReply error_reply(const Error& error) {
  HttpReply reply = json_reply(to_json(error));
  reply.status = http_status(error.code);
  if (error.code == ErrorCode::kUnauthenticated)
    reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"weft\"");  // RFC 9110, section 11.6.1
  return reply;
}

Router::Router(const Publication& publication, const Clock& clock, Collectables collectables, HttpCommandTargets desks)
    : publication_(&publication), clock_(&clock), collectables_(std::move(collectables)), desks_(desks) {}

void Router::answer(const HttpRequest& request, Done done) const {
  auto target = parse_target(request.target);
  if (!target) return done(error_reply(target.error()));
  const access::Permission* route = access::find_route(request.method, target->path);
  if (route == nullptr) {
    const std::string methods = access::methods_of(target->path);
    if (methods.empty()) return done(error_reply({ErrorCode::kNotFound, "no such path"}));
    HttpReply reply = error_reply(405, "UNIMPLEMENTED", "only " + methods + " are supported here");
    reply.headers.emplace_back("Allow", methods);
    return done(std::move(reply));
  }
  if (!target->path.empty() && target->path.front() == "api")
    done = with_role(publication_->load()->leadership, std::move(done));
  access::Principal principal = access::anybody();
  if (desks_.gate != nullptr) {
    auto admitted = desks_.gate->admit(route, route->method,
                                       {.authorization = request.authorization,
                                        .certificate_names = request.certificate_names,
                                        .peer = request.peer,
                                        .fields = request.fields,
                                        .is_local = request.is_local});
    if (!admitted) return done(error_reply(admitted.error()));
    principal = std::move(*admitted);
  }
  if (const auto known = access::check_parameters(*route, target->query); !known)
    return done(error_reply(known.error()));
  if (request.method != "POST" && is_history(target->path))
    return answer_history(desks_.history, desks_.site, publication_->load(), *target, clock_->now(),
                          [request, done](HttpReply reply) { done(finish_reply(request, std::move(reply))); });
  if (request.method != "POST" && is_evidence(target->path))
    return answer_evidence(desks_.evidence, desks_.history, desks_.site, publication_->load(), *target, clock_->now(),
                           [request, done](HttpReply reply) { done(finish_reply(request, std::move(reply))); });
  if (request.method != "POST" && is_acceptance(target->path))
    return answer_acceptance(desks_.evidence, desks_.site, *publication_->load(), *target,
                             [request, done](HttpReply reply) { done(finish_reply(request, std::move(reply))); });
  if (request.method != "POST" && is_audit(target->path))
    return answer_audit(desks_.remedies, desks_.site, *target,
                        [request, done](HttpReply reply) { done(finish_reply(request, std::move(reply))); });
  if (request.method != "POST" && is_for_site(target->path) &&
      site_reply(*desks_.site, *target,
                 [request, done](HttpReply reply) { done(finish_reply(request, std::move(reply))); }))
    return;
  if (request.method != "POST") return done(read(request, std::move(*target), principal));
  if (const auto own = check_own_site(request); !own) {
    if (desks_.gate != nullptr && own.error().code == ErrorCode::kPermissionDenied)
      desks_.gate->refuse({std::string(route->method), request.peer, principal.name, own.error()});
    return done(error_reply(own.error()));
  }
  carry_out(request, target->path, principal, desks_, *publication_->load(), clock_->now(), std::move(done));
}

bool Router::is_for_site(const std::vector<std::string>& path) const {
  return desks_.site != nullptr && path.size() > 2 && path.front() == "api" && desks_.site->has_others();
}

bool Router::may_wait(const HttpRequest& request) const {
  if (request.method == "POST") return true;
  const auto target = parse_target(request.target);
  return target && (is_history(target->path) || is_evidence(target->path) || is_acceptance(target->path) ||
                    is_audit(target->path) || is_for_site(target->path));
}

HttpReply Router::handle(const HttpRequest& request) const {
  const auto reply = std::make_shared<HttpReply>(error_reply({ErrorCode::kTimeout, "no answer in time"}));
  answer(request, [reply](HttpReply answered) { *reply = std::move(answered); });
  return *reply;
}

HttpReply Router::read(const HttpRequest& request, HttpTarget target, const access::Principal& principal) const {
  const std::vector<std::string>& path = target.path;
  const std::string front = path.empty() ? "" : path.front();
  if (path.size() == 1) {
    if (front == "metrics") return metrics(request, target);
    if (front == "healthz") return text_reply(200, "ok\n");
    if (front == "readyz") return readiness(*publication_->load(), target, clock_->now());
  }
  // As it was asked for, not as it was decoded: a file has one name.
  std::string_view asked = std::string_view(request.target).substr(0, request.target.find('?'));
  if (asked == "/runbooks") asked = "/runbooks/";  // that one is typed
  if (const Asset* asset = find_asset(desks_.assets, asked)) return asset_reply(*asset, request);
  if (path.empty()) {
    HttpReply reply = text_reply(302, "this build has no web page; see /plain\n");
    reply.headers.emplace_back("Location", "/plain");
    return reply;
  }
  if (front == "plain") {
    HttpReply reply;
    reply.content_type = "text/html; charset=utf-8";
    reply.headers.emplace_back("Content-Security-Policy",
                               "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    reply.body = status_page(*publication_->load(), clock_->now());
    return reply;
  }
  if (path.size() == 3 && path[2] == "whoami") return whoami_reply(principal);
  if (front == "api") return finish_reply(request, api_reply({publication_->load(), clock_->now(), std::move(target)}));
  return error_reply({ErrorCode::kNotFound, "no such file"});
}

/// The page of /metrics, piece after piece, each good until the next one; empty at the end.
std::function<std::string_view()> Router::pieces_of(const Scrape& scrape, MetricsFormat format) const {
  if (scrape.names == MetricNames::kInfinibandExporter)
    return [page = std::make_shared<InfinibandExporterPage>(publication_->load(), clock_->now(), format,
                                                            scrape.groups)] { return page->next(); };
  return [page = std::make_shared<Exposition>(publication_->load(), ScrapeTime::of(*clock_), format, collectables_,
                                              scrape.groups)] { return page->next(); };
}

HttpReply Router::metrics(const HttpRequest& request, const HttpTarget& target) const {
  const auto scrape = scrape_of(MetricsProgram::kWeftd, desks_.groups, target.collect, target.parameter("names"));
  if (!scrape) return error_reply(scrape.error());
  const MetricsFormat format = choose_format(request.accept);
  HttpReply reply;
  reply.content_type = std::string(content_type(format));
  reply.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  const std::function<std::string_view()> pieces = pieces_of(*scrape, format);
  if (!accepts_gzip(request.accept_encoding)) {
    reply.stream = [pieces](std::string& piece) {
      piece = pieces();
      return !piece.empty();
    };
    return reply;
  }
  reply.headers.emplace_back("Content-Encoding", "gzip");
  auto gzip = std::make_shared<GzipStream>();
  reply.stream = [pieces, gzip, ended = false](std::string& piece) mutable {
    piece.clear();
    while (piece.empty() && !ended) {
      const std::string_view text = pieces();
      ended = text.empty();
      if (ended) {
        gzip->finish(piece);
      } else {
        gzip->compress(text, piece);
      }
    }
    return !piece.empty();
  };
  return reply;
}

}  // namespace weft::api
