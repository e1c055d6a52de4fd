// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/metric_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "daemon/programs/weftd/pushed_switches.hpp"

namespace weft::daemon {
namespace {

namespace pushed = api::pushed;
using ::testing::HasSubstr;

constexpr const char* kNames = R"(
node = ["host.name"]
port = ["interface.name", "device"]
[[metrics]]
name = "octets"
where = { direction = "in" }
counter = "receive_bytes"
[[metrics]]
name = "marks"
counter = "ecn_marks_made"
part = "queue"
[[metrics]]
name = "pause"
counter = "pfc_frames"
direction = "transmit"
priority = "class"
[[metrics]]
name = "rate"
is = "speed"
scale = 1e6
[[metrics]]
name = "status"
is = "state"
)";

MetricNames names() {
  return *MetricNames::parse(kNames);
}

std::string wrong(const std::string& text) {
  const auto parsed = MetricNames::parse(text);
  return parsed ? "" : parsed.error().message;
}

TEST(MetricNames, ADataPointIsFoundByItsAttributes) {
  const MetricNames table = names();
  EXPECT_TRUE(table.knows("octets"));
  EXPECT_FALSE(table.knows("bytes"));
  const std::vector<MetricAttribute> in{{"device", "Ethernet1"}, {"direction", "in"}};
  const auto match = table.find("octets", in);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->port, "Ethernet1");
  EXPECT_EQ(match->row->leaf.counter, "receive_bytes");
  const std::vector<MetricAttribute> out{{"device", "Ethernet1"}, {"direction", "out"}};
  EXPECT_FALSE(table.find("octets", out)) << "no row is of that direction";
  const std::vector<MetricAttribute> nowhere{{"direction", "in"}};
  EXPECT_FALSE(table.find("octets", nowhere)) << "no port";
}

TEST(MetricNames, ThePriorityIsADigitFromZeroToSeven) {
  const MetricNames table = names();
  const auto priority = [&](std::string value) {
    const std::vector<MetricAttribute> point{{"device", "e1"}, {"class", std::move(value)}};
    const auto match = table.find("pause", point);
    return match ? static_cast<int>(match->priority) : -1;
  };
  EXPECT_EQ(priority("3"), 3);
  EXPECT_EQ(priority("8"), -1);
  EXPECT_EQ(priority("03"), -1);
  EXPECT_EQ(priority("gold"), -1);
}

TEST(MetricNames, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(wrong("port = ['a']\n"), "node is missing: the names of attributes, as a list");
  EXPECT_EQ(wrong("node = ['a']\nport = ['b']\n"), "there is no [[metrics]]");
  EXPECT_THAT(wrong("node = ['a']\nport = 'b'\n"), HasSubstr("line 2: port must be a list"));
  const std::string head = "node = ['a']\nport = ['b']\n[[metrics]]\n";
  EXPECT_THAT(wrong(head + "name = 'x'\ncounter = 'errors_of_mine'\n"),
              HasSubstr("there is no counter 'errors_of_mine'"));
  EXPECT_THAT(wrong(head + "name = 'x'\ncounter = 'receive_bytes'\ndirection = 'receive'\n"),
              HasSubstr("receive_bytes has no direction"));
  EXPECT_THAT(wrong(head + "name = 'x'\ncounter = 'pfc_frames'\ndirection = 'receive'\n"),
              HasSubstr("pfc_frames needs priority"));
  EXPECT_THAT(wrong(head + "name = 'x'\nis = 'temperature'\n"), HasSubstr("is must be \"state\" or \"speed\""));
  EXPECT_THAT(wrong(head + "name = 'x'\nis = 'state'\npart = 'q'\n"), HasSubstr("part belongs to counter"));
  EXPECT_THAT(wrong(head + "name = 'x'\nis = 'speed'\nscale = 0\n"), HasSubstr("scale must be above 0"));
  EXPECT_THAT(wrong(head + "name = 'x'\nis = 'speed'\nup = 1\n"), HasSubstr("up belongs to is = \"state\""));
  EXPECT_THAT(wrong("node = [\n"), HasSubstr("line "));
}

/// A request of one resource.
class Request {
 public:
  explicit Request(const std::string& host) : resource_(*request_.add_resource_metrics()) {
    if (!host.empty()) set(*resource_.mutable_resource()->add_attributes(), "host.name", host);
  }
  pushed::NumberDataPoint& gauge(const std::string& name) {
    return add(name, *metric(name).mutable_gauge()->add_data_points());
  }
  pushed::NumberDataPoint& increment(const std::string& name) {
    pushed::Sum& sum = *metric(name).mutable_sum();
    sum.set_aggregation_temporality(pushed::AGGREGATION_TEMPORALITY_DELTA);
    return add(name, *sum.add_data_points());
  }
  PushedMetrics read() const { return read_pushed(request_, table_); }

 private:
  pushed::Metric& metric(const std::string& name) {
    pushed::Metric& made = *resource_.add_scope_metrics()->add_metrics();
    made.set_name(name);
    return made;
  }
  pushed::NumberDataPoint& add(const std::string& name, pushed::NumberDataPoint& point) {
    set(*point.add_attributes(), "device", "e1");
    if (name == "octets") set(*point.add_attributes(), "direction", "in");
    return point;
  }
  static void set(pushed::KeyValue& attribute, const std::string& key, const std::string& value) {
    attribute.set_key(key);
    attribute.mutable_value()->set_string_value(value);
  }

  const MetricNames table_ = names();
  pushed::ExportMetricsServiceRequest request_;
  pushed::ResourceMetrics& resource_;
};

TEST(ReadPushed, ValuesAreSortedBySwitchAndScaled) {
  Request request("leaf01");
  request.gauge("rate").set_as_double(100'000);
  request.increment("octets").set_as_int(1'500);
  request.gauge("status").set_as_int(2);
  request.gauge("memory").set_as_int(1);
  const PushedMetrics read = request.read();
  ASSERT_EQ(read.nodes.size(), 1U);
  EXPECT_EQ(read.nodes[0].name, "leaf01");
  ASSERT_EQ(read.nodes[0].values.size(), 3U);
  EXPECT_EQ(read.nodes[0].values[0].value, 100'000'000'000U);
  EXPECT_EQ(read.nodes[0].values[1].value, 1'500U);
  EXPECT_TRUE(read.nodes[0].values[1].stamp.is_increment);
  EXPECT_EQ(read.nodes[0].values[2].value, 0U) << "2 is not up";
  EXPECT_EQ(read.unknown, 1U);
  EXPECT_EQ(read.rejected, 0U);
}

TEST(ReadPushed, WhatCannotBeIsRejected) {
  Request request("leaf01");
  request.gauge("octets").set_as_int(-1);
  request.gauge("octets").set_as_double(1e300);
  request.gauge("octets").set_as_double(std::numeric_limits<double>::quiet_NaN());
  request.gauge("octets");
  pushed::NumberDataPoint& none = request.gauge("octets");
  none.set_flags(1);
  const PushedMetrics read = request.read();
  EXPECT_EQ(read.rejected, 4U) << "the last one says that it has no value";
  EXPECT_EQ(read.values, 0U);
  EXPECT_EQ(read.why, "octets of leaf01 has a value that cannot be");
}

TEST(ReadPushed, NobodyIsTakenForASwitchWithoutAName) {
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string(256, 'x')}) {
    Request request(name);
    request.gauge("octets").set_as_int(1);
    const PushedMetrics read = request.read();
    EXPECT_EQ(read.rejected, 1U);
    EXPECT_TRUE(read.nodes.empty());
  }
}

}  // namespace
}  // namespace weft::daemon
