// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/automation_report.hpp"

#include <algorithm>
#include <vector>

#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/plan.hpp"

namespace weft::ctl {
namespace {

void print_silent_managers(std::ostream& out, const v1::RemedyStatus& status) {
  for (int i = 0; i < status.silent_managers_size(); ++i)
    out << "The subnet manager of fabric " << printable(status.silent_managers(i)) << " does not answer"
        << (i < status.silent_since_size() ? " (noticed at " + time_text(status.silent_since(i)) + ')' : std::string())
        << ": nothing is routed round a failure, and no link is taken out of service\n"
        << "  what to do: weftctl runbook remedies, \"WeftSubnetManagerSilent\"\n";
}

std::vector<std::string> names_of(const google::protobuf::RepeatedField<int>& actions) {
  std::vector<std::string> names;
  for (const int action : actions) names.push_back(v1::Plan::Action_Name(action));
  return names;
}

}  // namespace

const char* file_release_text(const std::string& why) {
  return why.ends_with(" exists") ? "remove the file"
                                  : "make its folder readable to weftd again; there must be no such file";
}

void print_stops(std::ostream& out, const v1::RemedyStatus& status, const std::string& since) {
  const bool names_brakes = !status.hands_off_by_person().empty() || !status.hands_off_by_file().empty();
  if (!status.hands_off_by_person().empty())
    out << "Everything is stopped (hands-off), also what persons order: " << printable(status.hands_off_by_person())
        << (since.empty() ? "" : "\n  since " + since) << "\n  to release it: weftctl hands-off off --reason ...\n";
  if (!status.hands_off_by_file().empty())
    out << "Everything is stopped by the hands-off file, also what persons order: "
        << printable(status.hands_off_by_file())
        << "\n  to release it: " << file_release_text(status.hands_off_by_file()) << '\n';
  if (status.hands_off() && !names_brakes)  // a weftd that knows one brake
    out << "Everything is stopped (hands-off), also what persons order: " << printable(status.hands_off_reason())
        << '\n';
  for (const v1::OrderUnderWay& order : status.under_way())
    out << "  under way since " << time_text(order.since()) << ": " << v1::Plan::Action_Name(order.action()) << ' '
        << printable(order.target()) << " (" << printable(order.plan_id()) << ")\n";
  if (status.breaker_tripped())
    out << "The circuit breaker "
        << (status.has_breaker_since() ? "has been tripped since " + time_text(status.breaker_since()) : "is tripped")
        << ": " << printable(status.breaker_reason()) << "\n  after checking: weftctl breaker reset --reason ...\n";
  if (status.has_orders_from())
    out << "This weftd has just taken over: plans wait until " << time_text(status.orders_from())
        << ", for the last order of the weftd that led before may still come\n";
  print_silent_managers(out, status);
}

void print_modes(std::ostream& out, const v1::RemedyStatus& status) {
  out << modes_text(names_of(status.automatic()), names_of(status.proposed()),
                    status.hands_off() || status.breaker_tripped())
      << '\n';
}

void print_release(std::ostream& out, const v1::RemedyStatus& status, bool is_breaker) {
  v1::RemedyStatus others = status;
  if (is_breaker) {
    out << "To be reset: the circuit breaker, tripped"
        << (status.has_breaker_since() ? " since " + time_text(status.breaker_since()) : std::string()) << ": "
        << printable(status.breaker_reason()) << '\n';
    others.set_breaker_tripped(false);
  } else {
    const std::string& by_person = status.hands_off_by_person();
    out << "To be released: hands-off, " << printable(by_person.empty() ? status.hands_off_reason() : by_person)
        << '\n';
    others.clear_hands_off_by_person();
    others.set_hands_off(!status.hands_off_by_file().empty());
  }
  print_stops(out, others);
}

namespace {

/// "; those of fabric ib0 stand still until …", of probations that nobody ends meanwhile; empty: none is.
std::string still_text(const v1::RemedyStatus& status) {
  std::string fabrics;
  for (const std::string& fabric : status.silent_managers())
    fabrics += (fabrics.empty() ? "" : ", ") + printable(fabric);
  return fabrics.empty() ? "" : "; probations of links of " + fabrics + " stand still until the subnet manager answers";
}

void print_others(std::ostream& out, const v1::RemedyStatus& status, int most) {
  if (status.on_probation() > 0)
    out << "Links and hosts that came back and are on probation: " << status.on_probation() << " (weftctl plans)"
        << still_text(status) << '\n';
  if (status.unresolved() > 0)
    out << "Plans of which nobody knows whether they are in force: " << status.unresolved()
        << ": check them by hand (weftctl plans; weftctl runbook remedies, \"WeftPlanUnresolved\")\n";
  if (status.out_by_others() > 0) {
    out << "Links between switches that others disabled, or have the subnet manager avoid: " << status.out_by_others()
        << '\n';
    const int shown = std::min(status.links_out_by_others_size(), most);
    for (int i = 0; i < shown; ++i) out << "  " << printable(status.links_out_by_others(i)) << '\n';
    const std::uint32_t more = status.out_by_others() - static_cast<std::uint32_t>(shown);
    if (more > 0) out << "  and " << more << " more" << (shown == most ? " (weftctl plans names them)\n" : "\n");
  }
  print_undone(out, status);
}

}  // namespace

void print_held(std::ostream& out, const v1::RemedyStatus& status, int most) {
  if (status.out_of_service() > 0)
    out << "Links and hosts held by plans, also by plans that are over: " << status.out_of_service()
        << " (weftctl plans --in-force)\n";
  print_others(out, status, most);
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
  print_modes(out, status);
  out << status.actions_last_hour() << " of " << status.actions_per_hour() << " actions in the last hour; "
      << "links and hosts held by plans: " << status.out_of_service() << " (weftctl plans --in-force).\n";
  print_others(out, status, kFewLinks);
  if (status.without_plan() > 0)
    out << "Incidents without a plan, because too many plans are open: " << status.without_plan()
        << ". Approve or reject some (weftctl plans).\n";
}

}  // namespace weft::ctl
