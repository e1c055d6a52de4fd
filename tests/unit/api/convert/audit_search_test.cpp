// SPDX-License-Identifier: Apache-2.0
#include "api/convert/audit_search.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

class AuditSearch : public ::testing::Test {
 protected:
  /// So many records, a second apart, the last one at kNow. Every hundredth is by ann, and each tenth is an approval.
  void write(std::uint64_t count) {
    for (std::uint64_t i = 1; i <= count; ++i) {
      AuditRecord& record = remedies.trail.emplace_back();
      record.sequence = i;
      record.at = kNow - std::chrono::seconds(count - i);
      record.who = i % 100 == 0 ? "Ann (uid 7)" : "weftd";
      record.what = i % 10 == 0 ? "approved" : "proposed";
    }
  }
  Result<v1::ListAuditResponse> search() {
    std::optional<Result<v1::ListAuditResponse>> found;
    search_audit(remedies, request, [&found](Result<v1::ListAuditResponse> page) { found = std::move(page); });
    if (!found) return fail(ErrorCode::kTimeout, "no answer");
    return std::move(*found);
  }
  /// Sequences of a page that is found, and its token.
  std::string text() {
    const auto page = search();
    if (!page) return page.error().message;
    std::string text;
    for (const v1::AuditRecord& record : page->records()) text += std::to_string(record.sequence()) + ' ';
    return text + '>' + page->next_page_token();
  }

  FakeRemedies remedies;
  v1::ListAuditRequest request;
};

TEST_F(AuditSearch, WithoutAConditionIsTheNewestPage) {
  write(250);
  request.set_page_size(3);
  EXPECT_EQ(text(), "248 249 250 >248");
  request.set_page_token("3");
  EXPECT_EQ(text(), "1 2 >");
}

TEST_F(AuditSearch, FindsWhoAndWhatInEitherCase) {
  write(2500);
  request.set_who("ann");
  request.set_page_size(2);
  EXPECT_EQ(text(), "2400 2500 >2400");
  request.set_page_token("2400");
  EXPECT_EQ(text(), "2200 2300 >2200");
  request.set_page_token("201");
  EXPECT_EQ(text(), "100 200 >100") << "whether there are older ones is not known yet";
  request.set_page_token("100");
  EXPECT_EQ(text(), ">");
  request.clear_page_token();
  request.set_what("PROPOSED");
  EXPECT_EQ(text(), ">") << "all conditions hold together";
}

TEST_F(AuditSearch, FindsATime) {
  write(5000);
  request.mutable_from()->set_seconds(1'700'000'000 - 12);
  request.mutable_to()->set_seconds(1'700'000'000 - 10);
  EXPECT_EQ(text(), "4988 4989 >");
  request.mutable_to()->set_seconds(1'700'000'000 - 12);
  EXPECT_EQ(text(), "the time ends before it begins: from must be before to");
}

TEST_F(AuditSearch, EndsWhereAllIsOlderThanAskedFor) {
  write(5000);
  remedies.bad_record = 2000;  // which is not read
  request.mutable_from()->set_seconds(1'700'000'000 - 1500);
  request.set_what("approved");
  const auto page = search();
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->records_size(), 100) << "the usual page";
}

TEST_F(AuditSearch, IsBoundedAndTellsWhereToGoOn) {
  write(kMostAuditSearched + 2000);
  remedies.trail[500].who = "Eve";
  request.set_who("eve");
  const auto none = search();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(none.error().message.find("page token 2001"), std::string::npos) << none.error().message;
  request.set_page_token("2001");
  EXPECT_EQ(text(), "501 >");
}

TEST_F(AuditSearch, LongRecordsAreOnMorePagesAndNoneIsLost) {
  write(3000);
  for (AuditRecord& record : remedies.trail) record.detail.assign(1000, 'x');
  request.set_what("o");
  request.set_page_size(1000);
  std::uint64_t found = 0;
  std::uint64_t last = 3001;
  do {
    const auto page = search();
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_GT(page->records_size(), 0);
    for (int i = page->records_size(); i-- > 0; ++found) {
      ASSERT_EQ(page->records(i).sequence(), last - 1);
      last = page->records(i).sequence();
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(found, 3000U);
}

TEST_F(AuditSearch, SaysWhatIsDamaged) {
  write(3000);
  remedies.bad_record = 1500;
  request.set_who("nobody");
  EXPECT_EQ(search().error().code, ErrorCode::kCorrupt);
  request.set_page_size(-1);
  EXPECT_EQ(search().error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::api
