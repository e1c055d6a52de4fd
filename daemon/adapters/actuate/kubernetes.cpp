// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubernetes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/actuate/kubeconfig.hpp"
#include "daemon/adapters/actuate/kubernetes_node.hpp"
#include "daemon/platform/net/http_client.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/net/secret.hpp"
#include "fabric/host_names.hpp"

namespace weft::actuate {
namespace {

using Json = nlohmann::json;

constexpr int kMostTries = 5;
constexpr Duration kPause = std::chrono::milliseconds(50);  // after the first conflict; twice that after the second …
constexpr std::size_t kMostKubernetesAnswer = 32 << 20;     // a page of 500 nodes' metadata takes about 3 MiB
constexpr const char* kEventNamespace = "default";          // the only one that an Event on a Node may have
constexpr const char* kJson = "application/json";
constexpr const char* kMetadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

std::string text(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

/// What the server's Status says, with the code that its HTTP status stands for.
Error failure(const std::string& what, net::HttpAnswer answer) {
  const Json status = Json::parse(answer.body, nullptr, false);
  if (const std::string message = text(status, "message"); !message.empty()) answer.body = message;
  return net::http_failure(what, answer);
}

class Kubernetes final : public Actuator {
 public:
  Kubernetes(KubernetesOptions options, KubernetesAccess access, const Clock& clock)
      : options_(std::move(options)), access_(std::move(access)), clock_(clock) {}

  std::string name() const override { return "kubernetes"; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const Deadline deadline(options_.timeout);
    return find(order, deadline).map([&](const Json& node) { return judge_kubernetes_node(node, order.owner); });
  }

  std::optional<EntityKind> tells_out_of_service() const override { return EntityKind::kHost; }

  Result<OutOfService> out_of_service() override {
    OutOfService out;
    const auto done = each_node("fieldSelector=spec.unschedulable%3Dtrue&", kJson, Deadline(options_.timeout),
                                [&out](const Json& node, const std::string& name, const std::string& hostname) {
                                  const Json spec = node.value("spec", Json::object());
                                  const auto word = spec.is_object() ? spec.find("unschedulable") : spec.end();
                                  if (word != spec.end() && word->is_boolean() && word->get<bool>())
                                    out.hosts.push_back({name, hostname});
                                });
    if (!done) return tl::unexpected<Error>(done.error());
    return out;
  }

  Result<void> apply(const RemedyOrder& order) override {
    const Deadline deadline(options_.timeout);
    for (int attempt = 1;; ++attempt) {
      Result<Json> node = find(order, deadline);
      if (!node) return tl::unexpected<Error>(node.error());
      const Result<bool> needed = is_needed(*node, order);
      if (!needed) return tl::unexpected<Error>(needed.error());
      if (!*needed) return {};
      change(*node, order);
      const Result<net::HttpAnswer> answer =
          send("PUT", place_of(text((*node)["metadata"], "name")) + "?fieldManager=" + std::string(kFieldManager),
               node->dump(), kJson, deadline, last_moment(order));
      if (!answer) return tl::unexpected<Error>(answer.error());
      if (answer->status == 200) {
        tell(*node, order, deadline);
        return {};
      }
      if (answer->status != 409 || attempt == kMostTries || deadline.passed())
        return tl::unexpected<Error>(failure("the API server, on the update of the node,", *answer));
      std::this_thread::sleep_for(std::min(deadline.left(), kPause * (1 << (attempt - 1))));
    }
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const Deadline deadline(options_.timeout);
    Result<Json> node = find(order, deadline);
    if (!node) return tl::unexpected<Error>(node.error());
    const Result<bool> needed = is_needed(*node, order);
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return "nothing: already in the wanted state";
    const Json before = *node;
    change(*node, order);
    return "PUT " + access_.server + place_of(text((*node)["metadata"], "name")) + " that differs by " +
           Json::diff(before, *node).dump();
  }

 private:
  static std::string place_of(const std::string& node) { return "/api/v1/nodes/" + net::percent_encoded(node); }

  static void change(Json& node, const RemedyOrder& order) {
    if (order.action == RemedyAction::kDrainNode)
      put_out_of_service(node, order);
    else
      put_back_in_service(node, order.owner);
  }

  static Result<bool> is_needed(const Json& node, const RemedyOrder& order) {
    const bool drain = order.action == RemedyAction::kDrainNode;
    if (!drain && order.action != RemedyAction::kUndrainNode)
      return fail(ErrorCode::kInvalidArgument, std::string("Kubernetes cannot ") + to_string(order.action));
    const TargetReading seen = judge_kubernetes_node(node, order.owner);
    if (seen.state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, seen.detail + ": not changed by Weft, left as it is");
    if ((seen.state == TargetState::kClear) != drain) return false;
    const Json& metadata = node["metadata"];
    const std::array names{text(metadata, "name"),
                           text(metadata.value("labels", Json::object()), "kubernetes.io/hostname")};
    const std::string_view other = first_other_host(names, order.target.host, order.namesakes);
    if (drain && !other.empty())
      return fail(ErrorCode::kFailedPrecondition, "the node " + names[0] + " may be host " + order.target.host +
                                                      " or host " + std::string(other) + ": cordon it by hand");
    return true;
  }

  Result<net::HttpAnswer> send(const char* method, const std::string& place, std::string body, const char* accept,
                               const Deadline& deadline, std::optional<Duration> before = {}) {
    net::HttpRequest request;
    request.method = method;
    request.url = access_.server + place;
    request.headers = {std::string("Accept: ") + accept, "User-Agent: weftd"};
    if (!body.empty()) request.headers.push_back(std::string("Content-Type: ") + kJson);
    std::string token = access_.token;
    if (!access_.token_file.empty()) {
      Result<std::string> fresh = net::read_secret(
          access_.token_file, access_.token_is_mounted ? net::SecretMode::kMounted : net::SecretMode::kPrivate);
      if (!fresh) return fail(ErrorCode::kFailedPrecondition, fresh.error().message);
      token = std::move(*fresh);
    }
    if (!token.empty()) request.headers.push_back("Authorization: Bearer " + token);
    request.body = std::move(body);
    request.tls = access_.tls;
    request.timeout = deadline.left();
    request.before = before;
    request.most_answer = kMostKubernetesAnswer;
    return net::http_request(request);
  }

  Result<Json> get(const std::string& place, const char* accept, const Deadline& deadline) {
    Result<net::HttpAnswer> answer = send("GET", place, {}, accept, deadline);
    if (!answer) return tl::unexpected<Error>(answer.error());
    if (answer->status != 200) return tl::unexpected<Error>(failure("the API server", std::move(*answer)));
    Json json = Json::parse(answer->body, nullptr, false);
    if (!json.is_object() || !json.contains("metadata") || !json["metadata"].is_object())
      return fail(ErrorCode::kProtocol, "the API server's answer is not a Kubernetes object");
    return json;
  }

  Result<Json> get_node(const std::string& name, const Deadline& deadline) {
    Result<Json> node = get(place_of(name), kJson, deadline);
    if (node && (!is_kubernetes_node(*node) || text((*node)["metadata"], "name") != name))
      return fail(ErrorCode::kProtocol, "the API server's answer is not about node " + name);
    return node;
  }

  /// The Node of the host: by its name, else by its label kubernetes.io/hostname, short or qualified.
  Result<Json> find(const RemedyOrder& order, const Deadline& deadline) {
    std::string host = order.target.host;
    if (!net::is_host_name(host))
      return fail(ErrorCode::kInvalidArgument, "'" + net::one_line(host) + "' is not a host name");
    std::ranges::transform(host, host.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    Result<Json> node = get_node(host, deadline);
    if (node || node.error().code != ErrorCode::kNotFound) return node;
    const Result<std::string> name = search(host, deadline);
    if (!name) return tl::unexpected<Error>(name.error());
    return get_node(*name, deadline);
  }

  /// Calls take(node, name, its label kubernetes.io/hostname) for each node of the list that `query` asks for.
  template <typename Take>
  Result<void> each_node(const std::string& query, const char* accept, const Deadline& deadline, Take take) {
    std::string next;
    do {
      const std::string from = next.empty() ? "" : "&continue=" + net::percent_encoded(next);
      const Result<Json> page = get("/api/v1/nodes?" + query + "limit=500" + from, accept, deadline);
      if (!page) {
        Error error = page.error();
        if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kProtocol;  // not about the node
        return tl::unexpected<Error>(std::move(error));
      }
      for (const Json& item : page->value("items", Json::array())) {
        const Json metadata = item.is_object() ? item.value("metadata", Json::object()) : Json::object();
        const Json labels = metadata.is_object() ? metadata.value("labels", Json::object()) : Json::object();
        const std::string name = text(metadata, "name");
        if (net::is_host_name(name)) take(item, name, text(labels, "kubernetes.io/hostname"));
      }
      next = text((*page)["metadata"], "continue");
      if (!next.empty() && deadline.passed())
        return fail(ErrorCode::kTimeout, "the list of nodes was not complete in time");
    } while (!next.empty());
    return {};
  }

  Result<std::string> search(const std::string& host, const Deadline& deadline) {
    std::vector<std::string> found;
    const auto done =
        each_node("", kMetadataOnly, deadline, [&](const Json&, const std::string& name, const std::string& hostname) {
          if (same_host(name, host) || same_host(hostname, host)) found.push_back(name);
        });
    if (!done) return tl::unexpected<Error>(done.error());
    if (found.empty()) return fail(ErrorCode::kNotFound, "Kubernetes has no node for host " + host);
    if (found.size() > 1)
      return fail(ErrorCode::kFailedPrecondition, std::to_string(found.size()) + " Kubernetes nodes match host " +
                                                      host + ", " + found[0] + " and " + found[1] +
                                                      " among them: ambiguous");
    return found.front();
  }

  /// An Event on the node, for those who look at it with kubectl. Nobody minds when it is lost.
  void tell(const Json& node, const RemedyOrder& order, const Deadline& deadline) {
    const bool drain = order.action == RemedyAction::kDrainNode;
    const Json& metadata = node["metadata"];
    const std::string now = net::utc_text(clock_.now());
    const Json event{
        {"apiVersion", "v1"},
        {"kind", "Event"},
        {"metadata", {{"generateName", "weft-"}, {"namespace", kEventNamespace}}},
        {"involvedObject",
         {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", text(metadata, "name")}, {"uid", text(metadata, "uid")}}},
        {"reason", drain ? "WeftDrained" : "WeftUndrained"},
        {"message", net::one_line(order.marked_reason())},
        {"type", drain ? "Warning" : "Normal"},
        {"source", {{"component", "weftd"}}},
        {"reportingComponent", "weft.dev/weftd"},
        {"firstTimestamp", now},
        {"lastTimestamp", now},
        {"count", 1}};
    static_cast<void>(
        send("POST", std::string("/api/v1/namespaces/") + kEventNamespace + "/events", event.dump(), kJson, deadline));
  }

  KubernetesOptions options_;
  KubernetesAccess access_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Actuator>> make_kubernetes_actuator(const KubernetesOptions& options, const Clock& clock) {
  Result<KubernetesAccess> access = options.kubeconfig.empty() ? load_service_account(options.service_account)
                                                               : load_kubeconfig(options.kubeconfig, options.context);
  if (!access) return tl::unexpected<Error>(access.error());
  return std::make_unique<Kubernetes>(options, std::move(*access), clock);
}

}  // namespace weft::actuate
