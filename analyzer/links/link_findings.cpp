// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/link_findings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::analyzer {

ReportedLink reported_link(const Describe& describe, LinkId link) {
  ReportedLink reported{.cause = describe.link(link), .name = {}};
  reported.name = "Link " + reported.cause.label;
  if (const NodeId adapter = describe.adapter_of(link); adapter != kNoIndex)
    reported.affected.push_back(describe.node(adapter));
  return reported;
}

ReportedLink reported_link(const HostWatch& host, const PortWatch& port, Entity cause) {
  std::string name = cause.kind == EntityKind::kLink ? "Link " + cause.label : "Link at " + port.label;
  return {.cause = std::move(cause), .name = std::move(name), .affected = {}, .jobs = host.jobs};
}

Finding link_finding(IncidentKind kind, Severity severity, const ReportedLink& link) {
  Finding finding = make_finding(kind, severity, link.cause);
  finding.affected = link.affected;
  finding.jobs = link.jobs;
  return finding;
}

Finding link_down(const ReportedLink& link, const LinkDown& down) {
  Finding finding =
      link_finding(IncidentKind::kLinkDown,
                   down.behind > 0 ? Severity::kCritical : severity_of(down.ways, down.critical_ways), link);
  const auto say = [&](double confidence, std::string how) {
    finding.confidence = confidence;
    finding.summary = link.name + std::move(how);
  };
  switch (down.sight) {
    case LinkDown::Sight::kDisabled:
      finding.severity = Severity::kWarning;
      say(0.99, " is down: administratively disabled at " + down.where);
      break;
    case LinkDown::Sight::kTraining:
      finding.severity = Severity::kWarning;
      say(0.8, !down.where.empty() ? " is trained, but " + down.where + " does not respond"
               : down.has_waited   ? std::string(" is trained, but the subnet manager has not activated it")
                                   : std::string(" is trained and waits for the subnet manager"));
      break;
    case LinkDown::Sight::kDisagreement:
      say(0.6, " is down at one end while the other still reports Active");
      break;
    case LinkDown::Sight::kOneEnd:
      say(0.9, " is down, reported by " + down.where);
      break;
    case LinkDown::Sight::kNoResponse:
      say(down.behind == 0 ? 0.85 : 0.7, " is down; " + down.where + " does not respond");
      if (down.behind > 0) finding.summary += ", " + std::to_string(down.behind) + " nodes behind it are unreachable";
      break;
    case LinkDown::Sight::kNotRead:
      say(0.85, " is down; " + down.where + " has not been read since");
      break;
    case LinkDown::Sight::kBothEnds:
      say(0.99, " is down, reported by both ends");
      break;
    case LinkDown::Sight::kHost:
      say(0.95, " is down");
      break;
    case LinkDown::Sight::kDeviceGone:
      say(0.95, " is down: the device is gone");
      break;
  }
  if (const std::string left = in_words(down.ways); !left.empty()) finding.summary += "; " + left;
  return finding;
}

void weigh_jobs(Finding& finding) {
  const bool of_links = finding.kind == IncidentKind::kLinkDown || finding.kind == IncidentKind::kLinksNotActivated ||
                        has_dead_links(finding);
  if (!of_links || finding.jobs.empty()) return;
  finding.severity = Severity::kCritical;
  finding.summary += "; it hurts job " + finding.jobs.front();
  if (finding.jobs.size() > 1) finding.summary += " and " + std::to_string(finding.jobs.size() - 1) + " more";
}

Finding link_flap(const ReportedLink& link, const FlapRecord& record, FlapWitness witness, const Thresholds& thresholds,
                  TimePoint now) {
  Finding finding =
      link_finding(IncidentKind::kLinkFlap, record.is_flapping() ? Severity::kWarning : Severity::kInfo, link);
  finding.summary = link.name + ' ' + record.habit(now);
  switch (witness) {
    case FlapWitness::kOneEnd:
      finding.confidence = 0.75;
      finding.summary += "; reported by one end only";
      break;
    case FlapWitness::kBothEnds:
      finding.confidence = 0.98;
      finding.summary += "; reported by both ends";
      break;
    case FlapWitness::kHost:
      finding.confidence = 0.95;
      break;
  }
  record.add_evidence(thresholds, finding.cause, finding.evidence);
  return finding;
}

Finding link_degraded(const ReportedLink& link, Severity severity, double confidence, std::string_view how) {
  Finding finding = link_finding(IncidentKind::kLinkDegraded, severity, link);
  finding.confidence = confidence;
  finding.summary = link.name + ' ' + std::string(how);
  return finding;
}

void add_degraded(Finding degraded, std::vector<Finding>& findings) {
  const auto known = std::ranges::find_if(findings, [&](const Finding& finding) {
    return finding.kind == degraded.kind && finding.cause.same_as(degraded.cause);
  });
  if (known == findings.end()) {
    findings.push_back(std::move(degraded));
    return;
  }
  known->severity = std::max(known->severity, degraded.severity);
  std::ranges::move(degraded.evidence, std::back_inserter(known->evidence));
}

}  // namespace weft::analyzer
