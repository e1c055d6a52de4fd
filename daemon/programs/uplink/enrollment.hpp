// SPDX-License-Identifier: Apache-2.0
#pragma once
// The collector's own certificate: got for a one-time token, kept in the state directory, renewed in time.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/access/own_certificate.hpp"
#include "api/client/enroll_client.hpp"
#include "api/client/security.hpp"
#include "api/client/server_list.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/uplink/renewal_time.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::uplink {

/// Where the certificate is, and how one is got.
struct EnrollmentOptions {
  std::filesystem::path folder;      ///< made when missing, mode 0700; files in it have mode 0600
  std::filesystem::path token_file;  ///< a line of `weftctl enroll`; may be away once there is a certificate
  std::string node;
  std::string analyzers;                                ///< HOST:PORT of weftd, several separated by commas
  Duration reconnect_limit = std::chrono::seconds(30);  ///< longest wait between two attempts
};

/// Files of the folder: "certificate.pem" has the key, the certificate and, in its first line, the hash of the token
/// that it was got with; "authorities.pem" those of weftd's certificate; "pending.key" the key of a request without an
/// answer, so that a token is not lost with an answer. Each is replaced as a whole. A token that is another than the
/// certificate's is used at once; so a new token helps where a certificate ended or is refused.
class Enrollment {
 public:
  /// What waiting goes by.
  using Steady = RenewalTime::Steady;

  /// Reads what is there. `notify` as of EnrollClient. `share` spreads renewals: 0 to 1.
  Enrollment(EnrollmentOptions options, std::function<void()> notify, double share);

  /// Takes an answer, and asks when that is due. `wall` is what certificates count by. Call it at least each second.
  void look(TimePoint wall, Steady::time_point now);
  /// There is one, valid or not: weftd's clock counts.
  bool has_certificate() const { return own_.has_value(); }
  /// What connections show and trust.
  api::ClientSecurity security() const;
  /// When the certificate ends; kNever without one.
  TimePoint end() const { return own_ ? own_->end : kNever; }
  /// The last attempt to get or renew one failed.
  bool is_troubled() const { return is_troubled_; }
  /// Attempts to get one that failed.
  std::uint64_t failures() const { return failures_; }

 private:
  struct Wish {
    api::access::EnrollText token;  ///< without a secret: a renewal
    std::string key;                ///< PEM
  };

  void read_own();
  std::optional<api::access::EnrollText> read_token();
  std::string token_place() const;
  Result<std::string> pending_key();
  void ask(std::optional<api::access::EnrollText> token, Steady::time_point now);
  void take(const Result<api::CertificateAnswer>& answer, TimePoint wall, Steady::time_point now);
  Result<void> keep(const api::CertificateAnswer& answer, Steady::time_point now);
  void fails(const std::string& where, const std::string& why, Steady::time_point now);
  std::filesystem::path file(const char* name) const { return options_.folder / name; }

  const EnrollmentOptions options_;
  RenewalTime renewal_;
  std::optional<api::access::OwnCertificate> own_;
  std::string token_hash_;  ///< of the token that it was got with
  Wish wish_;               ///< that is asked for
  api::ServerList servers_;
  runtime::Backoff backoff_;
  Steady::time_point next_{};
  std::map<std::string, std::string> told_;  ///< what was logged, by what it is about
  bool is_troubled_ = false;
  std::uint64_t failures_ = 0;
  api::EnrollClient client_;
};

}  // namespace weft::uplink
