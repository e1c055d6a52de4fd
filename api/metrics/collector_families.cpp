// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/collector_families.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "api/metrics/family.hpp"
#include "api/metrics/labels.hpp"
#include "fabric/clock.hpp"

namespace weft::api {

void append_collector_states(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  if (!snapshot.hosts) return;
  std::array<std::size_t, 3> counts{};
  for (const auto& host : *snapshot.hosts) ++counts[static_cast<std::size_t>(host->state) % counts.size()];
  append_head(out, {"weft_collectors", MetricType::kGauge, "Hosts with a collector, by its state."}, format);
  for (const auto state : {CollectorState::kConnected, CollectorState::kSilent, CollectorState::kDisconnected})
    out += std::string("weft_collectors{state=\"") + to_string(state) + "\"} " +
           std::to_string(counts[static_cast<std::size_t>(state)]) + '\n';
}

void append_failing_sources(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  // Names come from collectors; whoever makes others up makes no series.
  constexpr std::array<std::string_view, 8> kSources{"certificate", "dcb",          "ethtool",   "jobs",
                                                     "module",      "rdma_netlink", "rtnetlink", "sysfs"};
  if (!snapshot.hosts) return;
  std::array<std::size_t, kSources.size()> counts{};
  for (const auto& host : *snapshot.hosts) {
    if (!host->reading) continue;
    for (const SourceStatus& source : host->reading->sources)
      if (const auto known = std::ranges::find(kSources, source.name); known != kSources.end() && !source.ok)
        ++counts[static_cast<std::size_t>(known - kSources.begin())];
  }
  constexpr std::string_view kName = "weft_collector_sources_failing";
  append_head(out, {kName, MetricType::kGauge, "Hosts on which this source of the collector fails."}, format);
  for (std::size_t i = 0; i < kSources.size(); ++i)
    out.append(kName).append("{source=\"").append(kSources[i]).append("\"} ").append(std::to_string(counts[i])) += '\n';
}

void append_config_drift(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  if (!snapshot.drift || !snapshot.drift->is_enabled) return;
  std::array<std::uint64_t, kConfigFacts> differing{};
  std::array<std::uint64_t, kConfigFacts> young{};
  std::array<std::uint64_t, kConfigFacts> undecided{};
  for (const DriftDifference& one : snapshot.drift->differences) {
    const auto fact = static_cast<std::size_t>(one.fact);
    differing[fact] += one.differing - one.young;
    young[fact] += one.young;
    if (one.state == ConfigDriftState::kTooFew || one.state == ConfigDriftState::kNoMajority) ++undecided[fact];
  }
  const auto append = [&](const MetricFamily& family, const std::array<std::uint64_t, kConfigFacts>& counts) {
    append_head(out, family, format);
    for (std::size_t fact = 0; fact < kConfigFacts; ++fact) {
      const ConfigFactRow& row = row_of(static_cast<ConfigFact>(fact));
      if (row.by_cohort || row.by_ends)
        out.append(family.name)
            .append("{fact=\"")
            .append(row.name)
            .append("\"} ")
            .append(std::to_string(counts[fact])) += '\n';
    }
  };
  append({"weft_config_drift", MetricType::kGauge,
          "Ports or adapters with another setting than most of their make, or than the other end of their link."},
         differing);
  append({"weft_config_drift_rolling_out", MetricType::kGauge,
          "The same, for less than drift.rollout: it may be a rollout."},
         young);
  append({"weft_config_drift_undecided", MetricType::kGauge,
          "Comparisons in which a setting differs on too few hosts, or without a majority."},
         undecided);
}

bool append_collectors(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position) {
  struct Kind {
    MetricFamily family;
    std::uint64_t HostView::*field;
  };
  constexpr std::array kKinds{
      Kind{{"weft_collector_batches_total", MetricType::kCounter, "Batches received from the host's collector."},
           &HostView::batches},
      Kind{{"weft_collector_late_batches_total", MetricType::kCounter,
            "Batches that arrived late, from the collector's spool."},
           &HostView::late_batches},
      Kind{{"weft_collector_lost_batches_total", MetricType::kCounter,
            "Batches of the collector that never arrived: its spool was full or deleted."},
           &HostView::lost_batches},
      Kind{{"weft_collector_clock_offset_seconds", MetricType::kGauge, "weftd's clock minus the host's."}, nullptr}};
  static const std::vector<std::shared_ptr<const HostView>> kNone;
  const auto& hosts = snapshot.hosts ? *snapshot.hosts : kNone;
  for (; position < kKinds.size() * hosts.size() && out.size() < kChunk; ++position) {
    const Kind& kind = kKinds[position / hosts.size()];
    const HostView& host = *hosts[position % hosts.size()];
    if (position % hosts.size() == 0) append_head(out, kind.family, format);
    out.append(kind.family.name).append("{node=\"");
    append_label_value(out, host.host);
    out += "\"} ";
    std::array<char, kLongestNumber> digits;
    char* const last = digits.data() + digits.size();
    out.append(digits.data(), kind.field ? std::to_chars(digits.data(), last, host.*kind.field).ptr
                                         : std::to_chars(digits.data(), last, seconds(host.clock_offset)).ptr);
    out += '\n';
  }
  return !out.empty();
}

}  // namespace weft::api
