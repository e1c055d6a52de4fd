// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/audit_table.hpp"

#include <openssl/evp.h>

#include <array>

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

const std::string kZeros(64, '0');

AuditRecord make_record(std::int64_t second, std::uint64_t plan = 7) {
  return {0, at_second(second), "kim@mgmt-1", "approved", plan, 17, "before: Active; after: Disabled", ""};
}

/// A store with `count` records, written in calls of one, two, three …
std::unique_ptr<SqlStore> with_records(const std::filesystem::path& path, std::size_t count) {
  auto store = must_open(path);
  std::int64_t second = 0;
  for (std::size_t left = count, at_once = 1; left > 0; ++at_once) {
    std::vector<AuditRecord> records;
    for (; records.size() < at_once && left > 0; --left) records.push_back(make_record(++second));
    EXPECT_TRUE(store->save_plans({}, nullptr, records));
  }
  return store;
}

/// Somebody with sqlite3 and the right to write.
void tamper(const std::filesystem::path& path, const std::string& sql) {
  auto database = by_hand(path);
  database.run(sql.c_str());
  const auto outcome = database.outcome();
  ASSERT_TRUE(outcome) << outcome.error().message;
}

/// What verify_audit() and a look at everything say after `sql`: both must find it, with the same words.
std::string complaint(const std::string& sql, std::size_t count = 9) {
  const TempDir dir;
  with_records(dir.path(), count).reset();
  tamper(dir.path(), sql);
  auto store = must_open(dir.path());
  const auto verified = store->verify_audit();
  const auto read = store->audit(0, 100);
  if (verified || read) {
    ADD_FAILURE() << "nobody noticed: " << sql;
    return "";
  }
  EXPECT_EQ(verified.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(verified.error().message, read.error().message);
  const std::string front = by_hand(dir.path()).name() + ": ";
  EXPECT_TRUE(verified.error().message.starts_with(front)) << verified.error().message;
  return verified.error().message.substr(front.size());
}

using Audit = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Audit);

TEST_P(Audit, OfAFreshStoreIsEmptyAndWhole) {
  const TempDir dir;
  auto store = must_open(dir.path());
  EXPECT_TRUE(store->audit(0, 10)->empty());
  EXPECT_EQ(*store->verify_audit(), (AuditProof{0, kZeros}));
}

// The bytes are written out here by hand: whoever wants to check a trail with other tools finds these.
TEST(AuditHash, TheHashIsThatOfTheDocumentedBytes) {
  AuditRecord record{258, TimePoint(Duration(-2)), "\xC3\xA9", "x", 3, 4, "", "not read"};
  const std::string previous = std::string(62, '0') + "0a";
  std::string text = "weft audit 1\n";
  text += std::string(31, '\0') + "\x0a";
  text += std::string(6, '\0') + "\x01\x02";
  text += std::string(7, '\xFF') + "\xFE";
  text += std::string(7, '\0') + "\x03" + std::string(7, '\0') + "\x04";
  text += std::string(7, '\0') + "\x02\xC3\xA9" + std::string(7, '\0') + "\x01x" + std::string(8, '\0');
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  ASSERT_EQ(EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr), 1);
  std::string expected;
  for (unsigned i = 0; i < length; ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", digest[i]);
    expected += digits.data();
  }
  EXPECT_EQ(audit_hash(previous, record), expected);
  EXPECT_EQ(audit_hash("short", record), "");
  EXPECT_EQ(audit_hash(std::string(64, 'g'), record), "");
}

TEST(AuditHash, EveryFieldCounts) {
  const AuditRecord record = make_record(1);
  const std::string hash = audit_hash(kZeros, record);
  ASSERT_EQ(hash.size(), 64U);
  std::vector<AuditRecord> others(8, record);
  others[0].sequence = 1;
  others[1].at += Duration(1);
  others[2].who += ' ';
  others[3].what = "rejected";
  others[4].plan = 8;
  others[5].incident = 18;
  others[6].detail = "";
  others[7].who = record.who + record.what;  // moved over the border of two fields
  others[7].what = "";
  for (const AuditRecord& other : others) EXPECT_NE(audit_hash(kZeros, other), hash);
  EXPECT_NE(audit_hash(hash, record), hash);
}

TEST_P(Audit, RecordsComeBackInOrderBoundToEachOther) {
  const TempDir dir;
  auto store = with_records(dir.path(), 9);
  const auto all = store->audit(0, 100);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 9U);
  std::string before = kZeros;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const AuditRecord& record = (*all)[i];
    EXPECT_EQ(record.sequence, i + 1);
    EXPECT_EQ(record.at, at_second(static_cast<std::int64_t>(i) + 1));
    EXPECT_EQ(record.who, "kim@mgmt-1");
    EXPECT_EQ(record.what, "approved");
    EXPECT_EQ(record.plan, 7U);
    EXPECT_EQ(record.incident, 17U);
    EXPECT_EQ(record.detail, "before: Active; after: Disabled");
    EXPECT_EQ(record.hash, audit_hash(before, record));
    before = record.hash;
  }
  EXPECT_EQ(*store->verify_audit(), (AuditProof{9, before}));
  store.reset();
  EXPECT_EQ(*must_open(dir.path())->verify_audit(), (AuditProof{9, before})) << "over a restart";
}

TEST_P(Audit, PagesReachFromTheEndToTheBeginning) {
  const TempDir dir;
  auto store = with_records(dir.path(), 10);
  std::vector<std::uint64_t> seen;
  std::uint64_t before = 0;
  do {
    const auto page = store->audit(before, 4);
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_FALSE(page->empty());
    for (auto record = page->rbegin(); record != page->rend(); ++record) seen.push_back(record->sequence);
    before = page->front().sequence;
  } while (before > 1);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_TRUE(store->audit(1, 4)->empty());
  EXPECT_TRUE(store->audit(0, 0)->empty());
  EXPECT_EQ(store->audit(999, 2)->back().sequence, 10U);
}

TEST_P(Audit, WhateverWasChangedIsNamed) {
  for (const char* change : {"at = at + 1", "who = 'nobody'", "what = 'rejected'", "plan = 8", "incident = 0",
                             "detail = ''", "hash = (SELECT hash FROM audit WHERE sequence = 4)", "hash = ''"})
    EXPECT_EQ(complaint(std::string("UPDATE audit SET ") + change + " WHERE sequence = 5"),
              "record 5 of the audit trail was changed, or moved")
        << change;
}

TEST_P(Audit, AMissingOneIsNamed) {
  EXPECT_EQ(complaint("DELETE FROM audit WHERE sequence = 1"), "record 1 of the audit trail is missing");
  EXPECT_EQ(complaint("DELETE FROM audit WHERE sequence IN (5, 6)"), "record 5 of the audit trail is missing");
  EXPECT_EQ(complaint("DELETE FROM audit WHERE sequence = 5; UPDATE audit SET sequence = 5 WHERE sequence = 9"),
            "record 5 of the audit trail was changed, or moved");
}

TEST_P(Audit, TwoThatChangedPlacesAreNamed) {
  EXPECT_EQ(complaint("UPDATE audit SET sequence = 99 WHERE sequence = 4; UPDATE audit SET sequence = 4 WHERE sequence "
                      "= 6; UPDATE audit SET sequence = 6 WHERE sequence = 99"),
            "record 4 of the audit trail was changed, or moved");
}

TEST_P(Audit, AnEndThatWasCutOffIsNamed) {
  EXPECT_EQ(complaint("DELETE FROM audit WHERE sequence >= 8"),
            "record 8 of the audit trail is missing, with all later records");
  EXPECT_EQ(complaint("DELETE FROM audit"), "record 1 of the audit trail is missing, with all later records");
}

TEST_P(Audit, AnEndThatWasCutOffWithItsNoteHalfCorrectedIsNamed) {
  EXPECT_EQ(complaint("DELETE FROM audit WHERE sequence >= 8; UPDATE audit_end SET records = 7"),
            "record 7 of the audit trail was changed, and its hash with it");
  EXPECT_EQ(complaint("DELETE FROM audit_end"), "the stored end of the audit trail is missing");
  EXPECT_EQ(complaint("UPDATE audit_end SET hash = 'x'"), "the stored end of the audit trail is not a hash");
}

TEST_P(Audit, OneThatWasPutInIsNamed) {
  const TempDir dir;
  auto store = with_records(dir.path(), 3);
  AuditRecord forged = make_record(4);
  forged.sequence = 4;
  const std::string hash = audit_hash(store->verify_audit()->last_hash, forged);  // as good as one of ours
  store.reset();
  tamper(dir.path(), "INSERT INTO audit VALUES (4, " + std::to_string(forged.at.time_since_epoch().count()) +
                         ", 'kim@mgmt-1', 'approved', 7, 17, 'before: Active; after: Disabled', '" + hash + "')");
  store = must_open(dir.path());
  for (const auto& result : {store->verify_audit().map([](const AuditProof&) { return 0; }),
                             store->audit(0, 1).map([](const std::vector<AuditRecord>&) { return 0; }),
                             store->save_plans({}, nullptr, {{make_record(5)}}).map([] { return 0; })}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(result.error().message.find("record 4 of the audit trail was inserted"), std::string::npos)
        << result.error().message;
  }
}

TEST_P(Audit, OneThatWasPutInOutsideIsNamed) {
  const std::string copy =
      "INSERT INTO audit SELECT sequence + DISTANCE, at, who, what, plan, incident, detail, hash FROM audit WHERE "
      "sequence = 3";
  for (const int distance : {100, -3, -7}) {
    std::string sql = copy;
    sql.replace(sql.find("DISTANCE"), 8, '(' + std::to_string(distance) + ')');
    EXPECT_EQ(complaint(sql), "record " + std::to_string(3 + distance) + " of the audit trail was inserted");
  }
}

TEST_P(Audit, APageShowsWhatIsWrongWithItsOwnRecordsAndTheirNeighbours) {
  const TempDir dir;
  with_records(dir.path(), 9).reset();
  tamper(dir.path(), "UPDATE audit SET detail = '' WHERE sequence = 5");
  auto store = must_open(dir.path());
  EXPECT_EQ(store->audit(0, 4)->front().sequence, 6U) << "bound to the hash of 5, which is as it was";
  EXPECT_FALSE(store->audit(0, 5));
  EXPECT_FALSE(store->audit(6, 1));
  EXPECT_FALSE(store->audit(5, 2)) << "the one behind binds the last of the page";
  EXPECT_TRUE(store->audit(4, 3));
  store.reset();
  tamper(dir.path(), "DELETE FROM audit WHERE sequence IN (3, 4)");
  store = must_open(dir.path());
  EXPECT_FALSE(store->audit(4, 1)) << "neither it nor its neighbour is there";
  EXPECT_FALSE(store->audit(4, 2));
  EXPECT_FALSE(store->audit(6, 1));
}

TEST_P(Audit, GoesOnBehindAGapThatStaysVisible) {
  const TempDir dir;
  with_records(dir.path(), 5).reset();
  tamper(dir.path(), "DELETE FROM audit WHERE sequence = 5");
  auto store = must_open(dir.path());
  ASSERT_TRUE(store->save_plans({}, nullptr, {{make_record(6)}})) << "what is done is written down all the same";
  const auto verified = store->verify_audit();
  ASSERT_FALSE(verified);
  EXPECT_NE(verified.error().message.find("record 5 of the audit trail is missing"), std::string::npos);
}

TEST_P(Audit, TextsOfAnyKindKeepTheirHash) {
  const TempDir dir;
  AuditRecord odd = make_record(1);
  odd.who = std::string("nul \0 inside", 12);
  odd.detail = "bytes \xFF\xFE and 'quotes'\n";
  ASSERT_TRUE(must_open(dir.path())->save_plans({}, nullptr, {{odd}}));
  auto store = must_open(dir.path());
  EXPECT_EQ(store->audit(0, 1)->at(0).who, odd.who);
  EXPECT_EQ(store->audit(0, 1)->at(0).detail, odd.detail);
  EXPECT_TRUE(store->verify_audit());
}

}  // namespace
}  // namespace weft::store
