// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/history_drawing.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {

Exit show_history(const Session& session, const HistoryWish& wanted) {
  v1::GetPortHistoryRequest request;
  request.set_what(wanted.what);
  request.set_fabric(wanted.fabric);
  for (const std::string& counter : wanted.counters) request.add_counters(counter_called(counter));
  set_seconds(*request.mutable_to(), wanted.to);
  set_seconds(*request.mutable_from(), wanted.from);
  if (!session.json) request.set_points(static_cast<std::uint32_t>(history_columns(session.columns)));
  request.set_with_still(!wanted.counters.empty());
  const auto history = session.client.call(session.client.history, &v1::HistoryService::Stub::GetPortHistory, request);
  if (session.json)
    session.out << json_text(history, false) << '\n';
  else
    draw_history(session.out, history, wanted.to, !wanted.counters.empty(), session.columns, session.plain);
  return Exit::kGood;
}

}  // namespace weft::ctl
