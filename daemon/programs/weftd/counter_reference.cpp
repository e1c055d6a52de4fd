// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/counter_reference.hpp"

#include "api/metrics/port_families.hpp"
#include "fabric/counters.hpp"
#include "fabric/host_counters.hpp"

namespace weft::daemon {
namespace {

constexpr const char* kHead = R"(# Counters

Generated from the catalogues by `weftd --counter-reference`: the name of each counter in `weftctl ports --counters` and in the API, and its metric
on `/metrics`.

A counter that was not read is absent, not zero. InfiniBand's counters saturate at all ones: such a value is a minimum, and
`weft_port_saturated{counter="..."}` is 1. A counter that decreased was reset; only that interval is lost.

## Ports of an InfiniBand subnet

Read in-band by the sweep. *Every sweep* is PortCounters and PortCountersExtended (InfiniBand Architecture, volume 1, 16.1.3.5 and
16.1.4.11); *details* are optional attributes of 16.1.4, read when an error counter of the port moved and once a detail interval. Width is that
of the classic attribute, then of the extended one. Error counters are **bold**.

| counter | unit | width | read | label | metric | meaning |
| --- | --- | --- | --- | --- | --- | --- |
)";

constexpr const char* kHosts = R"(
## Ports of a host, by its collector

Read on the host from sysfs, RDMA netlink, rtnetlink, ethtool and DCB. Counters that a sweep also reads are shown once. The driver
determines which of these exist; drivers count in 64 bits unless their table states otherwise.

| counter | unit | kind | labels | metric | meaning |
| --- | --- | --- | --- | --- | --- |
)";

const char* unit_of(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kBytes:
      return "bytes";
    case CounterUnit::kPackets:
      return "packets";
    case CounterUnit::kEvents:
      return "events";
    case CounterUnit::kTicks:
      return "ticks of the port";
  }
  return "";
}

const char* unit_of(HostUnit unit) {
  switch (unit) {
    case HostUnit::kEvents:
      return "events";
    case HostUnit::kPackets:
      return "packets";
    case HostUnit::kFrames:
      return "frames";
    case HostUnit::kBytes:
      return "bytes";
    case HostUnit::kBits:
      return "bits";
    case HostUnit::kBlocks:
      return "blocks";
    case HostUnit::kMicroseconds:
      return "microseconds";
    case HostUnit::kTicks:
      return "ticks of the port";
    case HostUnit::kPercent:
      return "percent";
    case HostUnit::kMilliCelsius:
      return "thousandths of a degree Celsius";
    case HostUnit::kNanowatts:
      return "nanowatts";
    case HostUnit::kMicroamperes:
      return "microamperes";
    case HostUnit::kMicrovolts:
      return "microvolts";
    case HostUnit::kState:
      return "0 or 1";
  }
  return "";
}

std::string named(std::string_view name, bool is_error) {
  const std::string code = '`' + std::string(name) + '`';
  return is_error ? "**" + code + "**" : code;
}

std::string widths_of(const CounterInfo& info) {
  const auto bits = [](unsigned width) { return width == 0 ? std::string("-") : std::to_string(width); };
  return bits(info.narrow_bits) + " / " + bits(info.wide_bits);
}

std::string labels_of(const HostCounterInfo& info) {
  std::string labels;
  const auto add = [&labels](bool there, const char* label) {
    if (there) labels += (labels.empty() ? "`" : ", `") + std::string(label) + '`';
  };
  add(info.family == HostFamily::kRdmaError, "error");
  add(info.by_priority, "priority");
  add(info.by_direction, "direction");
  add(info.by_lane, "lane");
  return labels;
}

}  // namespace

std::string counter_reference() {
  std::string text = kHead;
  for (const CounterInfo& info : counter_catalogue())
    text += "| " + named(info.name, info.is_error) + " | " + unit_of(info.unit) + " | " + widths_of(info) + " | " +
            (info.group == CounterGroup::kEverySweep ? "every sweep" : "details") + " | " +
            (info.instance_label.empty() ? std::string() : '`' + std::string(info.instance_label) + '`') + " | `" +
            api::port_metric_name(info) + "` | " + std::string(info.help) + " |\n";
  text += kHosts;
  for (const HostCounterInfo& info : host_counter_catalogue())
    text += "| " + named(info.name, info.is_error) + " | " + unit_of(info.unit) + " | " +
            (info.is_gauge ? "gauge" : "counter") + " | " + labels_of(info) + " | " +
            (info.unit == HostUnit::kTicks ? std::string("-") : '`' + host_metric_name(info) + '`') + " | " +
            std::string(info.help) + " |\n";
  return text;
}

}  // namespace weft::daemon
