// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/mass_alarms.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// A finding that was away for so many calls more than those that begin together may be apart begins anew.
constexpr std::uint64_t kSweepsKept = 7;
constexpr std::size_t kMostNamed = 64;
constexpr std::size_t kMostEvidence = 4;

}  // namespace

void MassAlarms::follow(IncidentKind kind, const std::vector<Finding>& findings) {
  Wave& wave = waves_[kind];
  for (const Finding& finding : findings) {
    if (finding.kind != kind || finding.cause.kind == EntityKind::kFabric) continue;
    // Of what the first sweep shows nobody knows when it began.
    const auto [found, added] = wave.findings.try_emplace(finding.cause.identity(), Known{sweeps_, sweeps_, false});
    if (added && sweeps_ == 1) found->second.first = 0;
    found->second.last = sweeps_;
  }
  std::erase_if(wave.findings,
                [this](const auto& entry) { return sweeps_ - entry.second.last > scope_.together + kSweepsKept; });
}

void MassAlarms::judge(Wave& wave, double least, TimePoint now) const {
  const auto is_fresh = [this](const Known& known) {
    return known.first > 0 && !known.held && sweeps_ - known.first < scope_.together;
  };
  const auto fresh = static_cast<std::size_t>(
      std::ranges::count_if(wave.findings, [&](const auto& entry) { return is_fresh(entry.second); }));
  // While a wave lasts, stragglers belong to it.
  const bool many = static_cast<double>(fresh) >= least;
  const bool lasts = wave.since != kNever && now >= wave.since && now - wave.since < scope_.hold;
  if (many && !lasts) wave.since = now;
  if (many || lasts) {
    for (auto& [identity, known] : wave.findings) known.held = known.held || is_fresh(known);
  } else if (wave.since != kNever) {
    wave.since = kNever;
    for (auto& [identity, known] : wave.findings) known.held = false;
  }
}

double MassAlarms::least(const MassAlarmScope::Limit& limit, std::size_t links) {
  return std::max(static_cast<double>(limit.minimum), limit.share * static_cast<double>(links));
}

void MassAlarms::hold_back(std::vector<Finding>& findings, std::size_t links, const Entity& fabric, TimePoint now) {
  ++sweeps_;
  Finding sensor = make_finding(IncidentKind::kCounterStuck, Severity::kWarning, fabric);
  sensor.confidence = 0.8;
  std::string kinds;
  for (const MassAlarmScope::Limit& limit : scope_.limits) {
    const IncidentKind kind = limit.kind;
    follow(kind, findings);
    Wave& wave = waves_[kind];
    judge(wave, least(limit, links), now);
    std::size_t held = 0;
    const auto is_held = [&](const Finding& finding) {
      if (finding.kind != kind || finding.cause.kind == EntityKind::kFabric) return false;
      const auto known = wave.findings.find(finding.cause.identity());
      if (known == wave.findings.end() || !known->second.held) return false;
      if (sensor.affected.size() < kMostNamed) sensor.affected.push_back(finding.cause);
      if (held++ == 0)
        for (std::size_t i = 0; i < std::min(kMostEvidence, finding.evidence.size()); ++i)
          sensor.evidence.push_back(finding.evidence[i]);
      return true;
    };
    std::erase_if(findings, is_held);
    if (held == 0) continue;
    kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    sensor.evidence.push_back({.signal = "simultaneous_alarms",
                               .description = std::string(to_string(kind)) + " of " + std::to_string(held) + " of " +
                                              std::to_string(links) + ' ' + scope_.what +
                                              ", opened at about the same time",
                               .value = static_cast<double>(held),
                               .threshold = least(limit, links),
                               .unit = scope_.what,
                               .observed = now,
                               .where = sensor.cause});
  }
  if (kinds.empty()) return;
  sensor.summary = (sensor.cause.fabric.empty() ? "Counters of " : "Counters of fabric ") + sensor.cause.label +
                   " show " + kinds + " on many " + scope_.what +
                   " at once; suspected cause: reading or resetting of the counters, not the " + scope_.what;
  findings.push_back(std::move(sensor));
}

}  // namespace weft::analyzer
