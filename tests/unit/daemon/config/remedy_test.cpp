// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/remedy/routing_engine.hpp"
#include "daemon/config/load.hpp"
#include "daemon/config/schema.hpp"

namespace weft::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string errors_of(const std::string& text) {
  return print(load_text<WeftdConfig>(text, "weftd.toml", {}).errors);
}

TEST(RemedyConfig, NothingActsByDefault) {
  const WeftdConfig config;
  for (const RemedyMode mode : {config.remedy.isolate_link, config.remedy.restore_link, config.remedy.raise_link_cost,
                                config.remedy.drain_node, config.remedy.undrain_node})
    EXPECT_EQ(mode, RemedyMode::kPropose);
  EXPECT_FALSE(config.remedy.gnmi_port.enabled);
  EXPECT_FALSE(config.remedy.slurm.enabled);
  EXPECT_FALSE(config.remedy.kubernetes.enabled);
  EXPECT_TRUE(config.remedy.webhook.url.empty());
  EXPECT_EQ(config.hands_off_file(), "/var/lib/weft/hands-off");
}

TEST(RemedyConfig, SwitchesAreSetOnlyWhereSomeAreListed) {
  EXPECT_THAT(errors_of("[remedy.gnmi_port]\nenabled = true\n"),
              HasSubstr("remedy.gnmi_port.enabled: is of no use without gnmi.targets"));
  EXPECT_EQ(errors_of("[gnmi]\ntargets = [\"leaf01 192.0.2.1:9339\"]\n[remedy.gnmi_port]\nenabled = true\n"), "");
}

TEST(RemedyConfig, RoutingEnginesAreThoseThatGuardsKnow) {
  std::size_t known = 0;
  for (const Key& key : remedy_schema()) {
    if (key.name != "remedy.routing_engine") continue;
    for (const std::string_view engine : key.choices) {
      EXPECT_TRUE(analyzer::parse_routing_engine(engine)) << engine;
      ++known;
    }
  }
  EXPECT_EQ(known, static_cast<std::size_t>(analyzer::RoutingEngine::kCount));
  EXPECT_EQ(WeftdConfig().remedy.routing_engine, "unknown");
  EXPECT_NE(errors_of("[remedy]\nrouting_engine = \"torus\"\n"), "");
}

TEST(RemedyConfig, IsReadInTheShapesThatPeopleWrite) {
  const auto outcome = load_text<WeftdConfig>(
      "[remedy]\nisolate_link = \"off\"\ndrain_node = \"auto\"\nallow = [\"dgx-01\", \"leaf-1:12\"]\ndeny = []\n"
      "hands_off_file = \"/run/stop\"\nslurm.enabled = true\n[remedy.webhook]\nurl = \"https://example.org/w\"\n"
      "key_file = \"/etc/weft/key\"\nactions = [\"isolate_link\"]\n",
      "weftd.toml", {});
  EXPECT_EQ(print(outcome.errors), "");
  const WeftdConfig& config = outcome.config;
  EXPECT_EQ(config.remedy.isolate_link, RemedyMode::kOff);
  EXPECT_EQ(config.remedy.drain_node, RemedyMode::kAuto);
  EXPECT_EQ(config.remedy.undrain_node, RemedyMode::kPropose);
  EXPECT_THAT(config.remedy.allow, ElementsAre("dgx-01", "leaf-1:12"));
  EXPECT_TRUE(config.remedy.deny.empty());
  EXPECT_EQ(config.hands_off_file(), "/run/stop");
  EXPECT_TRUE(config.remedy.slurm.enabled);
  EXPECT_THAT(config.remedy.webhook.actions, ElementsAre("isolate_link"));
}

TEST(RemedyConfig, FlagsTakeListsWithCommasAndTheEmptyList) {
  WeftdConfig config;
  EXPECT_EQ(set_from_text(config, "remedy.deny", "login-1,login-2"), std::nullopt);
  EXPECT_THAT(config.remedy.deny, ElementsAre("login-1", "login-2"));
  EXPECT_EQ(set_from_text(config, "remedy.deny", ""), std::nullopt);
  EXPECT_TRUE(config.remedy.deny.empty());
}

TEST(RemedyConfig, WhatIsWrongIsToldWithItsLine) {
  EXPECT_THAT(errors_of("[remedy]\ndrain_node = \"always\"\n"),
              HasSubstr("weftd.toml:2: remedy.drain_node: \"always\" is not known; allowed: off, propose, auto"));
  EXPECT_THAT(errors_of("[remedy]\nallow = \"dgx-01\"\n"), HasSubstr("must be a list of texts"));
  EXPECT_THAT(errors_of("[remedy]\nallow = [1]\n"), HasSubstr("must be a list of texts"));
  EXPECT_THAT(errors_of("[remedy]\nallow = [\"a\", \"a\"]\n"), HasSubstr("\"a\" is listed twice"));
  EXPECT_THAT(errors_of("[remedy]\nallow = [\"\", \"a\"]\n"), HasSubstr("empty text"));
  EXPECT_THAT(errors_of("[remedy]\nwebhook.actions = [\"reboot\"]\n"), HasSubstr("\"reboot\" is not known"));
  EXPECT_THAT(errors_of("[remedy]\nslurm.timeout = \"31s\"\n"), HasSubstr("too large"));
}

TEST(RemedyConfig, WhatDoesNotFitTogetherIsRefused) {
  EXPECT_THAT(errors_of("[remedy]\nwebhook.url = \"https://x\"\n"), HasSubstr("remedy.webhook.key_file: is missing"));
  EXPECT_THAT(errors_of("[remedy]\nwebhook.url = \"x\"\nwebhook.key_file = \"/k\"\n"), HasSubstr("must begin with"));
  EXPECT_THAT(errors_of("[remedy]\nwebhook.url = \"https://me:pw@x/y\"\nwebhook.key_file = \"/k\"\n"),
              HasSubstr("secrets stand in files"));
  EXPECT_EQ(errors_of("[remedy]\nwebhook.url = \"https://x/y@z\"\nwebhook.key_file = \"/k\"\n"), "");
  EXPECT_THAT(errors_of("[remedy]\nwebhook.status_url = \"https://x\"\n"), HasSubstr("of no use without"));
  EXPECT_THAT(errors_of("[remedy]\nslurm.rest_url = \"http://x\"\nslurm.rest_version = \"v0.0.38\"\n"),
              HasSubstr("cannot drain nodes"));
  EXPECT_EQ(errors_of("[remedy]\nslurm.rest_url = \"unix:/run/slurmrestd\"\n"), "");
}

TEST(RemedyConfig, WithoutTlsASchedulerIsSpokenToOnLoopbackAlone) {
  const auto errors = [](const std::string& url) {
    return errors_of("[remedy]\nslurm.rest_url = \"" + url + "\"\n") +
           errors_of("[remedy]\nufm.credentials_file = \"/k\"\nufm.url = \"" + url + "\"\n") +
           errors_of("[remedy]\nwebhook.key_file = \"/k\"\nwebhook.url = \"" + url + "\"\n") +
           errors_of("[remedy]\nwebhook.key_file = \"/k\"\nwebhook.url = \"https://x\"\nwebhook.status_url = \"" + url +
                     "\"\n");
  };
  for (const char* own :
       {"https://slurm.example.org", "http://127.0.0.1:6820/x", "http://localhost", "http://[::1]:1", "http://[::1]/x"})
    EXPECT_EQ(errors(own), "") << own;
  for (const char* others : {"http://slurm.example.org:6820", "http://10.0.0.1", "http://localhost.example.org",
                             "http://127.0.0.1.example.org", "http://[fe80::1]", "http://"}) {
    const std::string all = errors(others);
    for (const char* key :
         {"remedy.slurm.rest_url: ", "remedy.ufm.url: ", "remedy.webhook.url: ", "remedy.webhook.status_url: "})
      EXPECT_THAT(all, HasSubstr(std::string(key) + "must begin with https://")) << others;
  }
}

}  // namespace
}  // namespace weft::config
