// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/hang_findings.hpp"

#include <algorithm>
#include <cstdint>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

constexpr std::string_view kJobHead = "job ";
/// Of two suspects that count, one stands out when it counted so many times as much.
constexpr std::uint64_t kStandsOut = 2;
/// Where so many ports and half of the hosts are suspect, none of them is: they share what is wrong.
constexpr std::size_t kMany = 4;
/// From it on whoever is on duty is woken: the hosts of a whole job wait.
constexpr double kSure = 0.7;

std::string beginning_of(std::string_view job, std::size_t members) {
  return "Job " + std::string(job) + " hangs: its " + (members > 0 ? std::to_string(members) + " " : "") +
         "hosts move no data";
}

const char* words_of(HangSign sign) {
  switch (sign) {
    case HangSign::kDown:
      return " is down";
    case HangSign::kRetries:
      return " goes on retrying without an answer";
    case HangSign::kRefuses:
      return " has no receive requests posted for what arrives";
  }
  return "";
}

double confidence_of(HangSign sign) {
  return sign == HangSign::kDown ? 0.9 : 0.8;
}

Evidence evidence_of(const HangSuspect& suspect) {
  const Entity where = place_of(*suspect.host, *suspect.port);
  if (suspect.sign == HangSign::kDown)
    return fact("port_state", suspect.port->label + " is down", suspect.first, where);
  const bool retries = suspect.sign == HangSign::kRetries;
  return {.signal = retries ? "retries" : "receiver_not_ready",
          .description = count_text(suspect.events) +
                         (retries ? " timeouts and retransmits of " : " packets without a receive request at ") +
                         suspect.port->label + " since its host fell silent",
          .value = static_cast<double>(suspect.events),
          .threshold = 0,
          .unit = "events",
          .observed = suspect.last,
          .where = where,
          .window = suspect.last - suspect.first};
}

bool does_more(const HangSuspect& a, const HangSuspect& b) {
  if ((a.sign == HangSign::kDown) != (b.sign == HangSign::kDown)) return a.sign == HangSign::kDown;
  return a.events > b.events;
}

/// Does the first of them do much more than the others?
bool stands_out(const std::vector<HangSuspect>& suspects) {
  if (suspects.size() == 1) return true;
  const bool is_down = suspects[0].sign == HangSign::kDown;
  if (is_down || suspects[1].sign == HangSign::kDown) return suspects[1].sign != HangSign::kDown;
  return suspects[0].events >= kStandsOut * suspects[1].events;
}

}  // namespace

Entity job_entity(std::string_view job) {
  Entity entity{.kind = EntityKind::kCohort, .fabric = {}, .port = {}, .peer = {}, .label = {}};
  entity.label = entity.device = std::string(kJobHead) + std::string(job);
  return entity;
}

std::string job_of(const Entity& entity) {
  return entity.kind == EntityKind::kCohort && entity.device.starts_with(kJobHead)
             ? entity.device.substr(kJobHead.size())
             : std::string();
}

Evidence hang_evidence(std::string_view job, std::size_t members, Duration silent, Duration patience, TimePoint now) {
  return {.signal = std::string(kHangSignal),
          .description = "all " + (members > 0 ? std::to_string(members) + " " : "") + "hosts of " + std::string(job) +
                         " that used the fabric moved no data for " + short_duration(silent),
          .value = seconds(silent),
          .threshold = seconds(patience),
          .unit = "s",
          .observed = now,
          .where = job_entity(job)};
}

Finding hang_at_ports(std::string_view job, std::size_t members, std::vector<HangSuspect> suspects) {
  std::ranges::stable_sort(suspects, does_more);
  const HangSuspect& first = suspects.front();
  const bool is_clear = stands_out(suspects);
  const bool is_of_many = !is_clear && suspects.size() >= kMany && suspects.size() * 2 >= members;
  Finding finding =
      make_finding(IncidentKind::kJobHang, Severity::kWarning,
                   is_of_many ? job_entity(job) : told_by(*first.host, place_of(*first.host, *first.port)));
  finding.confidence = is_clear ? confidence_of(first.sign) : 0.5;
  if (finding.confidence >= kSure) finding.severity = Severity::kCritical;
  finding.summary = beginning_of(job, members) + ", and ";
  if (is_of_many)
    finding.summary +=
        std::to_string(suspects.size()) + " of their ports go on retrying; suspected cause: what they share";
  else
    finding.summary += first.port->label + words_of(first.sign);
  if (!is_clear && !is_of_many) finding.summary += ", as " + suspects[1].port->label + " does";
  for (const HangSuspect& suspect : suspects) {
    if (finding.evidence.size() < kMany) finding.evidence.push_back(evidence_of(suspect));
    const Entity place = place_of(*suspect.host, *suspect.port);
    if (finding.affected.size() < kMostAffected && !place.same_as(finding.cause)) finding.affected.push_back(place);
  }
  return finding;
}

Finding hang_since(std::string_view job, std::size_t members, IncidentKind kind, const Entity& cause, TimePoint began) {
  const std::string name = to_string(kind);
  Finding finding = make_finding(IncidentKind::kJobHang, Severity::kCritical, cause);
  finding.confidence = kSure;
  finding.summary = beginning_of(job, members) + " since " + name + " of " + cause.label + ", which is over";
  finding.evidence.push_back(
      fact("was_" + name, name + " of " + cause.label + " began when the job fell silent", began, cause));
  return finding;
}

Finding hang_of_rank(std::string_view job, std::size_t members, const RankSuspect& suspect) {
  const bool is_of_many = suspect.hosts > 1 && suspect.hosts * 2 >= members;
  const bool is_known = suspect.host && !is_of_many;
  Entity cause = job_entity(job);
  if (is_known) cause = {.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = suspect.host->name};
  if (is_known) cause.host = suspect.host->name;
  Finding finding = make_finding(IncidentKind::kJobHang, Severity::kWarning, std::move(cause));
  finding.confidence = is_of_many ? 0.5 : suspect.rank.trouble == RankTrouble::kBehind ? 0.7 : 0.9;
  if (finding.confidence >= kSure) finding.severity = Severity::kCritical;
  finding.summary = beginning_of(job, members) + ", and NCCL says that ";
  if (is_of_many) {
    finding.summary += "ranks on " + std::to_string(suspect.hosts) + " hosts are " + to_string(suspect.rank.trouble);
    return finding;
  }
  finding.summary += "rank " + (suspect.rank.rank ? std::to_string(*suspect.rank.rank) : std::string("?")) + " on " +
                     (suspect.host ? suspect.host->name : suspect.rank.host) + " is " + to_string(suspect.rank.trouble);
  return finding;
}

Finding hang_without_suspect(std::string_view job, std::size_t members) {
  Finding finding = make_finding(IncidentKind::kJobHang, Severity::kInfo, job_entity(job));
  finding.confidence = 0.3;
  finding.summary = "Job " + std::string(job) + " may hang: its " + std::to_string(members) +
                    " hosts move no data; no port of them is suspect";
  return finding;
}

}  // namespace weft::analyzer
