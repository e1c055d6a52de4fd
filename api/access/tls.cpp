// SPDX-License-Identifier: Apache-2.0
#include "api/access/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>

namespace weft::api::access {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;

Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// A server has nobody to ask for a password.
int no_password(char*, int, int, void*) {
  return -1;
}

Certificate first_certificate(const std::string& pem) {
  const Bio bio = reader(pem);
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return certificate;
}

/// All of them; fewer than there are "BEGIN CERTIFICATE" when one cannot be read.
std::size_t count_certificates(const std::string& pem) {
  const Bio bio = reader(pem);
  std::size_t count = 0;
  while (Certificate(PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr))) ++count;
  ERR_clear_error();
  return count;
}

std::size_t count_headers(const std::string& pem) {
  constexpr std::string_view kHeader = "-----BEGIN CERTIFICATE-----";
  std::size_t count = 0;
  for (std::size_t at = pem.find(kHeader); at != std::string::npos; at = pem.find(kHeader, at + 1)) ++count;
  return count;
}

TimePoint end_of(const X509* certificate) {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return kNever;
  constexpr std::time_t kLastSecond = 9'223'372'036;  // of a TimePoint
  return TimePoint(std::chrono::seconds(std::min(::timegm(&end), kLastSecond)));
}

void add(std::vector<std::string>& names, const ASN1_STRING* text) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, text);
  if (length > 0) {
    std::string name(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(length));
    const bool is_plain = std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7F; });
    if (is_plain && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  OPENSSL_free(utf8);
}

}  // namespace

Result<void> check_tls(const TlsFiles& files, TimePoint now) {
  const auto wrong = [](const char* why) { return fail(ErrorCode::kInvalidArgument, why); };
  const Certificate certificate = first_certificate(files.certificate);
  if (!certificate || count_certificates(files.certificate) != count_headers(files.certificate))
    return wrong("security.certificate has no valid PEM certificate");
  const Bio bio = reader(files.key);
  const PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!key) return wrong("security.key has no PEM private key without a password");
  const bool is_pair = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_pair) return wrong("security.key is not the key of security.certificate");
  if (end_of(certificate.get()) <= now) return wrong("security.certificate has expired");
  if (!files.client_authorities.empty()) {
    const std::size_t authorities = count_certificates(files.client_authorities);
    if (authorities == 0 || authorities != count_headers(files.client_authorities))
      return wrong("security.client_authorities has no valid PEM certificate");
  }
  return {};
}

TimePoint end_of_certificate(const TlsFiles& files) {
  const Certificate certificate = first_certificate(files.certificate);
  return certificate ? end_of(certificate.get()) : kNever;
}

std::vector<std::string> certificate_names(x509_st* certificate) {
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
    add(names, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  const Names others(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; others && i < sk_GENERAL_NAME_num(others.get()); ++i) {
    int kind = 0;
    const void* name = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(others.get(), i), &kind);
    if (kind == GEN_DNS) add(names, static_cast<const ASN1_STRING*>(name));
  }
  return names;
}

}  // namespace weft::api::access
