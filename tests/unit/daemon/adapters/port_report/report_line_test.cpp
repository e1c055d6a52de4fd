// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/port_report/report_line.hpp"

#include <gtest/gtest.h>

namespace weft::port {
namespace {

using infiniband::PortOutcome;
using infiniband::PortReport;

TEST(ReportLine, ComesBackAsItWas) {
  PortReport report{PortOutcome::kDone, PortState::kDown, PortPhysicalState::kDisabled, std::nullopt, "as \"asked\"\n"};
  const std::string line = to_line(report);
  EXPECT_EQ(
      line,
      "{\"outcome\":\"done\",\"state\":\"Down\",\"physical_state\":\"Disabled\",\"detail\":\"as \\\"asked\\\"\\n\"}\n");
  auto read = parse_line(line);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->outcome, PortOutcome::kDone);
  EXPECT_EQ(read->state, PortState::kDown);
  EXPECT_EQ(read->physical_state, PortPhysicalState::kDisabled);
  EXPECT_EQ(read->detail, report.detail);
  EXPECT_EQ(read->behind, std::nullopt);

  report.behind = PortKey{{0x2c9030000000f0ULL}, {36}};
  read = parse_line(to_line(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->behind, report.behind);
}

TEST(ReportLine, FailuresComeBackAsFailures) {
  const auto read = parse_line(to_line(fail(ErrorCode::kUnavailable, "the port is gone")));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(read.error().message, "the port is gone");
}

TEST(ReportLine, WhatIsNoneIsAProtocolError) {
  for (const char* text :
       {"", "\n", "null", "[]", "{}", "{\"outcome\":\"done\"}", "{\"error\":\"odd\",\"message\":\"x\"}",
        R"({"outcome":"perhaps","state":"Down","physical_state":"Disabled"})",
        R"({"outcome":"done","state":"Asleep","physical_state":"Disabled"})",
        R"({"outcome":"done","state":"Down","physical_state":"Disabled","behind":7})",
        R"({"outcome":"done","state":"Down","physical_state":"Disabled","behind":{"node":"0x1","port":300}})",
        R"({"outcome":"done","state":"Down","physical_state":"Disabled","behind":{"node":"leaf","port":3}})",
        R"({"outcome":"done","state":"Down","physical_sta)"}) {
    const auto read = parse_line(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kProtocol) << text;
  }
}

TEST(ManagementKey, IsOneNumber) {
  EXPECT_EQ(parse_management_key("0x1234\n"), 0x1234U);
  EXPECT_EQ(parse_management_key(" 42 "), 42U);
  EXPECT_EQ(parse_management_key("0xffffffffffffffff"), ~0ULL);
  for (const char* text : {"", "0x", "0x1ffffffffffffffff", "12 34", "key", "-1"})
    EXPECT_FALSE(parse_management_key(text)) << text;
}

}  // namespace
}  // namespace weft::port
