// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an incident said over time: its first headline, its worst severity, and an entry for each change.

#include <string>
#include <string_view>

#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Whether both texts say the same but for their numbers. A number is a run of digits that no letter, hyphen or
/// underscore precedes, with what belongs to it ("12", "3,000", "3.2e-11"); digits of a name ("leaf-1", "mlx5_0") are
/// part of that name.
bool differ_in_numbers_only(std::string_view one, std::string_view other);

/// It was opened, or re-opened when it has occurred before: what it says now is its headline, and its severity the
/// worst.
void note_beginning(Incident& incident, TimePoint now);
/// Adds an entry when severity or summary say something else than the last entry about them did. Other numbers only
/// bring that entry up to date.
void note_update(Incident& incident, TimePoint now);
/// Adds an entry of something that was done to it. `text` and `who` are as in TimelineEntry.
void note_change(Incident& incident, IncidentChange change, std::string text, std::string who, TimePoint now);
/// Adds an entry of a silence that `who` began, with its length ("for 2 h"), or ended, where `until` is not after
/// `now`.
void note_silence(Incident& incident, TimePoint until, std::string who, TimePoint now);

}  // namespace weft::analyzer
