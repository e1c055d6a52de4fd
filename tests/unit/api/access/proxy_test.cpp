// SPDX-License-Identifier: Apache-2.0
#include "api/access/proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/access/identity.hpp"
#include "fabric/clock.hpp"

namespace weft::api::access {
namespace {

using ::testing::HasSubstr;

const std::string kSecret(32, 's');
const std::vector<std::string> kGateway{"gateway.example"};

ProxyRules rules() {
  return {.certificates = {"gateway.example"},
          .secret = sha256(kSecret),
          .user_header = "X-Forwarded-User",
          .groups_header = "X-Forwarded-Groups",
          .groups = {{"staff", Role::kViewer}, {"ops", Role::kOperator}, {"owners", Role::kAdmin}},
          .others = std::nullopt};
}

using Fields = std::vector<HeaderField>;

/// "alice via gateway.example, operator", "nobody", or why it is refused.
std::string said(const Fields& fields, const std::vector<std::string>& names = kGateway, bool is_local = false,
                 const ProxyRules& of = rules()) {
  const auto word = hear_proxy(of, fields, names, is_local);
  if (!word) return std::string(to_string(word.error().code)) + ": " + word.error().message;
  if (!word->user) return word->is_proxy ? "a proxy" : "nobody";
  return word->user->name + ", " + std::string(to_string(word->user->role));
}

Fields alice(const std::string& groups = "staff,ops") {
  return {{"Host", "x"}, {"X-Forwarded-User", "alice"}, {"X-Forwarded-Groups", groups}};
}

TEST(Proxies, NameTheirUsersWithTheHighestRoleOfTheirGroups) {
  EXPECT_EQ(said(alice()), "alice via gateway.example, operator");
  EXPECT_EQ(said(alice("owners , staff")), "alice via gateway.example, admin");
  EXPECT_EQ(said(alice(", ,staff,")), "alice via gateway.example, viewer");
  EXPECT_EQ(said({{"x-forwarded-user", "alice@example.com"}, {"X-FORWARDED-GROUPS", "ops"}}, {"GATEWAY.example"}),
            "alice@example.com via gateway.example, operator")
      << "letters of headers and hosts are of any case";
  EXPECT_THAT(said(alice("Ops")), HasSubstr("permission_denied: permission denied: no group of alice has a role"));
  EXPECT_THAT(said(alice("")), HasSubstr("no group of alice has a role"));
  EXPECT_THAT(said({{"X-Forwarded-User", "alice"}}), HasSubstr("no group of alice has a role"));
  ProxyRules open = rules();
  open.others = Role::kViewer;
  EXPECT_EQ(said({{"X-Forwarded-User", "alice"}}, kGateway, false, open), "alice via gateway.example, viewer");
  EXPECT_EQ(said(alice(), kGateway, false, open), "alice via gateway.example, operator");
  EXPECT_EQ(said({{"Host", "x"}}), "a proxy") << "a probe of its own";
}

TEST(Proxies, AreKnownByWhatNobodyElseCanClaim) {
  const auto refused = HasSubstr("unauthenticated: X-Forwarded-User counts only from a proxy that is trusted");
  EXPECT_THAT(said(alice(), {}), refused);
  EXPECT_THAT(said(alice(), {}, true), refused) << "an address alone is none";
  EXPECT_THAT(said(alice(), {"alice"}), refused);
  EXPECT_THAT(said(alice(), {"x.gateway.example"}), refused);
  EXPECT_THAT(said(alice(), {"gateway.example", std::string(kNodeUri) + "gateway.example"}), refused)
      << "a collector that is called as the proxy is";
  EXPECT_THAT(said({{"X-Forwarded-Groups", "owners"}}, {}), HasSubstr("X-Forwarded-Groups counts only from"));
  EXPECT_EQ(said({{"Host", "x"}}, {}), "nobody");
}

TEST(Proxies, OfThisMachineMayShowASecret) {
  Fields fields = alice();
  fields.emplace_back(kProxySecretHeader, kSecret);
  EXPECT_EQ(said(fields, {}, true), "alice via a local proxy, operator");
  EXPECT_THAT(said(fields, {}, false), HasSubstr("the secret of a proxy is wrong, or does not come from this machine"));
  EXPECT_EQ(said(fields, kGateway, true), "alice via gateway.example, operator");
  fields.back().second.back() = 't';
  EXPECT_THAT(said(fields, {}, true), HasSubstr("the secret of a proxy is wrong"));
  fields.back().second.clear();
  EXPECT_THAT(said(fields, {}, true), HasSubstr("the secret of a proxy is wrong"));
  ProxyRules without = rules();
  without.secret.reset();
  fields.back().second = kSecret;
  EXPECT_THAT(said(fields, {}, true, without), HasSubstr("the secret of a proxy is wrong"));
  EXPECT_EQ(said({{std::string(kProxySecretHeader), kSecret}}, {}, true), "a proxy");
}

TEST(Proxies, AreRefusedWhatAnotherProgramMayHaveReadInAnotherWay) {
  for (const char* header : {"X-Forwarded-User", "X-Forwarded-Groups"}) {
    Fields twice = alice();
    twice.emplace_back(header, "root");
    EXPECT_THAT(said(twice), HasSubstr(std::string(header) + " was sent twice"));
    std::string other(header);
    other[1] = '_';
    twice.back().first = other;
    EXPECT_THAT(said(twice), HasSubstr(std::string(header) + " was sent with '_' for '-'"));
    EXPECT_THAT(said({{other, "root"}}), HasSubstr("was sent with '_' for '-'"));
    EXPECT_THAT(said({{other, "root"}}, {}), HasSubstr("was sent with '_' for '-'")) << "whoever sends it";
  }
  const auto named = [](const std::string& user) { return said({{"X-Forwarded-User", user}}); };
  for (const std::string& user : {std::string(), std::string(129, 'a'), std::string("a b"), std::string("a\tb"),
                                  std::string("a\nb"), std::string("a\0b", 3), std::string("a,b"), std::string("a\"b"),
                                  std::string("jos\xc3\xa9"), std::string("a\x7f")})
    EXPECT_THAT(named(user), HasSubstr("a user who is not 1 to 128 visible characters")) << user;
  EXPECT_THAT(named(std::string(128, 'a')), HasSubstr("no group of"));
  EXPECT_THAT(said({{"X-Forwarded-Groups", "ops"}}), HasSubstr("named groups, and no user"));
  EXPECT_THAT(said(alice("ops\x01")), HasSubstr("too long, or have control characters"));
  EXPECT_THAT(said(alice("ops," + std::string(8192, 'x'))), HasSubstr("too long, or have control characters"));
}

TEST(Proxies, CountBehindTokensAndBeforeCertificates) {
  const TimePoint now = kNever;
  Rules all{.tokens = {{.name = "olga", .role = Role::kViewer, .node = {}, .hash = sha256("t"), .expires = {}}},
            .certificates = {{"gateway.example", Role::kAdmin}, {"ann", Role::kAdmin}},
            .proxies = rules()};
  const auto who = [&](const Fields& fields, const std::vector<std::string>& names, std::string_view token = {}) {
    const auto found =
        identify(all, {.authorization = token, .certificate_names = names, .peer = {}, .fields = fields}, now);
    return !found ? found.error().message : !*found ? "nobody" : (*found)->name;
  };
  EXPECT_EQ(who(alice(), kGateway), "alice via gateway.example");
  EXPECT_EQ(who(alice(), kGateway, "Bearer t"), "olga");
  EXPECT_EQ(who(alice(), kGateway, "Bearer u"), "unknown token");
  EXPECT_EQ(who({}, kGateway), "nobody") << "a proxy that names nobody is nobody, whatever else its certificate says";
  EXPECT_EQ(who({}, {"ann"}), "ann");
  EXPECT_THAT(who(alice(), {"ann"}), HasSubstr("counts only from a proxy"));
  EXPECT_THAT(who(alice(), {}, "Bearer t"), HasSubstr("counts only from a proxy"));
  all.proxies = {};
  EXPECT_EQ(who(alice(), {}), "nobody") << "without proxies these are headers like others";
}

TEST(Proxies, RulesAreRead) {
  const auto rule = parse_group_rule("cn=fabric ops=operator");
  ASSERT_TRUE(rule);
  EXPECT_EQ(*rule, (GroupRule{"cn=fabric ops", Role::kOperator}));
  for (const char* wrong : {"ops", "=viewer", "ops=boss", "ops=collector", "a,b=viewer", " a=viewer", "a\x01=viewer"})
    EXPECT_FALSE(parse_group_rule(wrong)) << wrong;
  EXPECT_TRUE(check_identity_header("Remote-User"));
  for (const char* wrong : {"", "X_User", "X User", "X-User:", "Authorization", "host", "X-Weft-Proxy-Secret"})
    EXPECT_FALSE(check_identity_header(wrong)) << wrong;
  EXPECT_FALSE(check_identity_header(std::string(65, 'x')));
  EXPECT_TRUE(check_proxy_secret(kSecret));
  for (const std::string& wrong : {std::string(31, 's'), std::string(257, 's'), std::string(32, ' ')})
    EXPECT_FALSE(check_proxy_secret(wrong));
}

}  // namespace
}  // namespace weft::api::access
