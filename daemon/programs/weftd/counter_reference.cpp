// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/counter_reference.hpp"

#include "fabric/counters.hpp"
#include "fabric/metric_groups.hpp"

namespace weft::daemon {
namespace {

constexpr const char* kHead = R"(# Counters

Generated from the catalogue by `weftd --counter-reference`: the name of each counter in `weftctl ports --counters` and in the API, and its metric
on `/metrics`.

A counter that was not read is absent, not zero. InfiniBand's counters saturate at all ones: such a value is a minimum, and
`weft_port_saturated{counter="..."}` is 1. A counter that decreased was reset; only that interval is lost. Ticks are of the port
(`wait_tick_seconds` in the API); their metrics are in seconds.

The *group* is what a scrape may ask for by `?collect[]=`. A counter of the groups `errors`, `details` and `rdma` has no series while it was zero
ever since it is read: see [series](../series.md).

A counter with the label `source` has one series for each source that counts it: `sweep` (the port itself, read in-band), `rdma` (the RDMA
device, read on its host), `netdev` (the network interface: its driver and the kernel). They count the same quantity at different places. Never
add them up: choose one before a sum, such as `{source="sweep"}`. Of a host's port that is not swept,
`max without (source) (rate(weft_port_receive_errors_total{source!="sweep"}[5m]))` leaves one series. For its verdicts Weft takes the sweep's
for ports of a subnet; else of `receive_errors` first `rdma`, then `netdev`, and of `transmit_discards` first `netdev` (the driver's count),
then `rdma`. A collector older than weftd may send no source: its series have no such label.

## Ports of an InfiniBand subnet

Read in-band by the sweep. *Every sweep* is PortCounters and PortCountersExtended (InfiniBand Architecture, volume 1, 16.1.3.5 and
16.1.4.11); *details* are optional attributes of 16.1.4, read when an error counter of the port moved and once a detail interval. Width is that
of the classic attribute, then of the extended one. Error counters are **bold**.

| counter | unit | width | read | label | group | metric | meaning |
| --- | --- | --- | --- | --- | --- | --- | --- |
)";

constexpr const char* kHosts = R"(
## Ports of a host, by its collector

Read on the host from sysfs, RDMA netlink, rtnetlink, ethtool and DCB. A counter that a sweep also reads is shown once, unless it has
the label `source`. The driver determines which of these exist; drivers count in 64 bits unless their table states otherwise.

| counter | unit | kind | labels | group | metric | meaning |
| --- | --- | --- | --- | --- | --- | --- |
)";

std::string named(std::string_view name, bool is_error) {
  const std::string code = '`' + std::string(name) + '`';
  return is_error ? "**" + code + "**" : code;
}

std::string widths_of(const CounterInfo& info) {
  const auto bits = [](unsigned width) { return width == 0 ? std::string("-") : std::to_string(width); };
  return bits(info.narrow_bits) + " / " + bits(info.wide_bits);
}

void add_label(std::string& labels, bool there, std::string_view label) {
  if (there) labels += (labels.empty() ? "`" : ", `") + std::string(label) + '`';
}

std::string sweep_labels(const CounterInfo& info) {
  std::string labels;
  add_label(labels, !info.instance_label.empty(), info.instance_label);
  add_label(labels, info.by_source, "source");
  return labels;
}

std::string host_labels(const CounterInfo& info) {
  std::string labels;
  add_label(labels, info.family == CounterFamily::kRdmaError, "error");
  add_label(labels, info.by_priority, "priority");
  add_label(labels, info.by_direction, "direction");
  add_label(labels, info.by_lane, "lane");
  add_label(labels, info.by_source, "source");
  return labels;
}

std::string group_name(const CounterInfo& info) {
  return std::string(metric_group_names()[static_cast<std::size_t>(group_of(info))]);
}

}  // namespace

std::string counter_reference() {
  std::string text = kHead;
  for (const CounterInfo& info : swept_counters())
    text += "| " + named(info.name, info.is_error) + " | " + to_string(info.unit) + " | " + widths_of(info) + " | " +
            (info.group == CounterGroup::kEverySweep ? "every sweep" : "details") + " | " + sweep_labels(info) + " | " +
            group_name(info) + " | `" + metric_name(info) + "` | " + std::string(info.help) + " |\n";
  text += kHosts;
  for (const CounterInfo& info : counter_catalogue()) {
    if (!info.on_hosts) continue;
    text += "| " + named(info.name, info.is_error) + " | " + to_string(info.unit) + " | " +
            (info.is_gauge ? "gauge" : "counter") + " | " + host_labels(info) + " | " + group_name(info) + " | " +
            (info.unit == CounterUnit::kTicks ? std::string("-") : '`' + metric_name(info) + '`') + " | " +
            std::string(info.help) + " |\n";
  }
  return text;
}

}  // namespace weft::daemon
