// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/fec_trend.hpp"

#include <algorithm>

#include "analyzer/links/fec_ratio.hpp"

namespace weft::analyzer {
namespace {

/// Readings closer than this are taken together.
constexpr double kShortestWindow = 10;

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
    if (line_rates[port] > 0 && is_fec_worse(trend.drift, thresholds_)) worse_.push_back(port);
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
  if (line_rate != trend.line_rate || (trend.was_down && elapsed > seconds(kTimeForRepair))) trend.drift = {};
  if (!anew && line_rate > 0)
    add_fec_ratio(trend.drift, corrected - trend.corrected, static_cast<double>(line_rate) * elapsed, thresholds_);
  trend.read_at = details.read_at(port);
  trend.corrected = corrected;
  trend.line_rate = line_rate;
  trend.was_down = false;
}

void FecTrends::report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                       std::vector<Finding>& findings) const {
  for (const PortIndex port : worse_) {
    const LinkId link = table.link_at(port);
    if (link == kNoIndex) continue;
    const Drift& drift = trends_[port].drift;
    const Entity cable = describe.link(link);
    auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
      return finding.kind == IncidentKind::kLinkDegraded && finding.cause.same_as(cable);
    });
    if (found == findings.end()) {
      Finding finding = make_finding(IncidentKind::kLinkDegraded, fec_severity(drift, thresholds_), cable);
      if (const NodeId adapter = describe.adapter_of(link); adapter != kNoIndex)
        finding.affected.push_back(describe.node(adapter));
      finding.confidence = 0.8;
      finding.summary = "Link " + cable.label +
                        " is degrading: error correction (FEC) corrects more and more, without packet loss so far";
      found = findings.insert(findings.end(), std::move(finding));
    }
    found->evidence.push_back(fec_evidence(drift, thresholds_, port_label(topology, port), "symbols",
                                           describe.port(topology.key_of(port)), now));
  }
}

}  // namespace weft::analyzer
