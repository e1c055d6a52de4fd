// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/counter_reference.hpp"

#include "fabric/counters.hpp"

namespace weft::daemon {
namespace {

constexpr const char* kHead = R"(# Counters

Generated from the catalogue by `weftd --counter-reference`: the name of each counter in `weftctl ports --counters` and in the API, and its metric
on `/metrics`.

A counter that was not read is absent, not zero. InfiniBand's counters saturate at all ones: such a value is a minimum, and
`weft_port_saturated{counter="..."}` is 1. A counter that decreased was reset; only that interval is lost. Ticks are of the port
(`wait_tick_seconds` in the API); their metrics are in seconds.

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

std::string named(std::string_view name, bool is_error) {
  const std::string code = '`' + std::string(name) + '`';
  return is_error ? "**" + code + "**" : code;
}

std::string widths_of(const CounterInfo& info) {
  const auto bits = [](unsigned width) { return width == 0 ? std::string("-") : std::to_string(width); };
  return bits(info.narrow_bits) + " / " + bits(info.wide_bits);
}

std::string labels_of(const CounterInfo& info) {
  std::string labels;
  const auto add = [&labels](bool there, const char* label) {
    if (there) labels += (labels.empty() ? "`" : ", `") + std::string(label) + '`';
  };
  add(info.family == CounterFamily::kRdmaError, "error");
  add(info.by_priority, "priority");
  add(info.by_direction, "direction");
  add(info.by_lane, "lane");
  return labels;
}

}  // namespace

std::string counter_reference() {
  std::string text = kHead;
  for (const CounterInfo& info : swept_counters())
    text += "| " + named(info.name, info.is_error) + " | " + to_string(info.unit) + " | " + widths_of(info) + " | " +
            (info.group == CounterGroup::kEverySweep ? "every sweep" : "details") + " | " +
            (info.instance_label.empty() ? std::string() : '`' + std::string(info.instance_label) + '`') + " | `" +
            metric_name(info) + "` | " + std::string(info.help) + " |\n";
  text += kHosts;
  for (const CounterInfo& info : counter_catalogue()) {
    if (!info.on_hosts) continue;
    text += "| " + named(info.name, info.is_error) + " | " + to_string(info.unit) + " | " +
            (info.is_gauge ? "gauge" : "counter") + " | " + labels_of(info) + " | " +
            (info.unit == CounterUnit::kTicks ? std::string("-") : '`' + metric_name(info) + '`') + " | " +
            std::string(info.help) + " |\n";
  }
  return text;
}

}  // namespace weft::daemon
