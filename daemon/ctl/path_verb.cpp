#include <utility>

#include "daemon/ctl/table.hpp"
#include "daemon/ctl/text.hpp"
#include "daemon/ctl/verbs.hpp"

namespace weft::ctl {
namespace {

std::string end_text(const v1::PortReference& end) {
  return end.node() + " port " + std::to_string(end.port());
}

std::string incidents_text(const v1::PathHop& hop) {
  std::string text;
  for (const std::string& id : hop.incident_ids()) text += (text.empty() ? "" : " ") + id;
  return text.empty() ? "-" : text;
}

void print(const Session& session, const v1::Path& path) {
  session.out << printable(end_text(path.from())) << " to " << printable(end_text(path.to())) << " (LID "
              << path.to_lid() << ")\n";
  Table table({number_key("HOP"), key("SENDS"), key("RECEIVES"), judged("STATE"), spare("LINK"), spare(rate("BUSY")),
               rate("STALLED"), "INCIDENTS"});
  int number = 0;
  for (const v1::PathHop& hop : path.hops())
    table.add({std::to_string(++number), end_text(hop.from()), end_text(hop.to()), hop.up() ? "up" : "not up",
               hop.width().empty() ? "-" : hop.width() + " " + hop.speed(),
               hop.has_utilization_ratio() ? percent_text(hop.utilization_ratio()) : "-",
               hop.has_stall_ratio() ? percent_text(hop.stall_ratio()) : "-", incidents_text(hop)});
  if (!table.empty()) table.print(session.sheet());
  if (path.end() != v1::Path::ARRIVED || path.hops().empty()) session.out << printable(path.description()) << '\n';
}

}  // namespace

Exit show_path(const Session& session, const std::string& fabric, const std::string& from, const std::string& to) {
  v1::GetPathRequest request;
  request.set_fabric(fabric);
  request.set_from(from);
  request.set_to(to);
  const auto answer = session.client.call(session.client.fabric, &v1::FabricService::Stub::GetPath, request);
  Exit exit = Exit::kGood;
  for (const v1::Path& path : answer.paths())
    if (path.end() != v1::Path::ARRIVED) exit = Exit::kBadNews;
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return exit;
  }
  bool first = true;
  for (const v1::Path& path : answer.paths()) {
    if (!std::exchange(first, false)) session.out << '\n';
    print(session, path);
  }
  return exit;
}

}  // namespace weft::ctl
