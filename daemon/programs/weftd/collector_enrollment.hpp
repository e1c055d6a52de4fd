// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives collectors their certificates: the first one for a one-time token, the others for the one before.

#include <string>
#include <vector>

#include "api/access/issuer.hpp"
#include "api/publication/enroll_desk.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/programs/weftd/command_forwarders.hpp"
#include "fabric/clock.hpp"

namespace weft::daemon {

/// Nothing of the tokens is in memory: a restart, and another weftd that leads, go on with what is stored. A token is
/// used up on the disk before its certificate is told.
class CollectorEnrollment final : public api::EnrollDesk {
 public:
  /// All must outlive it. It must outlive the last job of the lane.
  CollectorEnrollment(const api::access::CurrentIssuer& issuer, MainThreadExecutor& main_thread, store::Store& store,
                      runtime::Lane& store_lane, const Clock& clock)
      : issuer_(issuer), main_(main_thread), store_(store), store_lane_(store_lane), clock_(clock) {}

  void make_tokens(std::vector<std::string> nodes, Duration validity, std::string who, MadeCallback callback) override;
  void list_tokens(TokensCallback callback) override;
  void revoke_tokens(std::vector<std::string> nodes, std::string who, TokensCallback callback) override;
  void enroll(api::EnrollWish wish, CertificateCallback callback) override;
  void renew(std::string node, std::string request, CertificateCallback callback) override;

 private:
  template <typename Answer>
  using Job = std::function<Result<Answer>()>;

  /// Brings the job by way of the main thread, which knows whether this weftd leads, to the lane of the store.
  template <typename Answer>
  void run(CommandKind kind, Job<Answer> job, std::function<void(Result<Answer>)> callback);
  template <typename Answer>
  void run_on_lane(Job<Answer> job, std::function<void(Result<Answer>)> callback);

  // On the lane of the store.
  Result<std::vector<api::MadeEnrollToken>> make_now(const std::vector<std::string>& nodes, Duration validity,
                                                     const std::string& who);
  Result<std::vector<EnrollToken>> revoke_now(const std::vector<std::string>& nodes, const std::string& who);
  Result<api::EnrolledCertificate> enroll_now(const api::EnrollWish& wish);

  const api::access::CurrentIssuer& issuer_;
  MainThreadExecutor& main_;
  store::Store& store_;
  runtime::Lane& store_lane_;
  const Clock& clock_;
};

}  // namespace weft::daemon
