// SPDX-License-Identifier: Apache-2.0
#pragma once
// An event as it is posted: JSON in UTF-8.

#include <string>
#include <string_view>

#include "fabric/incident.hpp"

namespace weft::events {

/// "INC-17.5.1c9e0b7a5d3f2468": incident, revision and the store's id, which is left out where it is empty. The same
/// key is the same news: a receiver takes it once.
std::string idempotency_key(const Incident& incident, std::string_view installation);

/// {version, idempotency_key, event, incident, revision, kind, severity, state, summary, worst_severity, headline,
/// cause, affected, jobs, opened, …}; `event` as event_of(). Lists are cut after 64 entries. `page` is where people
/// reach weftd's page; empty: no url, and of runbook_url the path alone.
std::string event_body(const Incident& incident, std::string_view event, std::string_view page,
                       std::string_view installation = {});

}  // namespace weft::events
