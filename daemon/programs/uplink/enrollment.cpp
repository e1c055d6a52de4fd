// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/enrollment.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "api/access/identity.hpp"
#include "api/access/tls.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/durable_file.hpp"
#include "daemon/platform/runtime/regular_file.hpp"
#include "daemon/programs/uplink/options.hpp"
#include "fabric/hex_text.hpp"
#include "fabric/list_text.hpp"
#include "fabric/minute_text.hpp"

namespace weft::uplink {
namespace {

using namespace std::chrono_literals;
using api::access::EnrollText;

constexpr auto kPatience = 15s;  // with an answer
constexpr auto kLookEvery = 2s;  // at the token's file
constexpr Duration kFirstRetry = 1s;
constexpr std::size_t kMostBytes = 1UL << 20;
constexpr std::string_view kTokenLine = "Token: ";

constexpr const char* kCertificateFile = "certificate.pem";
constexpr const char* kAuthoritiesFile = "authorities.pem";
constexpr const char* kTokenAuthorityFile = "token-authority.pem";
constexpr const char* kPendingFile = "pending.key";

std::shared_ptr<spdlog::logger> enroll_log() {
  return daemon::logger("uplink");
}

/// Tells one token from another; of its secret alone it would not be known whether the authority is another.
std::string hash_of(const EnrollText& token) {
  return hex_text(api::access::sha256(token.secret + token.authority));
}

}  // namespace

Enrollment::Enrollment(EnrollmentOptions options, std::function<void()> notify, double share)
    : options_(std::move(options)),
      renewal_(share),
      servers_(split_list(options_.analyzers)),
      backoff_(kFirstRetry, std::max(options_.reconnect_limit, kFirstRetry)),
      client_(std::move(notify)) {
  read_own();
}

void Enrollment::read_own() {
  std::error_code ignored;
  if (!std::filesystem::exists(file(kCertificateFile), ignored)) return;
  const auto text = runtime::read_regular(file(kCertificateFile), kMostBytes);
  const auto own = text ? api::access::read_own_certificate(*text) : tl::unexpected(text.error());
  if (!own) {
    enroll_log()->error("{}: {}; a new token is needed", file(kCertificateFile).string(), own.error().message);
    return;
  }
  if (own->node != options_.node) {
    enroll_log()->error("{} is the certificate of {}, and this node is {}: a new token is needed",
                        file(kCertificateFile).string(), own->node, options_.node);
    return;
  }
  own_ = *own;
  renewal_.start(own_->begin, own_->end, std::nullopt);
  if (text->starts_with(kTokenLine))
    token_hash_ = text->substr(kTokenLine.size(), text->find('\n') - kTokenLine.size());
}

api::ClientSecurity Enrollment::security() const {
  return {.authorities = file(kAuthoritiesFile),
          .certificate = file(kCertificateFile),
          .key = file(kCertificateFile),
          .token_file = {},
          .token = {}};
}

void Enrollment::look(TimePoint wall, Steady::time_point now) {
  if (const auto answer = client_.next()) take(*answer, wall, now);
  if (client_.is_asking() || now < next_) return;
  next_ = now + kLookEvery;
  auto token = read_token();
  const bool is_new = token && hash_of(*token) != token_hash_;
  if (is_new)
    ask(std::move(token), now);
  else if (own_ && renewal_.is_due(wall, now))
    ask(std::nullopt, now);
}

std::string Enrollment::token_place() const {
  return place_of_token(options_.token_file, std::getenv("CREDENTIALS_DIRECTORY"));
}

/// Where there is none although one is needed it says so.
std::optional<EnrollText> Enrollment::read_token() {
  const std::string name = options_.token_file.string();
  const auto wanting = [&](const std::string& why) {
    std::string& told = told_[name];
    if (std::exchange(told, why) != why)
      enroll_log()->error("{}; on weftd's host make a token (weftctl enroll {}) and put it into {}", why, options_.node,
                          token_place());
    return std::nullopt;
  };
  const auto text = runtime::read_regular(options_.token_file, kMostBytes);
  const bool is_empty = text && api::access::is_no_token(*text);
  if (!text || is_empty) {
    if (own_) return std::nullopt;  // it is not needed
    return wanting("this node has no certificate, and " +
                   (text ? "there is no token in " + name : "its token cannot be had: " + text.error().message));
  }
  auto token = api::access::parse_enroll_text(*text);
  if (!token) return wanting(name + ": " + token.error().message);
  if (token->node != options_.node)
    return wanting("the token in " + name + " is for " + token->node + ", and this node is " + options_.node +
                   " (node_name)");
  told_.erase(name);
  return std::move(*token);
}

Result<std::string> Enrollment::pending_key() {
  if (auto kept = runtime::read_regular(file(kPendingFile), kMostBytes); kept && api::access::make_request(*kept))
    return kept;
  auto key = api::access::make_private_key();
  if (!key) return key;
  if (auto written = runtime::replace_durably(file(kPendingFile), *key); !written)
    return tl::unexpected(written.error());
  return key;
}

void Enrollment::ask(std::optional<EnrollText> token, Steady::time_point now) {
  std::error_code error;
  if (std::filesystem::create_directories(options_.folder, error); !error)
    std::filesystem::permissions(options_.folder, std::filesystem::perms::owner_all, error);
  if (error) return fails(options_.folder.string(), "cannot make it: " + error.message(), now);
  // Before anything is sent: whoever cannot store a certificate must not use up a token.
  Result<std::string> key = token ? pending_key() : api::access::make_private_key();
  if (key && token)
    if (auto written = runtime::replace_durably(file(kTokenAuthorityFile), token->authority); !written)
      key = tl::unexpected(written.error());
  const auto request = key ? api::access::make_request(*key) : key;
  if (!request) return fails(options_.folder.string(), request.error().message, now);
  told_.erase(options_.folder.string());
  api::CertificateWish wish{
      .analyzer = servers_.current(), .security = security(), .secret = {}, .node = options_.node, .request = *request};
  if (token) {
    wish.secret = token->secret;
    wish.security = {
        .authorities = file(kTokenAuthorityFile), .certificate = {}, .key = {}, .token_file = {}, .token = {}};
  }
  wish_ = {.token = token ? std::move(*token) : EnrollText{}, .key = std::move(*key)};
  client_.ask(wish, kPatience);
}

void Enrollment::take(const Result<api::CertificateAnswer>& answer, TimePoint wall, Steady::time_point now) {
  const bool is_renewal = wish_.token.secret.empty();
  if (!answer) {
    std::string why = answer.error().message;
    // As OpenSSL says it (X509_verify_cert(3)); most often a new node's clock is behind.
    if (why.find("certificate verify failed") != std::string::npos)
      why += "; is this node's clock right? By it this is " + minute_text(wall);
    if (is_renewal && own_ && wall >= own_->end)
      why += "; the certificate ended at " + minute_text(own_->end) + ": make a new token (weftctl enroll " +
             options_.node + ") and put it into " + token_place();
    fails(servers_.current(), (is_renewal ? "the certificate was not renewed: " : "this node was not enrolled: ") + why,
          now);
    if (servers_.try_next()) next_ = now;
    return;
  }
  if (const auto kept = keep(*answer, now); !kept) return fails(servers_.current(), kept.error().message, now);
  is_troubled_ = false;
  servers_.serves();
  backoff_.reset();
  told_.clear();
  enroll_log()->info("{}: the certificate ends at {}", is_renewal ? "renewed" : "enrolled", minute_text(own_->end));
  if (renewal_.is_due_by_wall(wall))
    enroll_log()->warn("this node's clock is ahead of weftd's: by it, {}, the new certificate is to be renewed already",
                       minute_text(wall));
}

Result<void> Enrollment::keep(const api::CertificateAnswer& answer, Steady::time_point now) {
  const std::string hash = wish_.token.secret.empty() ? token_hash_ : hash_of(wish_.token);
  const std::string text = std::string(kTokenLine) + hash + '\n' + wish_.key + answer.certificate;
  auto own = api::access::read_own_certificate(text);
  if (!own) return fail(ErrorCode::kProtocol, "weftd's answer is not used: " + own.error().message);
  if (own->node != options_.node)
    return fail(ErrorCode::kProtocol, "weftd's answer is not used: its certificate is for " + own->node);
  if (!api::access::has_certificates(answer.authorities))
    return fail(ErrorCode::kProtocol, "weftd's answer is not used: it has no authorities");
  if (auto written = runtime::replace_durably(file(kAuthoritiesFile), answer.authorities); !written) return written;
  if (auto written = runtime::replace_durably(file(kCertificateFile), text); !written) return written;
  own_ = *own;
  renewal_.start(own_->begin, own_->end, now);
  token_hash_ = hash;
  std::error_code ignored;
  if (!wish_.token.secret.empty()) {
    std::filesystem::remove(file(kPendingFile), ignored);
    std::filesystem::remove(file(kTokenAuthorityFile), ignored);
  }
  return {};
}

/// Once for each thing, until something else is wrong with it.
void Enrollment::fails(const std::string& where, const std::string& why, Steady::time_point now) {
  ++failures_;
  is_troubled_ = true;
  next_ = now + std::chrono::duration_cast<Steady::duration>(backoff_.next());
  std::string& told = told_[where];
  const std::string_view lasting = api::lasting_part(why);
  if (told == lasting) return;
  told = lasting;
  enroll_log()->error("{}: {}", where, why);
}

}  // namespace weft::uplink
