// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/namesakes.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

Exit print_windows(const Session& session, const v1::ListMaintenanceResponse& windows, bool all) {
  if (session.json) {
    session.out << json_text(windows, false) << '\n';
    return Exit::kGood;
  }
  if (windows.windows().empty()) {
    const std::string where = where_asked(windows);
    session.out << "No maintenance windows"
                << (all ? where : ", neither active nor planned" + (where.empty() ? "" : ',' + where)) << ".\n";
    return Exit::kGood;
  }
  std::vector<Column> columns{"ID", judged("STATE"), "TARGET", spare("FROM"), "UNTIL", spare("BY"), story("REASON")};
  const bool shards = has_shards(windows.windows());
  if (shards) columns.insert(columns.begin() + 3, "SHARD");
  Table table(columns);
  for (const v1::MaintenanceWindow& window : windows.windows()) {
    std::string until = time_text(window.has_ended() ? window.ended() : window.until());
    if (window.has_ended()) until += " (ended by " + window.ended_by() + ")";
    std::vector<std::string> cells{window.id(),
                                   v1::MaintenanceWindow::State_Name(window.state()),
                                   window.entity().label(),
                                   time_text(window.from()),
                                   until,
                                   window.added_by(),
                                   window.reason()};
    if (shards) cells.insert(cells.begin() + 3, window.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  return Exit::kGood;
}

Exit print_window(const Session& session, const v1::MaintenanceWindow& window) {
  if (session.json) {
    session.out << json_text(window, false) << '\n';
    return Exit::kGood;
  }
  v1::ListMaintenanceResponse one;
  *one.add_windows() = window;
  return print_windows(session, one, true);
}

}  // namespace

Exit show_maintenance(const Session& session, bool all) {
  v1::ListMaintenanceRequest request;
  if (!all) {
    request.add_states(v1::MaintenanceWindow::PLANNED);
    request.add_states(v1::MaintenanceWindow::ACTIVE);
  }
  const auto windows =
      session.client.all_pages(session.client.maintenance, &v1::MaintenanceService::Stub::List, request);
  return print_windows(session, windows, all);
}

Exit add_maintenance(const Session& session, const NewMaintenance& wanted) {
  v1::AddMaintenanceRequest request;
  request.set_what(wanted.what);
  request.set_fabric(wanted.fabric);
  request.set_reason(wanted.reason);
  request.set_who(wanted.who);
  request.mutable_length()->set_seconds(std::chrono::ceil<std::chrono::seconds>(wanted.length).count());
  if (wanted.from)
    request.mutable_from()->set_seconds(
        std::chrono::floor<std::chrono::seconds>(wanted.from->time_since_epoch()).count());
  const v1::MaintenanceWindow window = command_about(wanted.what, session, [&] {
    return session.client.change(session.client.maintenance, &v1::MaintenanceService::Stub::Add, request);
  });
  note_namesakes(session, wanted.what, window.shard());
  return print_window(session, window);
}

Exit end_maintenance(const Session& session, const std::string& id, const std::string& who) {
  v1::EndMaintenanceRequest request;
  request.set_id(id);
  request.set_who(who);
  return print_window(session,
                      session.client.change(session.client.maintenance, &v1::MaintenanceService::Stub::End, request));
}

}  // namespace weft::ctl
