// SPDX-License-Identifier: Apache-2.0
#include "api/access/issuer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "api/access/identity.hpp"
#include "api/access/own_certificate.hpp"
#include "tests/unit/api/access/authority.hpp"

namespace weft::api::access {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Duration kMonth = 30 * 24h;

struct Site {
  Signed root = authority("site root");
  Signed other = authority("another root");
  Signed web = server(root);

  TlsFiles tls() const { return {.certificate = web.pem(), .key = web.key(), .client_authorities = root.pem()}; }
  IssuerFiles files() const {
    return {.certificate = root.pem(), .key = root.key(), .authorities = root.pem(), .lifetime = kMonth};
  }
};

std::string refusal(IssuerFiles files, const TlsFiles& tls, TimePoint now = kToday) {
  const auto opened = Issuer::open(std::move(files), tls, now);
  return opened ? "none" : opened.error().message;
}

std::shared_ptr<X509> first_of(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  std::shared_ptr<X509> certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), X509_free);
  BIO_free_all(bio);
  return certificate;
}

/// A request of a key of its own.
std::string some_request(std::string* key = nullptr) {
  const std::string made = make_private_key().value();
  if (key != nullptr) *key = made;
  return make_request(made).value();
}

TEST(Issuer, SignsForTheNodeAndForNothingElse) {
  const Site site;
  const auto issuer = Issuer::open(site.files(), site.tls(), kToday);
  ASSERT_TRUE(issuer) << issuer.error().message;
  std::string key;
  const auto request = read_request(some_request(&key));
  ASSERT_TRUE(request) << request.error().message;
  const auto issued = (*issuer)->sign(*request, "dgx-01.compute", kToday);
  ASSERT_TRUE(issued) << issued.error().message;
  EXPECT_EQ(issued->end, kToday + kMonth);
  const auto made = first_of(issued->certificate);
  EXPECT_THAT(certificate_names(made.get()), ElementsAre("dgx-01.compute", "weft://collector/dgx-01.compute"));
  EXPECT_EQ(X509_check_ca(made.get()), 0);
  EXPECT_EQ(X509_get_extended_key_usage(made.get()), XKU_SSL_CLIENT + 0U);
  EXPECT_EQ(X509_get_key_usage(made.get()), KU_DIGITAL_SIGNATURE + 0U);
  EXPECT_NE(X509_get0_authority_key_id(made.get()), nullptr);
  const auto own = read_own_certificate(key + issued->certificate);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->node, "dgx-01.compute");
  EXPECT_EQ(own->begin, kToday - 5min);
  EXPECT_EQ(own->end, kToday + kMonth);
  EXPECT_EQ((*issuer)->root(), site.root.pem());
  const auto another = (*issuer)->sign(*request, "dgx-01.compute", kToday);
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(made.get()),
                             X509_get0_serialNumber(first_of(another->certificate).get())),
            0);
  for (const char* name : {"", "a b", "a,DNS:root", "-x", ".", "a/b", "\xC3\xA5"})
    EXPECT_FALSE((*issuer)->sign(*request, name, kToday)) << name;
  EXPECT_FALSE((*issuer)->sign(*request, std::string(65, 'a'), kToday));
}

TEST(Issuer, LetsNoCertificateOutliveTheAuthority) {
  Site site;
  site.root = authority("site root", nullptr, 3);
  site.web = server(site.root);
  const auto issuer = Issuer::open(site.files(), site.tls(), kToday);
  ASSERT_TRUE(issuer) << issuer.error().message;
  const auto issued = (*issuer)->sign(*read_request(some_request()), "dgx-01", kToday);
  ASSERT_TRUE(issued);
  EXPECT_EQ(issued->end, kToday + 3 * 24h);
  EXPECT_FALSE((*issuer)->sign(*read_request(some_request()), "dgx-01", kToday + 4 * 24h));
}

TEST(Issuer, MayBeAnIntermediateOneOfTheSite) {
  const Site site;
  const Signed between = authority("weft authority", &site.root);
  IssuerFiles files = site.files();
  files.certificate = between.pem();
  files.key = between.key();
  const auto issuer = Issuer::open(files, site.tls(), kToday);
  ASSERT_TRUE(issuer) << issuer.error().message;
  const auto issued = (*issuer)->sign(*read_request(some_request()), "dgx-01", kToday);
  ASSERT_TRUE(issued);
  EXPECT_THAT(issued->certificate, ::testing::EndsWith(between.pem())) << "a client shows it too";
  EXPECT_EQ((*issuer)->root(), site.root.pem()) << "of weftd's own certificate";
}

TEST(CheckTls, RefusesACertificateThatIsNotValidNow) {
  const Site site;
  const TlsFiles files = site.tls();
  EXPECT_TRUE(check_tls(files, kToday));
  const auto refused = [&files](TimePoint now) {
    const auto good = check_tls(files, now);
    return good ? std::string() : good.error().message;
  };
  EXPECT_EQ(refused(kToday + 101 * 24h), "security.certificate has expired");
  EXPECT_THAT(refused(kToday - 101 * 24h), HasSubstr("security.certificate is not valid yet"));
}

TEST(Issuer, RefusesWhatCouldNotWork) {
  const Site site;
  const auto with = [&](auto change) {
    IssuerFiles files = site.files();
    change(files);
    return refusal(files, site.tls());
  };
  EXPECT_THAT(with([](auto& f) { f.certificate = "nonsense"; }), HasSubstr("enroll.certificate has no valid PEM"));
  EXPECT_THAT(with([](auto& f) { f.authorities = ""; }), HasSubstr("enroll.authorities has no valid PEM"));
  EXPECT_THAT(with([](auto& f) { f.key = "nonsense"; }), HasSubstr("enroll.key has no PEM private key"));
  EXPECT_THAT(with([&](auto& f) { f.key = site.other.key(); }), HasSubstr("is not the key of"));
  EXPECT_THAT(with([&](auto& f) {
                f.certificate = site.web.pem();
                f.key = site.web.key();
              }),
              HasSubstr("is not an authority's"));
  EXPECT_THAT(with([&](auto& f) {
                f.certificate = site.other.pem();
                f.key = site.other.key();
              }),
              HasSubstr("weftd would refuse the certificates that it signs"));
  EXPECT_THAT(with([&](auto& f) { f.authorities = site.other.pem(); }), HasSubstr("collectors would refuse weftd"));
  EXPECT_THAT(refusal(site.files(), site.tls(), kToday + 101 * 24h), HasSubstr("has expired"));
  EXPECT_THAT(refusal(site.files(), site.tls(), kToday - 101 * 24h), HasSubstr("is not valid yet"));
  // An authority that may have none below it.
  Site narrow;
  narrow.root =
      Signed("narrow", nullptr,
             {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"}, {NID_key_usage, "critical,keyCertSign"}});
  narrow.web = server(narrow.root);
  EXPECT_EQ(refusal(narrow.files(), narrow.tls()), "none");
  const Signed below = authority("below", &narrow.root);
  IssuerFiles files = narrow.files();
  files.certificate = below.pem();
  files.key = below.key();
  EXPECT_THAT(refusal(files, narrow.tls()), HasSubstr("weftd would refuse the certificates"));
}

TEST(CertificateRequest, OfABadKeyOrABadSignatureIsRefused) {
  const auto why = [](const std::string& der) {
    const auto read = read_request(der);
    return read ? "none" : read.error().message;
  };
  std::string request = some_request();
  EXPECT_EQ(why(request), "none");
  EXPECT_THAT(why(request + 'x'), HasSubstr("no certificate request"));
  EXPECT_THAT(why(request.substr(0, request.size() - 1)), HasSubstr("no certificate request"));
  EXPECT_THAT(why(""), HasSubstr("empty or too long"));
  EXPECT_THAT(why(std::string(20'000, 'x')), HasSubstr("empty or too long"));
  request[request.size() - 3] = static_cast<char>(request[request.size() - 3] ^ 1);
  EXPECT_THAT(why(request), HasSubstr("not signed by its own key"));
  const auto of_key = [&](EVP_PKEY* key) {
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    const auto made = make_request({data, static_cast<std::size_t>(size)});
    BIO_free_all(bio);
    EVP_PKEY_free(key);
    return made ? why(*made) : made.error().message;
  };
  EXPECT_EQ(of_key(EVP_EC_gen("P-384")), "none");
  EXPECT_EQ(of_key(EVP_RSA_gen(2048)), "none");
  EXPECT_THAT(of_key(EVP_RSA_gen(1024)), HasSubstr("must be elliptic"));
  EXPECT_THAT(of_key(EVP_EC_gen("secp256k1")), HasSubstr("must be elliptic"));
}

TEST(OwnCertificate, IsOneOfItsKeyThatWasEnrolled) {
  const Site site;
  const auto why = [](const std::string& pem) {
    const auto read = read_own_certificate(pem);
    return read ? "none" : read.error().message;
  };
  EXPECT_THAT(why(""), HasSubstr("no private key"));
  EXPECT_THAT(why(site.web.key()), HasSubstr("no certificate"));
  EXPECT_THAT(why(site.web.key() + site.root.pem()), HasSubstr("of another key"));
  EXPECT_THAT(why(site.web.key() + site.web.pem()), HasSubstr("not one that weftd signs"));
}

TEST(EnrollText, ComesBackAsItWas) {
  const Site site;
  const std::string secret = make_secret().value();
  EXPECT_EQ(secret.size(), 43U);
  EXPECT_NE(secret, make_secret().value());
  const std::string line = format_enroll_text({"dgx-01", secret, site.root.pem()});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = parse_enroll_text(" " + line + "\r\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->node, "dgx-01");
  EXPECT_EQ(read->secret, secret);
  EXPECT_EQ(read->authority, site.root.pem());
  for (const char* none : {"", " \n", "none", "none\n"}) EXPECT_TRUE(is_no_token(none));
  EXPECT_FALSE(is_no_token(line) || is_no_token("nonesuch"));
  for (const std::string& wrong :
       {std::string(), std::string("none"), line.substr(0, line.size() - 4), line + "AAAA", "weft2" + line.substr(5),
        "weft1:dgx 01" + line.substr(line.find(':', 6)), "weft1:dgx-01:short" + line.substr(line.rfind(':')),
        line.substr(0, line.rfind(':'))}) {
    const auto refused = parse_enroll_text(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr(secret)));
  }
}

TEST(Identify, AnEnrolledCertificateIsThatCollectorWhateverItsNamesAre) {
  Rules rules{.tokens = {}, .certificates = {{"admin", Role::kAdmin}, {"*", Role::kViewer}}, .enrolls = true};
  const std::vector<std::string> names{"admin", "weft://collector/admin"};
  const auto found = identify(rules, {{}, names, {}}, kToday);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->role, Role::kCollector);
  EXPECT_THAT((*found)->nodes, ElementsAre("admin"));
  EXPECT_FALSE(authorize_node(**found, "dgx-01"));
  // Its first label alone is another node.
  const std::vector<std::string> full{"a.example", "weft://collector/a.example"};
  EXPECT_FALSE(authorize_node(**identify(rules, {{}, full, {}}, kToday), "a"));
  // Where weftd enrolls nobody such a certificate is not an admin's either.
  rules.enrolls = false;
  EXPECT_EQ(*identify(rules, {{}, names, {}}, kToday), std::nullopt);
  rules.certificates.push_back({"a*", Role::kCollector});
  EXPECT_EQ((**identify(rules, {{}, names, {}}, kToday)).role, Role::kCollector);
  // No pattern takes the URI itself, and a wrong one is nobody's.
  rules = {.tokens = {}, .certificates = {{"weft://*", Role::kCollector}}, .enrolls = true};
  const std::vector<std::string> wrong{"weft://collector/a b"};
  EXPECT_EQ(*identify(rules, {{}, wrong, {}}, kToday), std::nullopt);
}

}  // namespace
}  // namespace weft::api::access
