// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/ufm.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/platform/net/http_client.hpp"
#include "daemon/platform/net/secret.hpp"
#include "fabric/graph/directed_path.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kPath = "/ufmRest/app/unhealthy_ports";
constexpr std::size_t kMostList = 16 << 20;

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// "0002c9030060dc20_10": how UFM names the port of a switch.
std::string ufm_name(PortKey port) {
  return to_string(port.node).substr(2) + '_' + std::to_string(port.port.value);
}

bool is_local(std::string_view url) {
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"})
    if (url.starts_with(host) && (url.size() == host.size() || url[host.size()] == ':' || url[host.size()] == '/'))
      return true;
  return false;
}

/// Numbers come as numbers or as text.
std::optional<std::uint64_t> number_of(const OrderedJson& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoul(text);
}

/// The port of an entry of the list; nullopt: its GUID or number cannot be one.
Result<std::optional<PortKey>> port_of(const OrderedJson& entry) {
  if (!entry.is_object() || !entry.contains("UnhealthyGUID") || !entry["UnhealthyGUID"].is_string() ||
      !entry.contains("UnhealthyPortNumber"))
    return fail(ErrorCode::kProtocol, "UFM's list of unhealthy ports has an entry without GUID or port");
  const auto guid = parse_guid(entry["UnhealthyGUID"].get<std::string>());
  const auto number = number_of(entry["UnhealthyPortNumber"]);
  if (!guid || !number || *number > 255) return std::optional<PortKey>{};
  return std::optional{PortKey{{*guid}, {static_cast<std::uint8_t>(*number)}}};
}

/// Why the list has the port: all its conditions, "MANUAL" or "FLAPPING, MANUAL"; nullopt: it is not on it.
Result<std::optional<std::string>> condition_of(const OrderedJson& list, PortKey port) {
  for (const OrderedJson& entry : list) {
    const auto listed = port_of(entry);
    if (!listed) return tl::unexpected(listed.error());
    if (*listed != port) continue;
    std::string all;
    const OrderedJson conditions = entry.value("Condition", OrderedJson());
    for (const OrderedJson& condition : conditions.is_array() ? conditions : OrderedJson::array({conditions}))
      if (condition.is_string()) all += (all.empty() ? "" : ", ") + condition.get<std::string>();
    return std::optional<std::string>{all.empty() ? "no condition given" : all};
  }
  return std::optional<std::string>{};
}

bool is_manual(const std::string& condition) {
  std::string upper = condition;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper == "MANUAL";
}

class Ufm final : public Actuator {
 public:
  explicit Ufm(UfmOptions options) : options_(std::move(options)) {
    while (options_.url.ends_with('/')) options_.url.pop_back();
  }

  std::string name() const override { return "ufm"; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    return look(*ends);
  }

  std::optional<EntityKind> tells_out_of_service() const override { return EntityKind::kLink; }

  Result<OutOfService> out_of_service() override {
    const auto list = list_of_unhealthy();
    if (!list) return tl::unexpected(list.error());
    OutOfService out;
    for (const OrderedJson& entry : *list) {
      const auto port = port_of(entry);
      if (!port) return tl::unexpected(port.error());
      if (*port) out.ports.push_back(**port);
    }
    return out;
  }

  Result<void> apply(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    if (auto why = refuse(order, *ends); !why) return why;
    const auto now = look(*ends);
    if (!now) return fail(ErrorCode::kFailedPrecondition, now.error().message + "; nothing was requested");
    if (now->state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, now->detail + ": not changed by Weft, left as it is");
    const bool isolate = order.action == RemedyAction::kIsolateLink;
    // The list does not tell who asked for it.
    if (isolate && now->state == TargetState::kOurs)
      return fail(ErrorCode::kAlreadyExists, now->detail + "; nothing was requested");
    if (isolate == (now->state == TargetState::kOurs)) return {};
    const auto answer = ask("PUT", body(ends->ours, isolate).dump(), last_moment(order));
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status < 200 || answer->status > 299) return tl::unexpected(net::http_failure("UFM", *answer));
    return {};
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    if (auto why = refuse(order, *ends); !why) return tl::unexpected(why.error());
    return "PUT " + options_.url + kPath + ' ' + body(ends->ours, order.action == RemedyAction::kIsolateLink).dump();
  }

 private:
  static OrderedJson body(PortKey port, bool isolate) {
    OrderedJson object{{"ports", OrderedJson::array({ufm_name(port)})},
                       {"ports_policy", isolate ? "UNHEALTHY" : "HEALTHY"}};
    if (isolate) object["action"] = "isolate";
    return object;
  }

  static Result<LinkEnds> ends_of(const RemedyOrder& order) {
    if (order.target.kind != EntityKind::kLink)
      return fail(ErrorCode::kInvalidArgument,
                  "UFM isolates ports of links, not a " + std::string(to_string(order.target.kind)));
    if (!order.sweep || !order.sweep->topology || order.sweep->fabric != order.target.fabric)
      return fail(ErrorCode::kInvalidArgument, "no sweep of the fabric " + order.target.fabric);
    return find_link_ends(*order.sweep->topology, order.sweep->local_port,
                          make_link_key(order.target.port, order.target.peer), order.end);
  }

  static Result<void> refuse(const RemedyOrder& order, const LinkEnds& ends) {
    if (order.action != RemedyAction::kIsolateLink && order.action != RemedyAction::kRestoreLink)
      return fail(ErrorCode::kInvalidArgument, std::string("UFM cannot ") + to_string(order.action));
    if (order.action == RemedyAction::kIsolateLink && !ends.has_way_round())
      return fail(ErrorCode::kFailedPrecondition, "the link is the last path to " + to_string(ends.other.node) +
                                                      ": isolating it would cut that node off");
    return {};
  }

  Result<OrderedJson> list_of_unhealthy() const {
    const auto answer = ask("GET", {});
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status < 200 || answer->status > 299) return tl::unexpected(net::http_failure("UFM", *answer));
    OrderedJson list = OrderedJson::parse(answer->body, nullptr, false);
    if (!list.is_array()) return fail(ErrorCode::kProtocol, "UFM's list of unhealthy ports is not a list");
    return list;
  }

  Result<TargetReading> look(const LinkEnds& ends) const {
    const auto list = list_of_unhealthy();
    if (!list) return tl::unexpected(list.error());
    const auto ours = condition_of(*list, ends.ours);
    if (!ours) return tl::unexpected(ours.error());
    const auto other = condition_of(*list, ends.other);
    if (!other) return tl::unexpected(other.error());
    if (*ours)
      return TargetReading{is_manual(**ours) ? TargetState::kOurs : TargetState::kForeign,
                           "UFM has " + ufm_name(ends.ours) + " as unhealthy: " + **ours};
    if (*other)
      return TargetReading{TargetState::kForeign,
                           "UFM has the other end, " + ufm_name(ends.other) + ", as unhealthy: " + **other};
    return TargetReading{TargetState::kClear,
                         "UFM has neither " + ufm_name(ends.ours) + " nor " + ufm_name(ends.other) + " as unhealthy"};
  }

  /// Failures before anything was sent are neither kUnavailable nor kTimeout.
  Result<net::HttpAnswer> ask(const std::string& method, std::string text, std::optional<Duration> before = {}) const {
    if (!options_.url.starts_with("https://") && !is_local(options_.url))
      return fail(ErrorCode::kInvalidArgument,
                  "UFM's address must begin with https://, because a password is sent: " + options_.url);
    const auto credentials = net::read_secret(options_.credentials_file);
    if (!credentials) return fail(ErrorCode::kFailedPrecondition, credentials.error().message);
    if (credentials->find(':') == std::string::npos)
      return fail(ErrorCode::kFailedPrecondition,
                  options_.credentials_file.string() + " does not contain user:password");
    net::HttpRequest request;
    request.method = method;
    request.url = options_.url + kPath;
    request.headers = {"Authorization: Basic " + base64(*credentials), "Accept: application/json",
                       "Content-Type: application/json"};
    request.body = std::move(text);
    request.timeout = options_.timeout;
    request.before = before;
    request.most_answer = kMostList;
    if (!options_.authorities_file.empty()) {
      auto authorities = net::read_secret(options_.authorities_file, net::SecretMode::kMounted);
      if (!authorities) return fail(ErrorCode::kFailedPrecondition, authorities.error().message);
      request.tls.certificate_authorities = std::move(*authorities);
    }
    return net::http_request(request);
  }

  UfmOptions options_;
};

}  // namespace

std::unique_ptr<Actuator> make_ufm(UfmOptions options) {
  return std::make_unique<Ufm>(std::move(options));
}

}  // namespace weft::actuate
