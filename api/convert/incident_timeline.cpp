// SPDX-License-Identifier: Apache-2.0
#include "api/convert/incident_timeline.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/convert/incidents.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

using Event = std::pair<TimePoint, v1::TimelineEvent>;

v1::TimelineEvent event(v1::TimelineEvent::Source source, const std::string& what, const std::string& who,
                        const std::string& text) {
  v1::TimelineEvent made;
  made.set_source(source);
  made.set_what(what);
  made.set_who(valid_utf8(who));
  made.set_text(valid_utf8(text));
  return made;
}

void add_incident(const Incident& incident, std::vector<Event>& events) {
  for (const TimelineEntry& entry : incident.timeline) {
    v1::TimelineEvent made = event(v1::TimelineEvent::INCIDENT, to_string(entry.change), entry.who, entry.text);
    made.set_severity(to_proto(entry.severity));
    made.set_left_out(entry.left_out);
    if (entry.numbers_at != kNever) set_timestamp(*made.mutable_numbers_at(), entry.numbers_at);
    events.emplace_back(entry.at, std::move(made));
  }
}

void add_plan(const Plan& plan, std::vector<Event>& events) {
  for (const PlanStep& step : plan.steps) {
    v1::TimelineEvent made = event(v1::TimelineEvent::PLAN, to_string(step.state), step.who, step.what);
    made.set_plan_id(plan_name(plan.id));
    events.emplace_back(step.at, std::move(made));
  }
}

void add_window(const MaintenanceWindow& window, TimePoint now, std::vector<Event>& events) {
  const auto add = [&](TimePoint at, const char* what, const std::string& who, const std::string& text) {
    if (at == kNever || at > now) return;
    v1::TimelineEvent made = event(v1::TimelineEvent::MAINTENANCE, what, who, text);
    made.set_maintenance_id(maintenance_name(window.id));
    events.emplace_back(at, std::move(made));
  };
  add(window.added, "ADDED", window.added_by, window.reason);
  const TimePoint end = window.ended != kNever ? window.ended : window.until;
  if (window.from < end) add(window.from, "BEGAN", "", window.reason);
  add(end, "ENDED", window.ended_by, "");
}

}  // namespace

std::vector<const Plan*> plans_of(const Snapshot& snapshot, const Incident& incident) {
  std::vector<const Plan*> plans;
  if (!snapshot.plans) return plans;
  // Ascending by id, so what is undone stands before what undoes it.
  for (const auto& plan : *snapshot.plans) {
    const bool undoes = plan->undoes != 0 && std::ranges::find(plans, plan->undoes, &Plan::id) != plans.end();
    const bool is_its_work = kFirstPlanWindow + plan->id == incident.finding.maintenance;
    if (plan->incident == incident.id || is_its_work || undoes) plans.push_back(plan.get());
  }
  return plans;
}

Result<v1::IncidentTimeline> incident_timeline(const Snapshot& snapshot, std::string_view id, TimePoint now) {
  const auto number = parse_incident_name(id);
  if (!number) return fail(ErrorCode::kInvalidArgument, "an incident's id must be like INC-17, not " + valid_utf8(id));
  const auto incident = find_incident(snapshot, *number);
  if (!incident) return fail(ErrorCode::kNotFound, "no incident " + incident_name(*number));

  std::vector<Event> events;
  add_incident(*incident, events);
  for (const Plan* plan : plans_of(snapshot, *incident)) add_plan(*plan, events);
  if (snapshot.maintenance)
    for (const MaintenanceWindow& window : *snapshot.maintenance)
      if (window.id == incident->finding.maintenance && window.id != 0) add_window(window, now, events);
  std::ranges::stable_sort(events, {}, &Event::first);

  v1::IncidentTimeline timeline;
  timeline.set_incident_id(incident_name(incident->id));
  const std::size_t left_out = events.size() > kMostTimelineEvents ? events.size() - kMostTimelineEvents : 0;
  timeline.set_left_out(static_cast<std::uint32_t>(left_out));
  for (std::size_t i = left_out; i < events.size(); ++i) {
    set_timestamp(*events[i].second.mutable_at(), events[i].first);
    *timeline.add_events() = std::move(events[i].second);
  }
  return timeline;
}

}  // namespace weft::api
