// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/collector_enrollment.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "api/access/identity.hpp"
#include "api/access/own_certificate.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "fabric/hex_text.hpp"

namespace weft::daemon {
namespace {

using api::EnrolledCertificate;
using api::MadeEnrollToken;
using api::access::check_node_name;

constexpr Duration kShortestValidity = std::chrono::minutes(1);
constexpr Duration kLongestValidity = std::chrono::hours(30 * 24);

std::shared_ptr<spdlog::logger> enroll_log() {
  return logger("security");
}

tl::unexpected<Error> no_issuer() {
  return fail(ErrorCode::kFailedPrecondition,
              "this weftd enrolls no collectors: set security.enroll.certificate and security.enroll.key");
}

std::string hash_of(std::string_view secret) {
  return hex_text(api::access::sha256(secret));
}

Result<void> check_nodes(const std::vector<std::string>& nodes) {
  if (nodes.empty()) return fail(ErrorCode::kInvalidArgument, "no node is named");
  if (nodes.size() > kMostEnrollTokens)
    return fail(ErrorCode::kInvalidArgument, "more than " + std::to_string(kMostEnrollTokens) + " nodes in one call");
  std::set<std::string_view> seen;
  for (const std::string& node : nodes) {
    if (auto good = check_node_name(node); !good) return good;
    if (!seen.insert(node).second) return fail(ErrorCode::kInvalidArgument, node + " is named twice");
  }
  return {};
}

AuditRecord record_of(TimePoint now, std::string who, const char* what, std::string detail) {
  AuditRecord record;
  record.at = now;
  record.who = std::move(who);
  record.what = what;
  record.detail = std::move(detail);
  return record;
}

}  // namespace

template <typename Answer>
void CollectorEnrollment::run_on_lane(Job<Answer> job, std::function<void(Result<Answer>)> callback) {
  if (!store_lane_.post([job = std::move(job), callback] { callback(job()); }))
    callback(fail(ErrorCode::kUnavailable, "the store is busy: retry"));
}

template <typename Answer>
void CollectorEnrollment::run(CommandKind kind, Job<Answer> job, std::function<void(Result<Answer>)> callback) {
  main_.call(kind, *this, &CollectorEnrollment::run_on_lane<Answer>, std::move(callback), std::move(job));
}

void CollectorEnrollment::make_tokens(std::vector<std::string> nodes, Duration validity, std::string who,
                                      MadeCallback callback) {
  if (auto good = check_nodes(nodes); !good) return callback(tl::unexpected(good.error()));
  if (validity < kShortestValidity || validity > kLongestValidity)
    return callback(fail(ErrorCode::kInvalidArgument, "a token counts for " +
                                                          config::format_duration(kShortestValidity) + " to " +
                                                          config::format_duration(kLongestValidity)));
  run<std::vector<MadeEnrollToken>>(
      CommandKind::kChange,
      [this, nodes = std::move(nodes), validity, who = std::move(who)] { return make_now(nodes, validity, who); },
      std::move(callback));
}

void CollectorEnrollment::list_tokens(TokensCallback callback) {
  run<std::vector<EnrollToken>>(
      CommandKind::kRead, [this] { return store_.enroll_tokens(clock_.now()); }, std::move(callback));
}

void CollectorEnrollment::revoke_tokens(std::vector<std::string> nodes, std::string who, TokensCallback callback) {
  if (auto good = check_nodes(nodes); !good) return callback(tl::unexpected(good.error()));
  run<std::vector<EnrollToken>>(
      CommandKind::kChange, [this, nodes = std::move(nodes), who = std::move(who)] { return revoke_now(nodes, who); },
      std::move(callback));
}

void CollectorEnrollment::enroll(api::EnrollWish wish, CertificateCallback callback) {
  run<EnrolledCertificate>(
      CommandKind::kChange, [this, wish = std::move(wish)] { return enroll_now(wish); }, std::move(callback));
}

// Nothing is stored: a standby and a weftd whose database is away can do it, too.
void CollectorEnrollment::renew(std::string node, std::string request, CertificateCallback callback) {
  const auto issuer = issuer_.get();
  if (!issuer) return callback(no_issuer());
  const auto key = api::access::read_request(request);
  if (!key) return callback(tl::unexpected(key.error()));
  auto issued = issuer->sign(*key, node, clock_.now());
  if (!issued) return callback(tl::unexpected(issued.error()));
  enroll_log()->info("{} has a new certificate, until {}", node, net::utc_text(issued->end));
  callback(EnrolledCertificate{std::move(issued->certificate), issuer->files().authorities});
}

Result<std::vector<MadeEnrollToken>> CollectorEnrollment::make_now(const std::vector<std::string>& nodes,
                                                                   Duration validity, const std::string& who) {
  const auto issuer = issuer_.get();
  if (!issuer) return no_issuer();
  const TimePoint now = clock_.now();
  const auto known = store_.enroll_tokens(now);
  if (!known) return tl::unexpected(known.error());
  const auto is_new = [&](const std::string& node) {
    return !std::ranges::binary_search(*known, node, {}, &EnrollToken::node);
  };
  if (known->size() + static_cast<std::size_t>(std::ranges::count_if(nodes, is_new)) > kMostEnrollTokens)
    return fail(ErrorCode::kResourceExhausted,
                "there would be more than " + std::to_string(kMostEnrollTokens) + " tokens: revoke some");
  std::vector<MadeEnrollToken> made;
  std::vector<EnrollToken> tokens;
  std::vector<AuditRecord> records;
  for (const std::string& node : nodes) {
    const auto secret = api::access::make_secret();
    if (!secret) return tl::unexpected(secret.error());
    const TimePoint expires = now + validity;
    tokens.push_back({.node = node, .hash = hash_of(*secret), .made_by = who, .made = now, .expires = expires});
    made.push_back({node, api::access::format_enroll_text({node, *secret, issuer->root()}), expires});
    records.push_back(
        record_of(now, who, "enrollment allowed", "a token for " + node + ", until " + net::utc_text(expires)));
  }
  if (auto saved = store_.save_enroll_tokens(tokens, {}, records); !saved) return tl::unexpected(saved.error());
  if (nodes.size() == 1)
    enroll_log()->info("{} made a token for {}", who, nodes.front());
  else
    enroll_log()->info("{} made tokens for {} nodes, {} the first", who, nodes.size(), nodes.front());
  return made;
}

Result<std::vector<EnrollToken>> CollectorEnrollment::revoke_now(const std::vector<std::string>& nodes,
                                                                 const std::string& who) {
  const TimePoint now = clock_.now();
  const auto known = store_.enroll_tokens(now);
  if (!known) return tl::unexpected(known.error());
  std::vector<AuditRecord> records;
  for (const std::string& node : nodes) {
    const auto found = std::ranges::lower_bound(*known, node, {}, &EnrollToken::node);
    if (found == known->end() || found->node != node || found->used != kNever)
      return fail(ErrorCode::kNotFound, node + " has no token that could be used: nothing was changed");
    records.push_back(record_of(now, who, "enrollment revoked", "the token for " + node));
  }
  if (auto saved = store_.save_enroll_tokens({}, nodes, records); !saved) return tl::unexpected(saved.error());
  return store_.enroll_tokens(now);
}

Result<EnrolledCertificate> CollectorEnrollment::enroll_now(const api::EnrollWish& wish) {
  const auto issuer = issuer_.get();
  if (!issuer) return no_issuer();
  const auto refuse = [](std::string why) { return fail(ErrorCode::kUnauthenticated, std::move(why)); };
  // A name that is none was made up, and does not go into the log.
  if (!check_node_name(wish.node)) return refuse("a token with a wrong name of a node");
  auto found = store_.find_enroll_token(hash_of(wish.secret));
  if (!found) return tl::unexpected(found.error());
  if (!*found) return refuse("an unknown token for " + wish.node);
  EnrollToken& token = **found;
  const TimePoint now = clock_.now();
  if (now >= token.expires) return refuse("the token of " + token.node + " expired at " + net::utc_text(token.expires));
  if (token.node != wish.node) return refuse("the token of " + token.node + " was shown for " + wish.node);
  const auto key = api::access::read_request(wish.request);
  if (!key) return tl::unexpected(key.error());
  if (token.used != kNever && token.key_hash != key->hash)
    return refuse("the token of " + token.node + " was used at " + net::utc_text(token.used) + " for another key");
  auto issued = issuer->sign(*key, token.node, now);
  if (!issued) return tl::unexpected(issued.error());
  if (token.used == kNever) {
    token.used = now;
    token.key_hash = key->hash;
    const AuditRecord record =
        record_of(now, token.node, "enrolled",
                  "by the token of " + token.made_by + ", from " + wish.address + "; SHA-256 of the key: " + key->hash);
    if (auto saved = store_.save_enroll_tokens({&token, 1}, {}, {&record, 1}); !saved)
      return tl::unexpected(saved.error());
  }
  enroll_log()->info("{} is enrolled from {}; its certificate ends at {}", token.node, wish.address,
                     net::utc_text(issued->end));
  return EnrolledCertificate{std::move(issued->certificate), issuer->files().authorities};
}

}  // namespace weft::daemon
