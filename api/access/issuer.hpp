// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signs certificates of collectors: what a collector asks for is its public key alone, all else weftd writes.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api/access/tls.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

struct evp_pkey_st;

namespace weft::api::access {

/// All in PEM.
struct IssuerFiles {
  std::string certificate;  ///< the authority's, then those between it and one that clients' certificates may lead to
  std::string key;          ///< its private key, not encrypted
  std::string authorities;  ///< that collectors trust: weftd's own certificate leads to one of them
  Duration lifetime{};      ///< of the certificates that it signs

  bool operator==(const IssuerFiles&) const = default;
};

/// The public key of a request.
struct RequestedKey {
  std::shared_ptr<evp_pkey_st> key;
  std::string hash;  ///< SHA-256 of its SubjectPublicKeyInfo, 64 hexadecimal digits
};
/// Reads a certificate request (PKCS #10, RFC 2986) in DER. kInvalidArgument: it is none, it is not signed by its own
/// key, or the key is not elliptic of P-256 or P-384, Ed25519, or RSA of 2048 to 4096 bits.
Result<RequestedKey> read_request(std::string_view der);

/// A certificate for a client.
struct Issued {
  std::string certificate;  ///< PEM, with those between it and an authority
  TimePoint end = kNever;
};

/// May be used from any thread.
class Issuer {
 public:
  /// kInvalidArgument, with the key of the configuration that is wrong: no authority, another's key, expired, weftd
  /// itself would refuse what it signs, or collectors would refuse weftd by `authorities`.
  static Result<std::shared_ptr<const Issuer>> open(IssuerFiles files, const TlsFiles& tls, TimePoint now);

  /// A certificate for `node` (see check_node_name()): a client's, of no authority, for the lifetime, or as long as the
  /// authority's own lasts.
  Result<Issued> sign(const RequestedKey& key, const std::string& node, TimePoint now) const;

  /// What it was made of.
  const IssuerFiles& files() const { return files_; }
  /// The one of files().authorities that weftd's own certificate leads to; PEM.
  const std::string& root() const { return root_; }
  /// When its own certificate ends, or one between it and the authority.
  TimePoint end() const { return end_; }

 private:
  explicit Issuer(IssuerFiles files) : files_(std::move(files)) {}

  IssuerFiles files_;
  std::shared_ptr<x509_st> certificate_;
  std::shared_ptr<evp_pkey_st> key_;
  std::string chain_;  ///< what a client shows behind its own certificate
  std::string root_;
  TimePoint begin_ = kNever;
  TimePoint end_ = kNever;
};

/// The issuer in force; null: none. May be used from any thread.
class CurrentIssuer {
 public:
  /// The one in force now.
  std::shared_ptr<const Issuer> get() const {
    const std::lock_guard lock(mutex_);
    return issuer_;
  }
  /// From now on.
  void set(std::shared_ptr<const Issuer> issuer) {
    const std::lock_guard lock(mutex_);
    issuer_ = std::move(issuer);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Issuer> issuer_;
};

}  // namespace weft::api::access
