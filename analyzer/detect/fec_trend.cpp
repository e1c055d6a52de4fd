#include "analyzer/detect/fec_trend.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace weft::analyzer {
namespace {

/// Fewer corrected symbols than this say little about their rate (their spread is more than a tenth).
constexpr std::uint64_t kFewestSymbols = 100;
/// Spread of log10(ratio) below which a link's own steadiness is not believed: temperature alone moves it so far.
constexpr double kLeastSpread = 0.1;
/// A link that was down for so long may have been worked on (s).
constexpr double kTimeForRepair = 180;
/// Readings closer than this are taken together.
constexpr double kShortestWindow = 10;

std::string ratio_text(double exponent) {
  return short_number(std::pow(10, exponent));
}

}  // namespace

void FecTrends::update(const Sweep& sweep, std::span<const float> line_rates) {
  worse_.clear();
  if (!sweep.details || sweep.details->column(CounterId::kRsFecCorrectedSymbols) == SampleTable::kNoColumn) return;
  const SampleTable& details = *sweep.details;
  const std::size_t ports = std::min({sweep.topology->ports().size(), details.rows(), line_rates.size()});
  if (epoch_ != sweep.topology->epoch()) {
    epoch_ = sweep.topology->epoch();
    trends_.clear();
    columns_.clear();
    for (unsigned lane = 0; lane < counter_info(CounterId::kRsFecCorrectedSymbols).instances; ++lane)
      columns_.push_back(details.column(CounterId::kRsFecCorrectedSymbols, lane));
  }
  trends_.resize(ports);
  for (PortIndex port = 0; port < ports; ++port) {
    Trend& trend = trends_[port];
    trend.was_down = trend.was_down || line_rates[port] <= 0;
    if (details.read_at(port) != kNever && details.read_at(port) != trend.read_at)
      read(port, details, line_rates[port]);
    if (trend.drift.drifting() && line_rates[port] > 0 && is_worse(trend)) worse_.push_back(port);
  }
}

void FecTrends::read(PortIndex port, const SampleTable& details, float line_rate) {
  Trend& trend = trends_[port];
  std::uint64_t corrected = 0;
  bool present = false;
  for (const SampleTable::Column column : columns_) {
    if (!details.present(port, column)) continue;
    if (details.saturated(port, column)) return;  // it does not move any more
    corrected += details.value(port, column);
    present = true;
  }
  if (!present) return;
  const double elapsed = seconds(details.read_at(port) - trend.read_at);
  // Another rate is another modulation, and has errors of its own; and whoever had the link down for minutes may have
  // put in another cable.
  const bool anew =
      trend.read_at == kNever || corrected < trend.corrected || line_rate != trend.line_rate || elapsed <= 0;
  if (!anew && elapsed < kShortestWindow) return;
  if (line_rate != trend.line_rate || (trend.was_down && elapsed > kTimeForRepair)) trend.drift = {};
  if (!anew && line_rate > 0) {
    const std::uint64_t symbols = corrected - trend.corrected;
    const double bits = static_cast<double>(line_rate) * elapsed;
    const double counted = static_cast<double>(std::max(symbols, kFewestSymbols));
    trend.drift.add(std::log10(counted / bits), kLeastSpread, thresholds_.drift);
  }
  trend.read_at = details.read_at(port);
  trend.corrected = corrected;
  trend.line_rate = line_rate;
  trend.was_down = false;
}

bool FecTrends::is_worse(const Trend& trend) const {
  return trend.drift.last() >= std::log10(thresholds_.fec_ratio_minimum) &&
         trend.drift.last() - trend.drift.usual() >= thresholds_.fec_ratio_rise;
}

void FecTrends::report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                       std::vector<Finding>& findings) const {
  for (const PortIndex port : worse_) {
    const LinkId link = table.link_at(port);
    if (link == kNoIndex) continue;
    const Drift& drift = trends_[port].drift;
    const bool near_limit = drift.last() >= std::log10(thresholds_.fec_ratio_limit) - 1;
    const Entity cable = describe.link(link);
    auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
      return finding.kind == IncidentKind::kLinkDegraded && finding.cause.same_as(cable);
    });
    if (found == findings.end()) {
      Finding finding =
          make_finding(IncidentKind::kLinkDegraded, near_limit ? Severity::kWarning : Severity::kInfo, cable);
      if (const NodeId adapter = describe.adapter_of(link); adapter != kNoIndex)
        finding.affected.push_back(describe.node(adapter));
      finding.confidence = 0.8;
      finding.summary =
          "Link " + cable.label + " is getting worse: error correction repairs ever more, and loses nothing yet";
      found = findings.insert(findings.end(), std::move(finding));
    }
    found->evidence.push_back({.signal = "fec_corrected_ratio",
                               .description = port_label(topology, port) + " receives " + ratio_text(drift.last()) +
                                              " wrong symbols a bit before correction; " + ratio_text(drift.usual()) +
                                              " is usual here",
                               .value = std::pow(10, drift.last()),
                               .threshold = std::pow(10, drift.usual() + thresholds_.fec_ratio_rise),
                               .unit = "",
                               .observed = now,
                               .where = describe.port(topology.key_of(port))});
  }
}

}  // namespace weft::analyzer
