// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/metrics_page.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "api/metrics/family.hpp"
#include "api/metrics/labels.hpp"
#include "api/metrics/port_families.hpp"
#include "fabric/snapshot.hpp"

namespace weft::collector {
namespace {

using api::MetricFamily;
using api::MetricsFormat;
using api::MetricType;

template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 40> buffer{};
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

template <typename Number>
void append_one(std::string& out, MetricsFormat format, const MetricFamily& family, Number value) {
  append_head(out, family, format);
  out += family.name;
  out += ' ';
  append_number(out, value);
  out += '\n';
}

void append_host(std::string& out, std::shared_ptr<const HostView> host, api::ScrapeTime now, MetricsFormat format,
                 MetricGroups groups) {
  auto snapshot = std::make_shared<Snapshot>();
  auto hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
  hosts->push_back(std::move(host));
  snapshot->hosts = std::move(hosts);
  api::PortFamilies families(std::move(snapshot), now, format, groups);
  for (std::string_view piece = families.next(); !piece.empty(); piece = families.next()) out += piece;
}

void append_sources(std::string& out, const HostReading& reading, MetricsFormat format) {
  if (reading.sources.empty()) return;
  append_head(out, {"weft_agent_source_up", MetricType::kGauge, "1 if a source of readings works."}, format);
  for (const SourceStatus& source : reading.sources) {
    out += "weft_agent_source_up{source=\"";
    api::append_label_value(out, source.name);
    out += source.ok ? "\"} 1\n" : "\"} 0\n";
  }
}

void append_spool(std::string& out, const spool::SpoolStats& spool, MetricsFormat format) {
  append_one(out, format, {"weft_agent_spool_bytes", MetricType::kGauge, "Bytes of the spool on disk."}, spool.bytes);
  append_one(out, format, {"weft_agent_spool_batches", MetricType::kGauge, "Batches not acknowledged yet."},
             spool.pending);
  append_head(out, {"weft_agent_lost_batches_total", MetricType::kCounter, "Batches lost before delivery, by reason."},
              format);
  out += "weft_agent_lost_batches_total{reason=\"bound\"} ";
  append_number(out, spool.dropped);
  out += "\nweft_agent_lost_batches_total{reason=\"disk\"} ";
  append_number(out, spool.unwritten);
  out += '\n';
}

void append_uplink(std::string& out, const uplink::UplinkReport& uplink, const std::vector<std::string>& analyzers,
                   MetricsFormat format) {
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    append_one(out, format, {name, MetricType::kCounter, help}, value);
  };
  append_one(out, format, {"weft_agent_connected", MetricType::kGauge, "1 while connected to weftd."},
             uplink.connected);
  append_head(out,
              {"weft_agent_analyzer_in_use", MetricType::kGauge,
               "1 for the address of weftd in use while connected; 0 for all while a weftd of another shard is used."},
              format);
  for (std::size_t i = 0; i < analyzers.size(); ++i) {
    out += "weft_agent_analyzer_in_use{address=\"";
    api::append_label_value(out, analyzers[i]);
    out += uplink.connected != 0 && uplink.analyzer == i ? "\"} 1\n" : "\"} 0\n";
  }
  counter("weft_agent_sent_batches_total", "Batches sent, including resent ones.", uplink.sent);
  counter("weft_agent_resent_batches_total", "Batches sent more than once.", uplink.resent);
  counter("weft_agent_late_batches_total", "Batches sent late.", uplink.late);
  counter("weft_agent_refused_batches_total", "Batches refused by weftd as invalid.", uplink.refused);
  counter("weft_agent_unreadable_batches_total", "Batches in the spool that could not be decoded.", uplink.unreadable);
  counter("weft_agent_corrupt_segments_total", "Damaged segments of the spool.", uplink.corrupt);
  counter("weft_agent_connections_total", "Streams accepted by weftd.", uplink.welcomes);
  counter("weft_agent_connection_failures_total", "Streams that ended or could not be opened.", uplink.failures);
  counter("weft_agent_clock_probes_total", "Clock probes answered.", uplink.probes);
  counter("weft_agent_sync_failures_total", "Failed syncs of the spool to disk before sending.", uplink.sync_failures);
  if (uplink.certificate_end != 0)
    append_one(out, format,
               {"weft_agent_certificate_expiry_timestamp_seconds", MetricType::kGauge,
                "Expiry of the certificate that weftd signed for this collector, in Unix time."},
               uplink.certificate_end);
  counter("weft_agent_certificate_failures_total", "Failed attempts to get or renew the certificate.",
          uplink.certificate_failures);
}

/// The figures of `own` under the names that they had before. Not of late and lost batches: weftd counts something else
/// under those names. Not of the address in use, which is newer.
void append_old_names(std::string& out, std::string_view own) {
  constexpr std::string_view kNew = "weft_agent_";
  constexpr std::string_view kOld = "weft_collector_";
  for (std::size_t end = 0; !own.empty(); own.remove_prefix(end)) {
    const std::size_t newline = own.find('\n');
    end = newline == std::string_view::npos ? own.size() : newline + 1;
    const std::string_view line = own.substr(0, end);
    const std::size_t at = line.find(kNew);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kNew.size());
    if (rest.starts_with("late_batches") || rest.starts_with("lost_batches") || rest.starts_with("analyzer_in_use"))
      continue;
    out.append(line.substr(0, at)).append(kOld).append(rest);
  }
}

void append_self(std::string& out, const HostReading* reading, const OwnFigures& figures, MetricsFormat format) {
  std::string own;
  const auto one = [&](std::string_view name, MetricType type, std::string_view help, auto value) {
    append_one(own, format, {name, type, help}, value);
  };
  one("weft_agent_readings_total", MetricType::kCounter, "Readings completed.", figures.readings);
  one("weft_agent_missed_readings_total", MetricType::kCounter,
      "Readings skipped because the one before took too long.", figures.missed_readings);
  one("weft_agent_reading_seconds_total", MetricType::kCounter, "Total time spent on readings.",
      figures.reading_seconds);
  one("weft_agent_last_reading_seconds", MetricType::kGauge, "Duration of the last reading.",
      figures.last_reading_seconds);
  one("weft_agent_link_events_total", MetricType::kCounter, "Link state changes received from the kernel.",
      figures.link_events);
  if (reading != nullptr) {
    append_sources(own, *reading, format);
    one("weft_agent_series", MetricType::kGauge, "Values in one reading.", reading->inventory->series.size());
    one("weft_agent_jobs", MetricType::kGauge, "Jobs running on the host.", reading->jobs.size());
  }
  if (figures.spool) append_spool(own, *figures.spool, format);
  if (figures.uplink) {
    append_uplink(own, *figures.uplink, figures.analyzers, format);
    one("weft_agent_uplink_starts_total", MetricType::kCounter, "Starts of weft-uplink.", figures.uplink_starts);
  }
  out += own;
  append_old_names(out, own);
  own.clear();
  one("process_cpu_seconds_total", MetricType::kCounter, "Processor time of weft-collector.",
      figures.processor_seconds);
  one("process_resident_memory_bytes", MetricType::kGauge, "Resident memory of weft-collector.",
      figures.resident_bytes);
  out += own;
}

}  // namespace

std::string metrics_page(std::shared_ptr<const HostView> host, const OwnFigures& figures, api::ScrapeTime now,
                         MetricsFormat format, MetricGroups groups) {
  std::string out;
  const std::shared_ptr<const HostReading> reading = host->reading;
  if (reading) append_host(out, std::move(host), now, format, groups);
  if (groups.has(MetricGroup::kSelf)) append_self(out, reading.get(), figures, format);
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
  return out;
}

}  // namespace weft::collector
