// SPDX-License-Identifier: Apache-2.0
#include "api/convert/occurrences.hpp"

#include <algorithm>

namespace weft::api {

std::vector<Occurrence> occurrences_of(const Incident& incident) {
  std::vector<Occurrence> all;
  bool is_open = false;
  const auto begin = [&](TimePoint at, Severity severity, const std::string& text) {
    if (is_open) all.back().until = at;
    all.push_back({at, kNever, severity, text});
    is_open = true;
  };
  for (const TimelineEntry& entry : incident.timeline) {
    if (all.empty() && entry.change != IncidentChange::kOpened)
      begin(incident.opened, entry.severity, incident.headline);
    if (entry.change == IncidentChange::kOpened || entry.change == IncidentChange::kReopened)
      begin(entry.at, entry.severity, entry.text);
    all.back().severity = std::max(all.back().severity, entry.severity);
    if (entry.change != IncidentChange::kResolved && entry.change != IncidentChange::kFolded) continue;
    all.back().until = entry.at;
    is_open = false;
  }
  if (all.empty()) all.push_back({incident.opened, kNever, Severity::kInfo, {}});
  // The last one is the incident as it is told everywhere.
  all.back() = {all.back().from, incident.resolved, incident.listed_severity(), incident.listed_summary()};
  return all;
}

}  // namespace weft::api
