// SPDX-License-Identifier: Apache-2.0
#include "api/access/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::api::access {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// printf %s open-sesame | sha256sum
constexpr const char* kHash = "d7ecdf25eaf3deba0f2628771dbdd22d4138ab6cf38f91ed02a2ca0dec7c8ab7";

std::string line(const std::string& rest, const std::string& name = "ann") {
  return name + ' ' + rest + '\n';
}

TEST(Tokens, AreReadFromLines) {
  const std::string other(64, 'A');
  const auto tokens = parse_tokens("# who\n\n" + line("operator " + std::string(kHash) + "  # the day shift") +
                                   line("collector " + other + " node=dgx-04 expires=2027-01-31T12:00:01Z\r", "dgx"));
  ASSERT_TRUE(tokens) << tokens.error().message;
  ASSERT_EQ(tokens->size(), 2U);
  EXPECT_EQ((*tokens)[0].name, "ann");
  EXPECT_EQ((*tokens)[0].role, Role::kOperator);
  EXPECT_EQ((*tokens)[0].hash, sha256("open-sesame"));
  EXPECT_FALSE((*tokens)[0].expires);
  EXPECT_EQ((*tokens)[1].node, "dgx-04");
  EXPECT_EQ((*tokens)[1].expires, TimePoint(1'801'396'801s));  // date -u -d 2027-01-31T12:00:01Z +%s
  EXPECT_TRUE(parse_tokens("")->empty());
}

TEST(Tokens, ThatAreWrongSayInWhichLine) {
  const std::string hash = kHash;
  const std::pair<std::string, const char*> wrong[] = {
      {"ann", "is not a role"},
      {"ann boss " + hash, "is not a role"},
      {"ann viewer", "SHA-256"},
      {"ann viewer " + hash + "00", "SHA-256"},
      {"ann viewer open-sesame", "SHA-256"},
      {"ann viewer " + std::string(63, '1') + "x", "SHA-256"},
      {"ann viewer " + std::string(63, '1') + "+", "SHA-256"},
      {"a=b viewer " + hash, "a name"},
      {std::string(256, 'a') + " viewer " + hash, "a name"},
      {"ann viewer " + hash + " soon", "must be node=NAME"},
      {"ann viewer " + hash + " expires=tomorrow", "2027-01-31"},
      {"ann viewer " + hash + " expires=2027-02-30T00:00:00Z", "2027-01-31"},
      {"ann viewer " + hash + " expires=2027-01-01T24:00:00Z", "2027-01-31"},
      {"ann viewer " + hash + " expires=9999-01-01T00:00:00Z", "2027-01-31"},
      {"ann viewer " + hash + " node=x", "only a collector"},
      {"ann collector " + hash, "needs its node"},
      {"ann collector " + hash + " node=", "must be node=NAME"},
      {"ann collector " + hash + " node=a node=b", "must be node=NAME"},
  };
  for (const auto& [text, why] : wrong) {
    const auto tokens = parse_tokens("# first\n" + text + "\n");
    ASSERT_FALSE(tokens) << text;
    EXPECT_EQ(tokens.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(tokens.error().message, HasSubstr(why)) << text;
    EXPECT_THAT(tokens.error().message, ::testing::StartsWith("line 2: ")) << text;
  }
  EXPECT_THAT(parse_tokens(line("viewer " + hash) + line("admin " + hash, "bob")).error().message,
              HasSubstr("another name's"));
  EXPECT_THAT(parse_tokens(line("viewer " + hash) + line("admin " + std::string(64, '1'))).error().message,
              HasSubstr("twice"));
}

TEST(CertificateRules, MatchNamesByOneStar) {
  const auto does = [](const char* rule, std::string_view name) {
    return matches(*parse_certificate_rule(rule), name);
  };
  EXPECT_TRUE(does("alice=viewer", "Alice"));
  EXPECT_FALSE(does("alice=viewer", "alice2"));
  EXPECT_TRUE(does("*.compute.example=collector", "dgx-04.compute.example"));
  EXPECT_FALSE(does("*.compute.example=collector", ".compute.example"));
  EXPECT_FALSE(does("*.compute.example=collector", "a.b.compute.example"));
  EXPECT_FALSE(does("*.compute.example=collector", "compute.example"));
  EXPECT_TRUE(does("dgx-*=collector", "dgx-04"));
  EXPECT_FALSE(does("dgx-*=collector", "dgx-04.evil"));
  EXPECT_TRUE(does("x=y=viewer", "x=y"));
  for (const char* wrong : {"alice", "alice=boss", "=viewer", "*.*=viewer", "alice="})
    EXPECT_FALSE(parse_certificate_rule(wrong)) << wrong;
}

class Identities : public ::testing::Test {
 protected:
  Result<std::optional<Principal>> who(std::string_view authorization, const std::vector<std::string>& names = {}) {
    return identify(rules, {authorization, names, "peer"}, now);
  }
  TimePoint now{1000s};
  Rules rules{
      .tokens = {{.name = "ann", .role = Role::kOperator, .node = {}, .hash = sha256("open-sesame"), .expires = {}},
                 {.name = "old", .role = Role::kAdmin, .node = {}, .hash = sha256("old"), .expires = TimePoint(1000s)},
                 {.name = "n4", .role = Role::kCollector, .node = "dgx-04", .hash = sha256("node"), .expires = {}}},
      .certificates = {{"alice", Role::kAdmin}, {"*.example", Role::kCollector}},
      .requests_per_second = 0};
};

TEST_F(Identities, ComeFromTokens) {
  EXPECT_EQ((*who("Bearer open-sesame"))->name, "ann");
  EXPECT_EQ((*who("bearer open-sesame"))->role, Role::kOperator);  // RFC 7235: the scheme's case does not matter
  EXPECT_THAT((*who("Bearer node"))->nodes, ElementsAre("dgx-04"));
  for (const char* wrong : {"Bearer", "Bearer ", "Bearer open-sesam", "Bearer open-sesame ", "Bearer  open-sesame",
                            "Basic YW5uOm9wZW4=", "open-sesame", "Bearer OPEN-SESAME"}) {
    const auto nobody = who(wrong);
    ASSERT_FALSE(nobody) << wrong;
    EXPECT_EQ(nobody.error().code, ErrorCode::kUnauthenticated);
  }
  // What the file holds is no token.
  EXPECT_FALSE(who(std::string("Bearer ") + kHash));
  EXPECT_FALSE(who("Bearer " + std::string(100'000, 'x')));
}

TEST_F(Identities, EndWithTheirTime) {
  EXPECT_THAT(who("Bearer old").error().message, HasSubstr("expired"));
  now -= 1ns;
  EXPECT_EQ((*who("Bearer old"))->name, "old");
}

TEST_F(Identities, ComeFromCertificates) {
  EXPECT_EQ((*who("", {"alice"}))->role, Role::kAdmin);
  EXPECT_EQ(*who("", {"mallory"}), std::nullopt);
  EXPECT_EQ(*who("", {}), std::nullopt);
  EXPECT_EQ(*who("", {"x\n2027 info.example"}), std::nullopt) << "what would be two lines of a log";
  const auto collector = who("", {"other", "dgx-04.example", "ib.example"});
  EXPECT_EQ((*collector)->name, "dgx-04.example");
  EXPECT_THAT((*collector)->nodes, ElementsAre("dgx-04.example", "dgx-04", "ib.example", "ib"));
  // The order of the rules decides, not that of the names.
  EXPECT_EQ((*who("", {"x.example", "alice"}))->role, Role::kAdmin);
}

TEST_F(Identities, OfAWrongTokenAreNotSavedByACertificate) {
  EXPECT_FALSE(who("Bearer stolen", {"alice"}));
  EXPECT_EQ((*who("Bearer open-sesame", {"alice"}))->name, "ann");
}

}  // namespace
}  // namespace weft::api::access
