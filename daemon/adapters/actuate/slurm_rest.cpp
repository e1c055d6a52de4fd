// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/adapters/actuate/slurm_controller.hpp"
#include "daemon/platform/net/http_client.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/net/secret.hpp"

namespace weft::actuate {
namespace {

constexpr std::size_t kMostSlurmAnswer = 256 << 20;  // slurmrestd takes about 3 KiB for a node
constexpr std::string_view kUnix = "unix:";

/// ESLURM_INVALID_NODE_NAME, slurm_errno.h: slurmrestd gives it with HTTP status 500, like everything.
constexpr int kInvalidNodeName = 2009;

/// What the answer's own list of errors says; nullopt when it is empty. `fallback` where none of them is known.
std::optional<Error> errors_in(const nlohmann::json& answer, ErrorCode fallback) {
  if (!answer.is_object() || !answer.contains("errors") || !answer["errors"].is_array()) return std::nullopt;
  if (answer["errors"].empty()) return std::nullopt;
  Error error{fallback, "slurmrestd:"};
  for (const nlohmann::json& item : answer["errors"]) {
    if (!item.is_object()) continue;
    for (const char* key : {"error", "description"})
      if (item.contains(key) && item[key].is_string())
        error.message += ' ' + net::one_line(item[key].get<std::string>(), 200);
    if (item.contains("error_number") && item["error_number"] == kInvalidNodeName) error.code = ErrorCode::kNotFound;
  }
  return error;
}

std::string body_of(SlurmChange change, const std::string& reason) {
  // v0.0.39_update_node_msg
  nlohmann::json body;
  body["state"] = {change == SlurmChange::kDrain ? "DRAIN" : "UNDRAIN"};
  if (change == SlurmChange::kDrain) body["reason"] = reason;
  return body.dump();
}

class Slurmrestd final : public SlurmController {
 public:
  Slurmrestd(SlurmOptions options, std::string authorities)
      : options_(std::move(options)), authorities_(std::move(authorities)) {
    if (options_.rest_url.starts_with(kUnix)) {
      socket_ = options_.rest_url.substr(kUnix.size());
      root_ = "http://localhost";
    } else {
      root_ = options_.rest_url;
      while (root_.ends_with('/')) root_.pop_back();
    }
    root_ += "/slurm/" + options_.rest_version;
  }

  std::string user() const override { return options_.rest_user; }

  Result<std::vector<SlurmNode>> nodes(Duration timeout) override {
    return send("GET", "/nodes", {}, timeout).and_then([](const std::string& text) {
      return parse_slurmrestd_nodes(text);
    });
  }

  Result<SlurmNode> node(const std::string& name, Duration timeout) override {
    const auto nodes = send("GET", place_of(name), {}, timeout).and_then([](const std::string& text) {
      return parse_slurmrestd_nodes(text);
    });
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    if (nodes->size() != 1 || nodes->front().name != name)
      return fail(ErrorCode::kProtocol, "slurmrestd's answer is not about node " + name);
    return nodes->front();
  }

  Result<void> change(const std::string& name, SlurmChange change, const std::string& reason, Duration timeout,
                      std::optional<Duration> before) override {
    return send("POST", place_of(name), body_of(change, reason), timeout, before).map([](const std::string&) {});
  }

  std::string describe(const std::string& name, SlurmChange change, const std::string& reason) const override {
    return "POST " + root_ + place_of(name) + ' ' + body_of(change, reason);
  }

 private:
  static std::string place_of(const std::string& name) { return "/node/" + net::percent_encoded(name); }

  Result<std::string> send(const char* method, const std::string& place, std::string body, Duration timeout,
                           std::optional<Duration> before = {}) {
    net::HttpRequest request;
    request.method = method;
    request.url = root_ + place;
    request.headers = {"Accept: application/json", "X-SLURM-USER-NAME: " + options_.rest_user};
    if (!body.empty()) request.headers.emplace_back("Content-Type: application/json");
    if (!options_.rest_token_file.empty()) {
      const Result<std::string> token = net::read_secret(options_.rest_token_file);
      if (!token) return fail(ErrorCode::kFailedPrecondition, token.error().message);
      request.headers.push_back("X-SLURM-USER-TOKEN: " + *token);
    }
    request.body = std::move(body);
    request.tls.certificate_authorities = authorities_;
    request.unix_socket = socket_;
    request.timeout = timeout;
    request.before = before;
    request.most_answer = kMostSlurmAnswer;
    Result<net::HttpAnswer> answer = net::http_request(request);
    if (!answer) return tl::unexpected<Error>(answer.error());
    const nlohmann::json parsed = nlohmann::json::parse(answer->body, nullptr, false);
    const bool good = answer->status >= 200 && answer->status < 300;
    // With 200 and errors it was refused; with 500 the controller may not have been heard, and nobody knows.
    if (const auto error =
            errors_in(parsed, good ? ErrorCode::kFailedPrecondition : net::http_failure("slurmrestd", *answer).code))
      return tl::unexpected<Error>(*error);
    if (!good) {
      Error error = net::http_failure(method + (' ' + request.url), *answer);
      // That is about the path, not the node: this slurmrestd does not serve that version of the API.
      if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kFailedPrecondition;
      return tl::unexpected<Error>(std::move(error));
    }
    return std::move(answer->body);
  }

  SlurmOptions options_;
  std::string authorities_;
  std::string root_;
  std::filesystem::path socket_;
};

}  // namespace

Result<std::unique_ptr<SlurmController>> make_slurmrestd(const SlurmOptions& options) {
  const std::string& url = options.rest_url;
  if (!url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("unix:/"))
    return fail(ErrorCode::kInvalidArgument, "'" + net::one_line(url) + "' is not an address of slurmrestd");
  if (!options.rest_version.starts_with("v0.0.") || options.rest_version < "v0.0.39")
    return fail(ErrorCode::kInvalidArgument, "slurmrestd cannot drain nodes before API v0.0.39, and " +
                                                 net::one_line(options.rest_version, 20) +
                                                 " is configured; use scontrol");
  std::string authorities;
  if (!options.rest_certificate_authorities.empty()) {
    Result<std::string> text =
        net::read_secret(options.rest_certificate_authorities, net::SecretMode::kMounted, 1 << 20);
    if (!text) return tl::unexpected<Error>(text.error());
    authorities = std::move(*text);
  }
  return std::make_unique<Slurmrestd>(options, std::move(authorities));
}

}  // namespace weft::actuate
