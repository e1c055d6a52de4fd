// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "daemon/programs/weftctl/incident_report.hpp"
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
    print_incident(session.out, incident, session.now, session.plain, status.page_url());
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
                << plan_state_text(plan) << "  " << printable(plan.target().label()) << '\n';
  }
}

}  // namespace

Exit show_incidents(const Session& session, bool all, bool ids_only) {
  v1::ListIncidentsRequest request;
  if (!all) {
    request.add_states(v1::Incident::OPEN);
    request.add_states(v1::Incident::ACKNOWLEDGED);
  }
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
  const std::string rest =
      planned == 0 ? "" : std::to_string(planned) + " more are planned work: weftctl incidents --all\n";
  if (incidents.incidents().empty()) {
    session.out << (all ? "No incidents" : "No open incidents")
                << (incidents.missing_shards().empty() ? ".\n" : " in the shards that answer.\n") << rest;
    return Exit::kGood;
  }
  Table table({"ID", judged("SEVERITY"), "KIND", judged("STATE"), spare(age("OPENED")), story("SUMMARY")});
  for (const v1::Incident& incident : incidents.incidents())
    table.add({incident.id(), listed_severity(incident), v1::Incident::Kind_Name(incident.kind()),
               listed_state(incident, session.now),
               age_text(incident.has_opened(), present_beginning(incident), session.now), listed_summary(incident)});
  table.print(session.sheet());
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
  request.mutable_until()->set_seconds(
      std::chrono::floor<std::chrono::seconds>((session.now + how_long).time_since_epoch()).count());
  const auto incident = session.client.change(session.client.incidents, &v1::IncidentService::Stub::Silence, request);
  return print_changed(session, incident,
                       "is silenced until " + time_text(incident.silenced_until()) + ": no pages for it until then");
}

}  // namespace weft::ctl
