// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/collector_enrollment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "api/access/own_certificate.hpp"
#include "api/access/tls.hpp"
#include "tests/unit/api/access/authority.hpp"
#include "tests/unit/daemon/programs/weftd/fakes.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using namespace api::access;
using ::testing::HasSubstr;

/// Keeps tokens and records, as long as it is not full.
class TokenStore final : public IdleStore {
 public:
  Result<std::vector<EnrollToken>> enroll_tokens(TimePoint now) override {
    std::vector<EnrollToken> found;
    for (const auto& [node, token] : tokens)
      if (token.expires > now) found.push_back(token);
    return found;
  }
  Result<std::optional<EnrollToken>> find_enroll_token(std::string_view hash) override {
    for (const auto& [node, token] : tokens)
      if (token.hash == hash) return token;
    return std::nullopt;
  }
  Result<void> save_enroll_tokens(std::span<const EnrollToken> added, std::span<const std::string> revoked,
                                  std::span<const AuditRecord> added_records) override {
    if (is_full) return fail(ErrorCode::kResourceExhausted, "the disk is full");
    for (const EnrollToken& token : added) tokens[token.node] = token;
    for (const std::string& node : revoked) tokens.erase(node);
    records.insert(records.end(), added_records.begin(), added_records.end());
    return {};
  }

  std::map<std::string, EnrollToken> tokens;
  std::vector<AuditRecord> records;
  bool is_full = false;
};

class CollectorEnrollmentTest : public ::testing::Test {
 protected:
  CollectorEnrollmentTest() {
    const Signed root = authority("root");
    const Signed web = server(root);
    auto opened =
        Issuer::open({.certificate = root.pem(), .key = root.key(), .authorities = root.pem(), .lifetime = 24h},
                     {.certificate = web.pem(), .key = web.key(), .client_authorities = root.pem()}, kToday);
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) issuer.set(*opened);
  }

  template <typename Answer, typename Ask>
  Result<Answer> wait_for(const Ask& ask) {
    auto promise = std::make_shared<std::promise<Result<Answer>>>();
    ask([promise](Result<Answer> answer) { promise->set_value(std::move(answer)); });
    return promise->get_future().get();
  }
  Result<std::vector<api::MadeEnrollToken>> make(std::vector<std::string> nodes, Duration validity = 1h) {
    return wait_for<std::vector<api::MadeEnrollToken>>(
        [&](auto done) { enrollment.make_tokens(std::move(nodes), validity, "ann", done); });
  }
  Result<std::vector<EnrollToken>> revoke(const std::string& node) {
    return wait_for<std::vector<EnrollToken>>([&](auto done) { enrollment.revoke_tokens({node}, "ann", done); });
  }
  Result<api::EnrolledCertificate> enroll(const std::string& text, const std::string& node,
                                          const std::string& request) {
    const auto token = parse_enroll_text(text);
    EXPECT_TRUE(token) << token.error().message;
    return wait_for<api::EnrolledCertificate>([&](auto done) {
      enrollment.enroll({token->secret, node, request, "ipv4:192.0.2.1"}, done);
    });
  }
  std::string one_token(const std::string& node = "dgx-01") {
    const auto made = make({node});
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->front().text : "";
  }
  static std::string request() { return make_request(*make_private_key()).value(); }

  std::optional<Error> refusal;
  CurrentIssuer issuer;
  FakeClock clock{kToday};
  TokenStore store;
  runtime::Lane lane{{.name = "store", .capacity = 8, .when_full = runtime::WhenFull::kRefuse}};
  MainThreadExecutor main_thread{[](const std::function<void()>& job) { job(); },
                                 [this](CommandKind) { return refusal; }};
  CollectorEnrollment enrollment{issuer, main_thread, store, lane, clock};
};

TEST_F(CollectorEnrollmentTest, ATokenGivesOneKeyItsCertificate) {
  const auto made = make({"dgx-02", "dgx-01"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->at(0).node, "dgx-02");
  EXPECT_EQ(made->at(0).expires, kToday + 1h);
  for (const auto& [node, token] : store.tokens)
    EXPECT_EQ(made->at(0).text.find(token.hash), std::string::npos) << "the secret is not what is kept";
  const std::string mine = request();
  const auto first = enroll(made->at(1).text, "dgx-01", mine);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(has_certificates(first->authorities));
  EXPECT_TRUE(enroll(made->at(1).text, "dgx-01", mine)) << "the answer may have been lost";
  const auto other = enroll(made->at(1).text, "dgx-01", request());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(other.error().message, HasSubstr("was used at"));
  ASSERT_EQ(store.records.size(), 3U) << "two were allowed, one was enrolled once";
  EXPECT_EQ(store.records.back().what, "enrolled");
  EXPECT_EQ(store.records.back().who, "dgx-01");
  EXPECT_THAT(store.records.back().detail, HasSubstr("by the token of ann, from ipv4:192.0.2.1"));
}

TEST_F(CollectorEnrollmentTest, AnExpiredTokenIsRefusedAlsoForItsKey) {
  const std::string text = one_token(), mine = request();
  clock.time += 1h - 1s;
  ASSERT_TRUE(enroll(text, "dgx-01", mine));
  clock.time += 1s;
  const auto late = enroll(text, "dgx-01", mine);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(late.error().message, HasSubstr("expired at"));
}

TEST_F(CollectorEnrollmentTest, NothingIsToldThatIsNotStored) {
  const std::string text = one_token();
  store.is_full = true;
  EXPECT_EQ(make({"dgx-09"}).error().code, ErrorCode::kResourceExhausted);
  const auto refused = enroll(text, "dgx-01", request());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  store.is_full = false;
  EXPECT_TRUE(enroll(text, "dgx-01", request())) << "it was not used up";
}

TEST_F(CollectorEnrollmentTest, AStandbySendsAllButRenewalsToTheLeader) {
  const std::string text = one_token();
  refusal = Error{ErrorCode::kUnavailable, "standby: weft2 leads at weft2:9641"};
  EXPECT_THAT(make({"dgx-02"}).error().message, HasSubstr("standby: "));
  EXPECT_THAT(enroll(text, "dgx-01", request()).error().message, HasSubstr("standby: "));
  const auto renewed =
      wait_for<api::EnrolledCertificate>([&](auto done) { enrollment.renew("dgx-01", request(), done); });
  EXPECT_TRUE(renewed) << renewed.error().message;
}

TEST_F(CollectorEnrollmentTest, BoundsAreKept) {
  std::vector<std::string> many(kMostEnrollTokens + 1);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = "n" + std::to_string(i);
  EXPECT_THAT(make(many).error().message, HasSubstr("more than 10000 nodes in one call"));
  many.resize(1200);
  many[1100] = "no good";
  EXPECT_FALSE(make(many));
  EXPECT_TRUE(store.tokens.empty()) << "all or none";
  many[1100] = "n1100";
  ASSERT_TRUE(make(many));
  for (std::size_t i = many.size(); i < kMostEnrollTokens; ++i) {
    const std::string node = "n" + std::to_string(i);
    store.tokens[node] = {.node = node, .hash = node, .made_by = "ann", .made = kToday, .expires = kToday + 1h};
  }
  EXPECT_EQ(make({"one-more"}).error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(make({"n7"})) << "it takes the place of its own";
  clock.time += 2h;
  EXPECT_TRUE(make({"one-more"})) << "the others have expired";
  EXPECT_EQ(make({"x"}, 59s).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({"x"}, 31 * 24h).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({"x", "x"}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(CollectorEnrollmentTest, OnlyAnUnusedTokenIsRevoked) {
  const std::string text = one_token();
  EXPECT_EQ(revoke("dgx-02").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(revoke("dgx-01"));
  EXPECT_EQ(enroll(text, "dgx-01", request()).error().code, ErrorCode::kUnauthenticated);
  ASSERT_TRUE(enroll(one_token(), "dgx-01", request()));
  EXPECT_EQ(revoke("dgx-01").error().code, ErrorCode::kNotFound);
}

TEST_F(CollectorEnrollmentTest, WithoutAnAuthorityNothingIsSigned) {
  const std::string text = one_token();
  issuer.set(nullptr);
  EXPECT_EQ(make({"dgx-02"}).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(enroll(text, "dgx-01", request()).error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace weft::daemon
