// SPDX-License-Identifier: Apache-2.0
#pragma once
// Authorities and certificates as a site might have them, made by OpenSSL.

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "fabric/clock.hpp"

namespace weft::api::access {

/// What tests call now: within the validity of what they make.
inline constexpr TimePoint kToday{std::chrono::seconds(1'800'000'000)};

/// A certificate with its key.
class Signed {
 public:
  using Extensions = std::initializer_list<std::pair<int, const char*>>;

  /// By `issuer`, or by itself, for `days` from kToday on.
  Signed(const char* name, const Signed* issuer, Extensions extensions, int days = 100)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    X509* const made = certificate_.get();
    X509* const by = issuer != nullptr ? issuer->certificate_.get() : made;
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 7);
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(kToday.time_since_epoch()).count();
    ASN1_TIME_set(X509_getm_notBefore(made), now - 100 * 86'400);
    ASN1_TIME_set(X509_getm_notAfter(made), now + std::int64_t{days} * 86'400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(by));
    X509_set_pubkey(made, key_.get());
    X509V3_CTX context{};
    X509V3_set_ctx(&context, by, made, nullptr, nullptr, 0);
    for (const auto& [kind, value] : extensions) {
      X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
      EXPECT_EQ(X509_add_ext(made, extension, -1), 1) << value;
      X509_EXTENSION_free(extension);
    }
    EXPECT_GT(X509_sign(made, issuer != nullptr ? issuer->key_.get() : key_.get(), EVP_sha256()), 0);
  }

  std::string pem() const {
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate_.get());
    return taken(bio);
  }
  std::string key() const {
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return taken(bio);
  }

 private:
  static std::string taken(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<std::size_t>(size));
    BIO_free_all(bio);
    return text;
  }

  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<X509, void (*)(X509*)> certificate_;
};

inline Signed authority(const char* name, const Signed* issuer = nullptr, int days = 100) {
  return {name,
          issuer,
          {{NID_basic_constraints, "critical,CA:TRUE"},
           {NID_key_usage, "critical,keyCertSign,cRLSign"},
           {NID_subject_key_identifier, "hash"}},
          days};
}

inline Signed server(const Signed& issuer) {
  return {"weft.example", &issuer, {{NID_basic_constraints, "critical,CA:FALSE"}, {NID_ext_key_usage, "serverAuth"}}};
}

}  // namespace weft::api::access
