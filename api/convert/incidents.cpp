// SPDX-License-Identifier: Apache-2.0
#include "api/convert/incidents.hpp"

#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/maintenance.hpp"

namespace weft::api {

// The messages' enums are ours moved up by one, for their "unspecified" zero.
static_assert(v1::Incident::LINK_DOWN == static_cast<int>(IncidentKind::kLinkDown) + 1);
static_assert(v1::Incident::STRAGGLER == static_cast<int>(IncidentKind::kStraggler) + 1);
static_assert(v1::Incident::JOB_HANG == static_cast<int>(IncidentKind::kJobHang) + 1);
static_assert(v1::Advice::SWITCH == static_cast<int>(LinkPart::kSwitch) + 1);
static_assert(v1::Incident::CRITICAL == static_cast<int>(Severity::kCritical) + 1);
static_assert(v1::Incident::TimelineEntry::FOLDED == static_cast<int>(IncidentChange::kFolded) + 1);
static_assert(v1::Incident::RESOLVED == static_cast<int>(IncidentState::kResolved) + 1);
static_assert(v1::Entity::COHORT == static_cast<int>(EntityKind::kCohort) + 1);
static_assert(v1::Entity::COLLECTOR == static_cast<int>(EntityKind::kCollector) + 1);
static_assert(v1::NodeHealth::UNHEALTHY == static_cast<int>(HealthVerdict::kUnhealthy));
static_assert(v1::NodeHealth::DRAIN == static_cast<int>(RecommendedAction::kDrain));

v1::Incident::Kind to_proto(IncidentKind kind) {
  return static_cast<v1::Incident::Kind>(static_cast<int>(kind) + 1);
}
v1::Incident::Severity to_proto(Severity severity) {
  return static_cast<v1::Incident::Severity>(static_cast<int>(severity) + 1);
}
v1::Incident::State to_proto(IncidentState state) {
  return static_cast<v1::Incident::State>(static_cast<int>(state) + 1);
}
v1::NodeHealth::Verdict to_proto(HealthVerdict verdict) {
  return static_cast<v1::NodeHealth::Verdict>(verdict);
}
v1::NodeHealth::RecommendedAction to_proto(RecommendedAction action) {
  return static_cast<v1::NodeHealth::RecommendedAction>(action);
}

void to_proto(const Entity& from, v1::Entity& to) {
  to.set_kind(static_cast<v1::Entity::Kind>(static_cast<int>(from.kind) + 1));
  to.set_fabric(valid_utf8(from.fabric));
  to.set_label(valid_utf8(from.label));
  to.set_identity(valid_utf8(from.identity()));
  const bool has_node =
      from.kind == EntityKind::kNode || from.kind == EntityKind::kPort || from.kind == EntityKind::kLink;
  if (has_node) to.set_node_guid(to_string(from.port.node));
  to.set_host(valid_utf8(from.host));
  to.set_device(valid_utf8(from.device));
  if (from.kind == EntityKind::kPort || from.kind == EntityKind::kLink || from.kind == EntityKind::kHostPort)
    to.set_port(from.port.port.value);
  if (from.kind == EntityKind::kLink) {
    to.set_peer_guid(to_string(from.peer.node));
    to.set_peer_port(from.peer.port.value);
  }
}

namespace {

void advice_to_proto(const Advice& from, v1::Advice& to) {
  for (const Suspect& each : from.suspects) {
    v1::Advice::Suspect& suspect = *to.add_suspects();
    suspect.set_part(static_cast<v1::Advice::Part>(static_cast<int>(each.part) + 1));
    to_proto(each.where, *suspect.mutable_where());
    suspect.set_share(each.share);
  }
  to.set_is_clear(from.is_clear);
  to.set_first(valid_utf8(from.first));
  for (const std::string& reason : from.reasons) to.add_reasons(valid_utf8(reason));
}

}  // namespace

void to_proto(const Incident& from, v1::Incident& to) {
  to.set_id(incident_name(from.id));
  to.set_revision(from.revision);
  to.set_kind(to_proto(from.finding.kind));
  to.set_runbook(runbook_path(from.finding.kind));
  to.set_severity(to_proto(from.finding.severity));
  to.set_state(to_proto(from.state));
  to.set_summary(valid_utf8(from.finding.summary));
  to_proto(from.finding.cause, *to.mutable_cause());
  for (const Entity& victim : from.finding.affected) to_proto(victim, *to.add_affected());
  for (const Evidence& fact : from.finding.evidence) {
    v1::Evidence& evidence = *to.add_evidence();
    evidence.set_signal(valid_utf8(fact.signal));
    evidence.set_description(valid_utf8(fact.description));
    evidence.set_value(fact.value);
    if (fact.threshold != 0) evidence.set_threshold(fact.threshold);
    evidence.set_unit(valid_utf8(fact.unit));
    if (fact.observed != kNever) set_timestamp(*evidence.mutable_observed(), fact.observed);
    to_proto(fact.where, *evidence.mutable_where());
    if (fact.window > Duration::zero()) set_duration(*evidence.mutable_window(), fact.window);
  }
  for (const WaitingLink& link : from.finding.waiting.links) {
    v1::WaitingLink& waiting = *to.add_waiting();
    to_proto(link.sender, *waiting.mutable_sender());
    waiting.set_towards(valid_utf8(link.towards));
    if (link.waits_for) waiting.set_waits_for(*link.waits_for);
    waiting.set_stall_ratio(link.stall_ratio);
    waiting.set_utilization_ratio(link.utilization_ratio);
  }
  to.set_waiting_total(from.finding.waiting.total);
  for (const TimePoint at : from.beginnings) set_timestamp(*to.add_beginnings(), at);
  for (const std::string& job : from.finding.jobs) to.add_jobs(valid_utf8(job));
  to.set_confidence(from.finding.confidence);
  if (!from.finding.advice.suspects.empty()) advice_to_proto(from.finding.advice, *to.mutable_advice());
  if (from.opened != kNever) set_timestamp(*to.mutable_opened(), from.opened);
  if (from.updated != kNever) set_timestamp(*to.mutable_updated(), from.updated);
  if (from.resolved != kNever) set_timestamp(*to.mutable_resolved(), from.resolved);
  to.set_occurrences(from.occurrences);
  to.set_acknowledged_by(valid_utf8(from.acknowledged_by));
  if (from.silenced_until != kNever) set_timestamp(*to.mutable_silenced_until(), from.silenced_until);
  if (from.finding.maintenance != 0) to.set_maintenance_id(maintenance_name(from.finding.maintenance));
  to.set_worst_severity(to_proto(from.worst_severity));
  to.set_headline(valid_utf8(from.headline));
  for (const TimelineEntry& each : from.timeline) {
    v1::Incident::TimelineEntry& entry = *to.add_timeline();
    set_timestamp(*entry.mutable_at(), each.at);
    entry.set_change(static_cast<v1::Incident::TimelineEntry::Change>(static_cast<int>(each.change) + 1));
    entry.set_severity(to_proto(each.severity));
    entry.set_text(valid_utf8(each.text));
    entry.set_who(valid_utf8(each.who));
    if (each.numbers_at != kNever) set_timestamp(*entry.mutable_numbers_at(), each.numbers_at);
    entry.set_left_out(each.left_out);
  }
}

void to_proto(const HealthReason& from, v1::HealthReason& to) {
  if (from.maintenance != 0) {
    to.set_maintenance_id(maintenance_name(from.maintenance));
  } else if (from.plan != 0) {
    to.set_plan_id(plan_name(from.plan));
  } else if (from.incident != 0) {
    to.set_incident_id(incident_name(from.incident));
    to.set_kind(to_proto(from.kind));
  }
  to.set_severity(to_proto(from.severity));
  if (from.since != kNever) set_timestamp(*to.mutable_since(), from.since);
  to.set_message(valid_utf8(from.message));
  for (const PortKey& key : from.ports) {
    v1::HealthReason::Port& port = *to.add_ports();
    port.set_node_guid(to_string(key.node));
    port.set_port(key.port.value);
  }
}

void to_proto(const NodeHealth& from, v1::NodeHealth& to) {
  to.set_node(valid_utf8(from.node));
  to.set_fabric(valid_utf8(from.fabric));
  for (const NodeGuid guid : from.guids) to.add_guids(to_string(guid));
  to.set_verdict(to_proto(from.verdict));
  to.set_recommended_action(to_proto(from.action));
  for (const HealthReason& why : from.reasons) to_proto(why, *to.add_reasons());
  if (from.data_age != Duration::max()) set_duration(*to.mutable_data_age(), from.data_age);
}

}  // namespace weft::api
