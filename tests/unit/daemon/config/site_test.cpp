// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/load.hpp"

namespace weft::config {
namespace {

using testing::HasSubstr;

std::string site_errors_of(const std::string& text) {
  return print(load_text<WeftdConfig>(text, "weftd.toml", {}).errors);
}

constexpr const char* kDatabase = "[store]\nurl = \"postgresql://weft@127.0.0.1/weft\"\n";

TEST(SiteConfig, IsOffByDefault) {
  EXPECT_EQ(site_errors_of(""), "");
  EXPECT_EQ(site_errors_of(kDatabase), "");
}

TEST(SiteConfig, AShardNeedsANameAndADatabase) {
  const std::string shard = "[site]\nshard = \"north_1\"\n";
  EXPECT_EQ(site_errors_of(kDatabase + shard + "collectors = [\"gpu-1*\", \"login?\"]\naddress = \"mgmt1:9641\"\n"),
            "");
  EXPECT_THAT(site_errors_of(shard), HasSubstr("site.shard: needs store.url"));
  EXPECT_THAT(site_errors_of(std::string(kDatabase) + "[site]\nshard = \"North\"\n"),
              HasSubstr("must be 1 to 32 of a-z"));
  EXPECT_THAT(site_errors_of("[store]\nurl = \"postgresql://weft@127.0.0.1/weft?options=-c%20x\"\n" + shard),
              HasSubstr("store.url: must not have options="));
  EXPECT_THAT(site_errors_of(std::string(kDatabase) + "[site]\ncollectors = [\"*\"]\n"),
              HasSubstr("site.collectors: needs site.shard"));
}

TEST(SiteConfig, WhatGoesTogetherIsAskedFor) {
  const std::string shard = std::string(kDatabase) + "[site]\nshard = \"a\"\n";
  EXPECT_THAT(site_errors_of(shard + "collectors = [\"a b\"]\n"), HasSubstr("without blanks"));
  EXPECT_THAT(site_errors_of(shard + "address = [\"a:1\", \"b:1\"]\n"), HasSubstr("site.address: takes one address"));
  EXPECT_THAT(site_errors_of(shard + "certificate = \"/c\"\nauthorities = \"/a\"\n"),
              HasSubstr("site.key: must be set too"));
  EXPECT_THAT(site_errors_of(shard + "certificate = \"/c\"\nkey = \"/k\"\n"), HasSubstr("set site.authorities too"));
}

TEST(SiteConfig, AllAddressesAreNoAddressToAsk) {
  const std::string shard = std::string(kDatabase) + "[site]\nshard = \"a\"\n";
  for (const char* any : {"0.0.0.0", "[::]", "0", "[::0]"})
    EXPECT_THAT(site_errors_of(shard + "address = \"" + any + ":9641\"\n"),
                HasSubstr("site.address: must be one that other shards can ask"))
        << any;
  EXPECT_EQ(site_errors_of(shard + "address = \"10.0.0.1:9641\"\n"), "");
  EXPECT_EQ(site_errors_of(shard + "address = \"[::1]:9641\"\n"), "");
}

TEST(SiteConfig, ATokenStaysOnThisMachineWithoutTls) {
  const std::string shard = std::string(kDatabase) + "[site]\nshard = \"a\"\ntoken_file = \"/t\"\n";
  const std::string anywhere = "[security]\nallow_plain_text = true\n[listen]\ngrpc = \"0.0.0.0:9641\"\n";
  constexpr const char* kRefused = "site.token_file: would go to the other shards in clear text: set site.authorities";
  EXPECT_EQ(site_errors_of(shard), "") << "listen.grpc is a loopback address";
  EXPECT_THAT(site_errors_of(shard + anywhere), HasSubstr(kRefused));
  EXPECT_THAT(site_errors_of(shard + "address = \"mgmt1:9641\"\n"), HasSubstr(kRefused));
  EXPECT_EQ(site_errors_of(shard + "authorities = \"/a\"\n" + anywhere), "");
  EXPECT_EQ(site_errors_of(shard + "address = \"localhost:9641\"\n" + anywhere), "");
}

}  // namespace
}  // namespace weft::config
