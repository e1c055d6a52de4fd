// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/webhook.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/actuate/webhook_memory.hpp"
#include "daemon/adapters/actuate/webhook_message.hpp"
#include "daemon/platform/net/http_client.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/net/secret.hpp"
#include "fabric/plan_acts.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {
namespace {

constexpr int kBodyVersion = 1;
constexpr std::size_t kMostWebhookAnswer = 64 << 10;

bool brings_back(RemedyAction action) {
  return action == RemedyAction::kRestoreLink || action == RemedyAction::kUndrainNode;
}

/// The number of a plan alone comes again after a backup was restored, for another target: a receiver would take that
/// for an order that it has carried out.
std::string idempotency_key(const RemedyOrder& order) {
  const std::string what =
      order.target.identity() + '\n' + std::to_string(order.created.time_since_epoch() / std::chrono::nanoseconds(1));
  return order.mark() + '.' + to_string(order.action) + '.' + short_hash(what);
}

/// The ports of an Ethernet fabric are known by the names of their interfaces; their numbers are Weft's own.
void name_interfaces(const RemedyOrder& order, nlohmann::json& target) {
  if (order.target.kind != EntityKind::kLink || !order.sweep || !order.sweep->topology->is_ethernet()) return;
  const Topology& topology = *order.sweep->topology;
  const auto put = [&](PortKey end, const char* node, const char* interface, const char* number) {
    const PortIndex port = topology.find_port(end);
    target.erase(number);
    if (port == kNoIndex) return;
    target[node] = net::one_line(std::string(host_name(topology.node_of(topology.port(port)))));
    target[interface] = net::one_line(std::string(topology.port_name(port)));
  };
  put(order.target.port, "node", "interface", "port");
  put(order.target.peer, "peer_node", "peer_interface", "peer_port");
}

std::string body_of(const RemedyOrder& order, TimePoint now) {
  nlohmann::json body{{"version", kBodyVersion},
                      {"idempotency_key", idempotency_key(order)},
                      {"plan", plan_name(order.plan)},
                      {"action", to_string(order.action)},
                      {"target", webhook_entity(order.target)},
                      {"reason", net::one_line(order.reason)},
                      {"message", net::one_line(order.marked_reason())},
                      {"time", net::utc_text(now)}};
  name_interfaces(order, body["target"]);
  if (!order.owner.installation.empty()) body["installation"] = order.owner.installation;
  if (order.incident != 0) body["incident"] = incident_name(order.incident);
  if (order.permit) body["epoch"] = order.permit->epoch;
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// From the path on: what a receiver sees in its request line.
std::string path_and_query(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = url.find_first_of("/?", host + 3);
  if (path == std::string::npos) return "/";
  return url[path] == '?' ? '/' + url.substr(path) : url.substr(path);
}

class Webhook final : public Actuator {
 public:
  Webhook(WebhookOptions options, std::string authorities, WebhookMemory memory, const Clock& clock)
      : options_(std::move(options)), authorities_(std::move(authorities)), memory_(std::move(memory)), clock_(clock) {}

  std::string name() const override { return "webhook"; }
  bool needs_sweep() const override { return false; }

  Result<TargetReading> observe(const RemedyOrder& order) override { return look(order, Deadline(options_.timeout)); }

  Result<void> apply(const RemedyOrder& order) override {
    const Deadline deadline(options_.timeout);
    const Result<bool> needed = is_needed(order, deadline);
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return {};
    const std::string target = order.target.identity();
    const std::optional<Told> before = memory_.find(target);
    // On disk before it is on the wire, so that a crash leaves a doubt and not a mistake.
    if (const auto noted = memory_.set(target, Told{order.plan, order.action, false}); !noted)
      return fail(ErrorCode::kFailedPrecondition, "nothing was sent: " + noted.error().message);
    Result<void> sent = post(order, deadline);
    const bool refused =
        !sent && sent.error().code != ErrorCode::kTimeout && sent.error().code != ErrorCode::kUnavailable;
    std::optional<Told> after = memory_.find(target);
    if (sent) after = takes_out(order.action) ? std::optional(Told{order.plan, order.action, true}) : std::nullopt;
    if (refused) after = before;
    // Not on disk: the doubt that stands there is still true.
    if (const auto noted = memory_.set(target, after); !noted && sent)
      return fail(ErrorCode::kUnavailable, "it was accepted, but " + noted.error().message);
    return sent;
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const Result<bool> needed = is_needed(order, Deadline(options_.timeout));
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return "nothing: already in the wanted state";
    return "POST " + options_.url + ' ' + body_of(order, clock_.now());
  }

 private:
  Result<bool> is_needed(const RemedyOrder& order, const Deadline& deadline) {
    if (!takes_out(order.action) && !brings_back(order.action))
      return fail(ErrorCode::kInvalidArgument, std::string("the webhook cannot do ") + to_string(order.action));
    if (options_.status_url.empty()) {
      const std::optional<Told> told = memory_.find(order.target.identity());
      if (told && !told->acknowledged) return true;  // in doubt: the idempotency key makes a second time harmless
      return told.has_value() == brings_back(order.action);
    }
    const Result<TargetReading> seen = look(order, deadline);
    if (!seen) return tl::unexpected<Error>(seen.error());
    if (seen->state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, seen->detail + ": not changed by Weft, left as it is");
    return (seen->state == TargetState::kOurs) == brings_back(order.action);
  }

  Result<TargetReading> look(const RemedyOrder& order, const Deadline& deadline) {
    if (!options_.status_url.empty()) return ask(order, deadline);
    const std::optional<Told> told = memory_.find(order.target.identity());
    if (!told)
      return TargetReading{TargetState::kClear,
                           "by what the receiver acknowledged, Weft has nothing out of service there"};
    const std::string what = std::string(to_string(told->action)) + " of " + plan_name(told->plan);
    if (told->acknowledged) return TargetReading{TargetState::kOurs, "the receiver acknowledged " + what};
    // Who brings it back need not know: a second time is harmless, and its answer ends the doubt.
    if (brings_back(order.action))
      return TargetReading{TargetState::kOurs, what + " was sent without an answer: it may be in force"};
    return fail(ErrorCode::kUnavailable, what + " was sent without an answer, and no status URL is configured");
  }

  Result<net::HttpAnswer> send(net::HttpRequest request, const std::string& signed_text, const Deadline& deadline) {
    request.tls.certificate_authorities = authorities_;
    request.timeout = deadline.left();
    request.most_answer = kMostWebhookAnswer;
    return send_signed(std::move(request), signed_text, options_.key_file, clock_.now());
  }

  Result<void> post(const RemedyOrder& order, const Deadline& deadline) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = options_.url;
    request.body = body_of(order, clock_.now());
    request.before = last_moment(order);
    request.headers = {"Content-Type: application/json", "Idempotency-Key: " + idempotency_key(order)};
    const std::string body = request.body;
    const Result<net::HttpAnswer> answer = send(std::move(request), body, deadline);
    if (!answer) return tl::unexpected<Error>(answer.error());
    if (answer->status >= 200 && answer->status < 300) return {};
    return tl::unexpected<Error>(net::http_failure("the webhook", *answer));
  }

  Result<TargetReading> ask(const RemedyOrder& order, const Deadline& deadline) {
    net::HttpRequest request;
    request.url = options_.status_url;
    request.url += request.url.find('?') == std::string::npos ? '?' : '&';
    request.url += "target=" + net::percent_encoded(order.target.identity()) + "&plan=" + plan_name(order.plan);
    if (!order.owner.installation.empty()) request.url += "&installation=" + order.owner.installation;
    request.headers = {"Accept: application/json"};
    const std::string place = path_and_query(request.url);
    const Result<net::HttpAnswer> answer = send(std::move(request), place, deadline);
    if (!answer) return tl::unexpected<Error>(answer.error());
    if (answer->status != 200) return tl::unexpected<Error>(net::http_failure("the webhook's status", *answer));
    const nlohmann::json json = nlohmann::json::parse(answer->body, nullptr, false);
    const auto text = [&json](const char* key) {
      return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
    };
    const std::string state = text("state");
    std::string detail = "the receiver reports " + net::one_line(state, 20);
    if (const std::string more = text("detail"); !more.empty()) detail += ": " + net::one_line(more);
    const bool has_epoch = json.is_object() && json.contains("epoch") && json["epoch"].is_number_integer();
    const std::int64_t epoch = has_epoch ? json["epoch"].get<std::int64_t>() : 0;
    for (const TargetState known : {TargetState::kClear, TargetState::kOurs, TargetState::kForeign})
      if (state == to_string(known))
        return TargetReading{known, std::move(detail), {}, std::max<std::int64_t>(epoch, 0)};
    return fail(ErrorCode::kProtocol,
                "the webhook's status must be clear, ours or foreign, not '" + net::one_line(answer->body, 100) + "'");
  }

  WebhookOptions options_;
  std::string authorities_;
  WebhookMemory memory_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Actuator>> make_webhook_actuator(const WebhookOptions& options, const Clock& clock) {
  if (!is_web_address(options.url) || (!options.status_url.empty() && !is_web_address(options.status_url)))
    return fail(ErrorCode::kInvalidArgument, "a webhook's address must begin with http:// or https://");
  if (const Result<void> key = check_webhook_key(options.key_file); !key) return tl::unexpected<Error>(key.error());
  std::string authorities;
  if (!options.certificate_authorities.empty()) {
    Result<std::string> text = net::read_secret(options.certificate_authorities, net::SecretMode::kMounted, 1 << 20);
    if (!text) return tl::unexpected<Error>(text.error());
    authorities = std::move(*text);
  }
  Result<WebhookMemory> memory = WebhookMemory::open(options.memory_file);
  if (!memory) return tl::unexpected<Error>(memory.error());
  return std::make_unique<Webhook>(options, std::move(authorities), std::move(*memory), clock);
}

}  // namespace weft::actuate
