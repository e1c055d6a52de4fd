// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "daemon/programs/weftctl/incident_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "daemon/programs/weftctl/watch_ledger.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

/// Newest first within a severity, so that what matters is on the screen.
void redraw(const Session& session, const std::map<std::string, v1::Incident>& open, const MissingShards& missing,
            TimePoint now) {
  std::vector<const v1::Incident*> sorted;
  for (const auto& [id, incident] : open) sorted.push_back(&incident);
  std::sort(sorted.begin(), sorted.end(), [](const v1::Incident* a, const v1::Incident* b) {
    if (a->severity() != b->severity()) return a->severity() > b->severity();
    return present_beginning(*a).seconds() > present_beginning(*b).seconds();
  });
  session.out << kClearScreen << "Open incidents at " << session.client.server() << ": " << open.size()
              << "   (Ctrl-C ends)\n";
  for (const std::string& name : missing.names())
    session.out << "Shard " << printable(name) << " does not answer: its incidents are as it told last.\n";
  session.out << '\n';
  Table table({"ID", judged("SEVERITY"), "KIND", judged("STATE"), "OPENED", story("SUMMARY")});
  constexpr std::size_t kMostRows = 200;
  for (std::size_t i = 0; i < sorted.size() && i < kMostRows; ++i) {
    const v1::Incident& incident = *sorted[i];
    table.add({incident.id(), listed_severity(incident), v1::Incident::Kind_Name(incident.kind()),
               listed_state(incident, now), time_text(present_beginning(incident)), incident.summary()});
  }
  table.print(session.sheet());
}

void print_line(const Session& session, const v1::WatchIncidentsResponse& event, TimePoint now) {
  const v1::Incident& incident = event.incident();
  const bool resolved = incident.state() == v1::Incident::RESOLVED;
  session.out << time_text(resolved && incident.has_resolved() ? incident.resolved() : incident.updated()) << "  "
              << incident.id() << "  " << listed_state(incident, now) << "  " << listed_severity(incident) << "  "
              << v1::Incident::Kind_Name(incident.kind())
              << (incident.shard().empty() ? "" : "  shard " + printable(incident.shard())) << "  "
              << printable(listed_summary(incident)) << '\n';
}

}  // namespace

Exit watch(const Session& session) {
  if (session.terminal && !session.json)
    session.out << "Waiting for the open incidents of weftd at " << session.client.server() << " ...\n" << std::flush;
  std::map<std::string, v1::Incident> open;
  WatchLedger shown;
  MissingShards missing;
  const SystemClock clock;
  const auto show = [&](const v1::WatchIncidentsResponse& event) {
    const v1::Incident& incident = event.incident();
    std::string of_shards;
    if (!event.has_incident()) of_shards = missing.take(event.missing_shards());
    if (session.json) {
      session.out << json_text(event, true) << '\n';
    } else if (!session.terminal) {
      session.out << of_shards;
      if (incident.kind() != v1::Incident::KIND_UNSPECIFIED) print_line(session, event, clock.now());
    } else {
      const bool is_open = incident.state() == v1::Incident::OPEN || incident.state() == v1::Incident::ACKNOWLEDGED;
      if (is_open) {
        open[incident.id()] = incident;
      } else {
        open.erase(incident.id());
      }
      if (shown.is_complete()) redraw(session, open, missing, clock.now());
    }
    session.out.flush();
  };
  v1::WatchIncidentsRequest request;
  request.set_include_resolved(session.client.has_others());  // what was resolved between two streams is told, too
  session.client.follow(
      session.client.incidents, &v1::IncidentService::Stub::Watch, request, [&] { shown.begin(); },
      [&](v1::WatchIncidentsResponse& event) {
        const v1::Incident& incident = event.incident();
        const bool is_over = incident.state() == v1::Incident::RESOLVED;
        shown.take(
            event, {.id = incident.id(), .revision = incident.revision(), .is_over = is_over, .is_wanted = !is_over},
            v1::WatchIncidentsResponse::EXPIRED,
            [](v1::WatchIncidentsResponse& of) -> std::string& { return *of.mutable_incident()->mutable_id(); }, show);
      });
}

}  // namespace weft::ctl
