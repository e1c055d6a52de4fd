// SPDX-License-Identifier: Apache-2.0
// One actuator, made and called as weftd does it, for tests that stand real and made-up partners around it:
//   actuate_once '{"actuator": "slurm", "options": {…}, "calls": ["observe", "apply"], "order": {…}}'
// prints one JSON object for each call; the last line is the last call's.

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/adapters/actuate/kubernetes.hpp"
#include "daemon/adapters/actuate/slurm.hpp"
#include "daemon/adapters/actuate/webhook.hpp"
#include "daemon/platform/runtime/boot_time.hpp"

namespace weft::actuate {
namespace {

using Json = nlohmann::json;

std::string text(const Json& object, const char* key, const std::string& other = "") {
  return object.value(key, other);
}

Duration duration(const Json& object, const char* key, Duration other) {
  return object.contains(key) ? std::chrono::round<Duration>(std::chrono::duration<double>(object[key].get<double>()))
                              : other;
}

Result<std::unique_ptr<Actuator>> make(const std::string& name, const Json& json) {
  if (name == "slurm") {
    SlurmOptions options;
    options.scontrol = text(json, "scontrol", options.scontrol);
    options.slurm_conf = text(json, "slurm_conf");
    options.rest_url = text(json, "rest_url");
    options.rest_version = text(json, "rest_version", options.rest_version);
    options.rest_user = text(json, "rest_user", options.rest_user);
    options.rest_token_file = text(json, "rest_token_file");
    options.timeout = duration(json, "timeout", options.timeout);
    return make_slurm_actuator(options);
  }
  static const SystemClock clock;
  if (name == "kubernetes") {
    KubernetesOptions options;
    options.kubeconfig = text(json, "kubeconfig");
    options.context = text(json, "context");
    if (json.contains("service_account")) options.service_account = text(json, "service_account");
    options.timeout = duration(json, "timeout", options.timeout);
    return make_kubernetes_actuator(options, clock);
  }
  if (name == "webhook") {
    WebhookOptions options;
    options.url = text(json, "url");
    options.status_url = text(json, "status_url");
    options.key_file = text(json, "key_file");
    options.memory_file = text(json, "memory_file");
    options.certificate_authorities = text(json, "certificate_authorities");
    options.timeout = duration(json, "timeout", options.timeout);
    return make_webhook_actuator(options, clock);
  }
  return fail(ErrorCode::kInvalidArgument, "no actuator " + name);
}

RemedyOrder order_of(const Json& json) {
  RemedyOrder order;
  order.plan = json.value("plan", std::uint64_t{7});
  // The journal of these tests holds plan 7, too: marks without an id are known by that.
  order.owner = {text(json, "installation"), {7, order.plan}};
  order.incident = json.value("incident", std::uint64_t{17});
  order.action = parse_remedy_action(text(json, "action")).value_or(RemedyAction::kNothing);
  order.target.kind = EntityKind::kHost;
  order.target.host = text(json, "host");
  order.namesakes = json.value("namesakes", std::vector<std::string>());
  if (json.contains("link")) {
    const Json& link = json["link"];
    order.target = {EntityKind::kLink, text(link, "fabric"), {}, {}, text(link, "name")};
    order.target.port = {{link.at("node").get<std::uint64_t>()}, {link.at("port").get<std::uint16_t>()}};
    order.target.peer = {{link.at("peer").get<std::uint64_t>()}, {link.at("peer_port").get<std::uint16_t>()}};
  }
  order.reason = text(json, "reason", "adapter mlx5_0 is dead");
  if (json.contains("epoch"))
    order.permit =
        ActPermit{json["epoch"].get<std::int64_t>(), runtime::boot_time() + duration(json, "permit", Duration{})};
  return order;
}

Json shown(const Error& error) {
  return {{"ok", false}, {"code", to_string(error.code)}, {"message", error.message}};
}

Json call(Actuator& actuator, const std::string& what, const RemedyOrder& order) {
  if (what == "observe") {
    const auto seen = actuator.observe(order);
    if (!seen) return shown(seen.error());
    return {{"ok", true}, {"state", to_string(seen->state)}, {"detail", seen->detail}, {"epoch", seen->epoch}};
  }
  if (what == "apply") {
    const auto done = actuator.apply(order);
    return done ? Json{{"ok", true}} : shown(done.error());
  }
  const auto told = actuator.dry_run(order);
  return told ? Json{{"ok", true}, {"would", *told}} : shown(told.error());
}

int run(const Json& wish) {
  const auto actuator = make(text(wish, "actuator"), wish.value("options", Json::object()));
  if (!actuator) {
    std::cout << shown(actuator.error()).dump() << std::endl;
    return 0;
  }
  const RemedyOrder order = order_of(wish.value("order", Json::object()));
  for (const Json& what : wish.at("calls")) {
    const auto began = std::chrono::steady_clock::now();
    Json answer = call(**actuator, what.get<std::string>(), order);
    answer["seconds"] = seconds(std::chrono::steady_clock::now() - began);
    answer["name"] = (*actuator)->name();
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace weft::actuate

int main(int argc, char** argv) {
  try {
    return argc == 2 ? weft::actuate::run(nlohmann::json::parse(argv[1])) : 2;
  } catch (const std::exception& error) {
    std::cerr << "actuate_once: " << error.what() << '\n';
    return 2;
  }
}
