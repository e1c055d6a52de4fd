// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one receiver was told of each incident, and so what it is still to be told. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/incident.hpp"

namespace weft::events {

/// Incidents, as Snapshot::incidents has them.
using IncidentList = std::vector<std::shared_ptr<const Incident>>;

/// Which incidents a receiver wants to hear of; empty lists: all. Of what it was told once it hears the end as well.
struct EventFilter {
  std::vector<IncidentKind> kinds;
  std::vector<Severity> severities;

  /// Both the kind and the severity are wanted.
  bool wants(const Incident& incident) const;
};

/// Of an incident, what is news when it differs. Evidence that grows is none.
struct Told {
  std::uint64_t revision = 0;  ///< of the incident, when it was told
  IncidentState state = IncidentState::kOpen;
  Severity severity = Severity::kInfo;
  std::uint32_t occurrences = 0;
  std::int64_t silenced_until = 0;  ///< seconds since 1970; 0: not silenced
  bool operator==(const Told&) const = default;
};
/// What a receiver knows once it was told of the incident as it is now.
Told told_of(const Incident& incident);

/// "opened", "reopened", "acknowledged", "silenced", "resolved" or "changed" (its severity, or a silence that ended):
/// what became of the incident since `before`; "reopened" too when its acknowledgement was taken back; nullopt for a
/// receiver that was never told of it.
const char* event_of(const Incident& incident, const std::optional<Told>& before);

/// Level, not edge: a receiver that was away hears of each incident how it is now, and not all that happened meanwhile.
/// So no more is kept than there are incidents, and the last word on each is never lost.
class DeliveryLog {
 public:
  explicit DeliveryLog(EventFilter filter) : filter_(std::move(filter)) {}

  /// What the receiver has not heard of yet, in the order of ids.
  IncidentList due(const IncidentList& incidents) const;
  /// What the receiver was told of the incident; nullopt when it was told nothing.
  std::optional<Told> find(std::uint64_t incident) const;
  /// The receiver was told of the incident as it is in this revision.
  void tell(const Incident& incident);
  /// Incidents that are no longer kept need no memory. False when nothing was forgotten.
  bool forget_others(const IncidentList& incidents);
  /// For a receiver that is new: what is over is no news to it.
  void begin(const IncidentList& incidents);

  /// {"version":1,"told":{"INC-7":{…}}}, and back: false when the text is none of ours, and the book is as it was.
  std::string text() const;
  /// Reads what text() gave.
  bool read(std::string_view text);

 private:
  EventFilter filter_;
  std::map<std::uint64_t, Told> told_;
};

}  // namespace weft::events
