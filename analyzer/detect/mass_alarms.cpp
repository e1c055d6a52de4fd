#include "analyzer/detect/mass_alarms.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::analyzer {
namespace {

constexpr std::array kKinds{IncidentKind::kLinkErrors, IncidentKind::kLinkFlap, IncidentKind::kLinkDegraded,
                            IncidentKind::kCounterStuck};
/// Sweeps within which they begin: readings get lost, and windows do not all close in one sweep.
constexpr std::uint64_t kTogether = 3;
/// A finding that was away for so many sweeps begins anew.
constexpr std::uint64_t kForgotten = 10;
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
  std::erase_if(wave.findings, [this](const auto& entry) { return sweeps_ - entry.second.last > kForgotten; });
}

void MassAlarms::judge(Wave& wave, std::size_t links, TimePoint now) const {
  const auto is_fresh = [this](const Known& known) {
    return known.first > 0 && !known.held && sweeps_ - known.first < kTogether;
  };
  const auto fresh = static_cast<std::size_t>(
      std::ranges::count_if(wave.findings, [&](const auto& entry) { return is_fresh(entry.second); }));
  // While a wave lasts, stragglers belong to it.
  const bool many = fresh >= thresholds_.mass_minimum_links &&
                    static_cast<double>(fresh) >= thresholds_.mass_alarm_share * static_cast<double>(links);
  const bool lasts = wave.since != kNever && now >= wave.since && now - wave.since < thresholds_.mass_hold;
  if (many && !lasts) wave.since = now;
  if (many || lasts) {
    for (auto& [identity, known] : wave.findings) known.held = known.held || is_fresh(known);
  } else if (wave.since != kNever) {
    wave.since = kNever;
    for (auto& [identity, known] : wave.findings) known.held = false;
  }
}

void MassAlarms::hold_back(std::vector<Finding>& findings, std::size_t links, const Describe& describe, TimePoint now) {
  ++sweeps_;
  Finding sensor = make_finding(IncidentKind::kCounterStuck, Severity::kWarning, describe.fabric());
  sensor.confidence = 0.8;
  std::string kinds;
  for (const IncidentKind kind : kKinds) {
    follow(kind, findings);
    Wave& wave = waves_[kind];
    judge(wave, links, now);
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
                                              std::to_string(links) + " links, begun within a few sweeps",
                               .value = static_cast<double>(held),
                               .threshold = std::max(static_cast<double>(thresholds_.mass_minimum_links),
                                                     thresholds_.mass_alarm_share * static_cast<double>(links)),
                               .unit = "links",
                               .observed = now,
                               .where = sensor.cause});
  }
  if (kinds.empty()) return;
  sensor.summary = "Counters of fabric " + sensor.cause.label + " say " + kinds +
                   " of many links at once: what reads or resets them is suspected before the links";
  findings.push_back(std::move(sensor));
}

}  // namespace weft::analyzer
