// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/history_drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <vector>

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Bars, AreAsHighAsTheirValueAndEmptyWhereNothingWasRead) {
  EXPECT_EQ(bars({0, 1, 3}, {8, 4, 0}, 5, false), "█▄ · ");
  EXPECT_EQ(bars({0, 1, 3}, {8, 4, 0}, 5, true), "#= . ");
  EXPECT_EQ(bars({}, {}, 3, false), "   ");
}

TEST(Bars, WhatIsAboveZeroIsNeverDrawnAsNothing) {
  EXPECT_EQ(bars({0, 1}, {1e12, 1e-6}, 2, false), "█▁");
}

v1::PortHistory port_of(const std::string& label) {
  v1::PortHistory port;
  port.set_label(label);
  v1::CounterHistory& sends = *port.add_counters();
  sends.set_counter("transmit_bytes");
  sends.set_unit("bytes");
  sends.set_total("7500000000");
  for (const unsigned bucket : {0U, 2U}) {
    sends.add_bucket(bucket);
    sends.add_rate(1e9);
    sends.add_peak(bucket == 0 ? 2e9 : 1e9);
  }
  v1::CounterHistory& errors = *port.add_counters();
  errors.set_counter("symbol_errors");
  errors.set_unit("events");
  errors.set_total("3");
  errors.set_at_least(true);
  errors.add_bucket(2);
  errors.add_rate(0.05);
  errors.add_peak(0.05);
  v1::CounterHistory& still = *port.add_counters();
  still.set_counter("link_downed");
  still.set_unit("events");
  still.set_total("0");
  return port;
}

v1::GetPortHistoryResponse history_of(int ports) {
  v1::GetPortHistoryResponse history;
  history.mutable_from()->set_seconds(1'767'268'800);  // 2026-01-01 12:00:00 UTC
  history.mutable_step()->set_seconds(600);
  history.set_buckets(24);
  for (int i = 1; i <= ports; ++i) *history.add_ports() = port_of("leaf-1 port " + std::to_string(i));
  return history;
}

std::string drawn(const v1::GetPortHistoryResponse& history, std::size_t columns = 84, bool each_counter = false) {
  std::ostringstream out;
  draw_history(out, history, TimePoint(std::chrono::seconds(1'767'283'000)), each_counter, columns, false);
  return out.str();
}

TEST(HistoryDrawing, OfOnePortShowsEachCounterThatMoved) {
  v1::GetPortHistoryResponse history = history_of(1);
  history.mutable_ports(0)->set_peer("spine-1 port 4");
  v1::HistoryMark& mark = *history.add_marks();
  mark.set_kind(v1::HistoryMark::INCIDENT);
  mark.set_id("INC-7");
  mark.set_severity(v1::Incident::CRITICAL);
  mark.mutable_from()->set_seconds(1'767'270'000);
  mark.set_text("link is down");
  const std::string text = drawn(history);
  EXPECT_THAT(text, HasSubstr("leaf-1 port 1 — spine-1 port 4\n"));
  EXPECT_THAT(text, HasSubstr("2026-01-01 12:00:00 UTC to 2026-01-01 15:56:40 UTC; a column is 10 min\n"));
  EXPECT_THAT(text, HasSubstr("█ ▄"));
  EXPECT_THAT(text, HasSubstr("peak 16 Gb/s"));
  EXPECT_THAT(text, HasSubstr(">= 3\n"));
  EXPECT_THAT(text, HasSubstr("Did not move: link_downed."));
  EXPECT_THAT(text, HasSubstr("01-01 12:00"));
  EXPECT_THAT(text, HasSubstr("01-01 12:20:00 - now"));
  EXPECT_THAT(text, HasSubstr("INC-7 CRITICAL link is down"));
}

TEST(HistoryDrawing, OfSeveralPortsIsARowForEach) {
  const std::string text = drawn(history_of(3));
  EXPECT_THAT(text, HasSubstr("leaf-1 port 3 "));
  EXPECT_THAT(text, HasSubstr("peak 16 Gb/s, >= 3 errors\n"));
  EXPECT_THAT(text, Not(HasSubstr("Did not move")));
}

TEST(HistoryDrawing, OfCountersThatWereAskedForIsARowForEach) {
  const std::string text = drawn(history_of(2), 84, true);
  EXPECT_THAT(text, HasSubstr("leaf-1 port 2 sends "));
  EXPECT_THAT(text, HasSubstr("leaf-1 port 2 symbol_errors "));
  EXPECT_THAT(text, HasSubstr("leaf-1 port 2 link_downed "));
}

void add_gauge(v1::PortHistory& port, const std::string& name, const std::string& unit,
               const std::vector<std::array<double, 3>>& values) {
  v1::GaugeHistory& gauge = *port.add_gauges();
  gauge.set_gauge(name);
  gauge.set_unit(unit);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    gauge.add_bucket(i + (i >= 3 ? 1 : 0));  // bucket 3 is a gap
    gauge.add_last(values[i][0]);
    gauge.add_low(values[i][1]);
    gauge.add_high(values[i][2]);
  }
}

TEST(HistoryDrawing, GaugesHaveTheirUnitsTheirScaleAndTheirGaps) {
  v1::GetPortHistoryResponse history = history_of(1);
  v1::PortHistory& port = *history.mutable_ports(0);
  add_gauge(port, "module_receive_power", "watts",
            {{1e-3, 1e-3, 1e-3}, {1e-3, 0.1e-3, 1e-3}, {0, 0, 0}, {0.5e-3, 0.5e-3, 0.5e-3}});
  add_gauge(port, "module_temperature", "degrees Celsius", {{41, 40, 42}, {41, 41, 41}});
  add_gauge(port, "module_bias", "amperes", {{7e-3, 7e-3, 7e-3}});
  const std::string text = drawn(history);
  EXPECT_THAT(text, HasSubstr("optical in                    █▁· ▆"));
  EXPECT_THAT(text, HasSubstr("none to 0.0, last -3.0 dBm\n"));
  EXPECT_THAT(text, HasSubstr("temperature"));
  EXPECT_THAT(text, HasSubstr("40.0 to 42.0, last 41.0 °C\n"));
  EXPECT_THAT(text, HasSubstr("7.0 mA\n"));
  EXPECT_THAT(text, HasSubstr("Of optical power it is the lowest"));
  EXPECT_THAT(drawn(history, 84, true), HasSubstr("laser bias"));
  EXPECT_EQ(counter_called("optical in"), "module_receive_power");
  port.clear_counters();
  EXPECT_THAT(drawn(history), HasSubstr("optical in")) << "also where no counter is known";
}

TEST(HistoryDrawing, SaysWhereNothingIsStored) {
  v1::GetPortHistoryResponse history = history_of(1);
  history.mutable_ports(0)->clear_counters();
  EXPECT_THAT(drawn(history), HasSubstr("Nothing is stored of that time.\n"));
}

TEST(HistoryDrawing, KeepsToTheTerminal) {
  for (const std::size_t columns : {58U, 64U, 80U, 84U, 120U, 200U}) {
    for (const int ports : {1, 3}) {
      v1::GetPortHistoryResponse history = history_of(ports);
      history.set_buckets(static_cast<std::uint32_t>(history_columns(columns)));
      std::istringstream lines(drawn(history, columns));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), columns) << line;
    }
  }
  EXPECT_EQ(history_columns(20), 12U);
  EXPECT_EQ(history_columns(80), 24U);
  EXPECT_EQ(history_columns(1000), 240U);
  EXPECT_EQ(history_columns(0), history_columns(80));
}

/// The lines of the axis, which are between the bars and what has none.
std::string axis_of(std::uint32_t buckets, int step) {
  v1::GetPortHistoryResponse history = history_of(1);
  history.set_buckets(buckets);
  history.mutable_step()->set_seconds(step);
  const std::string text = drawn(history);
  const std::size_t begin = text.find(">= 3\n") + 5;
  return text.substr(begin, text.find("Did not move: link_downed.\n") - begin);
}

TEST(HistoryDrawing, TheAxisHasBothEndsHoweverFewBarsThereAre) {
  const std::string name(30, ' ');
  EXPECT_EQ(axis_of(24, 600), name + "01-01 12:00  01-01 16:00\n");
  EXPECT_EQ(axis_of(23, 3600), name + "01-01 12:00 01-02 11:00\n");
  EXPECT_EQ(axis_of(15, 172'800), name + "01-01 12:00\n" + name + "    01-31 12:00\n");
  EXPECT_EQ(axis_of(2, 172'800), name + "01-01 12:00\n" + name + "01-05 12:00\n");
  EXPECT_EQ(axis_of(10, 1), name + "12:00:00\n" + name + "  12:00:10\n");
}

TEST(HistoryDrawing, WhatWasNotReadIsSaid) {
  v1::GetPortHistoryResponse history = history_of(3);
  history.mutable_ports(1)->mutable_counters()->DeleteSubrange(1, 2);  // the errors
  history.mutable_ports(2)->mutable_counters()->DeleteSubrange(0, 1);  // the traffic
  const std::string text = drawn(history);
  EXPECT_THAT(text, HasSubstr("peak 16 Gb/s, >= 3 errors\n"));
  EXPECT_THAT(text, HasSubstr("peak 16 Gb/s, errors not read\n"));
  EXPECT_THAT(text, HasSubstr("leaf-1 port 3                 not read\n"));
}

TEST(HistoryDrawing, NamesDoNotSteerTheTerminal) {
  v1::GetPortHistoryResponse history = history_of(1);
  history.mutable_ports(0)->set_label("leaf\x1b[2J");
  EXPECT_THAT(drawn(history), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace weft::ctl
