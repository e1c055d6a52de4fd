// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "daemon/programs/weftctl/incident_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

/// Newest first within a severity, so that what matters is on the screen.
void redraw(const Session& session, const std::map<std::string, v1::Incident>& open, TimePoint now) {
  std::vector<const v1::Incident*> sorted;
  for (const auto& [id, incident] : open) sorted.push_back(&incident);
  std::sort(sorted.begin(), sorted.end(), [](const v1::Incident* a, const v1::Incident* b) {
    if (a->severity() != b->severity()) return a->severity() > b->severity();
    return present_beginning(*a).seconds() > present_beginning(*b).seconds();
  });
  session.out << kClearScreen << "Open incidents at " << session.client.server << ": " << open.size()
              << "   (Ctrl-C ends)\n\n";
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
              << v1::Incident::Kind_Name(incident.kind()) << "  " << printable(listed_summary(incident)) << '\n';
}

}  // namespace

Exit watch(const Session& session) {
  grpc::ClientContext context;
  const auto stream = session.client.incidents.Watch(&context, v1::WatchIncidentsRequest());
  if (session.terminal && !session.json)
    session.out << "Waiting for the open incidents of weftd at " << session.client.server << " ...\n" << std::flush;
  std::map<std::string, v1::Incident> open;
  bool complete = false;
  const SystemClock clock;
  v1::WatchIncidentsResponse event;
  while (stream->Read(&event)) {
    complete = complete || event.type() == v1::WatchIncidentsResponse::INITIAL_COMPLETE;
    const v1::Incident& incident = event.incident();
    if (session.json) {
      session.out << json_text(event, true) << '\n';
    } else if (!session.terminal) {
      if (incident.kind() != v1::Incident::KIND_UNSPECIFIED) print_line(session, event, clock.now());
    } else {
      const bool is_open = incident.state() == v1::Incident::OPEN || incident.state() == v1::Incident::ACKNOWLEDGED;
      if (is_open) {
        open[incident.id()] = incident;
      } else {
        open.erase(incident.id());
      }
      if (complete) redraw(session, open, clock.now());
    }
    session.out.flush();
  }
  const grpc::Status status = stream->Finish();
  check(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server ended the stream") : status,
        session.client.server);
  return Exit::kUnreachable;
}

}  // namespace weft::ctl
