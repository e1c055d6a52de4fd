// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/feeds.hpp"

#include <functional>

#include "api/convert/incidents.hpp"
#include "api/convert/plans.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

void mix(std::uint64_t& digest, std::uint64_t value) {
  digest = (digest ^ value) * 0x100000001B3ULL + (digest >> 29);
}

std::uint64_t digest_of(const NodeHealth& health) {
  std::uint64_t digest = 0xCBF29CE484222325ULL;
  mix(digest, static_cast<std::uint64_t>(health.verdict));
  mix(digest, static_cast<std::uint64_t>(health.action));
  for (const HealthReason& reason : health.reasons) {
    mix(digest, reason.incident);
    mix(digest, reason.maintenance);
    mix(digest, reason.plan);
    mix(digest, static_cast<std::uint64_t>(reason.severity));
    mix(digest, std::hash<std::string>{}(reason.message));
  }
  return digest;
}

// All that a list of plans shows, and what is in force: not each of these changes is a new revision.
std::uint64_t digest_of(const Plan& plan) {
  std::uint64_t digest = 0xCBF29CE484222325ULL;
  mix(digest, plan.revision);
  mix(digest, static_cast<std::uint64_t>(plan.state));
  mix(digest, plan.windows_good);
  mix(digest, plan.windows_needed);
  mix(digest, (plan.in_force ? 1U : 0U) + (plan.unresolved ? 2U : 0U));
  mix(digest, std::hash<std::string>{}(plan.outcome));
  for (const GuardVerdict& verdict : plan.guards) mix(digest, static_cast<std::uint64_t>(verdict.result));
  for (const std::string& job : plan.jobs) mix(digest, std::hash<std::string>{}(job));
  return digest;
}

}  // namespace

bool IncidentFeed::next(const Snapshot& snapshot, Message& message) {
  if (!snapshot.incidents) return false;
  const auto& incidents = *snapshot.incidents;
  message.Clear();
  told_.observe(snapshot.revision);
  while (const auto index = told_.next_index(incidents.size())) {
    const Incident& incident = *incidents[*index];
    const bool wanted = incident.is_open() || include_resolved_ || !initial_;
    const auto news = told_.note(incident.id, incident.revision, wanted);
    if (news == Ledger<std::uint64_t>::News::kNone) continue;
    const bool first = initial_ && news == Ledger<std::uint64_t>::News::kNew;
    message.set_type(first ? Message::INITIAL : Message::CHANGED);
    to_proto(incident, *message.mutable_incident());
    return true;
  }
  if (const auto gone = told_.next_gone()) {
    message.set_type(Message::EXPIRED);
    message.mutable_incident()->set_id(incident_name(*gone));
    return true;
  }
  if (!initial_) return false;
  initial_ = false;
  message.set_type(Message::INITIAL_COMPLETE);
  return true;
}

bool PlanFeed::next(const Snapshot& snapshot, Message& message) {
  // Where there is no list there is none: weftd has one from its first picture on, and before that no revision.
  if (snapshot.revision == 0) return false;
  static const std::vector<std::shared_ptr<const Plan>> kNone;
  const auto& plans = snapshot.plans ? *snapshot.plans : kNone;
  message.Clear();
  told_.observe(snapshot.revision);
  while (const auto index = told_.next_index(plans.size())) {
    const Plan& plan = *plans[*index];
    const bool wanted = !is_over(plan.state) || include_ended_ || !initial_;
    const auto news = told_.note(plan.id, digest_of(plan), wanted);
    if (news == Ledger<std::uint64_t>::News::kNone) continue;
    const bool first = initial_ && news == Ledger<std::uint64_t>::News::kNew;
    message.set_type(first ? Message::INITIAL : Message::CHANGED);
    to_proto(plan, *message.mutable_plan());
    return true;
  }
  if (const auto gone = told_.next_gone()) {
    message.set_type(Message::REMOVED);
    message.mutable_plan()->set_id(plan_name(*gone));
    return true;
  }
  if (!initial_) return false;
  initial_ = false;
  message.set_type(Message::INITIAL_COMPLETE);
  return true;
}

bool HealthFeed::next(const Snapshot& snapshot, Message& message) {
  if (!snapshot.health) return false;
  using News = decltype(told_)::News;
  const auto& health = *snapshot.health;
  message.Clear();
  told_.observe(snapshot.revision);
  while (const auto index = told_.next_index(health.size())) {
    const NodeHealth& entry = health[*index];
    if (!nodes_.empty() && !nodes_.contains(entry.node)) continue;
    const std::uint64_t guid = entry.guids.empty() ? 0 : entry.guids.front().value;
    const News news = told_.note({entry.node, guid}, digest_of(entry), true);
    if (news == News::kNone) continue;
    message.set_type(initial_ && news == News::kNew ? Message::INITIAL : Message::CHANGED);
    to_proto(entry, *message.mutable_health());
    return true;
  }
  if (const auto gone = told_.next_gone()) {
    message.set_type(Message::REMOVED);
    message.mutable_health()->set_node(valid_utf8(gone->first));
    if (gone->second != 0) message.mutable_health()->add_guids(to_string(NodeGuid{gone->second}));
    return true;
  }
  if (!initial_) return false;
  initial_ = false;
  message.set_type(Message::INITIAL_COMPLETE);
  return true;
}

}  // namespace weft::api
