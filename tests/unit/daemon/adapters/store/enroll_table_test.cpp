// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/enroll_table.hpp"

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

EnrollToken token_for(const std::string& node, int expires) {
  return {
      .node = node, .hash = node + "'s hash", .made_by = "åsa", .made = at_second(0), .expires = at_second(expires)};
}

AuditRecord record_of(const std::string& what) {
  AuditRecord record;
  record.at = at_second(1);
  record.who = "åsa";
  record.what = what;
  return record;
}

using EnrollTable = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(EnrollTable);

TEST_P(EnrollTable, TokensAreThereAfterARestartWithTheirRecords) {
  const TempDir dir;
  const EnrollToken late = token_for("dgx-02", 200), early = token_for("dgx-01", 100);
  {
    const auto store = must_open(dir.path());
    ASSERT_TRUE(store->save_enroll_tokens({{late, early}}, {}, {{record_of("one"), record_of("two")}}));
  }
  const auto store = must_open(dir.path());
  EXPECT_EQ(*store->enroll_tokens(at_second(99)), (std::vector{early, late}));
  EXPECT_EQ(*store->enroll_tokens(at_second(100)), std::vector{late});
  EXPECT_EQ(*store->find_enroll_token(early.hash), early);
  EXPECT_EQ(*store->find_enroll_token("no such"), std::nullopt);
  const auto records = store->audit(0, 10);
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ(records->back().what, "two");
  EXPECT_EQ(store->verify_audit()->records, 2U);
}

TEST_P(EnrollTable, ANewTokenTakesThePlaceOfTheOneBefore) {
  const TempDir dir;
  const auto store = must_open(dir.path());
  EnrollToken token = token_for("dgx-01", 100);
  ASSERT_TRUE(store->save_enroll_tokens({{token}}, {}, {}));
  token.used = at_second(5);
  token.key_hash = "of a key";
  ASSERT_TRUE(store->save_enroll_tokens({{token}}, {}, {}));
  EXPECT_EQ(*store->find_enroll_token(token.hash), token);
  EnrollToken next = token_for("dgx-01", 300);
  next.hash = "another";
  ASSERT_TRUE(store->save_enroll_tokens({{next}}, {}, {}));
  EXPECT_EQ(*store->find_enroll_token(token.hash), std::nullopt);
  EXPECT_EQ(*store->enroll_tokens(at_second(0)), std::vector{next});
}

TEST_P(EnrollTable, RevokedAndOldOnesAreDeleted) {
  const TempDir dir;
  const auto store = must_open(dir.path());
  const EnrollToken old = token_for("a", 100), revoked = token_for("b", 500), kept = token_for("c", 500);
  ASSERT_TRUE(store->save_enroll_tokens({{old, revoked, kept}}, {}, {}));
  const std::string name = "b";
  ASSERT_TRUE(store->save_enroll_tokens({}, {&name, 1}, {}));
  ASSERT_TRUE(store->maintain(at_second(101), {}));
  EXPECT_EQ(*store->find_enroll_token(old.hash), std::nullopt);
  EXPECT_EQ(*store->find_enroll_token(revoked.hash), std::nullopt);
  EXPECT_EQ(*store->find_enroll_token(kept.hash), kept);
}

}  // namespace
}  // namespace weft::store
