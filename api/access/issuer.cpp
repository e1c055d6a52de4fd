// SPDX-License-Identifier: Apache-2.0
#include "api/access/issuer.hpp"

#include <openssl/ec.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/access/identity.hpp"
#include "api/access/openssl_types.hpp"

namespace weft::api::access {
namespace {

constexpr std::size_t kLongestRequest = 16UL * 1024;
/// A client's clock does not matter, but that of a second weftd does.
constexpr Duration kBackdated = std::chrono::minutes(5);
constexpr int kSerialBits = 159;  // RFC 5280, 4.1.2.2: at most 20 bytes, positive

tl::unexpected<Error> refuse_issuer(const char* why) {
  ERR_clear_error();
  return fail(ErrorCode::kInvalidArgument, why);
}

bool is_good_key(EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  const int bits = EVP_PKEY_get_bits(key);
  if (kind == EVP_PKEY_ED25519) return true;
  if (kind == EVP_PKEY_RSA) return bits >= 2048 && bits <= 4096;
  if (kind != EVP_PKEY_EC) return false;
  std::array<char, 32> curve{};
  std::size_t length = 0;
  if (EVP_PKEY_get_group_name(key, curve.data(), curve.size(), &length) != 1) return false;
  const std::string_view name(curve.data(), length);
  return name == "prime256v1" || name == "P-256" || name == "secp384r1" || name == "P-384";
}

/// Of what follows, nothing comes from the request.
bool add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const openssl::Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate) {
  const openssl::Number number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_validity(X509* certificate, TimePoint begin, TimePoint end) {
  const auto seconds_of = [](TimePoint when) {
    return std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds_of(begin)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds_of(end)) != nullptr;
}

bool set_subject(X509* certificate, const std::string& name) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()),
                                    -1, 0) == 1;
}

/// Of what such a key signs.
const EVP_MD* digest_of(EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  return kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448 ? nullptr : EVP_sha256();
}

/// The last certificate of the chain from `pem` to one of `authorities`; null: there is none for that purpose.
openssl::Certificate find_root(std::string_view pem, std::string_view authorities, int purpose, TimePoint now) {
  const auto chain = openssl::read_certificates(pem);
  const openssl::Trusted trusted(X509_STORE_new());
  const openssl::Check check(X509_STORE_CTX_new());
  STACK_OF(X509)* const between = sk_X509_new_null();
  for (const auto& each : openssl::read_certificates(authorities)) X509_STORE_add_cert(trusted.get(), each.get());
  for (const auto& each : chain) sk_X509_push(between, each.get());
  openssl::Certificate root;
  if (!chain.empty() && X509_STORE_CTX_init(check.get(), trusted.get(), chain.front().get(), between) == 1) {
    X509_STORE_CTX_set_purpose(check.get(), purpose);
    X509_STORE_CTX_set_time(check.get(), 0, std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
    if (X509_verify_cert(check.get()) == 1) {
      STACK_OF(X509)* const found = X509_STORE_CTX_get0_chain(check.get());
      X509* const last = sk_X509_value(found, sk_X509_num(found) - 1);
      X509_up_ref(last);
      root.reset(last);
    }
  }
  sk_X509_free(between);
  ERR_clear_error();
  return root;
}

}  // namespace

Result<RequestedKey> read_request(std::string_view der) {
  if (der.empty() || der.size() > kLongestRequest) return refuse_issuer("the certificate request is empty or too long");
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const begin = bytes;
  const openssl::Request request(d2i_X509_REQ(nullptr, &bytes, static_cast<long>(der.size())));
  if (!request || bytes != begin + der.size()) return refuse_issuer("this is no certificate request (PKCS #10, DER)");
  openssl::PrivateKey key(X509_REQ_get_pubkey(request.get()));
  if (!key || !is_good_key(key.get()))
    return refuse_issuer(
        "the key of the certificate request must be elliptic (P-256, P-384), Ed25519 or RSA of 2048 to 4096 bits");
  if (X509_REQ_verify(request.get(), key.get()) != 1)
    return refuse_issuer("the certificate request is not signed by its own key");
  std::string hash = openssl::key_hash(key.get());
  return RequestedKey{std::shared_ptr<EVP_PKEY>(std::move(key)), std::move(hash)};
}

Result<std::shared_ptr<const Issuer>> Issuer::open(IssuerFiles files, const TlsFiles& tls, TimePoint now) {
  if (!openssl::are_certificates(files.certificate))
    return refuse_issuer("security.enroll.certificate has no valid PEM certificate");
  auto chain = openssl::read_certificates(files.certificate);
  if (!openssl::are_certificates(files.authorities))
    return refuse_issuer("security.enroll.authorities has no valid PEM certificate");
  openssl::PrivateKey key = openssl::read_private_key(files.key);
  if (!key) return refuse_issuer("security.enroll.key has no PEM private key without a password");
  X509* const own = chain.front().get();
  if (X509_check_private_key(own, key.get()) != 1)
    return refuse_issuer("security.enroll.key is not the key of security.enroll.certificate");
  if (X509_check_ca(own) != 1 || (X509_get_key_usage(own) & KU_KEY_CERT_SIGN) == 0)
    return refuse_issuer("security.enroll.certificate is not an authority's: it may not sign others");
  std::shared_ptr<Issuer> issuer(new Issuer(std::move(files)));
  issuer->begin_ = openssl::begin_of(own);
  issuer->end_ = openssl::end_of(own);
  for (const auto& each : chain) {
    issuer->end_ = std::min(issuer->end_, openssl::end_of(each.get()));
    // One that signed itself is an authority that the other side knows already.
    if (X509_check_issued(each.get(), each.get()) != X509_V_OK)
      issuer->chain_ += openssl::write_certificate(each.get());
  }
  if (issuer->end_ <= now) return refuse_issuer("security.enroll.certificate has expired");
  if (issuer->begin_ > now)
    return refuse_issuer("security.enroll.certificate is not valid yet: is the clock of this host right?");
  issuer->certificate_ = std::shared_ptr<X509>(std::move(chain.front()));
  issuer->key_ = std::shared_ptr<EVP_PKEY>(std::move(key));
  // Better now than with the first node: what it signs is tried as a client's.
  const auto tried = issuer->sign({issuer->key_, {}}, "a-node", now);
  if (!tried) return tl::unexpected(tried.error());
  if (!find_root(tried->certificate, tls.client_authorities, X509_PURPOSE_SSL_CLIENT, now))
    return refuse_issuer(
        "weftd would refuse the certificates that it signs: security.client_authorities must have the authority that "
        "security.enroll.certificate is, or leads to");
  const openssl::Certificate root =
      find_root(tls.certificate, issuer->files_.authorities, X509_PURPOSE_SSL_SERVER, now);
  if (!root)
    return refuse_issuer(
        "collectors would refuse weftd: set security.enroll.authorities to the authority of security.certificate");
  issuer->root_ = openssl::write_certificate(root.get());
  return issuer;
}

Result<Issued> Issuer::sign(const RequestedKey& key, const std::string& node, TimePoint now) const {
  if (auto good = check_node_name(node); !good) return tl::unexpected(good.error());
  const TimePoint end = std::min(now + files_.lifetime, end_);
  if (end <= now) return fail(ErrorCode::kFailedPrecondition, "security.enroll.certificate has expired");
  const TimePoint begin = std::max(now - std::min(kBackdated, files_.lifetime / 10), begin_);
  const openssl::Certificate signed_one(X509_new());
  X509* const made = signed_one.get();
  X509* const issuer = certificate_.get();
  bool done = made != nullptr && X509_set_version(made, X509_VERSION_3) == 1 && set_random_serial(made) &&
              X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 && set_validity(made, begin, end) &&
              set_subject(made, node) && X509_set_pubkey(made, key.key.get()) == 1;
  done = done && add_extension(made, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(made, issuer, NID_key_usage, "critical,digitalSignature") &&
         add_extension(made, issuer, NID_ext_key_usage, "clientAuth") &&
         add_extension(made, issuer, NID_subject_alt_name, "DNS:" + node + ",URI:" + std::string(kNodeUri) + node) &&
         add_extension(made, issuer, NID_subject_key_identifier, "hash") &&
         (X509_get0_subject_key_id(issuer) == nullptr ||
          add_extension(made, issuer, NID_authority_key_identifier, "keyid"));
  done = done && X509_sign(made, key_.get(), digest_of(key_.get())) > 0;
  ERR_clear_error();
  if (!done) return fail(ErrorCode::kInternal, "OpenSSL could not sign a certificate for " + node);
  return Issued{openssl::write_certificate(made) + chain_, openssl::end_of(made)};
}

}  // namespace weft::api::access
