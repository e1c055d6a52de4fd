// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/webhooks/delivery_log.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft::events {
namespace {

constexpr int kBookVersion = 1;

template <typename Value>
bool among(const std::vector<Value>& wanted, Value value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

bool same_face(const Told& a, const Told& b) {
  Told other = b;
  other.revision = a.revision;
  return a == other;
}

std::optional<Told> told_from(const nlohmann::json& json) {
  const auto has = [&json](const char* key, bool (nlohmann::json::*is)() const noexcept) {
    return json.contains(key) && (json[key].*is)();
  };
  if (!json.is_object() || !has("revision", &nlohmann::json::is_number_unsigned) ||
      !has("state", &nlohmann::json::is_string) || !has("severity", &nlohmann::json::is_string) ||
      !has("occurrences", &nlohmann::json::is_number_unsigned) ||
      !has("silenced_until", &nlohmann::json::is_number_integer))
    return std::nullopt;
  const auto state = parse_incident_state(json["state"].get<std::string>());
  const auto severity = parse_severity(json["severity"].get<std::string>());
  if (!state || !severity) return std::nullopt;
  return Told{json["revision"].get<std::uint64_t>(), *state, *severity, json["occurrences"].get<std::uint32_t>(),
              json["silenced_until"].get<std::int64_t>()};
}

}  // namespace

bool EventFilter::wants(const Incident& incident) const {
  return among(kinds, incident.finding.kind) && among(severities, incident.finding.severity);
}

Told told_of(const Incident& incident) {
  const auto silenced =
      incident.silenced_until == kNever
          ? 0
          : std::chrono::floor<std::chrono::seconds>(incident.silenced_until.time_since_epoch()).count();
  return {incident.revision, incident.state, incident.finding.severity, incident.occurrences, silenced};
}

const char* event_of(const Incident& incident, const std::optional<Told>& before) {
  if (incident.state == IncidentState::kResolved) return "resolved";
  if (!before) return incident.occurrences > 1 ? "reopened" : "opened";
  if (before->state == IncidentState::kResolved || incident.occurrences > before->occurrences) return "reopened";
  // Nobody looks after it any more.
  if (incident.state == IncidentState::kOpen && before->state == IncidentState::kAcknowledged) return "reopened";
  if (incident.state == IncidentState::kAcknowledged && before->state != incident.state) return "acknowledged";
  const Told now = told_of(incident);
  if (now.silenced_until != before->silenced_until && now.silenced_until != 0) return "silenced";
  return "changed";
}

IncidentList DeliveryLog::due(const IncidentList& incidents) const {
  IncidentList due;
  for (const auto& incident : incidents) {
    const auto before = find(incident->id);
    const bool news = before ? !same_face(*before, told_of(*incident)) : filter_.wants(*incident);
    if (news) due.push_back(incident);
  }
  std::ranges::sort(due, {}, [](const auto& incident) { return incident->id; });
  return due;
}

std::optional<Told> DeliveryLog::find(std::uint64_t incident) const {
  const auto found = told_.find(incident);
  return found == told_.end() ? std::nullopt : std::optional(found->second);
}

void DeliveryLog::tell(const Incident& incident) {
  told_[incident.id] = told_of(incident);
}

bool DeliveryLog::forget_others(const IncidentList& incidents) {
  std::vector<std::uint64_t> kept;
  kept.reserve(incidents.size());
  for (const auto& incident : incidents) kept.push_back(incident->id);
  std::ranges::sort(kept);
  return std::erase_if(told_, [&kept](const auto& entry) { return !std::ranges::binary_search(kept, entry.first); }) >
         0;
}

void DeliveryLog::begin(const IncidentList& incidents) {
  for (const auto& incident : incidents)
    if (!incident->is_open()) tell(*incident);
}

std::string DeliveryLog::text() const {
  nlohmann::json told = nlohmann::json::object();
  for (const auto& [incident, as] : told_)
    told[incident_name(incident)] = {{"revision", as.revision},
                                     {"state", to_string(as.state)},
                                     {"severity", to_string(as.severity)},
                                     {"occurrences", as.occurrences},
                                     {"silenced_until", as.silenced_until}};
  return nlohmann::json{{"version", kBookVersion}, {"told", std::move(told)}}.dump();
}

bool DeliveryLog::read(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kBookVersion) return false;
  if (!json.contains("told") || !json["told"].is_object()) return false;
  std::map<std::uint64_t, Told> told;
  for (const auto& [name, item] : json["told"].items()) {
    const auto incident = parse_incident_name(name);
    const auto as = told_from(item);
    if (!incident || !as) return false;
    told[*incident] = *as;
  }
  told_ = std::move(told);
  return true;
}

}  // namespace weft::events
