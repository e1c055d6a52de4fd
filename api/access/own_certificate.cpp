// SPDX-License-Identifier: Apache-2.0
#include "api/access/own_certificate.hpp"

#include <openssl/ec.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <vector>

#include "api/access/identity.hpp"
#include "api/access/openssl_types.hpp"
#include "api/access/tls.hpp"

namespace weft::api::access {
namespace {

constexpr std::string_view kVersion = "weft1";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretLetters = 43;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kLongestText = 16UL * 1024;

std::string base64(const unsigned char* bytes, std::size_t count) {
  std::string text(4 * ((count + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(count));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Of base64 with its padding; empty where it is none.
std::vector<unsigned char> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::vector<unsigned char> bytes(text.size() / 4 * 3);
  const int length =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  ERR_clear_error();
  if (length != static_cast<int>(bytes.size())) return {};
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string_view take_field(std::string_view& rest) {
  const std::string_view field = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(field.size() + 1, rest.size()));
  return field;
}

bool is_secret(std::string_view text) {
  return text.size() == kSecretLetters && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
         });
}

}  // namespace

Result<std::string> make_private_key() {
  const openssl::PrivateKey key(EVP_EC_gen("P-256"));
  const openssl::Bio bio = openssl::writer();
  const bool done =
      key && PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  ERR_clear_error();
  if (!done) return fail(ErrorCode::kInternal, "OpenSSL could not make a key");
  return openssl::written(bio);
}

Result<std::string> make_request(std::string_view pem) {
  const openssl::PrivateKey key = openssl::read_private_key(pem);
  const openssl::Request request(X509_REQ_new());
  unsigned char* der = nullptr;
  int size = 0;
  if (key && request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
      X509_REQ_set_pubkey(request.get(), key.get()) == 1 && X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0)
    size = i2d_X509_REQ(request.get(), &der);
  ERR_clear_error();
  if (size <= 0) return fail(ErrorCode::kInvalidArgument, "there is no private key that a request could be made for");
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

Result<OwnCertificate> read_own_certificate(std::string_view pem) {
  const auto wrong = [](const char* why) { return fail(ErrorCode::kInvalidArgument, why); };
  const openssl::PrivateKey key = openssl::read_private_key(pem);
  const auto certificates = openssl::read_certificates(pem);
  if (!key) return wrong("there is no private key in it");
  if (certificates.empty()) return wrong("there is no certificate in it");
  X509* const own = certificates.front().get();
  const bool is_pair = X509_check_private_key(own, key.get()) == 1;
  ERR_clear_error();
  if (!is_pair) return wrong("its certificate is of another key");
  for (const std::string& name : certificate_names(own))
    if (name.starts_with(kNodeUri))
      return OwnCertificate{name.substr(kNodeUri.size()), openssl::begin_of(own), openssl::end_of(own)};
  return wrong("its certificate is not one that weftd signs for a collector");
}

Result<std::string> make_secret() {
  std::array<unsigned char, kSecretBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return fail(ErrorCode::kInternal, "OpenSSL has no random numbers");
  std::string text = base64(bytes.data(), bytes.size());
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(kSecretLetters);
  return text;
}

std::string format_enroll_text(const EnrollText& text) {
  std::string line = std::string(kVersion) + ':' + text.node + ':' + text.secret + ':';
  const auto certificates = openssl::read_certificates(text.authority);
  unsigned char* der = nullptr;
  const int size = certificates.empty() ? 0 : i2d_X509(certificates.front().get(), &der);
  if (size > 0) line += base64(der, static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return line;
}

bool is_no_token(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.empty() || text.substr(0, text.find_last_not_of(kBlanks) + 1) == "none";
}

Result<EnrollText> parse_enroll_text(std::string_view line) {
  const auto wrong = [](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "this is no token of weftctl enroll: " + why);
  };
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
  if (line.size() > kLongestText) return wrong("it is too long");
  if (take_field(line) != kVersion) return wrong("it does not begin with \"" + std::string(kVersion) + ":\"");
  EnrollText text;
  text.node = take_field(line);
  if (!check_node_name(text.node)) return wrong("its second part is no node's name");
  text.secret = take_field(line);
  if (!is_secret(text.secret)) return wrong("its third part is not as long as a secret, or has other letters");
  const std::vector<unsigned char> der = from_base64(line);
  const unsigned char* at = der.data();
  const openssl::Certificate authority(der.empty() ? nullptr : d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!authority || at != der.data() + der.size()) return wrong("its last part is no certificate; is it whole?");
  text.authority = openssl::write_certificate(authority.get());
  return text;
}

}  // namespace weft::api::access
