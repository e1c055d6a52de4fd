// SPDX-License-Identifier: Apache-2.0
// Entries by the names of their hosts, found as if each had been looked at.

#include <gtest/gtest.h>

#include <array>

#include "analyzer/remedy/settings.hpp"

namespace weft::analyzer {
namespace {

const std::array<std::string, 12> kNames{"n1",        "N1",     "n1.alpha", "n1.beta.",  "n1.ALPHA", "n2",
                                         "n10.alpha", ".alpha", "",         "n1.alpha.", "n1.beta",  "x"};

TEST(HostIndex, FindsWhatSameHostFinds) {
  const HostIndex index(kNames, [](const std::string& name) -> const std::string& { return name; });
  std::size_t found = 0;
  for (const std::string& host : kNames) {
    std::vector<std::size_t> expected;
    for (std::size_t at = 0; at < kNames.size(); ++at)
      if (same_host(kNames[at], host)) expected.push_back(at);
    EXPECT_EQ(index.find(host), expected) << host;
    found += expected.size();
  }
  EXPECT_GT(found, kNames.size());
  EXPECT_TRUE(index.find("y").empty());
  EXPECT_TRUE(HostIndex().find("n1").empty());
}

TEST(HostIndex, AViewLooksAtTheListsThatItHasNow) {
  std::vector<NodeHealth> first(1), second(3);
  first[0].node = second[1].node = "n1";
  second[0].node = "N2.alpha";
  second[2].node = "n1.beta";
  second[2].verdict = HealthVerdict::kUnhealthy;
  RemedyView view;
  EXPECT_EQ(view.health_of("n1"), nullptr);
  view.health = first;
  EXPECT_EQ(view.health_of("N1.alpha"), &first[0]);
  EXPECT_EQ(view.health_of("n2"), nullptr);
  view.health = second;
  EXPECT_EQ(view.health_of("n1"), &second[2]) << "the worst";
  EXPECT_EQ(view.health_of("n1.alpha"), &second[1]);
  EXPECT_EQ(view.health_of("n2"), &second[0]);
}

}  // namespace
}  // namespace weft::analyzer
