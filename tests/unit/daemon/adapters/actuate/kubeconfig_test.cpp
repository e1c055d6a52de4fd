// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubeconfig.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace weft::actuate {
namespace {

const char* const kConfig = R"(apiVersion: v1
kind: Config
current-context: b
contexts:
- {name: a, context: {cluster: one, user: token}}
- {name: b, context: {cluster: two, user: certified, namespace: x}}
- {name: c, context: {cluster: one, user: filed}}
clusters:
- name: one
  cluster: {server: "https://one:6443/", certificate-authority: ca.pem}
- name: two
  cluster:
    server: https://two
    certificate-authority-data: Q0EgREFUQQ==
users:
- {name: token, user: {token: secret}}
- {name: certified, user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}}
- {name: filed, user: {tokenFile: token}}
)";

class Kubeconfig : public testing::Test {
 protected:
  Kubeconfig() {
    char name[] = "/tmp/weft-kubeconfig-XXXXXX";
    place_ = ::mkdtemp(name);
    write("ca.pem", "CA FILE", 0644);
  }
  ~Kubeconfig() override { std::filesystem::remove_all(place_); }
  std::filesystem::path write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::ofstream(place_ / name) << text;
    ::chmod((place_ / name).c_str(), mode);
    return place_ / name;
  }
  Result<KubernetesAccess> load(const std::string& text, const std::string& context = "") {
    return load_kubeconfig(write("config", text), context);
  }
  /// kConfig with one piece of text in another's place.
  std::string with(const std::string& piece, const std::string& other) {
    std::string text = kConfig;
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    return text.replace(at, piece.size(), other);
  }
  void expect_wrong(const std::string& text, const std::string& words, const std::string& context = "") {
    const auto access = load(text, context);
    ASSERT_FALSE(access) << words;
    EXPECT_EQ(access.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(access.error().message.find(words), std::string::npos) << access.error().message;
  }
  std::filesystem::path place_;
};

TEST_F(Kubeconfig, GivesServerAndIdentityOfItsContext) {
  const auto certified = load(kConfig);
  ASSERT_TRUE(certified) << certified.error().message;
  EXPECT_EQ(certified->server, "https://two");
  EXPECT_EQ(certified->tls.certificate_authorities, "CA DATA");
  EXPECT_EQ(certified->tls.client_certificate, "CERT");
  EXPECT_EQ(certified->tls.client_key, "KEY");
  EXPECT_EQ(certified->token, "");

  const auto token = load(kConfig, "a");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->server, "https://one:6443");
  EXPECT_EQ(token->tls.certificate_authorities, "CA FILE");
  EXPECT_EQ(token->token, "secret");

  EXPECT_EQ(load(kConfig, "c")->token_file, place_ / "token");
}

TEST_F(Kubeconfig, WhatIsMissingOrUnsafeIsRefused) {
  expect_wrong(kConfig, "no context 'd'", "d");
  expect_wrong(with("current-context: b\n", ""), "no current-context");
  expect_wrong(with("https://two", "http://two"), "https://");
  expect_wrong(with("server: https://two", "server: https://two\n    insecure-skip-tls-verify: true"),
               "must be verified");
  expect_wrong(with("server: https://two", "server: https://two\n    proxy-url: http://p"), "proxy-url");
  expect_wrong(with("Q0EgREFUQQ==", "_not_"), "not base64");
  expect_wrong(with(", client-key-data: S0VZ", ""), "without its key");
  expect_wrong(with("token: secret", "exec: {command: x}"), "exec", "a");
  expect_wrong(with("token: secret", "username: x"), "username", "a");
  expect_wrong(with("token: secret", "as: x"), "neither a token", "a");
  expect_wrong("- a\n", "not a YAML map");
  expect_wrong("{", "not YAML");
  expect_wrong("contexts: 7\ncurrent-context: a\n", "no context 'a'");
}

TEST_F(Kubeconfig, ThatOthersMayReadIsRefused) {
  EXPECT_EQ(load_kubeconfig(write("open", kConfig, 0644), "").error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(load_kubeconfig(place_ / "none", "").error().code, ErrorCode::kNotFound);
}

TEST_F(Kubeconfig, AServiceAccountIsThePodsOwn) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_EQ(load_service_account(place_).error().code, ErrorCode::kNotFound);
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  write("ca.crt", "CA", 0644);
  EXPECT_EQ(load_service_account(place_).error().code, ErrorCode::kNotFound);
  write("token", "t", 0644);
  const auto access = load_service_account(place_);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, place_ / "token");
  EXPECT_TRUE(access->token_is_mounted);
}

}  // namespace
}  // namespace weft::actuate
