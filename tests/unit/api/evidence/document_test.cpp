// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "api/evidence/charts.hpp"

namespace weft::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMarkup = "\"><script>alert(1)</script><img src=x onerror=y>&amp;";

/// Every text of the message and of those in it.
void fill(google::protobuf::Message& message, int depth) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& access = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const Field* field = message.GetDescriptor()->field(i);
    if (field->type() == Field::TYPE_STRING) {
      if (field->name() == "html" || field->name() == "runbook_steps") continue;
      if (field->is_repeated())
        access.AddString(&message, field, kMarkup);
      else
        access.SetString(&message, field, kMarkup);
    } else if (field->cpp_type() == Field::CPPTYPE_MESSAGE && depth < 6) {
      fill(field->is_repeated() ? *access.AddMessage(&message, field) : *access.MutableMessage(&message, field),
           depth + 1);
    }
  }
}

/// One port, a counter of ten buckets, and a gauge.
v1::EvidencePack small_pack() {
  v1::EvidencePack pack;
  pack.set_title("leaf-1 port 1");
  pack.mutable_charts_from()->set_seconds(1'700'000'000);
  pack.mutable_charts_step()->set_seconds(60);
  pack.set_charts_buckets(10);
  v1::EvidencePort& port = *pack.add_ports();
  port.set_label("leaf-1 port 1");
  v1::CounterHistory& errors = *port.mutable_history()->add_counters();
  errors.set_counter("symbol_errors");
  errors.set_unit("events");
  errors.set_total("120");
  for (const std::uint32_t bucket : {0U, 1U, 2U, 7U, 8U, 9U}) {
    port.add_read_bucket(bucket);
    errors.add_bucket(bucket);
    errors.add_rate(bucket == 2 ? 2 : 0);
    errors.add_peak(bucket == 2 ? 2 : 0);
  }
  return pack;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(EvidenceDocument, NoNameCanBeMarkup) {
  for (const int ports : {1, 3}) {
    v1::EvidencePack pack = small_pack();
    fill(pack, 0);
    for (int i = 1; i < ports; ++i) {
      v1::EvidencePort more = pack.ports(0);
      *pack.add_ports() = more;
    }
    const std::string html = evidence_document(pack);
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("<img")));
    EXPECT_THAT(html, HasSubstr("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    EXPECT_THAT(html, HasSubstr("&amp;amp;"));
  }
}

TEST(EvidenceDocument, NoSettingAndNoDifferenceCanBeMarkup) {
  v1::EvidencePack pack = small_pack();
  v1::ConfigurationFact& fact = *pack.mutable_ports(0)->mutable_device()->add_facts();
  fact.set_name("module_serial");
  fact.set_value(kMarkup);
  pack.mutable_incident()->set_kind(v1::Incident::CONFIG_DRIFT);
  fill(*pack.add_differences(), 0);
  for (const int ports : {1, 3}) {
    while (pack.ports_size() < ports) *pack.add_ports() = v1::EvidencePort(pack.ports(0));
    const std::string html = evidence_document(pack);
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, HasSubstr("serial number &quot;&gt;&lt;script"));
    EXPECT_THAT(html, HasSubstr("<h2>What differs</h2>"));
  }
  pack.clear_differences();
  EXPECT_THAT(evidence_document(pack), HasSubstr("nothing of it differed any more"));
}

TEST(EvidenceDocument, SettingsOfTwoEndsStandBesideEachOther) {
  v1::EvidencePack pack = small_pack();
  EXPECT_THAT(evidence_document(pack), Not(HasSubstr("How they are set up"))) << "no collector tells";
  v1::HostDevice& device = *pack.mutable_ports(0)->mutable_device();
  for (const auto& [name, value] : {std::pair{"mtu", "9000"}, {"module_vendor", "ACME"}, {"module_part", "P-1"}}) {
    v1::ConfigurationFact& fact = *device.add_facts();
    fact.set_name(name);
    fact.set_value(value);
  }
  device.mutable_facts_read()->set_seconds(1'700'000'000);
  pack.add_ports()->set_label("gpu-1 mlx5_0 port 1");
  const std::string html = evidence_document(pack);
  EXPECT_THAT(html, HasSubstr("<td>MTU<td>9000 bytes<td><span class=\"muted\">not known</span>"));
  EXPECT_THAT(html, HasSubstr("/sys/class/net/IF/mtu"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">Module<td>ACME P-1<td>"));
  EXPECT_THAT(html, HasSubstr("leaf-1 port 1: read 2023-11-14 22:13:20 UTC."));
}

TEST(EvidenceDocument, SaysWhichPartToTouchFirst) {
  v1::EvidencePack pack = small_pack();
  EXPECT_THAT(evidence_document(pack), Not(HasSubstr("Host, cable or switch")));
  v1::Advice& advice = *pack.mutable_incident()->mutable_advice();
  v1::Advice::Suspect& suspect = *advice.add_suspects();
  suspect.set_part(v1::Advice::MODULE);
  suspect.mutable_where()->set_label("leaf-1 <port> 1");
  suspect.set_share(0.75);
  advice.set_first("Replace the <module>");
  advice.add_reasons("the trouble moved with the <module>");
  const std::string html = evidence_document(pack);
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">First<td>Replace the &lt;module&gt;"));
  EXPECT_THAT(html, HasSubstr("The module at leaf-1 &lt;port&gt; 1<td>75 %"));
  EXPECT_THAT(html, HasSubstr("<td>no: what was read leaves parts even"));
  EXPECT_THAT(html, HasSubstr("<li>the trouble moved with the &lt;module&gt;</li>"));
}

TEST(EvidenceDocument, ANameThatIsVeryLongIsWholeAndBreaks) {
  v1::EvidencePack pack = small_pack();
  pack.mutable_ports(0)->set_label(std::string(4000, 'x'));
  const std::string html = evidence_document(pack);
  EXPECT_THAT(html, HasSubstr(std::string(4000, 'x')));
  EXPECT_THAT(html, HasSubstr("overflow-wrap"));
}

TEST(EvidenceDocument, NeedsNothingElse) {
  const std::string html = evidence_document(small_pack());
  EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'unsafe-inline'"));
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<link", "<script", "<iframe"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  EXPECT_THAT(html, HasSubstr("@media screen and (prefers-color-scheme:dark)"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

TEST(EvidenceDocument, AChartLeavesOutWhatWasNotRead) {
  v1::EvidencePack pack = small_pack();
  int left = 2;
  const std::string svg = charts_of(pack, pack.ports(0), left);
  EXPECT_EQ(left, 1);
  EXPECT_EQ(count_of(svg, "<rect class=\"gap\""), 1U) << svg;
  EXPECT_EQ(count_of(svg, "<svg"), 1U);
  // Of the bars only the one that moved is there: a zero that was read is no bar, and no gap.
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, std::regex("class=\"bars events\" d=\"([^\"]*)\"")));
  EXPECT_EQ(count_of(found[1], "M"), 1U);
  EXPECT_THAT(svg, HasSubstr("120 in all, most in one bar 120; a bar is 1 min"));
  EXPECT_THAT(svg, HasSubstr("2023-11-14 22:13 UTC"));
}

TEST(EvidenceDocument, ABarOfWhichAPartWasReadHasNoMoreThanThereIsInAll) {
  v1::EvidencePack pack = small_pack();
  // 120 in five seconds of a minute.
  pack.mutable_ports(0)->mutable_history()->mutable_counters(0)->set_rate(2, 24);
  int left = 1;
  EXPECT_THAT(charts_of(pack, pack.ports(0), left), HasSubstr("120 in all, most in one bar 120;"));
}

TEST(EvidenceDocument, WhatIsZeroTakesNoRoomAndWhatWasNotReadIsNoZero) {
  v1::EvidencePack pack = small_pack();
  pack.add_ports()->set_label("gpu-1 mlx5_0 port 1");
  const auto add = [&pack](int port, const char* name, std::uint64_t value) {
    v1::Counter& counter = *pack.mutable_ports(port)->mutable_port()->add_counters();
    counter.set_name(name);
    counter.set_value(value);
  };
  for (const int port : {0, 1}) {
    add(port, "link_downed", 0);
    for (std::uint32_t lane = 0; lane < 5; ++lane) {
      add(port, "virtual_lane_transmit_wait", lane == 3 ? 1 : 0);
      pack.mutable_ports(port)->mutable_port()->mutable_counters()->rbegin()->set_instance(lane);
    }
  }
  add(0, "symbol_errors", 0);
  add(0, "receive_errors", 3);
  add(1, "receive_errors", 0);
  const std::string html = evidence_document(pack);
  EXPECT_THAT(html, HasSubstr("<p>Read, and zero: link_downed, virtual_lane_transmit_wait [0] to [2], "
                              "virtual_lane_transmit_wait [4].</p>"));
  EXPECT_THAT(html,
              HasSubstr("symbol_errors<td><td class=\"number\">0<td class=\"number\"><span class=\"muted\">not read"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">3<td class=\"number\">0"));
  EXPECT_THAT(html, HasSubstr("Host, device, driver, firmware and module<td><span class=\"muted\">not known"));
}

TEST(EvidenceDocument, MarksStandAboveTheChart) {
  v1::EvidencePack pack = small_pack();
  v1::HistoryMark& mark = *pack.add_marks();
  mark.set_kind(v1::HistoryMark::INCIDENT);
  mark.set_id("INC-1");
  mark.set_severity(v1::Incident::CRITICAL);
  mark.mutable_from()->set_seconds(1'700'000'120);
  *pack.add_marks() = mark;
  pack.mutable_marks(1)->set_kind(v1::HistoryMark::MAINTENANCE);
  pack.mutable_marks(1)->mutable_until()->set_seconds(1'700'000'240);
  int left = 1;
  const std::string svg = charts_of(pack, pack.ports(0), left);
  EXPECT_THAT(svg, HasSubstr("class=\"lane critical\""));
  EXPECT_THAT(svg, HasSubstr("class=\"lane maintenance\""));
  EXPECT_THAT(svg, HasSubstr("<title>INC-1 </title>"));
}

TEST(EvidenceDocument, AGaugeIsDrawnInUnitsOfPeopleAndDarkIsNoPower) {
  v1::EvidencePack pack = small_pack();
  v1::GaugeHistory& power = *pack.mutable_ports(0)->mutable_history()->add_gauges();
  power.set_gauge("module_receive_power");
  power.set_unit("watts");
  for (int i = 0; i < 3; ++i) {
    power.add_bucket(static_cast<std::uint32_t>(i));
    power.add_last(1e-3);
    power.add_low(i == 2 ? 0 : 1e-4);
    power.add_high(i == 2 ? 0 : 1e-3);
  }
  int left = 9;
  const std::string svg = charts_of(pack, pack.ports(0), left);
  EXPECT_THAT(svg, HasSubstr("-10.0 dBm to 0.0 dBm, no light in 1 bars"));
}

TEST(EvidenceDocument, NoMoreChartsThanItMayHave) {
  const v1::EvidencePack pack = small_pack();
  int left = 0;
  EXPECT_EQ(charts_of(pack, pack.ports(0), left), "");
  EXPECT_EQ(left, -1);
  v1::EvidencePack large = pack;
  for (int i = 1; i < kMostEvidenceCharts + 3; ++i) *large.add_ports() = pack.ports(0);
  const std::string html = evidence_document(large);
  EXPECT_EQ(count_of(html, "<svg"), static_cast<std::size_t>(kMostEvidenceCharts));
  EXPECT_THAT(html, HasSubstr("3 more charts are not drawn"));
}

TEST(EvidenceDocument, AnEmptyPackIsADocumentThatKnowsNothing) {
  const std::string html = evidence_document({});
  EXPECT_THAT(html, HasSubstr("not known"));
  EXPECT_THAT(html, HasSubstr("There are none: "));
  EXPECT_THAT(html, HasSubstr("left out on purpose"));
  EXPECT_THAT(html, Not(HasSubstr("1970")));
  v1::EvidencePack with;
  with.set_with_jobs(true);
  EXPECT_THAT(evidence_document(with), Not(HasSubstr("left out on purpose")));
}

}  // namespace
}  // namespace weft::api
