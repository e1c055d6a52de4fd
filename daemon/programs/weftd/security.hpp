// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of [security]: read at start, looked at again and again, and taken anew without a restart.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/access/account.hpp"
#include "api/access/gate.hpp"
#include "api/access/issuer.hpp"
#include "api/access/tls.hpp"
#include "daemon/config/config.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// What the files hold, checked.
struct SecurityFiles {
  api::access::TlsFiles tls;  ///< empty where there is none
  api::access::Rules rules;
  std::shared_ptr<const api::access::Issuer> issuer;  ///< of collectors' certificates; null: none
};
/// kInvalidArgument, kFailedPrecondition (a mode that lets others read), kNotFound, kUnavailable: with the file's name.
Result<SecurityFiles> read_security(const config::Security& security, TimePoint now);

/// State of the security files, for metrics.
struct SecurityFigures {
  bool refused = false;      ///< the files are no good; those before are in force
  std::uint64_t loaded = 0;  ///< times they were taken, the first included
  TimePoint certificate_end = kNever;
  TimePoint issuer_end = kNever;
  api::access::GateFigures gate;
};

/// Which accounts of this host may act: root, our own user, and the group, if there is one of that name now; else a
/// warning is logged.
api::access::AccountRights account_rights(const config::Security& security);

/// Who gets in and with what certificate. The gate and the keys may be used from any thread; take() and figures()
/// belong to one thread.
class Security {
 public:
  /// Fails as read_security(). `clock` must outlive it.
  static Result<std::unique_ptr<Security>> open(const config::Security& security, const Clock& clock);

  /// Never null.
  api::access::Gate* gate() { return gate_.get(); }
  /// Null: plain text.
  const api::access::TlsKeys* tls() const { return tls_.get(); }
  /// Signs collectors' certificates. May be used from any thread.
  const api::access::CurrentIssuer& issuer() const { return issuer_; }
  /// Callers must say who they are.
  bool is_guarded() const { return is_guarded_; }
  /// What the files held just now: when it is good and something else than before it is in force from now on.
  void take(Result<SecurityFiles> files);
  /// The figures as of now.
  SecurityFigures figures() const;

 private:
  Security() = default;

  bool is_guarded_ = false;
  std::unique_ptr<api::access::Gate> gate_;
  std::unique_ptr<api::access::TlsKeys> tls_;
  api::access::CurrentIssuer issuer_;
  std::vector<api::access::Token> tokens_;
  std::optional<api::access::Sha256> proxy_secret_;
  std::string complaint_;  ///< told once
  TimePoint certificate_end_ = kNever;
  std::uint64_t loaded_ = 0;
};

}  // namespace weft::daemon
