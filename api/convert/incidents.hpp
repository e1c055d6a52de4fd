// SPDX-License-Identifier: Apache-2.0
#pragma once
// Incidents and health as messages.

#include "fabric/incident.hpp"
#include "weft/v1/health.pb.h"
#include "weft/v1/incident.pb.h"

namespace weft::api {

/// The value of the same name in the API.
v1::Incident::Kind to_proto(IncidentKind kind);
v1::Incident::Severity to_proto(Severity severity);
v1::Incident::State to_proto(IncidentState state);
v1::NodeHealth::Verdict to_proto(HealthVerdict verdict);
v1::NodeHealth::RecommendedAction to_proto(RecommendedAction action);
/// Fills in the message of an entity.
void to_proto(const Entity& from, v1::Entity& to);
/// Fills in the message of an incident.
void to_proto(const Incident& from, v1::Incident& to);
/// Fills in the message of one reason of a verdict.
void to_proto(const HealthReason& from, v1::HealthReason& to);
/// Fills in the message of a host's or switch's health.
void to_proto(const NodeHealth& from, v1::NodeHealth& to);

}  // namespace weft::api
