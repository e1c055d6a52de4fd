// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/judged_by.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "daemon/config/schema.hpp"

namespace weft::config {
namespace {

TEST(JudgedBy, EveryKindButOneHasItsKeys) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(IncidentKind::kCount); ++i) {
    const auto kind = static_cast<IncidentKind>(i);
    EXPECT_EQ(keys_that_judge({}, kind).empty(), kind == IncidentKind::kDuplicateGuid) << to_string(kind);
  }
}

TEST(JudgedBy, EveryKeyOfTheAnalyzerJudgesSomething) {
  std::set<std::string> judging;
  for (std::size_t i = 0; i < static_cast<std::size_t>(IncidentKind::kCount); ++i)
    for (const JudgingKey& key : keys_that_judge({}, static_cast<IncidentKind>(i))) judging.insert(key.name);
  for (const Key& key : schema()) {
    if (!key.name.starts_with("analyzer.")) continue;
    EXPECT_TRUE(judging.contains(std::string(key.name))) << key.name;
  }
}

TEST(JudgedBy, SaysWhatWasChanged) {
  WeftdConfig config;
  config.analyzer.error_rate_limit = 1e-13;
  const auto keys = keys_that_judge(config, IncidentKind::kLinkErrors);
  const auto limit = std::ranges::find(keys, "analyzer.error_rate_limit", &JudgingKey::name);
  ASSERT_NE(limit, keys.end());
  EXPECT_EQ(limit->value, "1e-13");
  EXPECT_EQ(limit->default_value, "1e-12");
  EXPECT_NE(limit->help.find("vol. 2, 6.4"), std::string::npos);
}

}  // namespace
}  // namespace weft::config
