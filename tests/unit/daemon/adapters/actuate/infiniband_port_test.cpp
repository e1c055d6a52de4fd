// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/infiniband_port.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fabric/graph/directed_path.hpp"
#include "tests/fakes/ethernet_fabric.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::actuate {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Two spines, three leaves of two hosts; we sit on host-0-0. weft-port is a script that notes what it was told.
class InfinibandPortTest : public ::testing::Test {
 protected:
  InfinibandPortTest() : fabric(fakes::FabricBuilder::fat_tree(2, 3, 2)) {
    std::string pattern = fs::temp_directory_path() / "weft-port-test-XXXXXX";
    place = ::mkdtemp(pattern.data());
    options.program = place / "weft-port";
    options.directory = place / "run";
    options.bound = 2s;
  }
  ~InfinibandPortTest() override { fs::remove_all(place); }

  /// What it does after noting its arguments; `answer` prints a line for the caller.
  void script(const std::string& body) {
    std::ofstream(options.program) << "#!/bin/bash\necho \"$*\" >> " << (place / "told").string()
                                   << "\nanswer() { echo \"$1\" >&3; }\n"
                                   << body << '\n';
    ::chmod(options.program.c_str(), 0700);
  }
  /// Reads as `state`; a Set is answered with `outcome`.
  void port(const std::string& state, const std::string& outcome) {
    script("case \"$*\" in *'--set '*) answer '{\"outcome\":\"" + outcome +
           "\",\"state\":\"Down\",\"physical_state\":\"Disabled\",\"detail\":\"set\"}';; *) answer '" + line(state) +
           "';; esac");
  }
  static std::string line(const std::string& physical_state) {
    return R"({"outcome":"read","state":"Down","physical_state":")" + physical_state + R"(","detail":"read"})";
  }
  std::vector<std::string> told() {
    std::ifstream file(place / "told");
    std::vector<std::string> lines;
    for (std::string text; std::getline(file, text);) lines.push_back(text);
    return lines;
  }
  RemedyOrder order(RemedyAction action, const std::string& from = "leaf-2", const std::string& to = "spine-1") {
    const LinkKey link = fabric.link_of(fabric.port_towards(from, to));
    RemedyOrder made;
    made.plan = 7;
    made.action = action;
    made.target = {EntityKind::kLink, "test", link.low, link.high, "the link"};
    made.sweep = std::make_shared<const Sweep>(fabric.sweep());
    return made;
  }
  Result<void> apply(RemedyAction action) { return make_infiniband_port(options)->apply(order(action)); }
  Result<TargetReading> observe() { return make_infiniband_port(options)->observe(order(RemedyAction::kIsolateLink)); }

  fakes::FabricBuilder fabric;
  fs::path place;
  InfinibandPortOptions options;
};

TEST_F(InfinibandPortTest, TellsTheProgramWhatIsNeededAndNothingMore) {
  port("LinkUp", "done");
  const auto done = apply(RemedyAction::kIsolateLink);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(told().size(), 2U) << "one look, one Set";
  const auto ends =
      find_link_ends(*fabric.topology(), fabric.local_port(), fabric.link_of(fabric.port_towards("leaf-2", "spine-1")));
  const std::string set = told()[1];
  EXPECT_NE(set.find("--route 1," + std::to_string(ends->way_to_ours->at(1).value) + " --node " +
                     to_string(ends->ours.node) + " --port " + std::to_string(ends->ours.port.value) + ' '),
            std::string::npos)
      << set;
  EXPECT_NE(set.find("--set disabled --peer " + to_string(ends->other.node) + " --peer-port " +
                     std::to_string(ends->other.port.value)),
            std::string::npos)
      << set;
  EXPECT_NE(set.find("--local-node " + to_string(fabric.local_port().node) + " --local-port 1 "), std::string::npos);
  EXPECT_EQ(told()[0].find("--set "), std::string::npos);
  EXPECT_EQ(set.find("m-key"), std::string::npos);
}

TEST_F(InfinibandPortTest, OnlyALinkThatWasReviewedAsDownMayBeSetUnseen) {
  port("Polling", "done");
  ASSERT_TRUE(apply(RemedyAction::kIsolateLink));
  EXPECT_EQ(told().back().find("--down-as-reviewed"), std::string::npos) << told().back();
  RemedyOrder made = order(RemedyAction::kIsolateLink);
  made.down_as_reviewed = true;
  ASSERT_TRUE(make_infiniband_port(options)->apply(made));
  EXPECT_NE(told().back().find("--down-as-reviewed"), std::string::npos) << told().back();
  port("Polling", "unseen");
  const auto done = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound) << "it may be up in a moment";
  EXPECT_EQ(done.error().message, "set; nothing was set");
}

TEST_F(InfinibandPortTest, AReadingNamesThePort) {
  const auto ends =
      find_link_ends(*fabric.topology(), fabric.local_port(), fabric.link_of(fabric.port_towards("leaf-2", "spine-1")));
  const std::string number = to_string(ends->ours.node) + " port " + std::to_string(ends->ours.port.value);
  script(R"(answer '{"outcome":"read","state":"Down","physical_state":"Disabled","detail":")" + number +
         R"( is Down/Disabled"}')");
  EXPECT_EQ(observe()->detail,
            port_label(*fabric.topology(), fabric.topology()->find_port(ends->ours)) + " is Down/Disabled");
}

TEST_F(InfinibandPortTest, EthernetIsNotItsBusiness) {
  port("LinkUp", "done");
  const auto ethernet = fakes::EthernetFabric::leaf_spine(2, 2, 2);
  RemedyOrder made = order(RemedyAction::kIsolateLink);
  Sweep sweep = ethernet.sweep();
  const LinkKey link = *sweep.topology->link_of(fakes::EthernetFabric::find(*sweep.topology, "leaf01 swp49"));
  sweep.local_port = sweep.topology->key_of(fakes::EthernetFabric::find(*sweep.topology, "gpu-01 eth2"));
  made.target = {EntityKind::kLink, ethernet.name(), link.low, link.high, "the link"};
  made.sweep = std::make_shared<const Sweep>(std::move(sweep));
  const auto done = make_infiniband_port(options)->apply(made);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("Ethernet"), std::string::npos) << done.error().message;
  EXPECT_TRUE(told().empty());
}

TEST_F(InfinibandPortTest, WhatIsBackAlreadyIsASuccessWithoutASet) {
  port("LinkUp", "done");
  EXPECT_TRUE(apply(RemedyAction::kRestoreLink));
  EXPECT_EQ(told().size(), 1U);
  port("Disabled", "already");
  EXPECT_TRUE(apply(RemedyAction::kRestoreLink));
}

// A disabled port does not say who disabled it.
TEST_F(InfinibandPortTest, WhatIsDisabledAlreadyIsNotSaidToBeOurWork) {
  port("Disabled", "done");
  const auto seen = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(seen.error().message, "read; nothing was set");
  EXPECT_EQ(told().size(), 1U);
  port("LinkUp", "already");
  const auto set = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kAlreadyExists);
}

TEST_F(InfinibandPortTest, OursForeignAndClear) {
  port("Disabled", "done");
  EXPECT_EQ(observe()->state, TargetState::kOurs);
  port("LinkUp", "done");
  EXPECT_EQ(observe()->state, TargetState::kClear);
  port("Polling", "done");
  EXPECT_EQ(observe()->state, TargetState::kClear) << "down, but nobody disabled it";
  // Our end, the spine's, polls; the other one, at the end of another way, is Disabled.
  const auto ends =
      find_link_ends(*fabric.topology(), fabric.local_port(), fabric.link_of(fabric.port_towards("leaf-2", "spine-1")));
  script("case \"$*\" in *" + to_string(ends->other.node) + "*) answer '" + line("Disabled") + "';; *) answer '" +
         line("Polling") + "';; esac");
  EXPECT_EQ(observe()->state, TargetState::kForeign);
  for (const auto action : {RemedyAction::kIsolateLink, RemedyAction::kRestoreLink})
    EXPECT_EQ(apply(action).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(InfinibandPortTest, TheEndThatWasSetIsLookedAtAndBroughtBackWhicheverIsNearer) {
  RemedyOrder made = order(RemedyAction::kRestoreLink);
  const auto ends =
      find_link_ends(*made.sweep->topology, fabric.local_port(), make_link_key(made.target.port, made.target.peer));
  script("case \"$*\" in *'--set '*) answer '" + line("Polling") + "';; *'--node " + to_string(ends->other.node) +
         " '*) answer '" + line("Disabled") + "';; *) answer '" + line("Polling") + "';; esac");
  made.end = ends->other;
  EXPECT_EQ(make_infiniband_port(options)->observe(made)->state, TargetState::kOurs);
  make_infiniband_port(options)->apply(made);
  const std::string set = told().back();
  EXPECT_NE(set.find(" --node " + to_string(ends->other.node) + ' '), std::string::npos) << set;
  EXPECT_NE(set.find("--set polling --peer " + to_string(ends->ours.node)), std::string::npos) << set;
}

TEST_F(InfinibandPortTest, HowASetEndedIsToldAsTheContractHasIt) {
  port("LinkUp", "unclear");
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kTimeout) << "it may have been taken";
  for (const char* outcome : {"not_that", "needs_key", "silent", "refused"}) {
    port("LinkUp", outcome);
    EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kFailedPrecondition) << outcome;
  }
  script("case \"$*\" in *'--set '*) answer '{\"error\":\"unavailable\",\"message\":\"gone\"}';; *) answer '" +
         line("LinkUp") + "';; esac");
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kUnavailable);
}

TEST_F(InfinibandPortTest, AProgramThatHangsDiesOrRaves) {
  script("exec sleep 60");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(observe().error().code, ErrorCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  const std::string hang_in_set =
      "case \"$*\" in *'--set '*) exec sleep 60;; *) answer '" + line("LinkUp") + "';; esac";
  script(hang_in_set);
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kTimeout) << "it may have been taken";
  script("case \"$*\" in *'--set '*) kill -9 $$;; *) answer '" + line("LinkUp") + "';; esac");
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kTimeout);
  script("answer 'Segmentation fault'");
  EXPECT_EQ(observe().error().code, ErrorCode::kProtocol);
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kFailedPrecondition) << "nothing was set yet";
  fs::remove(options.program);
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(InfinibandPortTest, TheKeyGoesNeitherByArgumentNorByEnvironment) {
  options.management_key_file = place / "m-key";
  std::ofstream(options.management_key_file) << "0xfeed\n";
  script("read key <&3; echo \"key $key\" >> " + (place / "told").string() + "; env >> " + (place / "told").string() +
         "; answer '" + line("LinkUp") + "'");
  ::chmod(options.management_key_file.c_str(), 0644);
  EXPECT_EQ(observe().error().code, ErrorCode::kFailedPrecondition) << "anybody could read it";
  ::chmod(options.management_key_file.c_str(), 0600);
  const auto seen = observe();
  ASSERT_TRUE(seen) << seen.error().message;
  int times = 0;
  for (const std::string& text : told()) times += text.find("0xfeed") != std::string::npos ? 1 : 0;
  EXPECT_EQ(times, 1) << "as it was read from the socket";
  EXPECT_NE(told()[0].find("--m-key-fd 3"), std::string::npos);
}

TEST_F(InfinibandPortTest, OrdersThatAreNoneAreRefusedBeforeAnythingRuns) {
  port("LinkUp", "done");
  const auto actuator = make_infiniband_port(options);
  RemedyOrder wrong = order(RemedyAction::kDrainNode);
  EXPECT_EQ(actuator->apply(wrong).error().code, ErrorCode::kInvalidArgument);
  wrong = order(RemedyAction::kIsolateLink);
  wrong.target.kind = EntityKind::kHost;
  EXPECT_EQ(actuator->apply(wrong).error().code, ErrorCode::kInvalidArgument);
  wrong = order(RemedyAction::kIsolateLink);
  wrong.target.fabric = "another";
  EXPECT_EQ(actuator->apply(wrong).error().code, ErrorCode::kInvalidArgument);
  wrong = order(RemedyAction::kIsolateLink);
  wrong.sweep.reset();
  EXPECT_EQ(actuator->observe(wrong).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(actuator->apply(order(RemedyAction::kIsolateLink, "leaf-2", "host-2-0 mlx5_0")).error().code,
            ErrorCode::kFailedPrecondition);
  fabric.unlink(fabric.port_towards("leaf-2", "spine-0"));
  EXPECT_EQ(actuator->apply(order(RemedyAction::kIsolateLink)).error().code, ErrorCode::kFailedPrecondition)
      << "the last way";
  EXPECT_TRUE(told().empty());
  EXPECT_TRUE(actuator->apply(order(RemedyAction::kRestoreLink))) << "it is up, so nothing is to be done";
}

}  // namespace
}  // namespace weft::actuate
