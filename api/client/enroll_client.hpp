// SPDX-License-Identifier: Apache-2.0
#pragma once
// A collector's request for a certificate: the client of EnrollService. No gRPC to be seen, no waiting, no logic.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/client/security.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// What is asked for.
struct CertificateWish {
  std::string analyzer;     ///< HOST:PORT of weftd
  ClientSecurity security;  ///< of a renewal with the certificate that is to be renewed
  std::string secret;       ///< of a token; empty: this is a renewal
  std::string node;         ///< not of a renewal
  std::string request;      ///< PKCS #10, DER
};

/// What weftd answered, in PEM; nothing of it is checked.
struct CertificateAnswer {
  std::string certificate;  ///< with those between it and an authority
  std::string authorities;  ///< of weftd's own certificate
};

/// One request at a time. All methods may be called from one thread; gRPC's own threads do the work.
class EnrollClient {
 public:
  /// `notify` is called, on a thread of gRPC, when next() has the answer; it must not call back.
  explicit EnrollClient(std::function<void()> notify);
  /// Gives the request up.
  ~EnrollClient();
  EnrollClient(const EnrollClient&) = delete;
  EnrollClient& operator=(const EnrollClient&) = delete;

  /// Asks; the answer or a failure comes within `patience`. Not while is_asking().
  void ask(const CertificateWish& wish, std::chrono::milliseconds patience);
  /// Whether next() has not given the answer yet.
  bool is_asking() const { return call_ != nullptr; }
  /// The answer, once. kUnauthenticated: the token does not count; kPermissionDenied, kFailedPrecondition,
  /// kInvalidArgument and kResourceExhausted as weftd says; kUnavailable for all else.
  std::optional<Result<CertificateAnswer>> next();

 private:
  struct Call;
  struct Inbox;

  std::shared_ptr<Inbox> inbox_;
  std::unique_ptr<Call> call_;
};

}  // namespace weft::api
