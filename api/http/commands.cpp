// SPDX-License-Identifier: Apache-2.0
#include "api/http/commands.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "api/convert/acceptance.hpp"
#include "api/convert/commands.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/maintenance.hpp"
#include "api/convert/plans.hpp"
#include "api/http/json.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/derived.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// "host:port" without the port that goes without saying.
std::string authority(std::string_view text, std::string_view usual_port) {
  std::string result = lower(text);
  if (result.ends_with(usual_port)) result.resize(result.size() - usual_port.size());
  return result;
}

bool is_same_site(const std::string& origin, const std::string& host) {
  const std::size_t end = origin.find("://");
  if (end == std::string::npos) return false;  // "null": a file, a sandbox
  const std::string_view port = lower(origin.substr(0, end)) == "https" ? ":443" : ":80";
  return authority(std::string_view(origin).substr(end + 3), port) == authority(host, port);
}

/// The body as it stands there. An empty one is {}.
template <typename Message>
Result<void> read_json(const HttpRequest& request, Message& message) {
  if (request.body.find_first_not_of(" \t\r\n") == std::string::npos) return {};
  const auto status = google::protobuf::util::JsonStringToMessage(request.body, &message);
  if (status.ok()) return {};
  return fail(ErrorCode::kInvalidArgument, "the body is not a valid JSON request: " + std::string(status.message()));
}

/// Of a key that is there twice, also as hands_off and handsOff, protobuf would take the last.
template <typename Message>
Result<google::protobuf::Struct> read_keys(const HttpRequest& request) {
  google::protobuf::Struct keys;  // which refuses a key that it has
  if (const auto read = read_json(request, keys); !read) return tl::unexpected(read.error());
  const auto* const message = Message::descriptor();
  for (int i = 0; i < message->field_count(); ++i) {
    const std::string &name = message->field(i)->name(), &json = message->field(i)->json_name();
    if (name != json && keys.fields().contains(name) && keys.fields().contains(json))
      return fail(ErrorCode::kInvalidArgument, "the body has both " + name + " and " + json + ", which are the same");
  }
  return keys;
}

template <typename Message>
Result<Message> parse_body(const HttpRequest& request) {
  Message message;
  if (const auto keys = read_keys<Message>(request); !keys) return tl::unexpected(keys.error());
  if (const auto read = read_json(request, message); !read) return tl::unexpected(read.error());
  if (const auto claim = check_claim(message.who()); !claim) return tl::unexpected(claim.error());
  return message;
}

/// The same of what has an id, which stands in the path.
template <typename Message>
Result<Message> parse_body(const HttpRequest& request, const std::string& id) {
  auto message = parse_body<Message>(request);
  if (!message) return message;
  if (!message->id().empty() && message->id() != id)
    return fail(ErrorCode::kInvalidArgument, "the body has the id " + message->id() + ", the path " + id);
  message->set_id(id);
  return message;
}

/// The daemon's answer, of its `shard`, as that of the request.
template <typename Message, typename Value>
std::function<void(Result<Value>)> reply_with(Router::Done done, const std::string& shard) {
  return [done = std::move(done), shard](Result<Value> result) {
    if (!result) return done(error_reply(result.error()));
    Message message;
    to_proto(*result, message);
    if constexpr (requires { message.set_shard(shard); }) message.set_shard(shard);
    HttpReply reply;
    reply.body = to_json(message);
    done(std::move(reply));
  };
}

/// One command: its request, from the body, and what is done with it.
class Order {
 public:
  Order(const HttpRequest& request, std::string id, const access::Principal& principal, const HttpCommandTargets& desks,
        std::string shard)
      : request_(request), id_(std::move(id)), principal_(principal), desks_(desks), shard_(std::move(shard)) {}

  Result<void> approve(Router::Done& done) const {
    const auto body = parse_body<v1::ApprovePlanRequest>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = plan_id(id_);
    if (!id) return tl::unexpected(id.error());
    if (desks_.remedies == nullptr) return nobody();
    desks_.remedies->approve(*id, body->revision(), who(body->who()),
                             reply_with<v1::Plan, Plan>(std::move(done), shard_));
    return {};
  }
  Result<void> reject(Router::Done& done) const {
    return end_plan<v1::RejectPlanRequest>(done, [](const auto&) { return &RemedyCommands::reject; });
  }
  Result<void> abort(Router::Done& done) const {
    return end_plan<v1::AbortPlanRequest>(done, [](const v1::AbortPlanRequest& asked) {
      return asked.leave_in_service() ? &RemedyCommands::leave : &RemedyCommands::abort;
    });
  }
  Result<void> acknowledge(Router::Done& done) const {
    const auto body = parse_body<v1::AcknowledgeIncidentRequest>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = incident_id(id_);
    if (!id) return tl::unexpected(id.error());
    if (desks_.commands == nullptr) return nobody();
    desks_.commands->acknowledge(*id, who(body->who()), reply_with<v1::Incident, Incident>(std::move(done), shard_));
    return {};
  }
  Result<void> silence(Router::Done& done, TimePoint now) const {
    const auto body = parse_body<v1::SilenceIncidentRequest>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = incident_id(id_);
    if (!id) return tl::unexpected(id.error());
    const auto until = silence_end(*body, now);
    if (!until) return tl::unexpected(until.error());
    if (desks_.commands == nullptr) return nobody();
    desks_.commands->silence(*id, *until, who(body->who()),
                             reply_with<v1::Incident, Incident>(std::move(done), shard_));
    return {};
  }

  Result<void> set_hands_off(Router::Done& done) const {
    const auto body = parse_body<v1::SetHandsOffRequest>(request_);
    if (!body) return tl::unexpected(body.error());
    if (const auto said = says_hands_off(); !said) return said;
    auto reason = given_reason(body->reason());
    if (!reason) return tl::unexpected(reason.error());
    if (desks_.remedies == nullptr) return nobody();
    desks_.remedies->set_hands_off(body->hands_off(), std::move(*reason), who(body->who()),
                                   reply_with<v1::RemedyStatus, RemedyStatus>(std::move(done), shard_));
    return {};
  }

  Result<void> add_maintenance(Router::Done& done, const Snapshot& snapshot, TimePoint now) const {
    const auto body = parse_body<v1::AddMaintenanceRequest>(request_);
    if (!body) return tl::unexpected(body.error());
    auto window = wanted_maintenance(snapshot, *body, now);
    if (!window && desks_.site != nullptr) {
      desks_.site->refer(body->what() == "fabric" ? body->fabric() : body->what(), window.error(),
                         [done = std::move(done)](const Error& refused) { done(error_reply(refused)); });
      return {};
    }
    if (!window) return tl::unexpected(window.error());
    if (const auto kept = keep_reason(*window); !kept) return kept;
    if (desks_.commands == nullptr) return nobody();
    window->added_by = who(body->who());
    desks_.commands->add_maintenance(std::move(*window), window_reply(std::move(done), now));
    return {};
  }
  Result<void> end_maintenance(Router::Done& done, TimePoint now) const {
    const auto body = parse_body<v1::EndMaintenanceRequest>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = parse_maintenance_name(id_);
    if (!id) return fail(ErrorCode::kInvalidArgument, "a maintenance window's id must be like MW-3");
    if (desks_.commands == nullptr) return nobody();
    desks_.commands->end_maintenance(*id, who(body->who()), window_reply(std::move(done), now));
    return {};
  }
  /// `member` of Commands starts it, or judges it.
  Result<void> accept(Router::Done& done, const Snapshot& snapshot,
                      void (Commands::*member)(AcceptanceRun, Commands::AcceptanceCallback)) const {
    const auto body = parse_body<v1::StartAcceptanceRequest>(request_);
    if (!body) return tl::unexpected(body.error());
    auto run = wanted_acceptance(snapshot, *body);
    if (!run) return tl::unexpected(run.error());
    if (desks_.commands == nullptr) return nobody();
    run->who = who(body->who());
    (desks_.commands->*member)(std::move(*run), reply_with<v1::Acceptance, AcceptanceRun>(std::move(done), shard_));
    return {};
  }
  Result<void> end_acceptance(Router::Done& done) const {
    const auto body = parse_body<v1::EndAcceptanceRequest>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = parse_acceptance_name(id_);
    if (!id) return fail(ErrorCode::kInvalidArgument, "an acceptance's id must be like ACC-3");
    if (desks_.commands == nullptr) return nobody();
    desks_.commands->end_acceptance(*id, who(body->who()),
                                    reply_with<v1::Acceptance, AcceptanceRun>(std::move(done), shard_));
    return {};
  }

 private:
  /// What is left out would be false, and let automation go on.
  Result<void> says_hands_off() const {
    const auto keys = read_keys<v1::SetHandsOffRequest>(request_);
    if (!keys) return tl::unexpected(keys.error());
    for (const char* name : {"handsOff", "hands_off"})
      if (const auto key = keys->fields().find(name); key != keys->fields().end() && !key->second.has_null_value())
        return {};
    return fail(ErrorCode::kInvalidArgument, "handsOff is required: true stops automation, false lets it go on");
  }
  Commands::MaintenanceCallback window_reply(Router::Done done, TimePoint now) const {
    return [done = std::move(done), now, shard = shard_](const Result<MaintenanceWindow>& result) {
      if (!result) return done(error_reply(result.error()));
      v1::MaintenanceWindow message;
      to_proto(*result, now, message);
      message.set_shard(shard);
      HttpReply reply;
      reply.body = to_json(message);
      done(std::move(reply));
    };
  }
  /// `end_of` says which command of RemedyCommands ends the plan as it is asked.
  template <typename Request, typename EndOf>
  Result<void> end_plan(Router::Done& done, const EndOf& end_of) const {
    const auto body = parse_body<Request>(request_, id_);
    if (!body) return tl::unexpected(body.error());
    const auto id = plan_id(id_);
    if (!id) return tl::unexpected(id.error());
    auto reason = given_reason(body->reason());
    if (!reason) return tl::unexpected(reason.error());
    if (desks_.remedies == nullptr) return nobody();
    (desks_.remedies->*end_of(*body))(*id, std::move(*reason), who(body->who()),
                                      reply_with<v1::Plan, Plan>(std::move(done), shard_));
    return {};
  }
  std::string who(const std::string& claims) const { return who_asks(principal_.name, claims, request_.peer); }
  static tl::unexpected<Error> nobody() { return fail(ErrorCode::kUnavailable, "commands are not available"); }

  const HttpRequest& request_;
  std::string id_;
  const access::Principal& principal_;
  const HttpCommandTargets& desks_;
  const std::string shard_;  ///< own_shard()
};

}  // namespace

Result<void> check_own_site(const HttpRequest& request) {
  const std::string type = lower(request.content_type.substr(0, request.content_type.find(';')));
  if (type.substr(0, type.find_last_not_of(" \t") + 1) != "application/json")
    return fail(ErrorCode::kInvalidArgument, "Content-Type must be application/json");
  if (!request.origin.empty() && !is_same_site(request.origin, request.host))
    return fail(ErrorCode::kPermissionDenied, "requests from pages of other sites are refused");
  return {};
}

void carry_out(const HttpRequest& request, const std::vector<std::string>& path, const access::Principal& principal,
               const HttpCommandTargets& desks, const Snapshot& snapshot, TimePoint now, Router::Done done) {
  Result<void> begun = fail(ErrorCode::kNotFound, "no such path");
  const std::string shard = own_shard(snapshot);
  if (path.size() == 4 && path[2] == "remedy" && path[3] == "hands-off")
    begun = Order(request, "", principal, desks, shard).set_hands_off(done);
  if (path.size() == 3 && path[2] == "maintenance")
    begun = Order(request, "", principal, desks, shard).add_maintenance(done, snapshot, now);
  if (path.size() == 3 && path[2] == "acceptances")
    begun = Order(request, "", principal, desks, shard).accept(done, snapshot, &Commands::start_acceptance);
  if (path.size() == 4 && path[2] == "acceptances" && path[3] == "judge")
    begun = Order(request, "", principal, desks, shard).accept(done, snapshot, &Commands::judge_acceptance);
  if (path.size() == 5) {
    const Order order(request, path[3], principal, desks, shard);
    if (path[2] == "plans" && path[4] == "approve") begun = order.approve(done);
    if (path[2] == "plans" && path[4] == "reject") begun = order.reject(done);
    if (path[2] == "plans" && path[4] == "abort") begun = order.abort(done);
    if (path[2] == "incidents" && path[4] == "acknowledge") begun = order.acknowledge(done);
    if (path[2] == "incidents" && path[4] == "silence") begun = order.silence(done, now);
    if (path[2] == "maintenance" && path[4] == "end") begun = order.end_maintenance(done, now);
    if (path[2] == "acceptances" && path[4] == "end") begun = order.end_acceptance(done);
  }
  if (!begun) done(error_reply(begun.error()));
}

}  // namespace weft::api
