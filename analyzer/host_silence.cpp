// SPDX-License-Identifier: Apache-2.0
#include "analyzer/host_silence.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Judgements in a row that heard nothing before a silence is believed: a clock that was set forward, or a process that
/// stood still, makes everybody look silent once.
constexpr unsigned kSilentJudgements = 3;
/// A judgement that comes after so many times the usual time means that the clock was set, or this process stood still.
constexpr int kLeap = 3;

}  // namespace

Entity all_collectors() {
  return {.kind = EntityKind::kFabric, .fabric = {}, .port = {}, .peer = {}, .label = "collectors of many hosts"};
}

void HostSilence::hear(HostWatch& host, bool is_new, Duration interval, TimePoint now) const {
  // After our own start those come that were there all the time.
  if (is_new && is_settled(now)) host.came = now;
  host.heard = now;
  host.elsewhere.reset();
  host.unheard = 0;
  host.interval = interval;
}

Duration HostSilence::patience(const HostWatch& host) const {
  return std::max(host.interval * thresholds_.telemetry_lost_intervals, thresholds_.collector_silence_minimum);
}

bool HostSilence::is_lost(const HostWatch& host, TimePoint now) const {
  // After our own start collectors need a moment to find us again.
  if (host.heard < started_ && !is_settled(now)) return false;
  if (!host.lost && now < excused_until_) return false;
  return host.unheard >= kSilentJudgements && now - host.heard > patience(host);
}

void HostSilence::tolerate_clock_jump(Hosts& hosts, TimePoint now) {
  const Duration step = judged_ == kNever ? Duration::zero() : now - judged_;
  const bool leapt = step_ > Duration::zero() && step > kLeap * step_ && step > thresholds_.collector_silence_minimum;
  judged_ = now;
  step_ = leapt ? 2 * step_ : step;  // unless it stays so slow
  if (!leapt) return;
  for (auto& [name, host] : hosts)
    if (host.heard != kNever) host.heard = std::min(host.heard + step, now);
}

void HostSilence::judge(Hosts& hosts, TimePoint now, std::vector<Finding>& findings) {
  tolerate_clock_jump(hosts, now);
  excused_until_ =
      std::min(excused_until_, now + thresholds_.telemetry_start_grace);  // the clock may have been set back
  std::vector<HostWatch*> lost;
  for (auto& [name, host] : hosts) {
    host.heard = std::min(host.heard, now);  // the clock may have been set back
    host.unheard = std::min(host.unheard + 1, kSilentJudgements);
    host.lost = is_lost(host, now);
    if (host.lost) lost.push_back(&host);
    host.lost_alone = host.lost_alone && host.lost;
  }
  const double share = static_cast<double>(lost.size()) / static_cast<double>(std::max<std::size_t>(1, hosts.size()));
  // Once they are many, half as many are still many: no going to and fro at the limit.
  const double ease = many_lost_ ? 0.5 : 1.0;
  many_lost_ = static_cast<double>(lost.size()) >= ease * thresholds_.telemetry_mass_minimum &&
               (static_cast<double>(lost.size()) >= ease * thresholds_.telemetry_mass_nodes ||
                share >= ease * thresholds_.telemetry_mass_share);
  const auto evidence = [&](const Entity& where, std::string text, double value, double limit, const char* unit) {
    return Evidence{.signal = "collector_silence",
                    .description = std::move(text),
                    .value = value,
                    .threshold = limit,
                    .unit = unit,
                    .observed = now,
                    .where = where};
  };
  if (many_lost_) {
    Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kCritical, all_collectors());
    finding.confidence = 0.9;
    finding.summary =
        "Collectors of many hosts are silent at once; suspected cause: the network between them and weftd";
    // Those with an incident of their own first: they become part of this one.
    std::stable_partition(lost.begin(), lost.end(), [](const HostWatch* host) { return host->lost_alone; });
    for (HostWatch* host : lost) {
      if (finding.affected.size() < kMostAffected) finding.affected.push_back(collector_of(host->name));
      host->lost_alone = false;
    }
    finding.evidence.push_back(evidence(
        finding.cause, std::to_string(lost.size()) + " of " + std::to_string(hosts.size()) + " collectors were silent",
        static_cast<double>(lost.size()), 0, "hosts"));
    findings.push_back(std::move(finding));
    return;
  }
  for (HostWatch* host : lost) {
    host->lost_alone = true;
    Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kWarning, collector_of(host->name));
    finding.confidence = 0.99;
    finding.jobs = host->jobs;
    finding.summary = "No data from the collector of " + host->name;
    if (host->elsewhere)
      finding.summary += host->elsewhere->is_heard(now)
                             ? ", which reports to shard " + host->elsewhere->shard + " now"
                             : ", which reported to shard " + host->elsewhere->shard + " before";
    finding.evidence.push_back(evidence(finding.cause,
                                        "its last data was " + short_duration(now - host->heard) + " old",
                                        seconds(now - host->heard), seconds(patience(*host)), "s"));
    if (host->elsewhere)
      finding.evidence.push_back(fact("heard_elsewhere", "shard " + host->elsewhere->shard + " heard it",
                                      host->elsewhere->last, finding.cause));
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
