// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/webhook_message.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/net/secret.hpp"
#include "fabric/hex_text.hpp"

namespace weft::actuate {
namespace {

constexpr std::size_t kShortestKey = 16;  // bytes; RFC 2104 advises 32, and less than 128 bits can be tried out
constexpr std::size_t kShortHash = 8;     // bytes: that two of some thousand orders share one does not happen

}  // namespace

bool is_web_address(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

Result<void> check_webhook_key(const std::filesystem::path& key_file) {
  const Result<std::string> key = net::read_secret(key_file);
  if (!key) return tl::unexpected<Error>(key.error());
  if (key->size() >= kShortestKey) return {};
  return fail(ErrorCode::kInvalidArgument, key_file.string() + " holds a key of " + std::to_string(key->size()) +
                                               " bytes; at least " + std::to_string(kShortestKey) +
                                               " are needed: openssl rand -hex 32");
}

std::string webhook_signature(std::string_view key, std::int64_t timestamp, std::string_view message) {
  const std::string text = std::to_string(timestamp) + '.' + std::string(message);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &size);
  return "v1=" + hex_text(std::span(digest).first(size));
}

std::string short_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return hex_text(std::span(digest).first(kShortHash));
}

Result<net::HttpAnswer> send_signed(net::HttpRequest request, std::string_view signed_text,
                                    const std::filesystem::path& key_file, TimePoint now) {
  const Result<std::string> key = net::read_secret(key_file);
  if (!key) return fail(ErrorCode::kFailedPrecondition, key.error().message);
  const std::int64_t at = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  request.headers.emplace_back("User-Agent: weftd");
  request.headers.push_back("Weft-Timestamp: " + std::to_string(at));
  request.headers.push_back("Weft-Signature: " + webhook_signature(*key, at, signed_text));
  return net::http_request(request);
}

nlohmann::json webhook_entity(const Entity& entity) {
  nlohmann::json json{{"kind", to_string(entity.kind)}, {"id", entity.identity()}};
  const auto put = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = net::one_line(value);
  };
  put("name", entity.label);
  put("fabric", entity.fabric);
  put("host", entity.host);
  put("device", entity.device);
  if (entity.port.node) json["node_guid"] = to_string(entity.port.node);
  if (entity.port.port.value != 0) json["port"] = entity.port.port.value;
  if (entity.peer.node) json["peer_node_guid"] = to_string(entity.peer.node);
  if (entity.peer.port.value != 0) json["peer_port"] = entity.peer.port.value;
  return json;
}

}  // namespace weft::actuate
