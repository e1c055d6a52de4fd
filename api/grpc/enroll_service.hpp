// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "api/access/gate.hpp"
#include "api/access/rate_limits.hpp"
#include "api/grpc/callers.hpp"
#include "api/publication/enroll_desk.hpp"
#include "weft/v1/enroll.grpc.pb.h"

namespace weft::api {

/// weft.v1.EnrollService.
class EnrollService final : public v1::EnrollService::CallbackService {
 public:
  /// Without a desk every call is answered with kFailedPrecondition.
  EnrollService(EnrollDesk* desk, const Callers& callers, access::Gate& gate)
      : desk_(desk), callers_(callers), gate_(gate) {}

  grpc::ServerUnaryReactor* MakeTokens(grpc::CallbackServerContext* context, const v1::MakeEnrollTokensRequest* request,
                                       v1::MakeEnrollTokensResponse* response) override;
  grpc::ServerUnaryReactor* ListTokens(grpc::CallbackServerContext* context, const v1::ListEnrollTokensRequest* request,
                                       v1::ListEnrollTokensResponse* response) override;
  grpc::ServerUnaryReactor* RevokeTokens(grpc::CallbackServerContext* context,
                                         const v1::RevokeEnrollTokensRequest* request,
                                         v1::ListEnrollTokensResponse* response) override;
  grpc::ServerUnaryReactor* Enroll(grpc::CallbackServerContext* context, const v1::EnrollRequest* request,
                                   v1::EnrolledCertificate* response) override;
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const v1::RenewCertificateRequest* request,
                                  v1::EnrolledCertificate* response) override;

 private:
  Result<void> check_rate(const std::string& address);

  EnrollDesk* const desk_;
  const Callers& callers_;
  access::Gate& gate_;
  std::mutex mutex_;
  RateLimits attempts_{4096};  ///< by address
  TokenBucket all_attempts_{100, 2000};
};

}  // namespace weft::api
