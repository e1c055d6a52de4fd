// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/port_setting.hpp"

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

// self - left - right - host; left and right are joined by ports 2 and 3 of each. It is left's port 3 that is set.
class PortSetting : public SmallSubnet {
 protected:
  PortSetting() {
    question.route = *DirectedRoute{}.then({1});
    question.port = {{0x200}, {3}};
    question.peer = {{0x300}, {3}};
    question.wanted = PortPhysicalState::kDisabled;
    question.timeout = std::chrono::milliseconds(20);
    question.retries = 1;
    question.settling = std::chrono::milliseconds(100);
  }
  PortReport ask() {
    auto report = ask_port(port, question);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : PortReport{};
  }
  std::uint8_t physical(std::size_t node) { return port.port(node, 3).physical; }
  std::uint32_t sent(MAD_FIELDS field) { return mad_get_field(port.last_set.data(), IB_SMP_DATA_OFFS, field); }
  void expect_untouched(PortOutcome outcome, const std::string& word) {
    const PortReport report = ask();
    EXPECT_EQ(report.outcome, outcome) << report.detail;
    EXPECT_NE(report.detail.find(word), std::string::npos) << report.detail;
    EXPECT_EQ(port.sets, 0U);
    EXPECT_EQ(physical(left), 5);
  }
  PortQuestion question;
};

TEST_F(PortSetting, DisablesReadsBackAndBringsBack) {
  PortReport report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kDone) << report.detail;
  EXPECT_EQ(report.physical_state, PortPhysicalState::kDisabled);
  EXPECT_EQ(report.state, PortState::kDown);
  EXPECT_EQ(report.behind, question.peer);
  EXPECT_EQ(port.sets, 1U);
  EXPECT_EQ(physical(left), 3);
  EXPECT_EQ(physical(right), 2);

  report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kAlready) << report.detail;
  EXPECT_EQ(port.sets, 1U) << "what is so already is left alone";

  question.wanted = PortPhysicalState::kPolling;
  report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kDone) << report.detail;
  EXPECT_EQ(report.physical_state, PortPhysicalState::kLinkUp);
  EXPECT_EQ(port.sets, 2U);
  report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kAlready) << report.detail;
  EXPECT_EQ(port.sets, 2U) << "a link that is up would be broken by it";
}

TEST_F(PortSetting, WritesNothingButThePhysicalState) {
  ASSERT_EQ(ask().outcome, PortOutcome::kDone);
  EXPECT_EQ(mad_get_field(port.last_set.data(), 0, IB_MAD_ATTRMOD_F), 3U | 1U << 31);
  EXPECT_EQ(sent(IB_PORT_PHYS_STATE_F), 3U);
  for (const auto nop : {IB_PORT_STATE_F, IB_PORT_LINK_DOWN_DEF_F, IB_PORT_LINK_WIDTH_ENABLED_F,
                         IB_PORT_LINK_SPEED_ENABLED_F, IB_PORT_LINK_SPEED_EXT_ENABLED_F, IB_PORT_CLIENT_REREG_F})
    EXPECT_EQ(sent(nop), 0U) << nop;
  EXPECT_EQ(sent(IB_PORT_OPER_VLS_F), 3U) << "as read";
  EXPECT_EQ(sent(IB_PORT_LID_F), port.port(left, 3).lid) << "as read";
}

TEST_F(PortSetting, ReadsWithoutSettingAnything) {
  question.wanted.reset();
  const PortReport report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kRead);
  EXPECT_EQ(report.state, PortState::kActive);
  EXPECT_EQ(report.physical_state, PortPhysicalState::kLinkUp);
  EXPECT_EQ(port.sets, 0U);
}

TEST_F(PortSetting, AnotherPortThanTheOneMeantIsNotSet) {
  question.down_as_reviewed = true;  // it is up: its peer is asked all the same
  question.peer = {{0x300}, {2}};
  expect_untouched(PortOutcome::kNotThat, "the cabling has changed");
  question.peer = {{0x300}, {3}};
  question.port.node = {0x201};
  expect_untouched(PortOutcome::kNotThat, "ends at");
  question.port = {{0x200}, {9}};
  expect_untouched(PortOutcome::kNotThat, "not an external port");
  question.port = {{0x200}, {0}};
  expect_untouched(PortOutcome::kNotThat, "not an external port");
  question.port = {{0x200}, {1}};
  question.peer = {{0x100}, {1}};
  expect_untouched(PortOutcome::kNotThat, "by which the directed route enters");
  question.route = *question.route.then({2})->then({1});
  question.port = {{0x400}, {1}};
  expect_untouched(PortOutcome::kNotThat, "not a switch");
}

TEST_F(PortSetting, AfterItsTimeNothingIsSet) {
  bool is_late = true;
  question.is_late = [&] { return is_late; };
  expect_untouched(PortOutcome::kLate, "is over");
  is_late = false;
  EXPECT_EQ(ask().outcome, PortOutcome::kDone);
}

TEST_F(PortSetting, SilenceBeforeTheSetMeansThatNothingWasDone) {
  port.node(left).silent = true;
  expect_untouched(PortOutcome::kSilent, "no response at the end");
  port.node(left).silent = false;
  port.node(right).silent = true;
  expect_untouched(PortOutcome::kSilent, "no response from the peer");
}

// The cable was moved, and is just training: behind it may be anybody.
TEST_F(PortSetting, APortThatIsNotUpIsNotDisabledWhereItWasReviewedAsUp) {
  port.set_link(left, 3, false);
  for (const auto physical :
       {PortPhysicalState::kPolling, PortPhysicalState::kTraining, PortPhysicalState::kLinkErrorRecovery}) {
    port.port(left, 3).physical = static_cast<std::uint8_t>(physical);
    const PortReport report = ask();
    EXPECT_EQ(report.outcome, PortOutcome::kUnseen) << report.detail;
    EXPECT_NE(report.detail.find("cannot be asked"), std::string::npos) << report.detail;
    EXPECT_EQ(port.sets, 0U);
    EXPECT_EQ(physical, static_cast<PortPhysicalState>(this->physical(left)));
  }
}

TEST_F(PortSetting, ALinkThatWasReviewedAsDownIsDisabledWithoutALookBehindIt) {
  port.set_link(left, 3, false);
  question.down_as_reviewed = true;
  const PortReport report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kDone) << report.detail;
  EXPECT_EQ(report.behind, std::nullopt);
}

TEST_F(PortSetting, ALostReplyIsResolvedByReadingNotByRepeating) {
  bool lost = false;
  port.tamper = [&](const MadAddress&, FakeMadPort::Reply&) -> std::size_t {
    if (port.sets == 0 || lost) return kMadSize;
    lost = true;
    return 0;
  };
  const PortReport report = ask();
  EXPECT_TRUE(lost);
  EXPECT_EQ(report.outcome, PortOutcome::kDone) << report.detail;
  EXPECT_NE(report.detail.find("lost"), std::string::npos) << report.detail;
  EXPECT_EQ(port.sets, 1U);
}

TEST_F(PortSetting, ALostSetIsToldAsUnclearAndNotRepeated) {
  port.loses = [](const FakeMadPort::Reply& mad) { return mad[3] == IB_MAD_METHOD_SET; };
  const PortReport report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kUnclear) << report.detail;
  EXPECT_EQ(report.physical_state, PortPhysicalState::kLinkUp);
  EXPECT_EQ(port.sets, 1U);
}

TEST_F(PortSetting, SilenceAfterTheSetIsUnclear) {
  port.loses = [this](const FakeMadPort::Reply&) { return port.sets > 0; };
  EXPECT_EQ(ask().outcome, PortOutcome::kUnclear);
  EXPECT_EQ(port.sets, 1U);
}

TEST_F(PortSetting, LostQuestionsAreAskedAgain) {
  int count = 0;
  port.loses = [&](const FakeMadPort::Reply& mad) { return mad[3] == IB_MAD_METHOD_GET && ++count % 2 == 1; };
  EXPECT_EQ(ask().outcome, PortOutcome::kDone);
  EXPECT_EQ(port.sets, 1U);
}

TEST_F(PortSetting, ASwitchThatRefusesOrDoesNothing) {
  port.node(left).set_status = 0x1C;
  PortReport report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kRefused) << report.detail;
  EXPECT_NE(report.detail.find("status 28"), std::string::npos) << report.detail;
  port.node(left).set_status = 0;
  port.node(left).hears_sets = false;
  report = ask();
  EXPECT_EQ(report.outcome, PortOutcome::kUnclear) << report.detail;
  EXPECT_EQ(physical(left), 5);
}

TEST_F(PortSetting, TheManagementKeyIsAskedForNotTriedOut) {
  port.node(left).management_key = 0x1234;
  for (const auto protection : {std::uint8_t{0}, std::uint8_t{1}}) {
    port.node(left).key_protection = protection;
    expect_untouched(PortOutcome::kNeedsKey, "none was given");
    question.management_key = 0x9999;
    expect_untouched(PortOutcome::kNeedsKey, "is wrong");
    question.management_key = 0;
  }
  port.node(left).key_protection = 2;
  expect_untouched(PortOutcome::kSilent, "M_Key");
  question.management_key = 0x1234;
  EXPECT_EQ(ask().outcome, PortOutcome::kDone);
}

TEST_F(PortSetting, WhatIsNoQuestionIsRefused) {
  question.wanted = PortPhysicalState::kLinkUp;
  EXPECT_EQ(ask_port(port, question).error().code, ErrorCode::kInvalidArgument);
  question.wanted = PortPhysicalState::kDisabled;
  question.route.hops = 63;
  EXPECT_EQ(ask_port(port, question).error().code, ErrorCode::kInvalidArgument);
  question.route.hops = 1;
  port.gone = true;
  EXPECT_EQ(ask_port(port, question).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(port.sets, 0U);
}

TEST(PortOutcomes, AreSpeltOneWay) {
  for (int i = 0; i < static_cast<int>(PortOutcome::kCount); ++i)
    EXPECT_EQ(parse_port_outcome(to_string(static_cast<PortOutcome>(i))), static_cast<PortOutcome>(i));
  EXPECT_EQ(parse_port_outcome("perhaps"), std::nullopt);
}

}  // namespace
}  // namespace weft::infiniband
