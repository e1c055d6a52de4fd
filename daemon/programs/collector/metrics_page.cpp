#include "daemon/programs/collector/metrics_page.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "api/metrics/family.hpp"
#include "api/metrics/host_families.hpp"
#include "api/metrics/labels.hpp"
#include "fabric/snapshot.hpp"

namespace weft::collector {
namespace {

using api::MetricFamily;
using api::MetricsFormat;
using api::MetricType;

constexpr std::size_t kPiece = 16 * 1024;

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

void append_host(std::string& out, std::shared_ptr<const HostView> host, TimePoint now, MetricsFormat format) {
  auto snapshot = std::make_shared<Snapshot>();
  auto hosts = std::make_shared<std::vector<std::shared_ptr<const HostView>>>();
  hosts->push_back(std::move(host));
  snapshot->hosts = std::move(hosts);
  api::HostFamilies families(std::move(snapshot), now, {});
  std::vector<char> piece(kPiece + api::HostFamilies::kLongestLine);
  std::string head;
  for (std::size_t i = 0; i < families.families().size(); ++i) {
    const auto& family = families.families()[i];
    head.clear();
    append_head(head, {family.name, family.type, family.help}, format);
    bool headed = false;
    for (bool done = false; !done;) {
      char* at = piece.data();
      done = families.write(i, at, piece.data() + kPiece, headed, head);
      out.append(piece.data(), at);
    }
  }
}

void append_sources(std::string& out, const HostReading& reading, MetricsFormat format) {
  if (reading.sources.empty()) return;
  append_head(out, {"weft_collector_source_up", MetricType::kGauge, "1 when all is well with a source of readings."},
              format);
  for (const SourceStatus& source : reading.sources) {
    out += "weft_collector_source_up{source=\"";
    api::append_label_value(out, source.name);
    out += source.ok ? "\"} 1\n" : "\"} 0\n";
  }
}

void append_spool(std::string& out, const spool::SpoolStats& spool, MetricsFormat format) {
  append_one(out, format, {"weft_collector_spool_bytes", MetricType::kGauge, "Bytes of the spool on disk."},
             spool.bytes);
  append_one(out, format,
             {"weft_collector_spool_batches", MetricType::kGauge, "Batches that wait for their acknowledgement."},
             spool.pending);
  append_head(out, {"weft_collector_lost_batches_total", MetricType::kCounter, "Batches that are lost, by reason."},
              format);
  out += "weft_collector_lost_batches_total{reason=\"bound\"} ";
  append_number(out, spool.dropped);
  out += "\nweft_collector_lost_batches_total{reason=\"disk\"} ";
  append_number(out, spool.unwritten);
  out += '\n';
}

void append_uplink(std::string& out, const uplink::UplinkReport& uplink, MetricsFormat format) {
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    append_one(out, format, {name, MetricType::kCounter, help}, value);
  };
  append_one(out, format, {"weft_collector_connected", MetricType::kGauge, "1 when the analyzer listens."},
             uplink.connected);
  counter("weft_collector_sent_batches_total", "Batches sent, those sent again included.", uplink.sent);
  counter("weft_collector_resent_batches_total", "Batches sent again.", uplink.resent);
  counter("weft_collector_late_batches_total", "Batches sent late.", uplink.late);
  counter("weft_collector_refused_batches_total", "Batches that the analyzer called wrong.", uplink.refused);
  counter("weft_collector_unreadable_batches_total", "Batches of the spool that could not be understood.",
          uplink.unreadable);
  counter("weft_collector_corrupt_segments_total", "Segments of the spool that were damaged.", uplink.corrupt);
  counter("weft_collector_connections_total", "Times the analyzer took our stream.", uplink.welcomes);
  counter("weft_collector_connection_failures_total", "Times a stream ended or could not be opened.", uplink.failures);
  counter("weft_collector_clock_probes_total", "Questions for our clock that were answered.", uplink.probes);
  counter("weft_collector_sync_failures_total", "Times the spool could not be put on disk before it was sent.",
          uplink.sync_failures);
}

}  // namespace

std::string metrics_page(std::shared_ptr<const HostView> host, const OwnFigures& figures, TimePoint now,
                         MetricsFormat format) {
  std::string out;
  const std::shared_ptr<const HostReading> reading = host->reading;
  if (reading) append_host(out, std::move(host), now, format);
  const auto one = [&](std::string_view name, MetricType type, std::string_view help, auto value) {
    append_one(out, format, {name, type, help}, value);
  };
  one("weft_collector_readings_total", MetricType::kCounter, "Readings made.", figures.readings);
  one("weft_collector_missed_readings_total", MetricType::kCounter, "Readings skipped because one took too long.",
      figures.missed_readings);
  one("weft_collector_reading_seconds_total", MetricType::kCounter, "Time that all readings took.",
      figures.reading_seconds);
  one("weft_collector_last_reading_seconds", MetricType::kGauge, "Time that the last reading took.",
      figures.last_reading_seconds);
  one("weft_collector_link_events_total", MetricType::kCounter, "Changes of links that were heard of.",
      figures.link_events);
  if (reading) {
    append_sources(out, *reading, format);
    one("weft_collector_series", MetricType::kGauge, "Values of a reading.", reading->inventory->series.size());
    one("weft_collector_jobs", MetricType::kGauge, "Jobs that hold the host.", reading->jobs.size());
  }
  if (figures.spool) append_spool(out, *figures.spool, format);
  if (figures.uplink) {
    append_uplink(out, *figures.uplink, format);
    one("weft_collector_uplink_starts_total", MetricType::kCounter, "Times weft-uplink was started.",
        figures.uplink_starts);
  }
  one("process_cpu_seconds_total", MetricType::kCounter, "Processor time of weft-collector.",
      figures.processor_seconds);
  one("process_resident_memory_bytes", MetricType::kGauge, "Resident memory of weft-collector.",
      figures.resident_bytes);
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
  return out;
}

}  // namespace weft::collector
