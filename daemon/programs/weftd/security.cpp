// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/security.hpp"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "api/access/token_bucket.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/net/secret.hpp"

namespace weft::daemon {
namespace {

constexpr std::size_t kMostBytes = 32UL << 20;  // of 100,000 tokens
constexpr double kRefusalsPerSecond = 5;        // in the log: who floods us shall not fill the disk
constexpr double kRefusalBurst = 50;

std::shared_ptr<spdlog::logger> log() {
  return logger("security");
}

/// One line, whatever a certificate calls itself.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return text;
}

/// Tells of refusals, and how many it kept to itself. On any thread.
class RefusalLog {
 public:
  void tell(const api::access::Refusal& refusal) {
    std::uint64_t untold = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!bucket_.try_take(api::TokenBucket::Clock::now())) {
        ++untold_;
        return;
      }
      untold = std::exchange(untold_, 0);
    }
    if (untold > 0) log()->warn("{} more refusals, not logged one by one", untold);
    log()->warn("refused {}{}{}: {}: {}", refusal.what, refusal.peer.empty() ? "" : " from " + refusal.peer,
                refusal.who.empty() ? "" : " by " + one_line(refusal.who), to_string(refusal.why.code),
                one_line(refusal.why.message));
  }

 private:
  std::mutex mutex_;
  api::TokenBucket bucket_{kRefusalsPerSecond, kRefusalBurst};
  std::uint64_t untold_ = 0;
};

Result<void> read_into(std::string& text, const std::filesystem::path& path, net::SecretMode mode) {
  if (path.empty()) return {};
  auto read = net::read_secret(path, mode, kMostBytes);
  if (!read) return tl::unexpected(read.error());
  text = std::move(*read) + '\n';
  return {};
}

/// Of [security.enroll]; null: nothing is signed.
Result<std::shared_ptr<const api::access::Issuer>> read_issuer(const config::Security& security,
                                                               const api::access::TlsFiles& tls, TimePoint now) {
  using net::SecretMode;
  if (security.enroll.certificate.empty()) return nullptr;
  api::access::IssuerFiles files;
  files.lifetime = security.enroll.lifetime;
  files.authorities = tls.client_authorities;
  Result<void> read = read_into(files.certificate, security.enroll.certificate, SecretMode::kMounted);
  if (read) read = read_into(files.key, security.enroll.key, SecretMode::kPrivate);
  if (read) read = read_into(files.authorities, security.enroll.authorities, SecretMode::kMounted);
  if (!read) return tl::unexpected(read.error());
  return api::access::Issuer::open(std::move(files), tls, now);
}

/// Of [security.proxy].
Result<api::access::ProxyRules> read_proxies(const config::TrustedProxy& proxy) {
  api::access::ProxyRules rules{.certificates = proxy.certificates,
                                .secret = std::nullopt,
                                .user_header = proxy.user_header,
                                .groups_header = proxy.groups_header,
                                .groups = {},
                                .others = std::nullopt};
  for (const std::string& text : proxy.group_roles) {
    auto rule = api::access::parse_group_rule(text);
    if (!rule) return tl::unexpected(rule.error());
    rules.groups.push_back(std::move(*rule));
  }
  if (proxy.default_role != "none") {
    const auto role = api::access::parse_role(proxy.default_role);
    if (!role) return tl::unexpected(role.error());
    rules.others = *role;
  }
  if (proxy.secret_file.empty()) return rules;
  const auto secret = net::read_secret(proxy.secret_file);
  if (!secret) return tl::unexpected(secret.error());
  if (const auto good = api::access::check_proxy_secret(*secret); !good)
    return fail(good.error().code, proxy.secret_file.string() + ' ' + good.error().message);
  rules.secret = api::access::sha256(*secret);
  return rules;
}

}  // namespace

Result<SecurityFiles> read_security(const config::Security& security, TimePoint now) {
  using net::SecretMode;
  SecurityFiles files;
  std::string tokens;
  Result<void> read = read_into(files.tls.certificate, security.certificate, SecretMode::kMounted);
  if (read) read = read_into(files.tls.key, security.key, SecretMode::kPrivate);
  if (read) read = read_into(files.tls.client_authorities, security.client_authorities, SecretMode::kMounted);
  if (read) read = read_into(tokens, security.tokens_file, SecretMode::kPrivate);
  if (!read) return tl::unexpected(read.error());
  files.tls.require_client_certificate = security.require_client_certificate;
  if (!security.certificate.empty()) {
    if (const auto good = api::access::check_tls(files.tls, now); !good) return tl::unexpected(good.error());
  }
  auto issuer = read_issuer(security, files.tls, now);
  if (!issuer) return tl::unexpected(issuer.error());
  files.issuer = std::move(*issuer);
  files.rules.enrolls = files.issuer != nullptr;
  auto parsed = api::access::parse_tokens(tokens);
  if (!parsed) return fail(parsed.error().code, security.tokens_file.string() + ": " + parsed.error().message);
  files.rules.tokens = std::move(*parsed);
  for (const std::string& text : security.certificate_roles) {
    auto rule = api::access::parse_certificate_rule(text);
    if (!rule) return tl::unexpected(rule.error());
    files.rules.certificates.push_back(std::move(*rule));
  }
  auto proxies = read_proxies(security.proxy);
  if (!proxies) return tl::unexpected(proxies.error());
  files.rules.proxies = std::move(*proxies);
  files.rules.requests_per_second = security.max_requests_per_second;
  return files;
}

api::access::AccountRights account_rights(const config::Security& security) {
  api::access::AccountRights rights{.admins = {0, ::geteuid()}, .operators = std::nullopt};
  if (security.operator_group.empty()) return rights;
  if (const group* found = ::getgrnam(security.operator_group.c_str())) {
    rights.operators = found->gr_gid;
  } else {
    log()->warn(
        "security.operator_group: there is no group {}; until weftd starts again with one, only root and its own "
        "user may act without a token",
        security.operator_group);
  }
  return rights;
}

Result<std::unique_ptr<Security>> Security::open(const config::Security& security, const Clock& clock) {
  std::unique_ptr<Security> opened(new Security);
  const auto refusals = std::make_shared<RefusalLog>();
  opened->gate_ = std::make_unique<api::access::Gate>(
      clock, [refusals](const api::access::Refusal& refusal) { refusals->tell(refusal); });
  opened->is_guarded_ = security.is_guarded();
  if (!opened->is_guarded_) {
    opened->gate_->change({.tokens = {}, .certificates = {}, .anybody_reads = true});
    return opened;
  }
  auto files = read_security(security, clock.now());
  if (!files) return tl::unexpected(files.error());
  if (!security.certificate.empty()) opened->tls_ = std::make_unique<api::access::TlsKeys>(files->tls);
  opened->take(std::move(files));
  return opened;
}

void Security::take(Result<SecurityFiles> files) {
  if (!is_guarded_) return;
  if (!files) {
    if (files.error().message != complaint_)
      log()->error("certificates and tokens were not reloaded, the previous ones stay in use: {}",
                   files.error().message);
    complaint_ = files.error().message;
    return;
  }
  if (!complaint_.empty()) log()->info("certificates and tokens are valid again");
  complaint_.clear();
  const bool new_tls = tls_ && (loaded_ == 0 || *tls_->current() != files->tls);
  const bool new_tokens = loaded_ == 0 || tokens_ != files->rules.tokens;
  const auto issuer = issuer_.get();
  const bool new_issuer = files->issuer && (!issuer || issuer->files() != files->issuer->files());
  if (new_issuer) issuer_.set(files->issuer);
  if (new_issuer && issuer) log()->info("the authority that signs collectors' certificates reloaded");
  const bool new_secret = proxy_secret_ != files->rules.proxies.secret;
  if (!new_tls && !new_tokens && !new_secret) return;
  if (new_tls) {
    certificate_end_ = api::access::end_of_certificate(files->tls);
    tls_->change(std::move(files->tls));
  }
  tokens_ = files->rules.tokens;
  proxy_secret_ = files->rules.proxies.secret;
  if (new_tokens || new_secret) gate_->change(std::move(files->rules));
  if (new_secret && loaded_ > 0) log()->info("the secret of a proxy reloaded");
  ++loaded_;
  if (!new_tls && !new_tokens) return;
  log()->info("{}{}{} reloaded", new_tls ? "certificates" : "", new_tls && new_tokens ? " and " : "",
              new_tokens ? std::to_string(tokens_.size()) + " tokens" : "");
}

SecurityFigures Security::figures() const {
  const auto issuer = issuer_.get();
  return {!complaint_.empty(), loaded_, certificate_end_, issuer ? issuer->end() : kNever, gate_->figures()};
}

}  // namespace weft::daemon
