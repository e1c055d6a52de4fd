#pragma once
// Incidents and health as messages.

#include "fabric/incident.hpp"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"

namespace weft::api {

v1::Incident::Kind to_proto(IncidentKind kind);
v1::Incident::Severity to_proto(Severity severity);
v1::Incident::State to_proto(IncidentState state);
v1::NodeHealth::Verdict to_proto(HealthVerdict verdict);
v1::NodeHealth::RecommendedAction to_proto(RecommendedAction action);
void to_proto(const Entity& from, v1::Entity& to);
void to_proto(const Incident& from, v1::Incident& to);
void to_proto(const HealthReason& from, v1::HealthReason& to);
void to_proto(const NodeHealth& from, v1::NodeHealth& to);

}  // namespace weft::api
