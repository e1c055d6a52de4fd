// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/job_hangs.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// How often jobs are looked at.
constexpr Duration kEvery = std::chrono::seconds(2);
/// After a longer time than so many of these the clock was set forward, or this process stood still.
constexpr int kLeap = 5;
/// What was told so long ago is told no more: of slow sweeps there is one a minute.
constexpr Duration kTold = std::chrono::seconds(90);
/// What is over is remembered for so long, for a job that did not go on.
constexpr Duration kRemembered = std::chrono::hours(1);
/// A job is quiet when it was silent for so long; and jobs that fall silent so close together have the same reason.
constexpr Duration kQuiet = std::chrono::seconds(20);
constexpr Duration kAtOnce = std::chrono::minutes(1);
/// A silence is a hang only when it is so many times as long as those that ended; without a suspect.
constexpr int kTimesLonger = 2;
constexpr int kTimesLongerWithoutSuspect = 5;
/// But with a suspect never more than so many times the limit: PyTorch's watchdog ends a job after ten minutes.
constexpr int kMostPatience = 3;
constexpr std::size_t kMostCauses = 1024;
/// Of what failed since a hang was told, so many pieces of evidence are kept beside the others.
constexpr std::size_t kMostEvidence = 8;

/// What may make a job stand still, the likeliest first; nullopt: it may not.
std::optional<int> rank_of(IncidentKind kind) {
  static constexpr IncidentKind kRanks[] = {
      IncidentKind::kSwitchDown, IncidentKind::kNodeDown,          IncidentKind::kLinkDown,
      IncidentKind::kDeadlock,   IncidentKind::kLinksNotActivated, IncidentKind::kPfcStorm,
      IncidentKind::kLinkFlap,   IncidentKind::kHostDegraded,      IncidentKind::kRdmaErrors,
      IncidentKind::kSilentLoss, IncidentKind::kLinkErrors,        IncidentKind::kTelemetryLost};
  const auto found = std::ranges::find(kRanks, kind);
  if (found == std::end(kRanks)) return std::nullopt;
  return static_cast<int>(found - std::begin(kRanks));
}

std::string key_of(IncidentKind kind, const Entity& cause) {
  return std::string(to_string(kind)) + ' ' + cause.identity();
}

bool has(const std::vector<std::string>& jobs, std::string_view job) {
  return std::ranges::find(jobs, job) != jobs.end();
}

/// Did it happen about when a job fell silent?
bool is_together(TimePoint at, TimePoint since) {
  return at >= since - kHangTogether && at <= since + kHangTogether;
}

TimePoint newest_evidence(const Finding& finding) {
  TimePoint newest = kNever;
  for (const Evidence& fact : finding.evidence) newest = std::max(newest, fact.observed);
  return newest;
}

}  // namespace

void JobHangs::remember(const Incident& incident) {
  for (const Evidence& evidence : incident.finding.evidence) {
    if (evidence.signal != kHangSignal) continue;
    const std::string job = job_of(evidence.where);
    if (job.empty()) continue;
    Hang& hang = hangs_[job];
    hang.now = evidence.observed;
    hang.since =
        evidence.observed - std::chrono::duration_cast<Duration>(std::chrono::duration<double>(evidence.value));
    hang.patience = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(evidence.threshold));
    hang.at = incident.finding.cause;
    hang.is_told = true;
    if (incident.finding.kind == IncidentKind::kJobHang) {
      hang.own = incident.finding;
      hang.cause.clear();
    } else {
      hang.cause = key_of(incident.finding.kind, incident.finding.cause);
    }
  }
}

void JobHangs::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  if (!limits_.enabled) return;
  traffic_.follow(host, followed);
  signs_.follow(host, followed);
}

void JobHangs::take(const HostWatch& host, const HostMovement& movement) {
  if (!limits_.enabled) return;
  const bool moves = traffic_.take(host, movement);
  signs_.take(host, movement, moves);
}

void JobHangs::note(std::span<const Finding> findings, TimePoint now) {
  for (const Finding& finding : findings) {
    if (!rank_of(finding.kind) || finding.jobs.empty()) continue;
    // A part that could do more and does all that is asked of it stops nobody.
    if (is_remark(finding)) continue;
    const std::string key = key_of(finding.kind, finding.cause);
    if (!causes_.contains(key) && causes_.size() >= kMostCauses) continue;
    Cause& cause = causes_[key];
    if (cause.began == kNever || now - cause.last > kTold) {
      cause = {};
      cause.began = cause.newest = now;
    }
    if (finding.kind == IncidentKind::kLinkFlap || finding.kind == IncidentKind::kRdmaErrors)
      cause.newest = std::max(cause.newest, newest_evidence(finding));
    cause.kind = finding.kind;
    cause.cause = finding.cause;
    cause.severity = finding.severity;
    cause.last = now;
    for (const std::string& job : finding.jobs)
      if (cause.jobs.size() < kMostJobs && !has(cause.jobs, job)) cause.jobs.push_back(job);
    if (finding.kind == IncidentKind::kRdmaErrors) cause.finding = finding;
  }
  std::erase_if(causes_, [&](const auto& entry) { return now - entry.second.last > kRemembered; });
}

void JobHangs::add_evidence(std::string_view job, const Hang& hang, Finding& finding) {
  finding.evidence.push_back(hang_evidence(job, hang.members, hang.now - hang.since, hang.patience, hang.now));
  if (hang.ranks) finding.evidence.push_back(*hang.ranks);
}

void JobHangs::add_words(std::span<Finding> findings) const {
  for (const auto& [job, hang] : hangs_) {
    if (!hang.is_told || hang.cause.empty()) continue;
    for (Finding& finding : findings) {
      if (key_of(finding.kind, finding.cause) != hang.cause) continue;
      finding.summary += "; job " + job + " hangs";
      finding.severity = Severity::kCritical;
      if (!has(finding.jobs, job)) finding.jobs.push_back(job);
      add_evidence(job, hang, finding);
    }
  }
}

void JobHangs::apply_findings(std::span<Finding> findings, TimePoint now) {
  if (!limits_.enabled) return;
  note(findings, now);
  add_words(findings);
}

/// Did other jobs fall silent with it, and are as silent? Then it is what they share: storage, a scheduler that
/// suspends them, a quiet day.
bool JobHangs::has_company(std::string_view job, TimePoint since) const {
  return std::ranges::any_of(quiet_, [&](const auto& entry) {
    return entry.first != job && entry.second - since <= kAtOnce && since - entry.second <= kAtOnce;
  });
}

/// Did it begin together with the silence, or is it told of the suspect? A port that is seen to go on retrying is
/// surer than what is over, or than what merely happened elsewhere.
bool JobHangs::may_explain(const Cause& cause, std::string_view job, const Hang& hang) const {
  const bool is_told = hang.now - cause.last <= kTold;
  const bool has_port = hang.own && hang.own->severity != Severity::kInfo;
  const bool is_there = has_port && cause.kind != IncidentKind::kTelemetryLost &&
                        (cause.cause.same_as(hang.at) || (!hang.at.host.empty() && cause.cause.host == hang.at.host));
  if (is_there && is_told) return true;
  const bool is_weak = !is_told || *rank_of(cause.kind) > *rank_of(IncidentKind::kRdmaErrors);
  if (has_port && is_weak) return false;
  return has(cause.jobs, job) && (is_together(cause.began, hang.since) || is_together(cause.newest, hang.since));
}

/// What is an incident by itself, or was one.
bool JobHangs::blame_cause(std::string_view job, Hang& hang) {
  // What is told now comes before what is over, and of the same kind what is at the suspect.
  const auto order = [&hang](const Cause& cause) {
    return std::tuple(hang.now - cause.last > kTold, *rank_of(cause.kind), !cause.cause.same_as(hang.at));
  };
  const Cause* best = nullptr;
  const std::string* key = nullptr;
  for (const auto& [name, cause] : causes_) {
    if (!may_explain(cause, job, hang)) continue;
    if (best && order(*best) <= order(cause)) continue;
    best = &cause;
    key = &name;
  }
  if (!best) return false;
  hang.cause = *key;
  if (hang.now - best->last <= kTold) {
    hang.own.reset();
    return true;
  }
  // It is over, and the job did not go on.
  hang.own = hang_since(job, hang.members, best->kind, best->cause, best->began);
  hang.at = best->cause;
  return true;
}

bool JobHangs::blame_port(std::string_view job, const JobSilence& silence, Hang& hang) {
  std::vector<HangSuspect> suspects;
  for (const HostWatch* const host : silence.members) signs_.add_suspects(*host, hang.since, suspects);
  if (suspects.empty()) return false;
  hang.own = hang_at_ports(job, hang.members, std::move(suspects));
  hang.at = hang.own->cause;
  return true;
}

/// A rank that does not answer is surer than any port: its process is gone, or stands still. One that is behind may be
/// so because of a port.
bool JobHangs::blame_rank(std::string_view job, const RankSuspect& suspect, Hang& hang) {
  const bool is_there = hang.own && suspect.host && hang.own->cause.host == suspect.host->name;
  if (is_there) {
    hang.own->confidence = 0.95;  // two have seen it
    hang.own->severity = Severity::kCritical;
    return true;
  }
  const bool has_port = hang.own && hang.own->severity != Severity::kInfo;
  if (suspect.rank.trouble == RankTrouble::kBehind && has_port) return false;
  hang.own = hang_of_rank(job, hang.members, suspect);
  hang.at = hang.own->cause;
  return true;
}

void JobHangs::look(std::string_view job, const JobSilence& silence, Hang& hang, const Hosts& hosts, TimePoint now) {
  const Duration silent = now - hang.since;
  const auto ranks = ranks_.find(job, silence.members, hosts);
  hang.ranks = ranks ? std::optional(ranks->evidence) : hang.is_told ? hang.ranks : std::nullopt;
  const bool has_suspect = hang.is_told && !(hang.own && hang.own->severity == Severity::kInfo);
  if (has_suspect) {
    // Who was told first goes on telling, unless that is over, or the suspect has an incident of another kind now.
    const auto cause = hang.cause.empty() ? causes_.end() : causes_.find(hang.cause);
    const bool is_carried = cause != causes_.end() && now - cause->second.last <= kTold;
    if (is_carried) hang.own.reset();
    if (!is_carried && (!hang.own || hang.cause.empty())) blame_cause(job, hang);
    return;
  }
  if (silence.members.size() < 2 || silence.unheard > silence.members.size()) return;
  hang.members = silence.members.size();
  hang.patience = std::max(limits_.silence, std::min(kTimesLonger * silence.longest, kMostPatience * limits_.silence));
  if (silent < hang.patience) return;
  const bool has_port = blame_port(job, silence, hang);
  const bool has_rank = ranks && blame_rank(job, *ranks, hang);
  if (blame_cause(job, hang) || has_port || has_rank) {
    hang.is_told = true;
    return;
  }
  hang.patience = std::max(limits_.silence_without_suspect, kTimesLongerWithoutSuspect * silence.longest);
  if (limits_.silence_without_suspect == Duration::zero() || silent < hang.patience || has_company(job, hang.since))
    return;
  hang.own = hang_without_suspect(job, hang.members);
  hang.at = hang.own->cause;
  hang.is_told = true;
}

void JobHangs::compare(const Hosts& hosts, bool is_settled, TimePoint now) {
  const auto jobs = traffic_.jobs(hosts, now);
  quiet_.clear();
  for (const auto& [job, silence] : jobs)
    if (silence.members.size() >= 2 && now - silence.since >= kQuiet) quiet_.emplace(job, silence.since);
  std::erase_if(hangs_, [&](const auto& entry) {
    const auto& [name, hang] = entry;
    const auto job = jobs.find(name);
    if (job == jobs.end()) return is_settled;
    return job->second.since > hang.since;  // it moves again
  });
  for (const auto& [name, since] : quiet_) {
    Hang& hang = hangs_[name];
    if (!hang.is_told) hang.since = since;
  }
  for (auto& [name, hang] : hangs_) {
    const auto job = jobs.find(name);
    if (job == jobs.end()) continue;
    hang.now = now;
    if (is_settled && hang.hosts == 0) hang.hosts = job->second.hosts;
    // It ends, host by host.
    if (job->second.hosts < hang.hosts) hang = {.since = hang.since, .is_ending = true};
    if (!hang.is_ending) look(name, job->second, hang, hosts, now);
  }
}

/// RDMA_ERRORS end when nothing fails any more. Where their job stands still since, nothing is sent that could fail.
void JobHangs::carry_on(TimePoint now, std::vector<Finding>& findings) {
  for (auto& [key, cause] : causes_) {
    if (!cause.finding || cause.last >= now || now - cause.last > kTold) continue;
    const auto stands = [this, newest = cause.newest](const std::string& job) {
      const auto quiet = quiet_.find(job);
      const auto hang = hangs_.find(job);
      const bool is_own = hang != hangs_.end() && hang->second.own && hang->second.is_told;
      return quiet != quiet_.end() && !is_own && is_together(newest, quiet->second);
    };
    if (std::ranges::none_of(cause.jobs, stands)) continue;
    findings.push_back(*cause.finding);
    cause.last = now;
  }
}

/// Transfers of a job that fail when it is known to hang are its hang's.
void JobHangs::absorb(std::vector<Finding>& findings) {
  for (auto& [job, hang] : hangs_) {
    if (!hang.is_told || !hang.own || hang.own->severity == Severity::kInfo) continue;
    std::erase_if(findings, [&, &name = job, &own = *hang.own](const Finding& finding) {
      if (finding.kind != IncidentKind::kRdmaErrors || !has(finding.jobs, name)) return false;
      for (const Evidence& evidence : finding.evidence) {
        const auto same = [&](const Evidence& other) {
          return other.signal == evidence.signal && other.where.same_as(evidence.where);
        };
        std::erase_if(own.evidence, same);
        if (own.evidence.size() < kMostEvidence) own.evidence.push_back(evidence);
      }
      return true;
    });
  }
}

void JobHangs::judge(const Hosts& hosts, bool is_settled, TimePoint now, std::vector<Finding>& findings) {
  if (!limits_.enabled) return;
  absorb(findings);
  note(findings, now);
  carry_on(now, findings);
  if (compared_ > now || now - compared_ >= kEvery) {
    if (compared_ != kNever && now - compared_ > kLeap * kEvery) {
      const Duration step = now - compared_ - kEvery;
      traffic_.tolerate_clock_jump(step, now);
      for (auto& [name, hang] : hangs_)
        if (hang.since != kNever) hang.since = std::min(hang.since + step, now);
    }
    compare(hosts, is_settled, now);
    compared_ = now;
  }
  add_words(findings);
  for (const auto& [job, hang] : hangs_) {
    if (!hang.is_told || !hang.own) continue;
    const auto same = [&own = *hang.own](const Finding& other) {
      return other.kind == own.kind && other.cause.same_as(own.cause);
    };
    // Two jobs may wait for one port.
    auto told = std::ranges::find_if(findings, same);
    if (told == findings.end()) told = findings.insert(findings.end(), *hang.own);
    if (!has(told->jobs, job)) told->jobs.push_back(job);
    std::erase_if(told->evidence, [&name = job](const Evidence& evidence) {
      return evidence.signal == kHangSignal && job_of(evidence.where) == name;
    });
    add_evidence(job, hang, *told);
  }
}

}  // namespace weft::analyzer
