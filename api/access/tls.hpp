// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server needs for TLS, checked before it is used, and changed while it serves.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

struct x509_st;

namespace weft::api::access {

/// All in PEM.
struct TlsFiles {
  std::string certificate;         ///< the server's, then those between it and the authority
  std::string key;                 ///< its private key, not encrypted
  std::string client_authorities;  ///< that sign certificates of clients; empty: none is asked for
  bool require_client_certificate = false;

  bool operator==(const TlsFiles&) const = default;
};

/// Can a server serve with it? kInvalidArgument, with the part that is wrong: no certificate, no key, a key of another
/// certificate, no authority, a certificate that is over at `now`.
Result<void> check_tls(const TlsFiles& files, TimePoint now);
/// Whether there are certificates, and all that begin can be read.
bool has_certificates(std::string_view pem);
/// When the server's certificate ends; kNever when there is none.
TimePoint end_of_certificate(const TlsFiles& files);
/// Subject common name, DNS names (RFC 5280, 4.2.1.6) and URIs that begin with kNodeUri, none twice. Names with a NUL
/// in them are left out.
std::vector<std::string> certificate_names(x509_st* certificate);

/// The files in force. May be used from any thread; who holds a pointer keeps what it points to.
class TlsKeys {
 public:
  explicit TlsKeys(TlsFiles files) : files_(std::make_shared<const TlsFiles>(std::move(files))) {}
  /// The files in force now; never null.
  std::shared_ptr<const TlsFiles> current() const {
    const std::lock_guard lock(mutex_);
    return files_;
  }
  /// For the handshakes to come.
  void change(TlsFiles files) {
    auto changed = std::make_shared<const TlsFiles>(std::move(files));
    const std::lock_guard lock(mutex_);
    files_ = std::move(changed);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsFiles> files_;
};

}  // namespace weft::api::access
