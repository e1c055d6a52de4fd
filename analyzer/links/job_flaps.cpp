// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/job_flaps.hpp"

#include <algorithm>

namespace weft::analyzer {
namespace {

/// Links that are remembered at most, of either kind.
constexpr std::size_t kMostLinks = 4096;

bool is_single_flap(const Finding& finding) {
  return finding.kind == IncidentKind::kLinkFlap && finding.severity == Severity::kInfo;
}

/// Kinds of which a link's going down and coming up is a part.
bool retrains(IncidentKind kind) {
  return is_outage(kind) || kind == IncidentKind::kLinkDegraded || kind == IncidentKind::kLinkFlap;
}

}  // namespace

void JobFlaps::note(const Entity& link, std::string_view source, TimePoint now) {
  if (link.kind != EntityKind::kLink && link.kind != EntityKind::kHostPort) return;
  std::string identity = link.identity();
  if (!troubles_.contains(identity) && troubles_.size() >= kMostLinks) return;
  Trouble& trouble = troubles_[std::move(identity)];
  if (trouble.began == kNever) trouble.began = now;
  trouble.last = now;
  trouble.source = source;
}

/// Did it begin with the flap, or is it over now? What has lasted for long and goes on did not make the link flap.
bool JobFlaps::is_explained(const Finding& finding, TimePoint at) const {
  const auto trouble = troubles_.find(finding.cause.identity());
  if (trouble == troubles_.end()) return false;
  const auto judged = judged_.find(trouble->second.source);
  const bool is_over = judged != judged_.end() && trouble->second.last < judged->second;
  return is_over || at - trouble->second.began <= together_;
}

bool JobFlaps::is_worth_a_word(Finding& finding, TimePoint now) {
  TimePoint at = kNever;
  for (const Evidence& fact : finding.evidence) at = std::max(at, fact.observed);
  std::string identity = finding.cause.identity();
  if (!flaps_.contains(identity) && flaps_.size() >= kMostLinks) return false;
  Flap& flap = flaps_[std::move(identity)];
  flap.last = now;
  if (flap.at == kNever || at > flap.at) {
    flap.at = at;
    if (!is_explained(finding, at)) flap.jobs = finding.jobs;
  }
  // A job that began afterwards has lost nothing.
  finding.jobs = flap.jobs;
  if (finding.jobs.empty()) return false;
  finding.summary += "; it may have hurt job " + finding.jobs.front();
  if (finding.jobs.size() > 1) finding.summary += " and " + std::to_string(finding.jobs.size() - 1) + " more";
  return true;
}

void JobFlaps::apply(std::vector<Finding>& findings, std::string_view source, bool is_all, TimePoint now) {
  if (is_all) judged_.insert_or_assign(std::string(source), now);
  const auto is_past = [&](const auto& entry) { return now - entry.second.last > together_; };
  std::erase_if(troubles_, is_past);
  std::erase_if(flaps_, is_past);
  for (const Finding& finding : findings) {
    if (!retrains(finding.kind) || is_single_flap(finding)) continue;
    note(finding.cause, source, now);
    for (const Entity& entity : finding.affected) note(entity, source, now);
  }
  std::erase_if(findings, [&](Finding& finding) { return is_single_flap(finding) && !is_worth_a_word(finding, now); });
}

}  // namespace weft::analyzer
