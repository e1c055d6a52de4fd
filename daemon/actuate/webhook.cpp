#include "daemon/actuate/webhook.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/actuate/deadline.hpp"
#include "daemon/actuate/http_client.hpp"
#include "daemon/actuate/secret.hpp"
#include "daemon/actuate/text.hpp"
#include "daemon/actuate/webhook_memory.hpp"

namespace weft::actuate {
namespace {

constexpr int kBodyVersion = 1;
constexpr std::size_t kMostAnswer = 64 << 10;
constexpr std::size_t kShortestKey = 16;  // octets; RFC 2104 advises 32, and less than 128 bits can be tried out

bool takes_out(RemedyAction action) {
  return action == RemedyAction::kIsolateLink || action == RemedyAction::kRaiseLinkCost ||
         action == RemedyAction::kDrainNode;
}
bool brings_back(RemedyAction action) {
  return action == RemedyAction::kRestoreLink || action == RemedyAction::kUndrainNode;
}

std::string idempotency_key(const Order& order) {
  return plan_name(order.plan) + '.' + to_string(order.action);
}

nlohmann::json shown(const Entity& target) {
  nlohmann::json json{{"kind", to_string(target.kind)}, {"id", target.identity()}};
  const auto put = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = one_line(value);
  };
  put("name", target.label);
  put("fabric", target.fabric);
  put("host", target.host);
  put("device", target.device);
  if (target.port.node) json["node_guid"] = to_string(target.port.node);
  if (target.port.port.value != 0) json["port"] = target.port.port.value;
  if (target.peer.node) json["peer_node_guid"] = to_string(target.peer.node);
  if (target.peer.port.value != 0) json["peer_port"] = target.peer.port.value;
  return json;
}

std::string body_of(const Order& order, TimePoint now) {
  nlohmann::json body{{"version", kBodyVersion},
                      {"idempotency_key", idempotency_key(order)},
                      {"plan", plan_name(order.plan)},
                      {"action", to_string(order.action)},
                      {"target", shown(order.target)},
                      {"reason", one_line(order.reason)},
                      {"message", one_line(order.marked_reason())},
                      {"time", utc_text(now)}};
  if (order.incident != 0) body["incident"] = incident_name(order.incident);
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

  Result<Observation> observe(const Order& order) override { return look(order, Deadline(options_.timeout)); }

  Result<void> apply(const Order& order) override {
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
      return fail(ErrorCode::kUnavailable, "it was taken, but " + noted.error().message);
    return sent;
  }

  Result<std::string> dry_run(const Order& order) override {
    const Result<bool> needed = is_needed(order, Deadline(options_.timeout));
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return "nothing: it is so already";
    return "POST " + options_.url + ' ' + body_of(order, clock_.now());
  }

 private:
  Result<bool> is_needed(const Order& order, const Deadline& deadline) {
    if (!takes_out(order.action) && !brings_back(order.action))
      return fail(ErrorCode::kInvalidArgument, std::string("a webhook is not told to do ") + to_string(order.action));
    if (options_.status_url.empty()) {
      const std::optional<Told> told = memory_.find(order.target.identity());
      if (told && !told->acknowledged) return true;  // in doubt: the idempotency key makes a second time harmless
      return told.has_value() == brings_back(order.action);
    }
    const Result<Observation> seen = look(order, deadline);
    if (!seen) return tl::unexpected<Error>(seen.error());
    if (seen->state == WorldState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, seen->detail + ": not ours to touch");
    return (seen->state == WorldState::kOurs) == brings_back(order.action);
  }

  Result<Observation> look(const Order& order, const Deadline& deadline) {
    if (!options_.status_url.empty()) return ask(order, deadline);
    const std::optional<Told> told = memory_.find(order.target.identity());
    if (!told) return Observation{WorldState::kClear, "the receiver has nothing of ours out of service"};
    const std::string what = std::string(to_string(told->action)) + " of " + plan_name(told->plan);
    if (told->acknowledged) return Observation{WorldState::kOurs, "the receiver acknowledged " + what};
    return fail(ErrorCode::kUnavailable, what + " was sent, no answer came, and the receiver cannot be asked");
  }

  Result<HttpAnswer> send(HttpRequest request, const std::string& signed_text, const Deadline& deadline) {
    const Result<std::string> key = read_secret(options_.key_file);
    if (!key) return fail(ErrorCode::kFailedPrecondition, key.error().message);
    const std::int64_t now = std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count();
    request.headers.emplace_back("User-Agent: weftd");
    request.headers.push_back("Weft-Timestamp: " + std::to_string(now));
    request.headers.push_back("Weft-Signature: " + webhook_signature(*key, now, signed_text));
    request.tls.certificate_authorities = authorities_;
    request.timeout = deadline.left();
    request.most_answer = kMostAnswer;
    return http_request(request);
  }

  Result<void> post(const Order& order, const Deadline& deadline) {
    HttpRequest request;
    request.method = "POST";
    request.url = options_.url;
    request.body = body_of(order, clock_.now());
    request.headers = {"Content-Type: application/json", "Idempotency-Key: " + idempotency_key(order)};
    const std::string body = request.body;
    const Result<HttpAnswer> answer = send(std::move(request), body, deadline);
    if (!answer) return tl::unexpected<Error>(answer.error());
    if (answer->status >= 200 && answer->status < 300) return {};
    return tl::unexpected<Error>(http_failure("the webhook", *answer));
  }

  Result<Observation> ask(const Order& order, const Deadline& deadline) {
    HttpRequest request;
    request.url = options_.status_url;
    request.url += request.url.find('?') == std::string::npos ? '?' : '&';
    request.url += "target=" + percent_encoded(order.target.identity()) + "&plan=" + plan_name(order.plan);
    request.headers = {"Accept: application/json"};
    const std::string place = path_and_query(request.url);
    const Result<HttpAnswer> answer = send(std::move(request), place, deadline);
    if (!answer) return tl::unexpected<Error>(answer.error());
    if (answer->status != 200) return tl::unexpected<Error>(http_failure("the webhook's status", *answer));
    const nlohmann::json json = nlohmann::json::parse(answer->body, nullptr, false);
    const auto text = [&json](const char* key) {
      return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
    };
    const std::string state = text("state");
    std::string detail = "the receiver says " + one_line(state, 20);
    if (const std::string more = text("detail"); !more.empty()) detail += ": " + one_line(more);
    for (const WorldState known : {WorldState::kClear, WorldState::kOurs, WorldState::kForeign})
      if (state == to_string(known)) return Observation{known, std::move(detail)};
    return fail(ErrorCode::kProtocol,
                "the webhook's status is neither clear nor ours nor foreign but '" + one_line(answer->body, 100) + "'");
  }

  WebhookOptions options_;
  std::string authorities_;
  WebhookMemory memory_;
  const Clock& clock_;
};

bool is_web_address(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

}  // namespace

std::string webhook_signature(std::string_view key, std::int64_t timestamp, std::string_view message) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string text = std::to_string(timestamp) + '.' + std::string(message);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &size);
  std::string result = "v1=";
  for (unsigned i = 0; i < size; ++i) {
    result += kDigits[digest[i] >> 4U];
    result += kDigits[digest[i] & 15U];
  }
  return result;
}

Result<std::unique_ptr<Actuator>> make_webhook_actuator(const WebhookOptions& options, const Clock& clock) {
  if (!is_web_address(options.url) || (!options.status_url.empty() && !is_web_address(options.status_url)))
    return fail(ErrorCode::kInvalidArgument, "a webhook's address begins with http:// or https://");
  const Result<std::string> key = read_secret(options.key_file);
  if (!key) return tl::unexpected<Error>(key.error());
  if (key->size() < kShortestKey)
    return fail(ErrorCode::kInvalidArgument, options.key_file.string() + " holds a key of " +
                                                 std::to_string(key->size()) + " octets; at least " +
                                                 std::to_string(kShortestKey) + " are wanted: openssl rand -hex 32");
  std::string authorities;
  if (!options.certificate_authorities.empty()) {
    Result<std::string> text = read_secret(options.certificate_authorities, SecretMode::kMounted, 1 << 20);
    if (!text) return tl::unexpected<Error>(text.error());
    authorities = std::move(*text);
  }
  Result<WebhookMemory> memory = WebhookMemory::open(options.memory_file);
  if (!memory) return tl::unexpected<Error>(memory.error());
  return std::make_unique<Webhook>(options, std::move(authorities), std::move(*memory), clock);
}

}  // namespace weft::actuate
