// SPDX-License-Identifier: Apache-2.0
#include "api/access/tls.hpp"

#include <algorithm>

#include "api/access/identity.hpp"
#include "api/access/openssl_types.hpp"

namespace weft::api::access {
namespace {

using openssl::are_certificates;
using openssl::begin_of;
using openssl::Certificate;
using openssl::end_of;

/// A name that is `a_node` begins with kNodeUri, and no other does.
void add(std::vector<std::string>& names, const ASN1_STRING* text, bool a_node) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, text);
  if (length > 0) {
    std::string name(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(length));
    const bool is_plain = std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7F; });
    if (is_plain && name.starts_with(kNodeUri) == a_node && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  OPENSSL_free(utf8);
}

}  // namespace

Result<void> check_tls(const TlsFiles& files, TimePoint now) {
  const auto wrong = [](const char* why) { return fail(ErrorCode::kInvalidArgument, why); };
  if (!are_certificates(files.certificate)) return wrong("security.certificate has no valid PEM certificate");
  const Certificate certificate = std::move(openssl::read_certificates(files.certificate).front());
  const openssl::PrivateKey key = openssl::read_private_key(files.key);
  if (!key) return wrong("security.key has no PEM private key without a password");
  const bool is_pair = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_pair) return wrong("security.key is not the key of security.certificate");
  if (end_of(certificate.get()) <= now) return wrong("security.certificate has expired");
  if (begin_of(certificate.get()) > now)
    return wrong("security.certificate is not valid yet: is the clock of this host right?");
  if (!files.client_authorities.empty() && !are_certificates(files.client_authorities))
    return wrong("security.client_authorities has no valid PEM certificate");
  return {};
}

bool has_certificates(std::string_view pem) {
  return are_certificates(pem);
}

TimePoint end_of_certificate(const TlsFiles& files) {
  const auto certificates = openssl::read_certificates(files.certificate);
  return certificates.empty() ? kNever : end_of(certificates.front().get());
}

std::vector<std::string> certificate_names(x509_st* certificate) {
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
    add(names, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), false);
  const openssl::Names others(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; others && i < sk_GENERAL_NAME_num(others.get()); ++i) {
    int kind = 0;
    const void* name = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(others.get(), i), &kind);
    if (kind == GEN_DNS || kind == GEN_URI) add(names, static_cast<const ASN1_STRING*>(name), kind == GEN_URI);
  }
  return names;
}

}  // namespace weft::api::access
