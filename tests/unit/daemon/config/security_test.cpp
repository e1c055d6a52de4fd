// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon/config/load.hpp"

namespace weft::config {
namespace {

using testing::HasSubstr;

std::string security_errors_of(const std::string& text) {
  return print(load_text<WeftdConfig>(text, "weftd.toml", {}).errors);
}

constexpr const char* kTls = "[security]\ncertificate = \"/c\"\nkey = \"/k\"\n";

TEST(SecurityConfig, IsOffAndOnLoopbackByDefault) {
  EXPECT_EQ(security_errors_of(""), "");
  EXPECT_FALSE(WeftdConfig().security.is_guarded());
  for (const char* loopback : {"127.0.0.1", "127.200.3.4", "[::1]"})
    EXPECT_EQ(security_errors_of("[listen]\nhttp = \"" + std::string(loopback) + ":9640\"\n"), "") << loopback;
}

TEST(SecurityConfig, PlainTextForOthersMustBeAllowed) {
  for (const char* address : {"0.0.0.0", "192.0.2.1", "128.0.0.1", "[::]", "[2001:db8::1]", "[::ffff:127.0.0.1]"})
    for (const char* listener : {"http", "grpc"}) {
      const std::string listen = std::string("[listen]\n") + listener + " = \"" + address + ":9999\"\n";
      EXPECT_THAT(security_errors_of(listen),
                  HasSubstr(std::string("listen.") + listener + ": " + address + ":9999 is no loopback address"))
          << address;
      EXPECT_EQ(security_errors_of(listen + "[security]\nallow_plain_text = true\n"), "");
      EXPECT_EQ(security_errors_of(listen + kTls + "tokens_file = \"/t\"\n"), "");
      EXPECT_NE(security_errors_of(listen + "[security]\ntokens_file = \"/t\"\n"), "")
          << "others could read the tokens";
    }
}

TEST(SecurityConfig, WhatGoesTogetherIsAskedFor) {
  EXPECT_THAT(security_errors_of("[security]\ncertificate = \"/c\"\n"), HasSubstr("security.key: must be set too"));
  EXPECT_THAT(security_errors_of("[security]\nkey = \"/k\"\n"), HasSubstr("security.certificate: must be set too"));
  EXPECT_THAT(security_errors_of(kTls), HasSubstr("security.certificate: nobody could get in"));
  EXPECT_THAT(security_errors_of(std::string(kTls) + "client_authorities = \"/a\"\n"),
              HasSubstr("nobody could get in"));
  EXPECT_EQ(
      security_errors_of(std::string(kTls) + "client_authorities = \"/a\"\ncertificate_roles = [\"ann=admin\"]\n"), "");
  EXPECT_THAT(security_errors_of("[security]\nclient_authorities = \"/a\"\n"), HasSubstr("takes TLS"));
  EXPECT_THAT(security_errors_of(std::string(kTls) + "tokens_file = \"/t\"\nrequire_client_certificate = true\n"),
              HasSubstr("security.require_client_certificate: takes security.client_authorities"));
  EXPECT_THAT(security_errors_of("[security]\ntokens_file = \"/t\"\ncertificate_roles = [\"ann=admin\"]\n"),
              HasSubstr("security.certificate_roles: takes security.client_authorities"));
  for (const char* role : {"ann", "ann=boss", "*.*=viewer"})
    EXPECT_THAT(
        security_errors_of(std::string(kTls) + "client_authorities = \"/a\"\ncertificate_roles = [\"" + role + "\"]\n"),
        HasSubstr("weftd.toml:5: security.certificate_roles: "));
}

TEST(SecurityConfig, AProxyIsKnownAndItsUsersHaveRoles) {
  const std::string tls = std::string(kTls) + "client_authorities = \"/a\"\n";
  const auto errors = [](const std::string& before, const std::string& proxy) {
    return security_errors_of(before + "[security.proxy]\n" + proxy);
  };
  const std::string gateway = "certificates = [\"gateway\"]\n", secret = "secret_file = \"/s\"\n";
  const std::string ops = "group_roles = [\"ops=operator\"]\n";
  EXPECT_EQ(errors(tls, gateway + ops), "") << "people get in through it";
  EXPECT_EQ(errors("", secret + "default_role = \"viewer\"\n"), "");
  EXPECT_TRUE(load_text<WeftdConfig>("[security.proxy]\n" + secret + ops, "x", {}).config.security.is_guarded());
  EXPECT_THAT(errors("", gateway + ops), HasSubstr("security.proxy.certificates: takes security.client_authorities"));
  EXPECT_THAT(errors("", ops), HasSubstr("security.proxy.group_roles: takes security.proxy.certificates or "));
  EXPECT_THAT(errors("", "default_role = \"viewer\"\n"), HasSubstr("security.proxy.default_role: takes "));
  EXPECT_THAT(errors("", secret), HasSubstr("security.proxy.secret_file: gives no user a role"));
  EXPECT_THAT(errors(tls, gateway), HasSubstr("security.proxy.certificates: gives no user a role"));
  EXPECT_THAT(errors("", secret + "default_role = \"collector\"\n"), HasSubstr("security.proxy.default_role"));
  EXPECT_THAT(errors("", secret + "group_roles = [\"ops=collector\"]\n"), HasSubstr("which is no person's"));
  EXPECT_THAT(errors("", secret + ops + "user_header = \"X_User\"\n"), HasSubstr("letters, digits and '-'"));
  EXPECT_THAT(errors("", secret + ops + "user_header = \"authorization\"\n"), HasSubstr("means something else"));
  EXPECT_THAT(errors("", secret + ops + "user_header = \"x-forwarded-groups\"\n"), HasSubstr("must be another header"));
  EXPECT_THAT(errors(tls, "certificates = [\"*.example\"]\n" + ops), HasSubstr("without '*'"));
  EXPECT_THAT(errors(tls + "certificate_roles = [\"gate*=viewer\"]\n", gateway + ops),
              HasSubstr("\"gateway\" has a role by \"gate*=viewer\""));
}

TEST(SecurityConfig, ACollectorsFilesGoTogether) {
  const auto errors = [](const std::string& text) {
    return print(load_text<CollectorConfig>("[analyzer]\n" + text, "weft-collector.toml", {}).errors);
  };
  EXPECT_EQ(errors("authorities = \"/a\"\ncertificate = \"/c\"\nkey = \"/k\"\n"), "");
  EXPECT_EQ(errors("authorities = \"/a\"\ntoken_file = \"/t\"\n"), "");
  EXPECT_THAT(errors("authorities = \"/a\"\ncertificate = \"/c\"\n"), HasSubstr("analyzer.key: must be set too"));
  EXPECT_THAT(errors("certificate = \"/c\"\nkey = \"/k\"\n"), HasSubstr("takes TLS"));
  EXPECT_EQ(errors("address = [\"127.0.0.1:1\", \"localhost:1\", \"[::1]:1\"]\ntoken_file = \"/t\"\n"), "");
  EXPECT_EQ(errors("address = \"mgmt1:9641\"\nauthorities = \"/a\"\ntoken_file = \"/t\"\n"), "");
  EXPECT_THAT(errors("address = [\"127.0.0.1:1\", \"192.0.2.2:9641\"]\ntoken_file = \"/t\"\n"),
              HasSubstr("analyzer.token_file: would go to 192.0.2.2:9641 in clear text: set analyzer.authorities"));
}

TEST(SecurityConfig, AnAuthorityNeedsWhatChecksItsCertificates) {
  const std::string enroll = "[security.enroll]\ncertificate = \"/ca\"\nkey = \"/ca-key\"\n";
  const std::string tls = std::string(kTls) + "client_authorities = \"/a\"\n";
  EXPECT_EQ(security_errors_of(tls + enroll), "") << "collectors get in";
  EXPECT_THAT(security_errors_of(tls + "[security.enroll]\ncertificate = \"/ca\"\n"),
              HasSubstr("security.enroll.key: must be set too"));
  EXPECT_THAT(security_errors_of(tls + "[security.enroll]\nkey = \"/ca\"\n"),
              HasSubstr("security.enroll.certificate: must be set too"));
  EXPECT_THAT(security_errors_of(std::string(kTls) + "tokens_file = \"/t\"\n" + enroll),
              HasSubstr("security.enroll.certificate: takes security.client_authorities"));
  EXPECT_THAT(security_errors_of(tls + "require_client_certificate = true\n" + enroll),
              HasSubstr("a new node has no certificate yet"));
  EXPECT_THAT(security_errors_of(tls + enroll + "lifetime = \"9s\"\n"), HasSubstr("too small"));
}

TEST(SecurityConfig, ACollectorThatIsEnrolledHasNoOtherFiles) {
  const auto errors = [](const std::string& text) {
    return print(load_text<CollectorConfig>(text, "weft-collector.toml", {}).errors);
  };
  const std::string enroll = "[analyzer]\nenroll_token_file = \"/t\"\n";
  EXPECT_EQ(errors(enroll), "");
  EXPECT_EQ(errors("node_name = \"dgx-01.compute\"\n" + enroll), "");
  for (const char* name : {"a\\nb", "a\\u007fb"})
    EXPECT_THAT(errors("node_name = \"" + std::string(name) + "\"\n"),
                HasSubstr("255 bytes without control characters"));
  EXPECT_THAT(errors("node_name = \"gpu 1\"\n" + enroll), HasSubstr("node_name: must have 1 to 64 letters"));
  for (const char* key : {"authorities", "token_file"})
    EXPECT_THAT(errors(enroll + key + " = \"/x\"\n"),
                HasSubstr(std::string("analyzer.") + key + ": must be empty beside analyzer.enroll_token_file"));
}

TEST(SecurityConfig, ACredentialIsWhereTheUnitHasIt) {
  const auto load = [] {
    return load_text<CollectorConfig>("[analyzer]\nenroll_token_file = \"$CREDENTIALS_DIRECTORY/a_b\"\n", "x.toml", {});
  };
  ::unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_THAT(print(load().errors), HasSubstr("x.toml:2: analyzer.enroll_token_file: is a credential of the unit"));
  ::setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x.service", 1);
  EXPECT_EQ(load().config.analyzer.enroll_token_file, "/run/credentials/x.service/a_b");
  ::unsetenv("CREDENTIALS_DIRECTORY");
}

}  // namespace
}  // namespace weft::config
