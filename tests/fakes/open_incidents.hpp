// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a book has open, for tests.

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "analyzer/incidents/incident_manager.hpp"

namespace weft::analyzer {

/// Evidence is kept with its time for as long as the incident: it must stay true, so it tells what was, not what is.
inline void expect_lasting(const Finding& finding) {
  static const std::regex kOfThePresent(
      R"((^|[ ,;:])(is|are|isn't|has|have|do|does|receives|sends|now|currently|ago|present)([ ,;:.]|$))");
  for (const Evidence& evidence : finding.evidence) {
    EXPECT_FALSE(std::regex_search(evidence.description, kOfThePresent)) << evidence.description;
    EXPECT_NE(evidence.observed, kNever) << evidence.description;
  }
}

inline std::vector<Incident> open_incidents(const IncidentManager& book) {
  std::vector<Incident> found;
  for (const IncidentPtr& incident : *book.all())
    if (incident->is_open()) {
      expect_lasting(incident->finding);
      found.push_back(*incident);
    }
  return found;
}

/// A projection for std::ranges.
inline IncidentKind incident_kind(const Incident& incident) {
  return incident.finding.kind;
}

/// All that it knows, a line each.
inline std::string describe_incidents(const IncidentManager& book) {
  std::string text;
  for (const IncidentPtr& incident : *book.all())
    text += incident_name(incident->id) + " " + to_string(incident->finding.kind) + " " + to_string(incident->state) +
            ": " + incident->finding.summary + "\n";
  return text;
}

/// The only open incident; a test failure says what there is when there is another number of them.
inline Incident only_incident(const IncidentManager& book) {
  const std::vector<Incident> found = open_incidents(book);
  EXPECT_EQ(found.size(), 1U) << describe_incidents(book);
  return found.empty() ? Incident{} : found.front();
}

}  // namespace weft::analyzer
