// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "daemon/programs/weftctl/incident_report.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

Exit print_one(const Session& session, const v1::Incident& incident) {
  if (session.json) {
    session.out << json_text(incident, false) << '\n';
  } else {
    const v1::Status status =
        session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
    print_incident(session.out, incident, session.now,
                   {.plain = session.plain, .columns = session.columns, .url = status.page_url()});
  }
  return Exit::kGood;
}

/// What became of it, and which one it is: somebody may have typed the wrong number.
Exit print_changed(const Session& session, const v1::Incident& incident, const std::string& change) {
  if (session.json) return print_one(session, incident);
  session.out << incident.id() << ' ' << change << '\n'
              << v1::Incident::Kind_Name(incident.kind()) << "  " << printable(incident.summary()) << '\n';
  return Exit::kGood;
}

void print_plans_of(const Session& session, const std::string& incident) {
  const auto plans =
      session.client.all_pages(session.client.remedies, &v1::RemedyService::Stub::ListPlans, v1::ListPlansRequest());
  const char* head = "\nplans\n";
  for (const v1::Plan& plan : plans.plans()) {
    if (plan.incident_id() != incident) continue;
    session.out << std::exchange(head, "") << "  " << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  "
                << plan_state_text(plan, holds_again(plan, plans.plans())) << "  " << printable(plan.target().label())
                << '\n';
  }
}

/// So wide a terminal has room for the date of each event beside a text.
constexpr std::size_t kRoomForDates = 100;
// Of "2026-01-31 12:00:00 UTC".
constexpr std::size_t kDateLength = 10;
constexpr std::size_t kTimeBegins = kDateLength + 1;
constexpr std::size_t kTimeLength = 8;

/// "2026-01-31", where all events are of that day; empty: of several days, or there is none.
std::string one_day(const v1::IncidentTimeline& timeline) {
  std::string day;
  for (const v1::TimelineEvent& event : timeline.events()) {
    std::string its = time_text(event.at()).substr(0, kDateLength);
    if (!day.empty() && its != day) return {};
    day = std::move(its);
  }
  return day;
}

/// The worst first, of equals the newest: as on the page. Ids of a site do not tell which is newer.
void put_worst_first(google::protobuf::RepeatedPtrField<v1::Incident>& incidents) {
  std::ranges::stable_sort(incidents, [](const v1::Incident& one, const v1::Incident& other) {
    if (one.severity() != other.severity()) return one.severity() > other.severity();
    const auto &its = present_beginning(one), &others = present_beginning(other);
    return its.seconds() != others.seconds() ? its.seconds() > others.seconds() : its.nanos() > others.nanos();
  });
}

/// Whether their causes are in several fabrics, which may have nodes of the same names.
bool have_several_fabrics(const v1::ListIncidentsResponse& list) {
  std::set<std::string> fabrics;
  for (const v1::Incident& incident : list.incidents())
    if (!incident.cause().fabric().empty()) fabrics.insert(incident.cause().fabric());
  return fabrics.size() > 1;
}

void print_table(const Session& session, const v1::ListIncidentsResponse& incidents) {
  std::vector<Column> columns{"ID", judged("SEVERITY"), "KIND", judged("STATE"), spare(age("OPENED"))};
  const bool shards = has_shards(incidents.incidents()), fabrics = have_several_fabrics(incidents);
  if (shards) columns.emplace_back("SHARD");
  if (fabrics) columns.push_back(spare("FABRIC"));
  columns.push_back(story("SUMMARY"));
  Table table(columns);
  for (const v1::Incident& incident : incidents.incidents()) {
    std::vector<std::string> cells{incident.id(), listed_severity(incident), v1::Incident::Kind_Name(incident.kind()),
                                   listed_state(incident, session.now),
                                   age_text(incident.has_opened(), present_beginning(incident), session.now)};
    if (shards) cells.push_back(incident.shard());
    if (fabrics) cells.push_back(incident.cause().fabric().empty() ? "-" : incident.cause().fabric());
    cells.push_back(listed_summary(incident));
    table.add(std::move(cells));
  }
  table.print(session.sheet());
}

/// The value of that name, whose letters' case does not matter. Throws kWrongUsage with all names where there is none.
template <typename Value, typename Parse>
Value named(const char* what, std::string name, const google::protobuf::EnumDescriptor& values, Parse parse) {
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Value value{};
  if (parse(name, &value) && static_cast<int>(value) != 0) return value;
  std::string all;
  for (int i = 1; i < values.value_count(); ++i) all += (i > 1 ? ", " : "") + values.value(i)->name();
  throw Failure(Exit::kWrongUsage, "there is no " + std::string(what) + ' ' + name + ": it is one of " + all);
}

v1::ListIncidentsRequest request_of(const IncidentWish& wanted, bool all) {
  v1::ListIncidentsRequest request;
  if (!all) {
    request.add_states(v1::Incident::OPEN);
    request.add_states(v1::Incident::ACKNOWLEDGED);
  }
  for (const std::string& kind : wanted.kinds)
    request.add_kinds(
        named<v1::Incident::Kind>("kind", kind, *v1::Incident::Kind_descriptor(), v1::Incident::Kind_Parse));
  for (const std::string& severity : wanted.severities)
    request.add_severities(named<v1::Incident::Severity>("severity", severity, *v1::Incident::Severity_descriptor(),
                                                         v1::Incident::Severity_Parse));
  request.set_entity(wanted.entity);
  request.set_job(wanted.job);
  if (wanted.from) set_seconds(*request.mutable_from(), *wanted.from);
  if (wanted.to) set_seconds(*request.mutable_to(), *wanted.to);
  return request;
}

/// "SEVERITY_CHANGED (CRITICAL)"; of plans and maintenance the bare event.
std::string event_text(const v1::TimelineEvent& event) {
  const bool says = event.what() == "OPENED" || event.what() == "REOPENED" || event.what() == "SEVERITY_CHANGED";
  if (event.source() != v1::TimelineEvent::INCIDENT || !says || event.severity() == 0) return event.what();
  return event.what() + " (" + v1::Incident::Severity_Name(event.severity()) + ')';
}

}  // namespace

Exit show_incidents(const Session& session, const IncidentWish& wanted) {
  // Who asks for a time asks for what is over by now, too.
  const bool all = wanted.all || wanted.from || wanted.to;
  const bool ids_only = wanted.ids_only;
  const v1::ListIncidentsRequest request = request_of(wanted, all);
  auto incidents = session.client.all_pages(session.client.incidents, &v1::IncidentService::Stub::List, request);
  int planned = 0;
  if (!all) {
    auto& list = *incidents.mutable_incidents();
    const auto is_planned = [](const v1::Incident& incident) { return !incident.maintenance_id().empty(); };
    const auto end = std::remove_if(list.begin(), list.end(), is_planned);
    planned = static_cast<int>(list.end() - end);
    list.erase(end, list.end());
  }
  if (ids_only) {
    std::vector<std::string> ids;
    for (const v1::Incident& incident : incidents.incidents()) ids.push_back(incident.id());
    session.out << list_text(ids, session.json);
    return Exit::kGood;
  }
  if (session.json) {
    session.out << json_text(incidents, false) << '\n';
    return Exit::kGood;
  }
  const std::string rest = planned == 0 ? ""
                                        : std::to_string(planned) + " more " + (planned == 1 ? "is" : "are") +
                                              " planned work: weftctl incidents --all\n";
  const bool is_only_planned = planned > 0 && incidents.incidents().empty() && !wanted.is_filtered();
  if (is_only_planned) {
    session.out << "No open incidents" << where_asked(incidents) << " but " << planned
                << " of planned work: weftctl incidents --all\n";
    return Exit::kGood;
  }
  if (incidents.incidents().empty()) {
    session.out << (wanted.is_filtered() ? "No such incidents"
                    : all                ? "No incidents"
                                         : "No open incidents")
                << where_asked(incidents) << ".\n"
                << rest;
    return Exit::kGood;
  }
  if (!all) put_worst_first(*incidents.mutable_incidents());
  print_table(session, incidents);
  session.out << rest;
  return Exit::kGood;
}

Exit show_incident(const Session& session, const std::string& id) {
  v1::GetIncidentRequest request;
  request.set_id(id);
  const auto incident = session.client.call(session.client.incidents, &v1::IncidentService::Stub::Get, request);
  print_one(session, incident);
  if (!session.json) print_plans_of(session, incident.id());
  return Exit::kGood;
}

Exit show_timeline(const Session& session, const std::string& id) {
  v1::GetIncidentRequest request;
  request.set_id(id);
  const auto timeline = session.client.call(session.client.incidents, &v1::IncidentService::Stub::GetTimeline, request);
  if (session.json) {
    session.out << json_text(timeline, false) << '\n';
    return Exit::kGood;
  }
  if (timeline.left_out() > 0) session.out << timeline.left_out() << " older events are not listed\n";
  const std::string day = session.columns > 0 && session.columns < kRoomForDates ? one_day(timeline) : "";
  if (!day.empty()) session.out << day << ", times in UTC\n";
  Table table({whole("TIME"), key("OF"), judged("EVENT"), "WHO", story("TEXT")});
  for (const v1::TimelineEvent& event : timeline.events()) {
    const std::string& of = !event.plan_id().empty()          ? event.plan_id()
                            : !event.maintenance_id().empty() ? event.maintenance_id()
                                                              : timeline.incident_id();
    std::string text = event.text();
    if (event.left_out() > 0) text = std::to_string(event.left_out()) + " entries before it are not kept. " + text;
    const std::string at = time_text(event.at());
    table.add({day.empty() ? at : at.substr(kTimeBegins, kTimeLength), of, event_text(event),
               event.who().empty() ? "-" : event.who(), text});
  }
  table.print(session.sheet());
  return Exit::kGood;
}

Exit acknowledge(const Session& session, const std::string& id, const std::string& who) {
  v1::AcknowledgeIncidentRequest request;
  request.set_id(id);
  request.set_who(who);
  const auto incident =
      session.client.change(session.client.incidents, &v1::IncidentService::Stub::Acknowledge, request);
  return print_changed(session, incident,
                       "is acknowledged by " + printable(incident.acknowledged_by()) + ": no more pages for it");
}

Exit silence(const Session& session, const std::string& id, Duration how_long, const std::string& who) {
  v1::SilenceIncidentRequest request;
  request.set_id(id);
  request.set_who(who);
  set_seconds(*request.mutable_until(), session.now + how_long);
  v1::Incident before;
  v1::GetIncidentRequest look;
  look.set_id(id);
  try {
    before = session.client.call(session.client.incidents, &v1::IncidentService::Stub::Get, look);
  } catch (const Failure&) {
    // Only to compare: what is wrong the change itself says.
  }
  const auto incident = session.client.change(session.client.incidents, &v1::IncidentService::Stub::Silence, request);
  const bool is_shorter = before.silenced_until().seconds() > incident.silenced_until().seconds();
  return print_changed(session, incident,
                       "is silenced until " + time_text(incident.silenced_until()) + ": no pages for it until then" +
                           (is_shorter ? "; before, it was until " + time_text(before.silenced_until()) : ""));
}

}  // namespace weft::ctl
