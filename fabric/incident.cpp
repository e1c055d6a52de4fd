// SPDX-License-Identifier: Apache-2.0
#include "fabric/incident.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>

#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(IncidentKind::kCount)> kKinds{"LINK_DOWN",
                                                                                         "LINK_FLAP",
                                                                                         "LINK_DEGRADED",
                                                                                         "LINK_ERRORS",
                                                                                         "SWITCH_DOWN",
                                                                                         "NODE_DOWN",
                                                                                         "CONGESTION_INCAST",
                                                                                         "CONGESTION_UNEVEN_LOAD",
                                                                                         "CONGESTION_OVERSUBSCRIBED",
                                                                                         "SLOW_RECEIVER",
                                                                                         "PFC_STORM",
                                                                                         "DEADLOCK",
                                                                                         "SILENT_LOSS",
                                                                                         "RDMA_ERRORS",
                                                                                         "STRAGGLER",
                                                                                         "MISCABLED",
                                                                                         "DUPLICATE_GUID",
                                                                                         "COUNTER_STUCK",
                                                                                         "TELEMETRY_LOST",
                                                                                         "LINKS_NOT_ACTIVATED",
                                                                                         "CONFIG_DRIFT",
                                                                                         "HOST_DEGRADED",
                                                                                         "MODULE_DEGRADED",
                                                                                         "JOB_HANG"};
constexpr std::array<const char*, 3> kSeverities{"INFO", "WARNING", "CRITICAL"};
constexpr std::array<const char*, 3> kStates{"OPEN", "ACKNOWLEDGED", "RESOLVED"};
constexpr std::array<const char*, 9> kChanges{"OPENED",           "REOPENED",     "UPDATED",
                                              "SEVERITY_CHANGED", "ACKNOWLEDGED", "SILENCED",
                                              "SILENCE_ENDED",    "RESOLVED",     "FOLDED"};
constexpr std::array<const char*, 8> kEntities{"fabric",    "node",      "port", "link",
                                               "collector", "host_port", "host", "cohort"};
constexpr std::array<const char*, 4> kLinkParts{"HOST", "CABLE", "MODULE", "SWITCH"};
constexpr std::array<const char*, 4> kVerdicts{"UNKNOWN", "HEALTHY", "DEGRADED", "UNHEALTHY"};
constexpr std::array<const char*, 4> kActions{"NONE", "WATCH", "AVOID_NEW_JOBS", "DRAIN"};

void append(std::string& text, PortKey key) {
  text += to_string(key.node) + '/' + std::to_string(key.port.value);
}

}  // namespace

const char* to_string(IncidentKind kind) {
  return name_of(kKinds, kind);
}
const char* to_string(Severity severity) {
  return name_of(kSeverities, severity);
}
const char* to_string(IncidentState state) {
  return name_of(kStates, state);
}
const char* to_string(IncidentChange change) {
  return name_of(kChanges, change);
}
const char* to_string(EntityKind kind) {
  return name_of(kEntities, kind);
}
const char* to_string(LinkPart part) {
  return name_of(kLinkParts, part);
}
const char* to_string(HealthVerdict verdict) {
  return name_of(kVerdicts, verdict);
}
const char* to_string(RecommendedAction action) {
  return name_of(kActions, action);
}

std::optional<IncidentKind> parse_incident_kind(std::string_view text) {
  return parse_name<IncidentKind>(kKinds, text);
}
std::optional<Severity> parse_severity(std::string_view text) {
  return parse_name<Severity>(kSeverities, text);
}
std::optional<IncidentState> parse_incident_state(std::string_view text) {
  return parse_name<IncidentState>(kStates, text);
}
std::optional<IncidentChange> parse_incident_change(std::string_view text) {
  return parse_name<IncidentChange>(kChanges, text);
}
std::optional<EntityKind> parse_entity_kind(std::string_view text) {
  return parse_name<EntityKind>(kEntities, text);
}

std::optional<LinkPart> parse_link_part(std::string_view text) {
  return parse_name<LinkPart>(kLinkParts, text);
}

bool same_advice(const Advice& a, const Advice& b) {
  return a.is_clear == b.is_clear && a.first == b.first &&
         std::ranges::equal(a.suspects, b.suspects, [](const Suspect& x, const Suspect& y) {
           return x.part == y.part && x.where.same_as(y.where);
         });
}

std::string Entity::identity() const {
  std::string text = std::string(to_string(kind)) + ':' + fabric;
  switch (kind) {
    case EntityKind::kFabric:
      break;
    case EntityKind::kNode:
      text += ':' + to_string(port.node);
      break;
    case EntityKind::kPort:
      text += ':';
      append(text, port);
      break;
    case EntityKind::kLink:
      text += ':';
      append(text, port);
      text += '-';
      append(text, peer);
      break;
    case EntityKind::kCollector:
    case EntityKind::kHost:
      text += ':' + host;
      break;
    case EntityKind::kHostPort:
      text += ':' + host + ':' + device + ':' + std::to_string(port.port.value);
      break;
    case EntityKind::kCohort:
      text += ':' + device;
      break;
  }
  return text;
}

bool Entity::same_as(const Entity& other) const {
  if (kind != other.kind || fabric != other.fabric) return false;
  switch (kind) {
    case EntityKind::kFabric:
      return true;
    case EntityKind::kNode:
      return port.node == other.port.node;
    case EntityKind::kPort:
      return port == other.port;
    case EntityKind::kLink:
      return port == other.port && peer == other.peer;
    case EntityKind::kCollector:
    case EntityKind::kHost:
      return host == other.host;
    case EntityKind::kHostPort:
      return host == other.host && device == other.device && port.port == other.port.port;
    case EntityKind::kCohort:
      return device == other.device;
  }
  return false;
}

bool has_dead_links(const Finding& finding) {
  return finding.kind == IncidentKind::kTelemetryLost && finding.cause.kind == EntityKind::kNode &&
         std::ranges::any_of(finding.affected, [](const Entity& part) { return part.kind == EntityKind::kLink; });
}

std::string incident_name(std::uint64_t id) {
  return "INC-" + std::to_string(id);
}

std::string runbook_path(IncidentKind kind) {
  return "/runbooks/" + std::string(to_string(kind));
}

std::optional<std::uint64_t> parse_incident_name(std::string_view text) {
  if (text.size() > 4 && std::toupper(text[0]) == 'I' && std::toupper(text[1]) == 'N' && std::toupper(text[2]) == 'C' &&
      text[3] == '-')
    text.remove_prefix(4);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return id;
}

}  // namespace weft
