// SPDX-License-Identifier: Apache-2.0
#include "analyzer/rdma/job_troubles.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostEvidence = 4;
constexpr std::size_t kMostOutages = 1024;

bool share_a_job(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  return std::ranges::any_of(one, [&](const std::string& job) { return std::ranges::find(other, job) != other.end(); });
}

TimePoint newest_evidence(const Finding& finding) {
  TimePoint newest = kNever;
  for (const Evidence& fact : finding.evidence) newest = std::max(newest, fact.observed);
  return newest;
}

std::string text_of(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void JobTroubles::forget(TimePoint now) {
  // Connections give up within a minute or so: with NCCL's seven retries of 4.3 s each after half of one.
  std::erase_if(outages_, [&](const auto& entry) { return now - entry.second.last > together_; });
  std::erase_if(known_, [&](const auto& entry) { return now - entry.second.last > together_; });
}

void JobTroubles::apply_findings(std::span<Finding> findings, TimePoint now) {
  forget(now);
  for (Finding& finding : findings) {
    if (!may_cut_connections(finding.kind) || finding.jobs.empty()) continue;
    const std::string key = std::string(to_string(finding.kind)) + ' ' + finding.cause.identity();
    if (!outages_.contains(key) && outages_.size() >= kMostOutages) continue;
    Outage& outage = outages_[key];
    if (outage.began == kNever) outage.began = now;
    if (finding.kind == IncidentKind::kLinkFlap) outage.began = std::max(outage.began, newest_evidence(finding));
    outage.last = now;
    outage.jobs = finding.jobs;
    if (finding.kind == IncidentKind::kLinkFlap && outage.has_failed && finding.severity == Severity::kInfo) {
      finding.severity = Severity::kWarning;
      finding.summary += ": transfers failed";
    }
    std::erase_if(outage.failed, [&](const auto& entry) { return now - entry.second > together_; });
    if (outage.failed.empty()) continue;
    TimePoint latest = kNever;
    for (const auto& [port, at] : outage.failed) latest = std::max(latest, at);
    const auto count = static_cast<double>(outage.failed.size());
    finding.evidence.push_back(
        {.signal = "transfers_failed",
         .description = "RDMA errors of its jobs that it caused on " + std::to_string(outage.failed.size()) + " ports",
         .value = count,
         .threshold = 0,
         .unit = "ports",
         .observed = latest,
         .where = finding.cause});
  }
}

bool JobTroubles::is_consequence(const Finding& trouble) {
  const TimePoint moved = newest_evidence(trouble);
  for (auto& [key, outage] : outages_) {
    if (!share_a_job(trouble.jobs, outage.jobs)) continue;
    // An outage is noticed by a sweep or a silence, which may be a little after the first transfers failed. What fails
    // for the first time long after it began has another cause.
    const std::string port = trouble.cause.identity();
    const bool together = moved >= outage.began - together_ && moved <= outage.began + together_;
    if (!together && !outage.failed.contains(port)) continue;
    outage.failed[port] = moved;
    outage.has_failed = true;
    return true;
  }
  return false;
}

void JobTroubles::gather(std::vector<Finding>& troubles, TimePoint now) {
  forget(now);
  std::erase_if(troubles, [this](const Finding& trouble) { return is_consequence(trouble); });
  std::map<std::string, std::vector<Known*>> fresh;  // by job
  std::map<std::string, bool> has_many;
  for (const Finding& trouble : troubles) {
    Known& known = known_[trouble.cause.identity()];
    if (known.began == kNever) known.began = now;
    known.last = now;
    for (const std::string& job : trouble.jobs) {
      has_many[job] = has_many[job] || known.of_many;
      if (now - known.began <= together_) fresh[job].push_back(&known);
    }
  }
  for (auto& [job, ports] : fresh)
    if (has_many[job] || ports.size() >= many_)
      for (Known* known : ports) known->of_many = true;

  Finding whole =
      make_finding(IncidentKind::kRdmaErrors, Severity::kWarning,
                   {.kind = EntityKind::kFabric, .fabric = {}, .port = {}, .peer = {}, .label = "many hosts"});
  whole.confidence = 0.8;
  std::size_t ports = 0;
  TimePoint moved = kNever;
  std::set<std::string> counters, jobs;
  std::erase_if(troubles, [&](const Finding& trouble) {
    if (!known_[trouble.cause.identity()].of_many) return false;
    ++ports;
    moved = std::max(moved, newest_evidence(trouble));
    if (whole.affected.size() < kMostAffected) whole.affected.push_back(trouble.cause);
    for (const std::string& job : trouble.jobs)
      if (jobs.size() < kMostJobs) jobs.insert(job);
    for (const Evidence& fact : trouble.evidence) {
      counters.insert(fact.signal);
      if (whole.evidence.size() < kMostEvidence) whole.evidence.push_back(fact);
    }
    return true;
  });
  if (ports == 0) return;
  whole.jobs.assign(jobs.begin(), jobs.end());
  whole.summary = "RDMA errors of " + text_of(jobs) + " on many ports at once (" + text_of(counters) +
                  "); suspected cause: the application or a resource that its hosts share";
  whole.evidence.insert(whole.evidence.begin(),
                        {.signal = "simultaneous_alarms",
                         .description = "RDMA_ERRORS of " + std::to_string(ports) +
                                        " ports of the same job, opened within " + short_duration(together_),
                         .value = static_cast<double>(ports),
                         .threshold = static_cast<double>(many_),
                         .unit = "ports",
                         .observed = moved,
                         .where = whole.cause});
  troubles.push_back(std::move(whole));
}

}  // namespace weft::analyzer
