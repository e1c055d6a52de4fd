// SPDX-License-Identifier: Apache-2.0
#include "api/convert/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::api {
namespace {

using ::testing::HasSubstr;

TEST(WhoAsks, IsTheKnownNameWithTheClaimBesideIt) {
  EXPECT_EQ(who_asks("root (uid 0)", "", "ipv4:127.0.0.1:1"), "root (uid 0)");
  EXPECT_EQ(who_asks("root (uid 0)", "ann", "ipv4:127.0.0.1:1"), "root (uid 0), for ann");
  EXPECT_EQ(who_asks("", "ann", "ipv4:127.0.0.1:1"), "ann");
  EXPECT_EQ(who_asks("", "", "ipv4:127.0.0.1:1"), "ipv4:127.0.0.1:1");
}

TEST(WhoAsks, IsOneShortLine) {
  EXPECT_EQ(who_asks("ops", "a\nb\x1b[2J\x7f", ""), "ops, for a?b?[2J?");
  std::string many;
  for (int i = 0; i < 200; ++i) many += "\xc3\xa9";  // é: never cut in two
  const std::string kept = who_asks("ops", many, "");
  EXPECT_EQ(kept.size(), 255U);
  EXPECT_EQ(kept.substr(253), "\xc3\xa9");
}

TEST(Claim, NamesOfWeftsOwnPartsAreRefused) {
  for (const char* ours :
       {"weftd",       "WeftD",      " weftd ",     "weftd (PLAN-7)", "weftd@mgmt-1", "weft-collector", "weft",
        "weft-port@x", "file",       "File",        "slurm",          "kubernetes",   "webhook",        "ufm",
        "PLAN-7",      "weftd:",     "weftd,bob",   "weftd; x",       "Weftd/PLAN-3", "[weftd]",        "weftd-1",
        "the file",    "ｗｅｆｔｄ", "weftd\u00A0", "ops (weftd)"}) {
    const auto claim = check_claim(ours);
    ASSERT_FALSE(claim) << ours;
    EXPECT_EQ(claim.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(claim.error().message, HasSubstr("Weft's own parts"));
  }
  for (const char* person : {"", "ann", "weft@mgmt-1", "åsa@mgmt-1", "filer", "slurm-admin", "O'Brien", "Анна",
                             "Ελένη@mgmt-1", "weftdev", "山田"})
    EXPECT_TRUE(check_claim(person)) << person;
  for (const char* nobody : {" ", "ann\x1b[2J", "ann\nbob", "a\x7f", "\xc2\x9b", "weft\u200Bd", "w\u0435ftd"})
    EXPECT_FALSE(check_claim(nobody)) << nobody;
}

TEST(Reason, IsOneLineOfPlainText) {
  EXPECT_EQ(*given_reason("new memory, größer"), "new memory, größer");
  EXPECT_EQ(*short_enough_reason(""), "");
  for (const char* bad :
       {"a\x1b]0;owned\x07", "a\nweftd approved PLAN-7", "a\tb", "\xc2\x9b", "a\u202Eb", "a\u2028b"}) {
    const auto reason = given_reason(bad);
    ASSERT_FALSE(reason) << bad;
    EXPECT_THAT(reason.error().message, HasSubstr("control character"));
    EXPECT_FALSE(short_enough_reason(bad));
  }
  EXPECT_THAT(given_reason("ab\x01").error().message, HasSubstr("at byte 3"));
}

TEST(SilenceEnd, IsATimeAheadThatCanBeTold) {
  const TimePoint now{std::chrono::seconds(1'700'000'000)};
  v1::SilenceIncidentRequest request;
  EXPECT_EQ(silence_end(request, now).error().message, "until must be in the future");
  request.mutable_until()->set_seconds(1'700'000'001);
  EXPECT_EQ(*silence_end(request, now), now + std::chrono::seconds(1));
  request.mutable_until()->set_seconds(253'402'300'799);  // in the year 9999
  EXPECT_EQ(silence_end(request, now).error().message, "until must lie between the years 1678 and 2262");
}

}  // namespace
}  // namespace weft::api
