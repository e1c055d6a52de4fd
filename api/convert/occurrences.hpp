// SPDX-License-Identifier: Apache-2.0
#pragma once
// The times in which an incident was open, and those between them in which all was well.

#include <string>
#include <vector>

#include "fabric/incident.hpp"

namespace weft::api {

/// A time in which an incident was open.
struct Occurrence {
  TimePoint from;
  TimePoint until;  ///< kNever: it is not over
  Severity severity;
  std::string text;
};

/// Each time of it, by its timeline, oldest first: in between all was well. One alone where the timeline does not tell;
/// of what it does not keep any more, one up to the first end or beginning that is kept.
std::vector<Occurrence> occurrences_of(const Incident& incident);

}  // namespace weft::api
