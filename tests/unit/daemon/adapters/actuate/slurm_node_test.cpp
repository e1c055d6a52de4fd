// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/slurm_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::actuate {
namespace {

using testing::ElementsAre;

/// As scontrol of Slurm 22.05 prints it.
std::string printed(const std::string& name, const std::string& hostname, const std::string& state,
                    const std::string& last = "") {
  return "NodeName=" + name + " Arch=x86_64 CoresPerSocket=1 \n   CPUAlloc=1 CPUEfctv=2 CPUTot=2 CPULoad=1.98\n" +
         "   AvailableFeatures=(null)\n   ActiveFeatures=(null)\n   Gres=(null)\n   NodeAddr=127.0.0.1 NodeHostName=" +
         hostname + " Port=57621 Version=22.05.8\n   OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC @0 \n" +
         "   RealMemory=1000 AllocMem=0 FreeMem=23464 Sockets=2 Boards=1\n   State=" + state +
         " ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n   Partitions=main \n   BootTime=None\n" +
         last + "\n\n";
}

SlurmNode one(const std::string& state, const std::string& last = "") {
  const auto nodes = parse_scontrol_nodes(printed("n1", "dgx-01", state, last));
  EXPECT_TRUE(nodes) << nodes.error().message;
  EXPECT_EQ(nodes->size(), 1U);
  return nodes->front();
}

TEST(DrainedSlurmHosts, AreToldByAllTheirNames) {
  const auto nodes = parse_scontrol_nodes(printed("n1", "dgx-01", "IDLE") + printed("n2", "dgx-02", "MIXED+DRAIN") +
                                          printed("n3", "n3", "IDLE+DRAIN"));
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(drained_slurm_hosts(*nodes), ElementsAre(ElementsAre("n2", "dgx-02"), ElementsAre("n3", "n3")));
}

TEST(ScontrolNodes, AreReadWithReasonAndWhoSetIt) {
  const auto nodes = parse_scontrol_nodes(printed("n1", "dgx-01", "IDLE") +
                                          printed("n2", "dgx-02.example.org", "MIXED+DRAIN",
                                                  "   Reason=it's \"bad\" a=b [x] [root@2026-11-21T20:07:45]\n"));
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].name, "n1");
  EXPECT_EQ((*nodes)[0].hostname, "dgx-01");
  EXPECT_EQ((*nodes)[0].reason, "");
  EXPECT_THAT((*nodes)[1].states, ElementsAre("MIXED", "DRAIN"));
  EXPECT_EQ((*nodes)[1].reason, "it's \"bad\" a=b [x]");
  EXPECT_EQ((*nodes)[1].reason_user, "root");
}

TEST(ScontrolNodes, OlderAndCompactSpellingsMeanTheSame) {
  EXPECT_THAT(one("IDLE*+DRAIN").states, ElementsAre("IDLE", "NOT_RESPONDING", "DRAIN"));
  EXPECT_THAT(one("DRAINED*").states, ElementsAre("DRAIN", "NOT_RESPONDING"));
  EXPECT_THAT(one("drng").states, ElementsAre("DRAIN"));
  EXPECT_THAT(one("IDLE~").states, ElementsAre("IDLE"));
  EXPECT_THAT(one("MAINT").states, ElementsAre("MAINTENANCE"));
}

TEST(ScontrolNodes, WhatPeopleWroteIsTakenForNothingElse) {
  const SlurmNode node = one("IDLE",
                             "   Reason=State=DRAIN [eve@2026-11-21T20:07:45]\n   Comment=x\n"
                             "   State=DOWN\n   Reason=weft PLAN-1: forged\n");
  EXPECT_THAT(node.states, ElementsAre("IDLE"));
  EXPECT_EQ(node.reason, "State=DRAIN");
  EXPECT_EQ(one("IDLE", "   Comment=Reason=weft PLAN-1: x\n").reason, "");
}

TEST(ScontrolNodes, ThatAreIncompleteAreNotGuessedAt) {
  EXPECT_EQ(parse_scontrol_nodes("NodeName=n1 Arch=x\n   CPUAlloc=0\n\n").error().code, ErrorCode::kProtocol);
  EXPECT_EQ(parse_scontrol_nodes("NodeName=n1 A=b\n\n" + printed("n2", "h", "IDLE")).error().code,
            ErrorCode::kProtocol);
  EXPECT_EQ(parse_scontrol_nodes("NodeName= Arch=x\n").error().code, ErrorCode::kProtocol);
  EXPECT_TRUE(parse_scontrol_nodes("")->empty());
  EXPECT_TRUE(parse_scontrol_nodes("No nodes in the system\n")->empty());
}

TEST(SlurmrestdNodes, AreReadInTheShapeOfEachVersion) {
  const auto nodes = parse_slurmrestd_nodes(
      R"({"nodes":[{"name":"n1","hostname":"dgx-01","state":["MIXED","DRAIN"],"reason":"weft PLAN-7: x","reason_set_by_user":"weft"},
                   {"name":"n2","hostname":"dgx-02","state":"idle","state_flags":["DRAIN"]}]})");
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT((*nodes)[0].states, ElementsAre("MIXED", "DRAIN"));
  EXPECT_EQ((*nodes)[0].reason_user, "weft");
  EXPECT_THAT((*nodes)[1].states, ElementsAre("IDLE", "DRAIN"));
}

TEST(SlurmrestdNodes, OfAnyOtherShapeAreRefused) {
  for (const char* bad : {"", "[]", "{", "{}", R"({"nodes":{}})", R"({"nodes":[1]})", R"({"nodes":[{"name":"n1"}]})",
                          R"({"nodes":[{"state":["IDLE"]}]})", R"({"nodes":[{"name":7,"state":["IDLE"]}]})",
                          R"({"nodes":[{"name":"n1","state":7}]})"}) {
    const auto nodes = parse_slurmrestd_nodes(bad);
    ASSERT_FALSE(nodes) << bad;
    EXPECT_EQ(nodes.error().code, ErrorCode::kProtocol);
  }
}

TEST(FindSlurmNode, ByHostNameThenByNodeNameShortOrQualified) {
  const std::vector<SlurmNode> nodes{
      {"n1", "dgx-01", {"IDLE"}, "", ""},     {"n2", "dgx-02.example.org", {"IDLE"}, "", ""},
      {"many-1", "vm", {"IDLE"}, "", ""},     {"many-2", "vm", {"IDLE"}, "", ""},
      {"dgx-03", "dgx-04", {"IDLE"}, "", ""}, {"n5", "dgx-03", {"IDLE"}, "", ""}};
  EXPECT_EQ(find_slurm_node(nodes, "dgx-01")->name, "n1");
  EXPECT_EQ(find_slurm_node(nodes, "DGX-01.example.org")->name, "n1");
  EXPECT_EQ(find_slurm_node(nodes, "dgx-02")->name, "n2");
  EXPECT_EQ(find_slurm_node(nodes, "n2")->name, "n2");
  EXPECT_EQ(find_slurm_node(nodes, "many-2")->name, "many-2");
  EXPECT_EQ(find_slurm_node(nodes, "dgx-02.example.com").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_slurm_node(nodes, "dgx").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_slurm_node(nodes, "vm").error().code, ErrorCode::kFailedPrecondition);      // two nodes on it
  EXPECT_EQ(find_slurm_node(nodes, "dgx-03").error().code, ErrorCode::kFailedPrecondition);  // one's host, one's name
}

TEST(JudgeSlurmNode, OnlyOurMarkSetByUsIsOurs) {
  const auto state = [](const SlurmNode& node, std::string_view user = "root") {
    return judge_slurm_node(node, user, {"1c9e0b7a5d3f2468", {7}}).state;
  };
  const std::string ours = "   Reason=weft PLAN-7 INC-17: x [root@2026-11-21T20:07:45]\n";
  EXPECT_EQ(state(one("IDLE+DRAIN", ours)), TargetState::kOurs);
  EXPECT_EQ(state(one("MIXED+DRAIN+NOT_RESPONDING", ours)), TargetState::kOurs);
  EXPECT_EQ(state(one("DOWN+DRAIN", ours)), TargetState::kOurs);
  EXPECT_EQ(state(one("IDLE+DRAIN", ours), "weft"), TargetState::kForeign);  // somebody took our words
  EXPECT_EQ(state(one("IDLE+DRAIN", ours), ""), TargetState::kOurs);
  EXPECT_EQ(state(one("IDLE+DRAIN", "   Reason=weft PLAN-9.1c9e0b7a5d3f2468: x [root@2026-11-21T20:07:45]\n")),
            TargetState::kOurs);
  EXPECT_EQ(state(one("IDLE+DRAIN", "   Reason=weft PLAN-7.ffff0b7a5d3f2468: x [root@2026-11-21T20:07:45]\n")),
            TargetState::kForeign)
      << "another weftd's, under the same user";
  EXPECT_EQ(state(one("IDLE+DRAIN", "   Reason=weft PLAN-8: x [root@2026-11-21T20:07:45]\n")), TargetState::kForeign)
      << "an older database's";
  EXPECT_EQ(state(one("IDLE+DRAIN", "   Reason=disk [root@2026-11-21T20:07:45]\n")), TargetState::kForeign);
  EXPECT_EQ(state(one("IDLE+DRAIN")), TargetState::kForeign);
}

TEST(JudgeSlurmNode, WhatTakesNoJobsWithoutADrainIsSomebodyElses) {
  const auto state = [](const char* text) { return judge_slurm_node(one(text), "root", {}).state; };
  for (const char* out : {"DOWN", "DOWN*", "IDLE+FAIL", "FAILING", "IDLE+MAINTENANCE+RESERVED", "FUTURE", "ERROR"})
    EXPECT_EQ(state(out), TargetState::kForeign) << out;
  for (const char* in : {"IDLE", "MIXED", "ALLOCATED", "IDLE+RESERVED", "IDLE*", "IDLE+NOT_RESPONDING", "IDLE~",
                         "MIXED+COMPLETING", "IDLE+PLANNED", "UNKNOWN"})
    EXPECT_EQ(state(in), TargetState::kClear) << in;
  EXPECT_EQ(judge_slurm_node(one("MIXED+DRAIN", "   Reason=disk [eve@2026-11-21T20:07:45]\n"), "root", {}).detail,
            "node n1 is MIXED+DRAIN, reason 'disk' set by eve");
}

TEST(SlurmMarks, AnEpochCountsWhereWeMayHaveSetIt) {
  const MarkOwner owner{"1c9e0b7a5d3f2468", {}};
  const auto seen_by = [&](const std::string& user, const std::string& reason_user) {
    SlurmNode node;
    node.name = "n1";
    node.states = {"IDLE", "DRAIN"};
    node.reason = "weft PLAN-7.1c9e0b7a5d3f2468 INC-17 epoch 9: errors";
    node.reason_user = reason_user;
    TargetReading seen;
    add_slurm_marks({node}, user, owner, seen);
    return seen.epoch;
  };
  EXPECT_EQ(seen_by("weft", "weft"), 9);
  EXPECT_EQ(seen_by("weft", ""), 9) << "it is not told";
  EXPECT_EQ(seen_by("", "root"), 9);
  EXPECT_EQ(seen_by("weft", "mallory"), 0);
}

}  // namespace
}  // namespace weft::actuate
