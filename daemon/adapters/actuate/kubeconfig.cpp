// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubeconfig.hpp"

#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/net/secret.hpp"

namespace weft::actuate {
namespace {

constexpr std::size_t kMostConfiguration = 1 << 20;
constexpr std::size_t kMostAuthorities = 1 << 20;

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

/// A scalar, or "" where there is none.
std::string text(const YAML::Node& node, const char* key) {
  if (!node.IsMap()) return {};
  const YAML::Node found = node[key];
  return found && found.IsScalar() ? found.Scalar() : std::string();
}

std::optional<std::string> from_base64(std::string encoded) {
  std::erase_if(encoded, [](unsigned char c) { return std::isspace(c) != 0; });
  if (encoded.empty() || encoded.size() % 4 != 0) return std::nullopt;
  std::string decoded(encoded.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                      reinterpret_cast<const unsigned char*>(encoded.data()), static_cast<int>(encoded.size()));
  if (size < 0) return std::nullopt;
  // EVP_DecodeBlock counts the padding as bytes.
  const auto padding = static_cast<std::size_t>(encoded.ends_with("==") ? 2 : encoded.ends_with('=') ? 1 : 0);
  decoded.resize(static_cast<std::size_t>(size) - padding);
  return decoded;
}

/// The entry of that name in a list of {name: …, `kind`: {…}}.
Result<YAML::Node> named(const YAML::Node& root, const char* list, const char* kind, const std::string& name) {
  const YAML::Node items = root[list];
  if (items && items.IsSequence())
    for (const YAML::Node& item : items)
      if (text(item, "name") == name && item[kind] && item[kind].IsMap()) return item[kind];
  return wrong(std::string("the kubeconfig has no ") + kind + " '" + net::one_line(name) + "'");
}

/// Reads parts of one kubeconfig.
class Reader {
 public:
  explicit Reader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path place(const std::string& path) const {
    return std::filesystem::path(path).is_absolute() ? std::filesystem::path(path) : folder_ / path;
  }

  /// `key`-data decoded, or the file that `key` names, or "".
  Result<std::string> pem(const YAML::Node& node, const std::string& key, net::SecretMode mode) const {
    if (const std::string data = text(node, (key + "-data").c_str()); !data.empty()) {
      if (auto decoded = from_base64(data)) return std::move(*decoded);
      return wrong("the kubeconfig's " + key + "-data is not base64");
    }
    const std::string path = text(node, key.c_str());
    if (path.empty()) return std::string();
    return net::read_secret(place(path), mode, kMostAuthorities);
  }

 private:
  std::filesystem::path folder_;
};

Result<void> read_cluster(const YAML::Node& cluster, const Reader& reader, KubernetesAccess& access) {
  access.server = text(cluster, "server");
  while (access.server.ends_with('/')) access.server.pop_back();
  if (!access.server.starts_with("https://")) return wrong("the kubeconfig's server must begin with https://");
  for (const char* key : {"proxy-url", "tls-server-name"})
    if (!text(cluster, key).empty()) return wrong(std::string("a kubeconfig with ") + key + " is not supported");
  if (text(cluster, "insecure-skip-tls-verify") == "true")
    return wrong("the kubeconfig has insecure-skip-tls-verify; the server's certificate must be verified");
  Result<std::string> authorities = reader.pem(cluster, "certificate-authority", net::SecretMode::kMounted);
  if (!authorities) return tl::unexpected<Error>(authorities.error());
  access.tls.certificate_authorities = std::move(*authorities);
  return {};
}

Result<void> read_user(const YAML::Node& user, const Reader& reader, KubernetesAccess& access) {
  for (const char* key : {"exec", "auth-provider", "username", "password"})
    if (user[key])
      return wrong(std::string("a kubeconfig whose user has ") + key +
                   " is not supported: use a token "
                   "or a client certificate");
  Result<std::string> certificate = reader.pem(user, "client-certificate", net::SecretMode::kMounted);
  if (!certificate) return tl::unexpected<Error>(certificate.error());
  Result<std::string> key = reader.pem(user, "client-key", net::SecretMode::kPrivate);
  if (!key) return tl::unexpected<Error>(key.error());
  if (certificate->empty() != key->empty())
    return wrong("the kubeconfig's user has a client certificate without its key, or a key without its certificate");
  access.tls.client_certificate = std::move(*certificate);
  access.tls.client_key = std::move(*key);
  if (const std::string path = text(user, "tokenFile"); !path.empty())
    access.token_file = reader.place(path);
  else
    access.token = text(user, "token");
  if (access.token.empty() && access.token_file.empty() && access.tls.client_key.empty())
    return wrong("the kubeconfig's user has neither a token nor a client certificate");
  return {};
}

Result<KubernetesAccess> parse(const YAML::Node& root, std::string context, const Reader& reader) {
  if (!root.IsMap()) return wrong("the kubeconfig is not a YAML map");
  if (context.empty()) context = text(root, "current-context");
  if (context.empty()) return wrong("the kubeconfig has no current-context, and no context is configured");
  const Result<YAML::Node> chosen = named(root, "contexts", "context", context);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  const Result<YAML::Node> cluster = named(root, "clusters", "cluster", text(*chosen, "cluster"));
  if (!cluster) return tl::unexpected<Error>(cluster.error());
  const Result<YAML::Node> user = named(root, "users", "user", text(*chosen, "user"));
  if (!user) return tl::unexpected<Error>(user.error());
  KubernetesAccess access;
  return read_cluster(*cluster, reader, access)
      .and_then([&] { return read_user(*user, reader, access); })
      .map([&access] { return std::move(access); });
}

}  // namespace

Result<KubernetesAccess> load_kubeconfig(const std::filesystem::path& file, const std::string& context) {
  const Result<std::string> content = net::read_secret(file, net::SecretMode::kPrivate, kMostConfiguration);
  if (!content) return tl::unexpected<Error>(content.error());
  Result<KubernetesAccess> access;
  try {
    access = parse(YAML::Load(*content), context, Reader(file.parent_path()));
  } catch (const YAML::Exception& error) {  // the library's only way to tell
    return wrong(file.string() + " is not YAML: " + error.what());
  }
  if (!access) access.error().message = file.string() + ": " + access.error().message;
  return access;
}

Result<KubernetesAccess> load_service_account(const std::filesystem::path& folder) {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody here changes the environment
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  // NOLINTEND(concurrency-mt-unsafe)
  if (host == nullptr || port == nullptr || *host == '\0' || *port == '\0')
    return fail(ErrorCode::kNotFound, "no kubeconfig is configured, and weftd does not run in a Kubernetes pod");
  const std::string name = host;
  KubernetesAccess access;
  access.server = "https://" + (name.find(':') == std::string::npos ? name : '[' + name + ']') + ':' + port;
  Result<std::string> authorities = net::read_secret(folder / "ca.crt", net::SecretMode::kMounted, kMostAuthorities);
  if (!authorities) return tl::unexpected<Error>(authorities.error());
  access.tls.certificate_authorities = std::move(*authorities);
  access.token_file = folder / "token";
  access.token_is_mounted = true;
  const Result<std::string> token = net::read_secret(access.token_file, net::SecretMode::kMounted);
  if (!token) return tl::unexpected<Error>(token.error());
  return access;
}

}  // namespace weft::actuate
