// SPDX-License-Identifier: Apache-2.0
#include "api/convert/incidents.hpp"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace weft::api {
namespace {

TimePoint at_second(std::int64_t seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

/// It was down, is trained since then, and is over.
Incident ended() {
  Incident incident;
  incident.id = 7;
  incident.state = IncidentState::kResolved;
  incident.finding.severity = Severity::kWarning;
  incident.finding.summary = "is trained";
  incident.worst_severity = Severity::kCritical;
  incident.headline = "is down";
  const auto add = [&](std::int64_t second, IncidentChange change, const char* text) -> TimelineEntry& {
    TimelineEntry& entry = incident.timeline.emplace_back();
    entry.at = at_second(second);
    entry.change = change;
    entry.text = text;
    return entry;
  };
  add(10, IncidentChange::kOpened, "is down").severity = Severity::kCritical;
  TimelineEntry& trained = add(20, IncidentChange::kSeverityChanged, "is trained\xFF");
  trained.numbers_at = at_second(25);
  trained.left_out = 3;
  add(30, IncidentChange::kAcknowledged, "").who = "ada";
  add(40, IncidentChange::kFolded, "now part of INC-8");
  return incident;
}

TEST(IncidentMessage, HasWhatItWasBesideWhatItIs) {
  v1::Incident message;
  to_proto(ended(), message);
  EXPECT_EQ(message.severity(), v1::Incident::WARNING);
  EXPECT_EQ(message.summary(), "is trained");
  EXPECT_EQ(message.worst_severity(), v1::Incident::CRITICAL);
  EXPECT_EQ(message.headline(), "is down");
}

TEST(IncidentMessage, HasAdviceWhereThereIsAny) {
  v1::Incident message;
  Incident incident = ended();
  to_proto(incident, message);
  EXPECT_FALSE(message.has_advice()) << "no suspect is no advice";
  incident.finding.advice = {
      .suspects = {{LinkPart::kSwitch,
                    {.kind = EntityKind::kNode, .fabric = {}, .port = {}, .peer = {}, .label = "leaf-1"},
                    0.75},
                   {LinkPart::kCable, {}, 0.25}},
      .is_clear = true,
      .first = "Look at switch leaf-1 first",
      .reasons = {"2 of its links\xFF"}};
  to_proto(incident, message);
  ASSERT_EQ(message.advice().suspects_size(), 2);
  EXPECT_EQ(message.advice().suspects(0).part(), v1::Advice::SWITCH);
  EXPECT_EQ(message.advice().suspects(0).where().label(), "leaf-1");
  EXPECT_EQ(message.advice().suspects(0).share(), 0.75);
  EXPECT_TRUE(message.advice().is_clear());
  EXPECT_EQ(message.advice().first(), "Look at switch leaf-1 first");
  ASSERT_EQ(message.advice().reasons_size(), 1);
  EXPECT_EQ(message.advice().reasons(0).find('\xFF'), std::string::npos);
}

TEST(IncidentMessage, HasItsTimeline) {
  v1::Incident message;
  to_proto(ended(), message);
  ASSERT_EQ(message.timeline_size(), 4);
  EXPECT_EQ(message.timeline(0).change(), v1::Incident::TimelineEntry::OPENED);
  EXPECT_EQ(message.timeline(0).severity(), v1::Incident::CRITICAL);
  EXPECT_EQ(message.timeline(0).at().seconds(), 10);
  EXPECT_EQ(message.timeline(0).text(), "is down");
  EXPECT_FALSE(message.timeline(0).has_numbers_at());
  EXPECT_EQ(message.timeline(1).change(), v1::Incident::TimelineEntry::SEVERITY_CHANGED);
  EXPECT_EQ(message.timeline(1).numbers_at().seconds(), 25);
  EXPECT_EQ(message.timeline(1).left_out(), 3U);
  EXPECT_EQ(message.timeline(1).text().find('\xFF'), std::string::npos) << "or JSON and gRPC would refuse it";
  EXPECT_EQ(message.timeline(2).who(), "ada");
  EXPECT_EQ(message.timeline(3).change(), v1::Incident::TimelineEntry::FOLDED);
}

TEST(IncidentMessage, IsSpelledInJsonAsPeopleSayIt) {
  v1::Incident message;
  to_proto(ended(), message);
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
  for (const char* part : {R"("worstSeverity":"CRITICAL")", R"("headline":"is down")", R"("change":"SEVERITY_CHANGED")",
                           R"("numbersAt":"1970-01-01T00:00:25Z")", R"("leftOut":3)"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " is not in " << json;
}

}  // namespace
}  // namespace weft::api
