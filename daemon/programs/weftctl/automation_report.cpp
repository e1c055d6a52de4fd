// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/automation_report.hpp"

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {

void print_stops(std::ostream& out, const v1::RemedyStatus& status, const std::string& since) {
  const bool names_brakes = !status.hands_off_by_person().empty() || !status.hands_off_by_file().empty();
  if (!status.hands_off_by_person().empty())
    out << "Automation is stopped (hands-off): " << printable(status.hands_off_by_person())
        << (since.empty() ? "" : "\n  since " + since) << "\n  to release it: weftctl hands-off off --reason ...\n";
  if (!status.hands_off_by_file().empty())
    out << "Automation is stopped by the hands-off file: " << printable(status.hands_off_by_file())
        << "\n  to release it: remove the file\n";
  if (status.hands_off() && !names_brakes)  // a weftd that knows one brake
    out << "Automation is stopped (hands-off): " << printable(status.hands_off_reason()) << '\n';
  for (const v1::OrderUnderWay& order : status.under_way())
    out << "  under way since " << time_text(order.since()) << ": " << v1::Plan::Action_Name(order.action()) << ' '
        << printable(order.target()) << " (" << printable(order.plan_id()) << ")\n";
  if (status.breaker_tripped())
    out << "The circuit breaker "
        << (status.has_breaker_since() ? "has been tripped since " + time_text(status.breaker_since()) : "is tripped")
        << ": " << printable(status.breaker_reason()) << "\n  after checking: weftctl breaker reset --reason ...\n";
}

void print_held(std::ostream& out, const v1::RemedyStatus& status) {
  if (status.out_of_service() > 0)
    out << "Links and hosts held by plans, also by plans that are over: " << status.out_of_service()
        << " (weftctl plans --in-force)\n";
  print_undone(out, status);
}

void print_undone(std::ostream& out, const v1::RemedyStatus& status) {
  if (status.undone_by_others() > 0)
    out << "Given back by others while a plan held them: " << status.undone_by_others()
        << " (weftctl plans --all says which and when)\n";
}

void print_automation(std::ostream& out, const v1::RemedyStatus& status, const std::string& since) {
  print_stops(out, status, since);
  if (!status.hands_off() && !status.breaker_tripped()) out << "Automation is not stopped.\n";
  if (!status.breaker_tripped()) out << "The circuit breaker is not tripped.\n";
  out << status.actions_last_hour() << " of " << status.actions_per_hour() << " actions in the last hour; "
      << "links and hosts held by plans: " << status.out_of_service() << " (weftctl plans --in-force).\n";
  print_undone(out, status);
  if (status.without_plan() > 0)
    out << "Incidents without a plan, because too many plans are open: " << status.without_plan()
        << ". Approve or reject some (weftctl plans).\n";
}

}  // namespace weft::ctl
