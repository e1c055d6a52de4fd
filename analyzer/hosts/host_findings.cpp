// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hosts/host_findings.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Is it down against somebody's will, or up again for so short a time that it may fall again?
bool is_down(const PortWatch& port, const Thresholds& thresholds, TimePoint now) {
  if (!port.was_up || port.is_virtual || port.set_down) return false;
  if (is_gone(port)) return true;
  if (!port.known) return false;
  if (!port.up) {
    // One that keeps flapping is down now and then: LINK_FLAP says so.
    const bool flapping = port.flaps && port.flaps->is_flapping();
    return !flapping || now - port.changed > thresholds.flap_down_hold;
  }
  return port.down_reported && now - port.changed < thresholds.host_port_hold;
}

Finding finding_of(IncidentKind kind, Severity severity, const HostWatch& host, Entity cause) {
  Finding finding = make_finding(kind, severity, std::move(cause));
  finding.jobs = host.jobs;
  finding.confidence = 0.95;
  return finding;
}

void report_down(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) {
  Finding finding = finding_of(IncidentKind::kLinkDown, Severity::kCritical, host,
                               port.place ? port.place->link : entity_of(host, port));
  finding.summary = "Link at " + port.label + (port.present ? " is down" : " is down: the device is gone");
  const std::string why = port.reason.empty() ? std::string() : ": " + port.reason;
  finding.evidence.push_back(
      {.signal = "host_port_state",
       .description = port.up ? port.label + " is up again, for " + short_duration(now - port.changed) + " so far"
                              : port.label + " reports that it is down" + why,
       .value = port.up ? 1.0 : 0.0,
       .threshold = 0,
       .unit = "",
       .observed = port.changed,
       .where = entity_of(host, port)});
  findings.push_back(std::move(finding));
}

void report_slow(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) {
  Finding finding = finding_of(IncidentKind::kLinkDegraded, Severity::kWarning, host, cable_of(host, port));
  const double rate = static_cast<double>(port.rate) / 1e9;
  const double best = static_cast<double>(port.best_rate) / 1e9;
  finding.confidence = 0.8;
  finding.summary =
      "Link at " + port.label + " runs at " + short_number(rate) + " Gb/s, before at " + short_number(best) + " Gb/s";
  finding.evidence.push_back({.signal = "rate",
                              .description = "the port's rate is " + short_number(rate) + " Gb/s; the best seen is " +
                                             short_number(best) + " Gb/s",
                              .value = rate,
                              .threshold = best,
                              .unit = "Gb/s",
                              .observed = now,
                              .where = port.place ? port.place->port : finding.cause});
  // The other end of an Ethernet cable may have told the same.
  const auto known = std::ranges::find_if(
      findings, [&](const Finding& other) { return other.kind == finding.kind && other.cause.same_as(finding.cause); });
  if (known == findings.end())
    findings.push_back(std::move(finding));
  else
    known->evidence.push_back(std::move(finding.evidence.front()));
}

bool is_slow(const PortWatch& port) {
  return port.up && port.present && !port.is_virtual && port.slow_readings >= kReadingsToBelieve;
}

}  // namespace

void report_link(const HostWatch& host, PortWatch& port, bool at_once, const Thresholds& thresholds, TimePoint now,
                 std::vector<Finding>& findings) {
  if (port.flaps) {
    port.flaps->settle(thresholds, now, false);
    if (port.flaps->is_forgotten()) port.flaps.reset();
  }
  const bool down = is_down(port, thresholds, now);
  if (port.place) {
    if (at_once && down && !port.up) report_down(host, port, now, findings);
    if (port.place->is_ethernet && is_slow(port)) report_slow(host, port, now, findings);
    return;
  }
  port.down_reported = down;
  if (down) report_down(host, port, now, findings);
  if (port.flaps && port.flaps->is_flapping()) {
    Finding finding = finding_of(IncidentKind::kLinkFlap, Severity::kWarning, host, entity_of(host, port));
    finding.summary = "Link at " + port.label + " " + port.flaps->habit(now);
    port.flaps->add_evidence(thresholds, finding.cause, now, finding.evidence);
    findings.push_back(std::move(finding));
  }
  if (is_slow(port)) report_slow(host, port, now, findings);
}

void report_troubles(const HostWatch& host, PortWatch& port, const Thresholds& thresholds, TimePoint now,
                     std::vector<Finding>& findings) {
  Finding finding = finding_of(IncidentKind::kRdmaErrors, Severity::kWarning, host,
                               port.place ? port.place->port : entity_of(host, port));
  for (std::size_t i = 0; i < kRdmaTroubles; ++i) {
    TroubleCount& count = port.troubles[i];
    if (count.confirmed && now - count.moved > thresholds.rdma_error_quiet) count = {};
    if (!count.confirmed) continue;
    const std::string name(counter_name(static_cast<RdmaTrouble>(i)));
    finding.evidence.push_back({.signal = name,
                                .description = std::to_string(count.total) + " " + name + " on " + port.label +
                                               ", the last ones " + short_duration(now - count.moved) + " ago",
                                .value = static_cast<double>(count.total),
                                .threshold = 0,
                                .unit = "events",
                                .observed = count.moved,
                                .where = entity_of(host, port)});
    finding.summary += (finding.summary.empty() ? "" : ", ") + name;
  }
  if (finding.evidence.empty()) return;
  finding.summary = "RDMA errors on " + port.label + ": " + finding.summary;
  finding.confidence = 0.9;
  findings.push_back(std::move(finding));
}

void add_stalls(const PortWatch& port, const Thresholds& thresholds, TimePoint now, Finding& finding) {
  const auto add = [&](const HostStall::Sign& sign, const char* signal, std::string text, bool is_share) {
    if (sign.seen == kNever || now - sign.seen > kStallMemory) return;
    finding.evidence.push_back({.signal = signal,
                                .description = std::move(text),
                                .value = sign.value,
                                .threshold = is_share ? thresholds.host_stall_ratio : 0,
                                .unit = is_share ? "" : "packets",
                                .observed = sign.seen,
                                .where = finding.cause,
                                .window = sign.seen - sign.began});
    finding.confidence = std::max(finding.confidence, is_share ? 0.95 : 0.9);
  };
  const HostStall& stall = port.stall;
  const auto percent = [](const HostStall::Sign& sign) { return short_number(100 * sign.value) + " % of a second"; };
  add(stall.pcie_write, "pcie_write_stall",
      port.label + " waited up to " + percent(stall.pcie_write) + " to write to host memory over PCIe", true);
  add(stall.pcie_read, "pcie_read_stall",
      port.label + " waited up to " + percent(stall.pcie_read) + " to read from host memory over PCIe", true);
  add(stall.out_of_buffer, "out_of_buffer",
      short_number(stall.out_of_buffer.value) + " packets were dropped without a receive request at " + port.label +
          ": the application posts them too slowly",
      false);
}

}  // namespace weft::analyzer
