// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/drift_findings.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

/// Sentences of one incident.
constexpr std::size_t kMostSentences = 8;

std::string with_unit(ConfigFact fact, const std::string& value) {
  const std::string unit = row_of(fact).unit;
  return unit.empty() ? value : value + ' ' + unit;
}

std::uint32_t others_of(const DriftDifference& difference) {
  return difference.members - (difference.values.empty() ? 0 : difference.values.front().count);
}

/// "2 of 512 adapters of GROUP have firmware 28.39.1002, 510 have 28.41.1000". Evidence is kept: it tells what was.
std::string difference_text(const DriftDifference& difference, bool is_past) {
  const ConfigFactRow& row = row_of(difference.fact);
  const std::vector<DriftValue>& values = difference.values;
  if (values.size() < 2) return std::string(row.words) + " differs";
  const std::string of =
      std::to_string(difference.members) + ' ' + holders_of(difference.fact) + " of " + difference.group;
  const char* const differ = is_past ? " differed in " : " differ in ";
  const auto have = [is_past](std::uint32_t count) { return is_past ? " had " : count == 1 ? " has " : " have "; };
  const auto count_of = [&](const DriftValue& one) { return std::to_string(one.count) + have(one.count); };
  if (!difference.expected.empty()) {
    const std::uint32_t others = others_of(difference);
    std::string text = std::to_string(others) + " of " + of + have(others) + row.words + " other than the expected " +
                       with_unit(difference.fact, difference.expected) + ": ";
    for (std::size_t i = 1; i < values.size(); ++i) text += (i > 1 ? ", " : "") + count_of(values[i]) + values[i].value;
    if (difference.values_left_out > 0)
      text += ", " + std::to_string(difference.values_left_out) + have(difference.values_left_out) + "other values";
    return text;
  }
  const bool is_decided =
      difference.state == ConfigDriftState::kDiffers || difference.state == ConfigDriftState::kRollingOut;
  if (is_decided && values.size() == 2 && difference.values_left_out == 0) {
    const DriftValue& other = values.back();
    return std::to_string(other.count) + " of " + of + have(other.count) + row.words + ' ' +
           with_unit(difference.fact, other.value) + ", " + count_of(values.front()) + values.front().value;
  }
  std::string text = is_decided ? std::to_string(others_of(difference)) + " of " + of + differ + row.words + ": "
                                : of + differ + row.words + ": ";
  text += count_of(values.front()) + with_unit(difference.fact, values.front().value);
  for (std::size_t i = 1; i < values.size(); ++i) text += ", " + count_of(values[i]) + values[i].value;
  if (difference.values_left_out > 0)
    text += ", " + std::to_string(difference.values_left_out) + have(difference.values_left_out) + "other values";
  return text;
}

Evidence evidence_of(std::string signal, std::string text, double value, const char* unit, const Entity& where,
                     TimePoint now) {
  return {.signal = std::move(signal),
          .description = std::move(text),
          .value = value,
          .threshold = 0,
          .unit = unit,
          .observed = now,
          .where = where};
}

std::string signal_of(ConfigFact fact) {
  return std::string("config_") + row_of(fact).name;
}

}  // namespace

const char* holders_of(ConfigFact fact) {
  return row_of(fact).scope == FactScope::kAdapter ? "adapters" : "ports";
}

Entity drift_cause(const Cohort& cohort, ConfigFact fact, const std::string& stem) {
  Entity cause{.kind = EntityKind::kCohort, .fabric = {}, .port = {}, .peer = {}, .label = {}};
  cause.device = std::string(row_of(fact).name) + '|' + cohort.key + '|' + stem;
  cause.label = std::string(row_of(fact).words) + " of " + holders_of(fact) + " of " + cohort.label +
                (stem.empty() ? "" : ", hosts " + stem);
  return cause;
}

std::string group_text(const Cohort& cohort, const HeldVote& vote) {
  return cohort.label + (vote.stem.empty() ? "" : ", hosts " + vote.stem) +
         (vote.places.empty() ? "" : ", " + vote.places);
}

Finding drift_finding(const Entity& cause, ConfigFact fact, std::span<const DriftDifference> differences,
                      TimePoint now) {
  Finding finding;
  finding.kind = IncidentKind::kConfigDrift;
  finding.severity = Severity::kInfo;
  finding.cause = cause;
  finding.confidence = 1;
  std::size_t told = 0;
  for (const DriftDifference& difference : differences) {
    const auto meant = static_cast<double>(difference.members - others_of(difference));
    if (difference.expected.empty())
      finding.confidence = std::min(finding.confidence, meant / static_cast<double>(std::max(1U, difference.members)));
    for (const DriftHolder& holder : difference.holders)
      if (!holder.is_young && finding.affected.size() < kMostAffected) finding.affected.push_back(holder.where);
    if (told == 0) finding.summary = difference_text(difference, false);
    if (++told > kMostSentences) continue;
    const Entity& where = difference.holders.empty() ? cause : difference.holders.front().where;
    finding.evidence.push_back(evidence_of(signal_of(fact), difference_text(difference, true), difference.differing,
                                           holders_of(fact), where, now));
    if (difference.young > 0)
      finding.evidence.push_back(evidence_of(
          signal_of(fact) + "_young",
          std::to_string(difference.young) + " of them changed so lately that it may be a rollout (drift.rollout)",
          difference.young, holders_of(fact), where, now));
  }
  if (differences.size() > 1)
    finding.summary += ", and " + std::to_string(differences.size() - 1) + " more groups differ";
  finding.evidence.push_back(evidence_of(
      "config_source", std::string(row_of(fact).words) + ": read from " + row_of(fact).read_from, 0, "", cause, now));
  return finding;
}

Finding ends_finding(std::span<const EndsDiffer> ends, TimePoint now) {
  const EndsDiffer& first = ends.front();
  Finding finding;
  finding.kind = IncidentKind::kConfigDrift;
  // What is larger than the other end takes is lost.
  finding.severity = Severity::kWarning;
  finding.cause = first.link;
  finding.affected = {first.low, first.high};
  finding.confidence = 1;
  for (const EndsDiffer& one : ends) {
    const auto text = [&one](const char* differ, const char* has) {
      return std::string("the ends ") + differ + " in " + row_of(one.fact).words + ": " + one.low.label + has +
             with_unit(one.fact, one.low_value) + ", " + one.high.label + has + one.high_value;
    };
    if (finding.summary.empty()) finding.summary = text("differ", " has ");
    finding.evidence.push_back(evidence_of(signal_of(one.fact), text("differed", " had "), 0, "", one.low, now));
  }
  if (ends.size() > 1) finding.summary += ", and in " + std::to_string(ends.size() - 1) + " more settings";
  return finding;
}

}  // namespace weft::analyzer
