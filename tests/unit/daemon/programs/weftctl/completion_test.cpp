// SPDX-License-Identifier: Apache-2.0
// What shells are offered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/programs/weftctl/completion.hpp"

namespace weft::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

usage::Option option(std::string name, std::string value = "", std::vector<std::string> choices = {}) {
  return {.names = {std::move(name)},
          .value = std::move(value),
          .help = {},
          .standard = {},
          .variable = {},
          .group = {},
          .choices = std::move(choices)};
}

usage::Command program() {
  usage::Command ports{.name = "ports",
                       .help = "States. And more",
                       .footer = {},
                       .options = {option("--counters")},
                       .arguments = {option("NODE", "TEXT")},
                       .verbs = {}};
  usage::Command plan{
      .name = "plan", .help = {}, .footer = {}, .options = {}, .arguments = {option("ID", "TEXT")}, .verbs = {}};
  usage::Command isolate{.name = "isolate",
                         .help = {},
                         .footer = {},
                         .options = {option("--reason", "TEXT")},
                         .arguments = {option("LINK", "TEXT")},
                         .verbs = {}};
  usage::Command backup{
      .name = "backup", .help = {}, .footer = {}, .options = {}, .arguments = {option("FILE", "TEXT")}, .verbs = {}};
  usage::Command end{
      .name = "end", .help = {}, .footer = {}, .options = {}, .arguments = {option("ID", "TEXT")}, .verbs = {}};
  usage::Command enroll{.name = "enroll",
                        .help = {},
                        .footer = {},
                        .options = {option("--revoke")},
                        .arguments = {option("NODE", "TEXT")},
                        .verbs = {}};
  usage::Command windows{
      .name = "maintenance", .help = {}, .footer = {}, .options = {}, .arguments = {}, .verbs = {end}};
  return {.name = "weftctl",
          .help = {},
          .footer = {},
          .options = {option("--server", "HOST:PORT"), option("--color", "WHEN", {"auto", "always", "never"}),
                      option("--ca", "FILE")},
          .arguments = {},
          .verbs = {ports, plan, isolate, windows, backup, enroll}};
}

std::vector<Candidate> names(Names which, const std::string& begun) {
  switch (which) {
    case Names::kNodes:
      return {{"leaf-1", "switch"}, {"gpu-1", "host"}};
    case Names::kAllPlans:
      return {{"PLAN-7", ""}};
    case Names::kLinkEnds:
      if (begun.find(':') == std::string::npos) return {{"leaf-1:", "switch"}, {"leaf-2:", "switch"}};
      return {{begun.substr(0, begun.find(':')) + ":7", "to spine-0 port 3"}};
    case Names::kHeldLinks:
      return {{"leaf-3:17", "PLAN-4"}};
    case Names::kDrainedHosts:
      return {{"gpu-9", "PLAN-5"}};
    case Names::kApprovable:
      return {{"PLAN-8", ""}};
    case Names::kWindows:
      return {{"MW-3", ""}};
    case Names::kHosts:
      return {{"gpu-1", "host"}};
    case Names::kEnrollTokens:
      return {{"gpu-7", "made by root"}};
    default:
      return {};
  }
}

std::vector<std::string> offered(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const Candidate& candidate : complete(program(), words, names).words) found.push_back(candidate.word);
  return found;
}

TEST(Completion, KnowsThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) EXPECT_TRUE(completion_script(shell)) << shell;
  EXPECT_FALSE(completion_script("csh"));
}

TEST(Completion, VerbsOptionsAndValues) {
  EXPECT_THAT(offered({"p"}), ElementsAre("ports", "plan"));
  EXPECT_THAT(offered({"--color", ""}), ElementsAre("auto", "always", "never"));
  EXPECT_THAT(offered({"--color=a"}), ElementsAre("--color=auto", "--color=always"));
  EXPECT_THAT(offered({"ports", "--c"}), ElementsAre("--counters", "--color", "--ca"));
  EXPECT_THAT(offered({"ports", "--counters", "--co"}), ElementsAre("--color")) << "not the same again";
  EXPECT_TRUE(complete(program(), {"--ca", ""}, names).files);
  EXPECT_TRUE(complete(program(), {"backup", ""}, names).files);
  EXPECT_FALSE(complete(program(), {"plan", ""}, names).files);
}

TEST(Completion, NamesThatTheServerKnows) {
  EXPECT_THAT(offered({"ports", ""}), ElementsAre("leaf-1", "gpu-1"));
  EXPECT_THAT(offered({"--server", "ports", "ports", "l"}), ElementsAre("leaf-1")) << "a value is no verb";
  EXPECT_THAT(offered({"ports", "leaf-1", ""}), IsEmpty());
  EXPECT_THAT(offered({"plan", ""}), ElementsAre("PLAN-7"));
  EXPECT_THAT(offered({"maintenance", "end", ""}), ElementsAre("MW-3"));
  EXPECT_THAT(offered({"isolate", "--reason", "x", "leaf-2"}), ElementsAre("leaf-2:"));
  EXPECT_TRUE(complete(program(), {"isolate", ""}, names).open) << "a port follows";
  EXPECT_THAT(offered({"isolate", "leaf-2:"}), ElementsAre("leaf-2:7"));
  EXPECT_FALSE(complete(program(), {"isolate", "leaf-2:"}, names).open);
  EXPECT_THAT(offered({"isolate", "--reason", ""}), IsEmpty());
}

TEST(Completion, EachVerbIsOfferedWhatItCanBeUsedOn) {
  EXPECT_EQ(names_for("restore", "LINK"), Names::kHeldLinks);
  EXPECT_EQ(names_for("lower-cost", "LINK"), Names::kCostlyLinks);
  EXPECT_EQ(names_for("raise-cost", "LINK"), Names::kLinkEnds);
  EXPECT_EQ(names_for("drain", "NODE"), Names::kHosts);
  EXPECT_EQ(names_for("undrain", "NODE"), Names::kDrainedHosts);
  EXPECT_EQ(names_for("ports", "NODE"), Names::kNodes);
  EXPECT_THAT(offered({"enroll", ""}), ElementsAre("gpu-1"));
  EXPECT_THAT(offered({"enroll", "--revoke", ""}), ElementsAre("gpu-7")) << "those that have a token";
  EXPECT_EQ(names_for("approve", "ID"), Names::kApprovable);
  EXPECT_EQ(names_for("reject", "ID"), Names::kRejectable);
  EXPECT_EQ(names_for("abort", "ID"), Names::kPlans);
}

TEST(Completion, LinesArePartedAsBashDoes) {
  EXPECT_THAT(words_of("weftctl ports le"), ElementsAre("weftctl", "ports", "le"));
  EXPECT_THAT(words_of("weftctl ports "), ElementsAre("weftctl", "ports", ""));
  EXPECT_THAT(words_of(R"(weftctl ports leaf\ 1 "a b" 'c d')"),
              ElementsAre("weftctl", "ports", "leaf 1", "a b", "c d"));
}

TEST(Completion, EachShellGetsItsOwnLines) {
  const Candidates found{.words = {{"leaf 1", "switch"}}};
  EXPECT_EQ(completion_text("bash", found, "le"), "words\nleaf\\ 1\n");
  EXPECT_EQ(completion_text("fish", found, "le"), "words\nleaf 1\tswitch\n");
  EXPECT_EQ(completion_text("bash", {.words = {{"--color=auto", ""}}}, "--color=a"), "words\nauto\n");
}

}  // namespace
}  // namespace weft::ctl
