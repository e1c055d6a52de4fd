// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/gnmi_port.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/adapters/switch_port/messages.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::actuate {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using switch_port::Answer;
using switch_port::Outcome;

// Two spines, two leaves. weft-switches is a script that gives one answer after the other.
class GnmiPortTest : public ::testing::Test {
 protected:
  GnmiPortTest() : fabric(fakes::EthernetFabric::leaf_spine(2, 2, 1)) {
    std::string pattern = fs::temp_directory_path() / "weft-gnmi-test-XXXXXX";
    place = ::mkdtemp(pattern.data());
    options.program = place / "weft-switches";
    options.directory = place / "run";
    options.timeout = 1s;
    std::ofstream(options.program) << "#!/bin/bash\ncd " << place.string()
                                   << "\necho \"$*\" >> told\nn=$(wc -l < told)\n"
                                      "if [[ -e answer-$n ]]; then cat answer-$n >&3; else sleep 20; fi\n";
    ::chmod(options.program.c_str(), 0700);
  }
  ~GnmiPortTest() override { fs::remove_all(place); }

  /// What the next run answers.
  void answer(const Answer& next) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ASSERT_TRUE(runtime::send_options(ends[0], next));
    ::close(ends[0]);
    std::ofstream file(place / ("answer-" + std::to_string(++answers)), std::ios::binary);
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(ends[1], buffer.data(), buffer.size())) > 0;) file.write(buffer.data(), got);
    ::close(ends[1]);
  }
  void port(bool is_shut, bool is_up, std::string systems = "") {
    answer({.outcome = Outcome::kRead,
            .is_shut = is_shut,
            .is_up = is_up,
            .is_known = true,
            .systems = std::move(systems),
            .detail = is_shut ? "shut" : "enabled"});
  }
  std::size_t runs() const {
    std::ifstream file(place / "told");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  RemedyOrder order(RemedyAction action, const std::string& at = "leaf01 swp49") const {
    const auto topology = fabric.topology();
    RemedyOrder made;
    made.action = action;
    const auto key_of = [&topology](PortIndex index) {
      const Port& port = topology->port(index);
      return PortKey{topology->node_of(port).guid, port.number};
    };
    const PortIndex port = fakes::EthernetFabric::find(*topology, at);
    made.target = {EntityKind::kLink, fabric.name(), key_of(port), key_of(topology->port(port).peer), "the link"};
    made.sweep = std::make_shared<const Sweep>(fabric.sweep());
    made.end = made.target.port;
    return made;
  }
  Result<void> apply(RemedyAction action) { return make_gnmi_port(options)->apply(order(action)); }
  Result<TargetReading> observe(RemedyAction action = RemedyAction::kIsolateLink) {
    return make_gnmi_port(options)->observe(order(action));
  }

  fakes::EthernetFabric fabric;
  fs::path place;
  GnmiPortOptions options;
  unsigned answers = 0;
};

TEST_F(GnmiPortTest, OurEndTellsWhetherItIsOut) {
  port(true, false);
  const auto out = observe();
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->state, TargetState::kOurs);
  port(false, true);
  EXPECT_EQ(observe()->state, TargetState::kClear);
  EXPECT_EQ(runs(), 2U) << "while it is up the other end need not be asked";
}

TEST_F(GnmiPortTest, AnotherEndThatIsShutIsSomebodyElses) {
  port(false, false);
  port(true, false);
  EXPECT_EQ(observe()->state, TargetState::kForeign);
  port(false, false);
  port(true, false);
  const auto done = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(runs(), 4U);
}

TEST_F(GnmiPortTest, AnotherEndThatCannotBeReadHoldsUpNoReturn) {
  for (int i = 0; i < 2; ++i) {
    port(false, false);
    answer({.outcome = Outcome::kUnread, .detail = "spine01 does not answer"});
  }
  const auto before = observe();
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(observe(RemedyAction::kRestoreLink)->state, TargetState::kClear);
  // It is no target at all.
  port(false, false);
  answer({.outcome = Outcome::kRefused, .detail = "spine01 is no longer in gnmi.targets"});
  EXPECT_EQ(observe()->state, TargetState::kClear);
}

TEST_F(GnmiPortTest, ItIsSetOnceAndWhatIsSoIsNotSent) {
  port(false, true, "spine01.example.net\n");
  answer({.outcome = Outcome::kDone, .is_shut = true, .is_known = true, .detail = "shut"});
  EXPECT_TRUE(apply(RemedyAction::kIsolateLink));
  EXPECT_EQ(runs(), 2U);
  port(true, false);
  const auto again = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
  port(false, true);
  EXPECT_TRUE(apply(RemedyAction::kRestoreLink));
  EXPECT_EQ(runs(), 4U);
}

TEST_F(GnmiPortTest, OutcomesOfASetAreToldApart) {
  const auto code = [this](Outcome outcome) {
    port(false, true);
    answer({.outcome = outcome, .is_known = true, .detail = "so"});
    const auto done = apply(RemedyAction::kIsolateLink);
    return done ? "done" : to_string(done.error().code);
  };
  EXPECT_STREQ(code(Outcome::kDone), "done");
  EXPECT_STREQ(code(Outcome::kUnclear), "timeout");
  EXPECT_STREQ(code(Outcome::kRefused), "failed_precondition");
  EXPECT_STREQ(code(Outcome::kLate), "failed_precondition");
  EXPECT_STREQ(code(Outcome::kUnread), "failed_precondition");
  EXPECT_STREQ(code(Outcome::kRead), "protocol");
  port(false, true);  // and then it hangs
  EXPECT_EQ(apply(RemedyAction::kIsolateLink).error().code, ErrorCode::kTimeout);
}

TEST_F(GnmiPortTest, APortWithAnotherSwitchBehindItIsNotShut) {
  port(false, true, "spine02\n");
  const auto done = apply(RemedyAction::kIsolateLink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound);
  EXPECT_NE(done.error().message.find("has spine02 behind it, not spine01"), std::string::npos) << done.error().message;
  EXPECT_EQ(runs(), 1U);
  // A name that nobody here knows is no contradiction.
  port(false, true, "ToR-4711\n");
  answer({.outcome = Outcome::kDone, .is_shut = true, .is_known = true, .detail = "shut"});
  EXPECT_TRUE(apply(RemedyAction::kIsolateLink));
}

TEST_F(GnmiPortTest, WhatItCannotDoIsRefusedBeforeAnybodyIsAsked) {
  const auto code = [this](const RemedyOrder& asked) {
    const auto done = make_gnmi_port(options)->apply(asked);
    return done ? "done" : to_string(done.error().code);
  };
  EXPECT_STREQ(code(order(RemedyAction::kDrainNode)), "invalid_argument");
  EXPECT_STREQ(code(order(RemedyAction::kIsolateLink, "leaf01 swp1")), "failed_precondition") << "an access link";
  RemedyOrder no_end = order(RemedyAction::kIsolateLink);
  no_end.end.reset();
  EXPECT_STREQ(code(no_end), "invalid_argument");
  RemedyOrder unread = order(RemedyAction::kIsolateLink);
  unread.sweep.reset();
  EXPECT_STREQ(code(unread), "invalid_argument");
  options.program = place / "nothing";
  EXPECT_STREQ(code(order(RemedyAction::kIsolateLink)), "failed_precondition");
  EXPECT_EQ(runs(), 0U);
}

}  // namespace
}  // namespace weft::actuate
