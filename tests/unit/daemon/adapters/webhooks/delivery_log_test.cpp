// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/webhooks/delivery_log.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "daemon/adapters/webhooks/event_message.hpp"

namespace weft::events {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Incident> make(std::uint64_t id, IncidentState state = IncidentState::kOpen,
                               Severity severity = Severity::kCritical) {
  auto incident = std::make_shared<Incident>();
  incident->id = id;
  incident->revision = 1;
  incident->finding.kind = IncidentKind::kLinkDown;
  incident->finding.severity = severity;
  incident->state = state;
  incident->opened = TimePoint(1'700'000'000s);
  incident->updated = incident->opened;
  return incident;
}

EventFilter severe() {
  return {.kinds = {}, .severities = {Severity::kWarning, Severity::kCritical}};
}

std::vector<std::uint64_t> ids(const IncidentList& incidents) {
  std::vector<std::uint64_t> found;
  for (const auto& incident : incidents) found.push_back(incident->id);
  return found;
}

TEST(DeliveryLog, TellsEachStateOnce) {
  DeliveryLog book(severe());
  const auto incident = make(7);
  EXPECT_EQ(ids(book.due({incident})), std::vector<std::uint64_t>{7});
  EXPECT_STREQ(event_of(*incident, book.find(7)), "opened");
  book.tell(*incident);
  EXPECT_TRUE(book.due({incident}).empty());

  incident->revision = 2;  // its evidence grew
  EXPECT_TRUE(book.due({incident}).empty());

  incident->state = IncidentState::kAcknowledged;
  EXPECT_EQ(book.due({incident}).size(), 1U);
  EXPECT_STREQ(event_of(*incident, book.find(7)), "acknowledged");
  book.tell(*incident);
  incident->state = IncidentState::kOpen;
  EXPECT_EQ(book.due({incident}).size(), 1U);
  EXPECT_STREQ(event_of(*incident, book.find(7)), "reopened") << "nobody looks after it any more";
  incident->state = IncidentState::kAcknowledged;
  incident->silenced_until = TimePoint(1'800'000'000s);
  EXPECT_STREQ(event_of(*incident, book.find(7)), "silenced");
  book.tell(*incident);
  incident->finding.severity = Severity::kWarning;
  EXPECT_EQ(book.due({incident}).size(), 1U);
  EXPECT_STREQ(event_of(*incident, book.find(7)), "changed");
  book.tell(*incident);
  incident->state = IncidentState::kResolved;
  EXPECT_STREQ(event_of(*incident, book.find(7)), "resolved");
  book.tell(*incident);
  incident->state = IncidentState::kOpen;
  incident->occurrences = 2;
  EXPECT_STREQ(event_of(*incident, book.find(7)), "reopened");
}

TEST(DeliveryLog, OfWhatWasToldTheEndIsToldWhateverTheFilterWants) {
  DeliveryLog book(severe());
  EXPECT_TRUE(book.due({make(1, IncidentState::kOpen, Severity::kInfo)}).empty());
  book.tell(*make(1));
  EXPECT_EQ(book.due({make(1, IncidentState::kResolved, Severity::kInfo)}).size(), 1U);
  const EventFilter flaps{.kinds = {IncidentKind::kLinkFlap}, .severities = {}};
  EXPECT_TRUE(DeliveryLog(flaps).due({make(1)}).empty());
}

TEST(DeliveryLog, ANewReceiverHearsOfWhatIsOpenAndWhatCameLater) {
  DeliveryLog book(severe());
  book.begin({make(1, IncidentState::kResolved), make(2)});
  EXPECT_EQ(ids(book.due({make(3, IncidentState::kResolved), make(2), make(1, IncidentState::kResolved)})),
            (std::vector<std::uint64_t>{2, 3}));
}

TEST(DeliveryLog, OutlivesItsProcess) {
  DeliveryLog book(severe());
  auto silenced = make(9, IncidentState::kAcknowledged, Severity::kWarning);
  silenced->silenced_until = TimePoint(1'800'000'000s);
  silenced->occurrences = 4;
  book.tell(*silenced);
  book.tell(*make(10));
  DeliveryLog again(severe());
  ASSERT_TRUE(again.read(book.text()));
  EXPECT_EQ(again.find(9), book.find(9));
  EXPECT_TRUE(again.due({silenced, make(10)}).empty());
  EXPECT_FALSE(again.forget_others({silenced, make(10)}));
  EXPECT_TRUE(again.forget_others({silenced}));
  EXPECT_FALSE(again.find(10));
}

TEST(DeliveryLog, WhatIsDamagedIsNotTakenForEmpty) {
  DeliveryLog book(severe());
  book.tell(*make(3));
  for (
      const char* text :
      {"", "{", "[]", R"({"version":2,"told":{}})", R"({"version":1})", R"({"version":1,"told":{"INC-1":{}}})",
       R"({"version":1,"told":{"x":{"revision":1,"state":"OPEN","severity":"INFO","occurrences":1,"silenced_until":0}}})",
       R"({"version":1,"told":{"INC-1":{"revision":1,"state":"ODD","severity":"INFO","occurrences":1,"silenced_until":0}}})"}) {
    EXPECT_FALSE(book.read(text)) << text;
    EXPECT_TRUE(book.find(3)) << text;
  }
}

TEST(EventMessage, HasWhatItWasBesideWhatItIs) {
  auto incident = make(5);
  incident->finding.severity = Severity::kWarning;
  incident->finding.summary = "is trained";
  incident->worst_severity = Severity::kCritical;
  incident->headline = "is down";
  const std::string body = event_body(*incident, "resolved", "");
  for (const char* part : {R"("severity":"WARNING")", R"("worst_severity":"CRITICAL")", R"("summary":"is trained")",
                           R"("headline":"is down")", R"("runbook_url":"/runbooks/LINK_DOWN")"})
    EXPECT_NE(body.find(part), std::string::npos) << part << " is not in " << body;
}

TEST(EventMessage, IsBoundedAndOnOneLine) {
  auto incident = make(5);
  incident->finding.summary = "a\nb\xFF";
  incident->finding.affected.resize(1000);
  incident->finding.jobs.assign(1000, "slurm:1");
  const std::string body = event_body(*incident, "opened", "https://weft.example");
  EXPECT_LT(body.size(), 16U * 1024);
  EXPECT_NE(body.find(R"("affected_count":1000)"), std::string::npos);
  EXPECT_NE(body.find(R"("summary":"a b?")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("url":"https://weft.example/#/incident/INC-5")"), std::string::npos);
  EXPECT_NE(body.find(R"("runbook_url":"https://weft.example/runbooks/LINK_DOWN")"), std::string::npos);
  EXPECT_EQ(idempotency_key(*incident, ""), "INC-5.1");
  EXPECT_EQ(idempotency_key(*incident, "1c9e0b7a5d3f2468"), "INC-5.1.1c9e0b7a5d3f2468")
      << "of another store: other news";
}

}  // namespace
}  // namespace weft::events
