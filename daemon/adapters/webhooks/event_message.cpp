// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/webhooks/event_message.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/adapters/actuate/webhook_message.hpp"
#include "daemon/platform/net/safe_text.hpp"

namespace weft::events {
namespace {

constexpr int kMessageVersion = 1;
constexpr std::size_t kMostListed = 64;

}  // namespace

std::string idempotency_key(const Incident& incident, std::string_view installation) {
  std::string key = incident_name(incident.id) + '.' + std::to_string(incident.revision);
  if (!installation.empty()) key.append(1, '.').append(installation);
  return key;
}

std::string event_body(const Incident& incident, std::string_view event, std::string_view page,
                       std::string_view installation) {
  using net::one_line;
  nlohmann::json body{{"version", kMessageVersion},
                      {"idempotency_key", idempotency_key(incident, installation)},
                      {"event", event},
                      {"incident", incident_name(incident.id)},
                      {"revision", incident.revision},
                      {"kind", to_string(incident.finding.kind)},
                      {"severity", to_string(incident.finding.severity)},
                      {"state", to_string(incident.state)},
                      {"summary", one_line(incident.finding.summary)},
                      {"worst_severity", to_string(incident.worst_severity)},
                      {"headline", one_line(incident.headline)},
                      {"confidence", incident.finding.confidence},
                      {"occurrences", incident.occurrences},
                      {"cause", actuate::webhook_entity(incident.finding.cause)},
                      {"affected", nlohmann::json::array()},
                      {"affected_count", incident.finding.affected.size()},
                      {"jobs", nlohmann::json::array()},
                      {"opened", net::utc_text(incident.opened)},
                      {"updated", net::utc_text(incident.updated)}};
  for (std::size_t i = 0; i < std::min(incident.finding.affected.size(), kMostListed); ++i)
    body["affected"].push_back(actuate::webhook_entity(incident.finding.affected[i]));
  for (std::size_t i = 0; i < std::min(incident.finding.jobs.size(), kMostListed); ++i)
    body["jobs"].push_back(one_line(incident.finding.jobs[i]));
  if (incident.resolved != kNever) body["resolved"] = net::utc_text(incident.resolved);
  if (incident.silenced_until != kNever) body["silenced_until"] = net::utc_text(incident.silenced_until);
  if (!incident.acknowledged_by.empty()) body["acknowledged_by"] = one_line(incident.acknowledged_by);
  if (incident.finding.maintenance != 0) body["planned_work"] = true;
  body["runbook_url"] = std::string(page) + runbook_path(incident.finding.kind);
  if (!page.empty()) body["url"] = std::string(page) + "/#/incident/" + incident_name(incident.id);
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace weft::events
