// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/enroll_service.hpp"

#include <utility>
#include <vector>

#include "api/convert/commands.hpp"
#include "api/convert/times.hpp"
#include "api/grpc/command_call.hpp"

namespace weft::api {
namespace {

constexpr double kAttemptsPerSecond = 2;  // of one address
constexpr double kAttemptBurst = 60;
constexpr std::size_t kLongestSecret = 128;
constexpr auto kUsualValidity = std::chrono::hours(24);

/// Whoever shows a wrong token learns nothing of the right ones.
constexpr const char* kTokenRefused =
    "the token does not count: it is unknown, used, expired, or another node's. On weftd's host make a new one with "
    "weftctl enroll NODE; the journal of weftd has the reason";

Error no_desk() {
  return {ErrorCode::kFailedPrecondition, "this weftd enrolls no collectors: set security.enroll.certificate"};
}

void fill(const std::vector<MadeEnrollToken>& from, v1::MakeEnrollTokensResponse& to) {
  for (const MadeEnrollToken& each : from) {
    auto& token = *to.add_tokens();
    token.set_node(each.node);
    token.set_token(each.text);
    set_timestamp(*token.mutable_expires(), each.expires);
  }
}

void fill(const std::vector<EnrollToken>& from, v1::ListEnrollTokensResponse& to) {
  for (const EnrollToken& each : from) {
    auto& token = *to.add_tokens();
    token.set_node(each.node);
    token.set_made_by(each.made_by);
    set_timestamp(*token.mutable_made(), each.made);
    set_timestamp(*token.mutable_expires(), each.expires);
    if (each.used != kNever) set_timestamp(*token.mutable_used(), each.used);
  }
}

void fill(const EnrolledCertificate& from, v1::EnrolledCertificate& to) {
  to.set_certificate(from.certificate);
  to.set_authorities(from.authorities);
}

/// Without the port, which is another for each attempt.
std::string address_without_port(const std::string& peer) {
  return peer.substr(0, peer.rfind(':'));
}

template <typename Repeated>
std::vector<std::string> texts_of(const Repeated& from) {
  return {from.begin(), from.end()};
}

}  // namespace

grpc::ServerUnaryReactor* EnrollService::MakeTokens(grpc::CallbackServerContext* context,
                                                    const v1::MakeEnrollTokensRequest* request,
                                                    v1::MakeEnrollTokensResponse* response) {
  Result<void> good = desk_ != nullptr ? check_claim(request->who()) : tl::unexpected(no_desk());
  if (!good) return answer<v1::MakeEnrollTokensResponse>(context, tl::unexpected(good.error()), response);
  const Duration validity = request->has_validity() ? from_duration(request->validity()) : kUsualValidity;
  auto* call = new CommandCall<std::vector<MadeEnrollToken>, v1::MakeEnrollTokensResponse>(response, fill);
  desk_->make_tokens(texts_of(request->nodes()), validity, callers_.who(request->who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* EnrollService::ListTokens(grpc::CallbackServerContext* context,
                                                    const v1::ListEnrollTokensRequest*,
                                                    v1::ListEnrollTokensResponse* response) {
  if (desk_ == nullptr) return answer<v1::ListEnrollTokensResponse>(context, tl::unexpected(no_desk()), response);
  auto* call = new CommandCall<std::vector<EnrollToken>, v1::ListEnrollTokensResponse>(response, fill);
  desk_->list_tokens(call->callback());
  return call;
}

grpc::ServerUnaryReactor* EnrollService::RevokeTokens(grpc::CallbackServerContext* context,
                                                      const v1::RevokeEnrollTokensRequest* request,
                                                      v1::ListEnrollTokensResponse* response) {
  Result<void> good = desk_ != nullptr ? check_claim(request->who()) : tl::unexpected(no_desk());
  if (!good) return answer<v1::ListEnrollTokensResponse>(context, tl::unexpected(good.error()), response);
  auto* call = new CommandCall<std::vector<EnrollToken>, v1::ListEnrollTokensResponse>(response, fill);
  desk_->revoke_tokens(texts_of(request->nodes()), callers_.who(request->who(), *context), call->callback());
  return call;
}

Result<void> EnrollService::check_rate(const std::string& address) {
  const auto now = TokenBucket::Clock::now();
  const std::lock_guard lock(mutex_);
  if (attempts_.admits(address, kAttemptsPerSecond, kAttemptBurst, now) && all_attempts_.try_take(now)) return {};
  return fail(ErrorCode::kResourceExhausted, "too many attempts to enroll: retry later");
}

grpc::ServerUnaryReactor* EnrollService::Enroll(grpc::CallbackServerContext* context, const v1::EnrollRequest* request,
                                                v1::EnrolledCertificate* response) {
  const std::string address = address_without_port(context->peer());
  Result<void> good = desk_ != nullptr ? check_rate(address) : tl::unexpected(no_desk());
  const auto refuse = [&gate = gate_, address](const Error& why) {
    gate.refuse({"/weft.v1.EnrollService/Enroll", address, {}, why});
  };
  if (!good) {
    if (desk_ != nullptr) refuse(good.error());
    return answer<v1::EnrolledCertificate>(context, tl::unexpected(good.error()), response);
  }
  auto* call = new CommandCall<EnrolledCertificate, v1::EnrolledCertificate>(response, fill);
  desk_->enroll({request->secret().substr(0, kLongestSecret), request->node(), request->certificate_request(), address},
                [refuse, done = call->callback()](Result<EnrolledCertificate> result) {
                  if (result || result.error().code != ErrorCode::kUnauthenticated) return done(std::move(result));
                  refuse(result.error());
                  done(fail(ErrorCode::kUnauthenticated, kTokenRefused));
                });
  return call;
}

grpc::ServerUnaryReactor* EnrollService::Renew(grpc::CallbackServerContext* context,
                                               const v1::RenewCertificateRequest* request,
                                               v1::EnrolledCertificate* response) {
  const auto refuse = [&](const Error& why) {
    return answer<v1::EnrolledCertificate>(context, tl::unexpected(why), response);
  };
  if (desk_ == nullptr) return refuse(no_desk());
  // Not by what the gate found: a token that was shown would do there.
  std::string node = enrolled_node(*context);
  if (node.empty())
    return refuse({ErrorCode::kPermissionDenied,
                   "only a certificate that weftd signed for a collector is renewed here, and no token may be shown "
                   "beside it"});
  auto* call = new CommandCall<EnrolledCertificate, v1::EnrolledCertificate>(response, fill);
  desk_->renew(std::move(node), request->certificate_request(), call->callback());
  return call;
}

}  // namespace weft::api
