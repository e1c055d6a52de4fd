// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSSL's things with an owner. For the sources of this room alone.

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"

namespace weft::api::access::openssl {

/// A deleter.
template <auto Free>
struct Freed {
  /// Frees it.
  template <typename T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;                          ///< text that is read or written
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;                         ///< an integer
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;                    ///< RFC 5280
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;                ///< PKCS #10, RFC 2986
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;             ///< or a public one
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;        ///< RFC 5280, 4.2.1.6
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;  ///< RFC 5280, 4.2
using Trusted = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;            ///< authorities
using Check = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;      ///< of one certificate

/// Reads `text`, which must stay.
Bio reader(std::string_view text);
/// Empty, to be written to; see written().
Bio writer();
/// What was written.
std::string written(const Bio& bio);
/// A server has nobody to ask for a password.
int no_password(char*, int, int, void*);
/// The private key in PEM; null.
PrivateKey read_private_key(std::string_view pem);
/// All certificates in PEM up to the first that cannot be read.
std::vector<Certificate> read_certificates(std::string_view pem);
/// Whether there are certificates in PEM, and all that call themselves so can be read.
bool are_certificates(std::string_view pem);
/// In PEM.
std::string write_certificate(X509* certificate);
/// SHA-256 of the key's SubjectPublicKeyInfo in DER, 64 hexadecimal digits; empty for none.
std::string key_hash(EVP_PKEY* key);
/// When its validity begins.
TimePoint begin_of(const X509* certificate);
/// When its validity ends; kNever when that cannot be told.
TimePoint end_of(const X509* certificate);

}  // namespace weft::api::access::openssl
