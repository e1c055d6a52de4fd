// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where collectors of new nodes get their certificates. The daemon implements it; the server only passes on.

#include <functional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/enroll_token.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// A token as it is told once, to whom asked for it.
struct MadeEnrollToken {
  std::string node;
  std::string text;  ///< the line for the node
  TimePoint expires = kNever;
};

/// A certificate that was signed.
struct EnrolledCertificate {
  std::string certificate;  ///< PEM, with those between it and an authority
  std::string authorities;  ///< PEM; of weftd's own certificate
};

/// What a collector without a certificate says.
struct EnrollWish {
  std::string secret;   ///< of a token
  std::string node;     ///< its own name
  std::string request;  ///< PKCS #10, DER
  std::string address;  ///< where it comes from
};

/// Members return at once and may be called from any thread; the callback is called exactly once, from any thread, when
/// the change is on disk, or with the reason why not: kFailedPrecondition without an authority that signs, kUnavailable
/// of a standby and while the store does not answer.
class EnrollDesk {
 public:
  /// Takes the tokens, in the order in which they were asked for.
  using MadeCallback = std::function<void(Result<std::vector<MadeEnrollToken>>)>;
  /// Takes what is kept of them, sorted by node.
  using TokensCallback = std::function<void(Result<std::vector<EnrollToken>>)>;
  /// Takes the certificate.
  using CertificateCallback = std::function<void(Result<EnrolledCertificate>)>;

  virtual ~EnrollDesk() = default;
  /// A token for each node, in place of one that it has. kInvalidArgument for a wrong name, one that is given twice, or
  /// a wrong validity; kResourceExhausted beyond kMostEnrollTokens.
  virtual void make_tokens(std::vector<std::string> nodes, Duration validity, std::string who,
                           MadeCallback callback) = 0;
  /// Those that have not expired, used ones too.
  virtual void list_tokens(TokensCallback callback) = 0;
  /// Takes back tokens that were not used; the answer is what is left. kNotFound names the first node without one.
  virtual void revoke_tokens(std::vector<std::string> nodes, std::string who, TokensCallback callback) = 0;
  /// The first certificate of a collector. kUnauthenticated, with the reason for the log: the token does not count.
  virtual void enroll(EnrollWish wish, CertificateCallback callback) = 0;
  /// A new certificate for a collector that has shown one of `node`.
  virtual void renew(std::string node, std::string request, CertificateCallback callback) = 0;
};

}  // namespace weft::api
