// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/acceptance_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Acceptance run_of(v1::Acceptance::Verdict verdict) {
  v1::Acceptance run;
  run.set_id("ACC-3");
  run.set_what("hosts <gpu-01>, gpu-02");
  run.set_who("ann");
  run.mutable_started()->set_seconds(1'700'000'000);
  run.mutable_until()->set_seconds(1'700'007'200);
  run.mutable_length()->set_seconds(7200);
  run.mutable_watched_since()->set_seconds(1'700'000'000);
  run.set_verdict(verdict);
  v1::AcceptanceReport& report = *run.mutable_report();
  report.set_verdict(verdict);
  report.mutable_made()->set_seconds(1'700'007'201);
  v1::AcceptanceCheck& check = *report.add_checks();
  check.set_name("bit error rate");
  check.set_verdict(verdict);
  check.set_required(true);
  check.set_limit("at most 1e-14");
  check.set_source("a standard");
  check.set_passed(3);
  return run;
}

void add_port(v1::Acceptance& run, v1::Acceptance::Verdict verdict, const std::string& port, const std::string& told) {
  v1::AcceptancePort& added = *run.mutable_report()->mutable_checks(0)->add_ports();
  added.set_verdict(verdict);
  added.set_port(port);
  added.set_host("gpu-01");
  added.set_told(told);
}

TEST(AcceptanceDocument, APortThatFailsStandsThereWithItsLimitAndItsSource) {
  v1::Acceptance run = run_of(v1::Acceptance::FAIL);
  run.mutable_report()->mutable_checks(0)->set_failed(300);
  add_port(run, v1::Acceptance::FAIL, "leaf-1 port 4", "9 errors & more");
  const std::string html = acceptance_document(run, {.version = "1.2.3", .host = "mgmt"});
  EXPECT_THAT(html, HasSubstr("leaf-1 port 4"));
  EXPECT_THAT(html, HasSubstr("9 errors &amp; more"));
  EXPECT_THAT(html, HasSubstr("at most 1e-14"));
  EXPECT_THAT(html, HasSubstr("a standard"));
  EXPECT_THAT(html, HasSubstr("And 299 more."));
  EXPECT_THAT(html, HasSubstr("by weftd 1.2.3 on mgmt"));
  EXPECT_THAT(html, Not(HasSubstr("<gpu-01>"))) << "what people and fabrics write is text";
  EXPECT_EQ(acceptance_file_name(run), "weft-ACC-3");
}

TEST(AcceptanceDocument, AnUnfinishedOneSaysThatItIsNoPass) {
  v1::Acceptance run = run_of(v1::Acceptance::NOT_YET);
  run.mutable_report()->mutable_checks(0)->set_unfinished(1);
  add_port(run, v1::Acceptance::NOT_YET, "leaf-1 port 4", "0 errors in 2 h");
  run.mutable_report()->mutable_checks(0)->mutable_ports(0)->mutable_judged_at()->set_seconds(1'700'010'000);
  run.mutable_ended()->set_seconds(1'700'007'201);
  const std::string html = acceptance_document(run, {});
  EXPECT_THAT(html, HasSubstr("this is no pass"));
  EXPECT_THAT(html, HasSubstr("What could not be judged yet"));
  EXPECT_THAT(html, HasSubstr("2023-11-15 01:00:00 UTC")) << "when it can be judged";
  EXPECT_THAT(html, Not(HasSubstr("What failed")));
}

TEST(AcceptanceDocument, OneThatPassedHasNothingToComplainOf) {
  const v1::Acceptance run = run_of(v1::Acceptance::PASS);
  const std::string html = acceptance_document(run, {});
  EXPECT_THAT(html, HasSubstr("Everything that must be measured was"));
  for (const char* title : {"What failed", "What could not be judged yet", "What was not measured"})
    EXPECT_THAT(html, Not(HasSubstr(title)));
}

}  // namespace
}  // namespace weft::api
