// SPDX-License-Identifier: Apache-2.0
#include "api/access/openssl_types.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <ctime>

#include "api/access/identity.hpp"
#include "fabric/hex_text.hpp"

namespace weft::api::access::openssl {
namespace {

TimePoint time_of(const ASN1_TIME* text) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(text, &parts) != 1) return kNever;
  constexpr std::time_t kLastSecond = 9'223'372'036;  // of a TimePoint
  return TimePoint(std::chrono::seconds(std::min(::timegm(&parts), kLastSecond)));
}

}  // namespace

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Bio writer() {
  return Bio(BIO_new(BIO_s_mem()));
}

std::string written(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

int no_password(char*, int, int, void*) {
  return -1;
}

PrivateKey read_private_key(std::string_view pem) {
  const Bio bio = reader(pem);
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

std::vector<Certificate> read_certificates(std::string_view pem) {
  const Bio bio = reader(pem);
  std::vector<Certificate> certificates;
  while (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)})
    certificates.push_back(std::move(next));
  ERR_clear_error();
  return certificates;
}

bool are_certificates(std::string_view pem) {
  constexpr std::string_view kHeader = "-----BEGIN CERTIFICATE-----";
  std::size_t headers = 0;
  for (std::size_t at = pem.find(kHeader); at != std::string::npos; at = pem.find(kHeader, at + 1)) ++headers;
  return headers > 0 && read_certificates(pem).size() == headers;
}

std::string write_certificate(X509* certificate) {
  const Bio bio = writer();
  PEM_write_bio_X509(bio.get(), certificate);
  return written(bio);
}

std::string key_hash(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = key != nullptr ? i2d_PUBKEY(key, &der) : 0;
  if (size <= 0) return {};
  const Sha256 hash = sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return hex_text(hash);
}

TimePoint begin_of(const X509* certificate) {
  return time_of(X509_get0_notBefore(certificate));
}

TimePoint end_of(const X509* certificate) {
  return time_of(X509_get0_notAfter(certificate));
}

}  // namespace weft::api::access::openssl
