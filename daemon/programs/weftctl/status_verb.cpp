// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>

#include "daemon/programs/weftctl/automation_report.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/link_rate.hpp"
#include "fabric/standby_view.hpp"

namespace weft::ctl {
namespace {

std::string whole_seconds(double value) {
  return std::to_string(static_cast<long long>(value)) + " s";
}

/// Which of two weftd this is.
void print_leadership(const Session& session, const v1::Status::Leadership& role) {
  const std::string since = role.has_since() ? ", since " + age_text(true, role.since(), session.now) : std::string();
  if (role.leads())
    session.out << "This weftd leads"
                << (role.held() ? "" : ", but its lease is not renewed: it acts on nothing and refuses changes");
  else if (role.leader().empty())
    session.out << "This weftd stands by, and nobody leads";
  else
    session.out << "This weftd stands by: " << printable(role.leader()) << " leads at " << printable(role.address())
                << "; incidents and plans shown here may be " << whole_seconds(std::max(1.0, role.behind_seconds()))
                << " old";
  session.out << " (epoch " << role.epoch() << since << ")\n";
  if (role.has_standby() && role.standby().holder().empty())
    session.out << "No standby: when this weftd ends, nobody takes over\n";
  else if (role.has_standby())
    session.out << "Standby: " << printable(role.standby().holder()) << ", seen "
                << whole_seconds(role.standby().seen_seconds()) << " ago"
                << (role.standby().seen_seconds() > std::chrono::duration<double>(kStandbySilence).count()
                        ? ": it would not take over\n"
                        : "\n");
  if (!role.trouble().empty())
    session.out << (role.leads() ? "The database has not answered for " : "It could not take over for ")
                << whole_seconds(role.silence_seconds()) << ": " << printable(role.trouble()) << '\n';
}

/// Nothing may be changed, or this weftd could not take over: its database does not answer.
bool cannot_act(const v1::Status::Leadership& role) {
  return !role.trouble().empty() || (role.leads() && !role.held());
}

std::string counts_text(const v1::Status::Incidents& open) {
  return std::to_string(open.critical()) + " critical, " + std::to_string(open.warning()) + " warning, " +
         std::to_string(open.info()) + " info";
}

/// The weftd, or pairs, of the site.
void print_shards(const Session& session, const v1::Status& status) {
  if (status.shards().empty()) return;
  session.out << "\nShards of the site; fabrics and figures above are of this weftd's own.\n";
  Table table(
      {"SHARD", judged("STATE"), "ADDRESSES", spare("LEADER"), spare("FABRICS"), story("OPEN INCIDENTS; TROUBLE")});
  for (const v1::Status::Shard& shard : status.shards()) {
    std::string figures = shard.has_open_incidents() ? counts_text(shard.open_incidents()) : "not known";
    if (!shard.answers() && shard.has_answered()) figures += ", " + age_text(true, shard.answered(), session.now);
    const bool answers = shard.answers() && (shard.own() || !session.client.missing().contains(shard.name()));
    const char* state = answers             ? shard.own() ? "this weftd's own" : "answers"
                        : shard.own()       ? "taken out"
                        : shard.never_led() ? "never led"
                                            : "does not answer";
    table.add({shard.name(), state, joined(shard.addresses()), shard.leader(), joined(shard.fabrics()),
               figures + (shard.trouble().empty() ? "" : "; " + shard.trouble()) +
                   (shard.disagreement().empty() ? "" : "; " + shard.disagreement())});
  }
  table.print(session.sheet());
}

/// " (BUDGET)": the guard that an approved plan waits for; empty: none is known.
std::string holding_guard(const v1::Plan& plan) {
  const v1::GuardVerdict* guard = plan.state() == v1::Plan::APPROVED ? obstacle(plan) : nullptr;
  return guard == nullptr ? "" : " (" + v1::GuardVerdict::Guard_Name(guard->guard()) + ')';
}

const char* state_text(v1::Status::SwitchTarget::State state) {
  switch (state) {
    case v1::Status::SwitchTarget::READING:
      return "read";
    case v1::Status::SwitchTarget::REFUSED:
      return "refused";
    case v1::Status::SwitchTarget::SILENT:
      return "silent";
    default:
      return "connecting";
  }
}

/// The switches that are read by gNMI: how many, and each one that is not, or not whole.
void print_switches(const Session& session, const v1::Status& status) {
  if (status.switch_targets().empty()) return;
  constexpr int kMostSwitches = 20;
  int read = 0, shown = 0;
  Table table({"SWITCH", judged("STATE"), "SINCE", spare("ADDRESS"), story("TROUBLE")});
  for (const v1::Status::SwitchTarget& target : status.switch_targets()) {
    const bool is_read = target.state() == v1::Status::SwitchTarget::READING && target.reason().empty();
    read += is_read ? 1 : 0;
    if ((is_read && target.not_told().empty()) || ++shown > kMostSwitches) continue;
    table.add({target.name(), state_text(target.state()), age_text(target.has_since(), target.since(), session.now),
               target.address(), is_read ? "not told: " + target.not_told() : target.reason()});
  }
  session.out << "\nSwitches read by gNMI: " << read << " of " << status.switch_targets_size() << '\n';
  if (!table.empty()) table.print(session.sheet());
  if (shown > kMostSwitches) session.out << "and " << shown - kMostSwitches << " more\n";
}

void print_waiting_plans(const Session& session) {
  constexpr int kMostPlans = 5;
  v1::ListPlansRequest request;
  request.add_states(v1::Plan::PROPOSED);
  request.add_states(v1::Plan::APPROVED);
  const auto plans = session.client.all_pages(session.client.remedies, &v1::RemedyService::Stub::ListPlans, request);
  const auto print = [&](const char* what, const auto& is_meant) {
    int count = 0;
    for (const v1::Plan& plan : plans.plans()) {
      if (!is_meant(plan) || ++count > kMostPlans) continue;
      session.out << (count == 1 ? what : ", ") << plan.id() << holding_guard(plan);
    }
    if (count > kMostPlans) session.out << " and " << count - kMostPlans << " more";
    if (count > 0) session.out << " (weftctl plans)\n";
  };
  const auto is_proposed = [](const v1::Plan& plan) { return plan.state() == v1::Plan::PROPOSED; };
  print("Plans that wait for approval: ",
        [&](const v1::Plan& plan) { return is_proposed(plan) && refusal(plan) == nullptr; });
  print("Plans that a guard refuses now: ",
        [&](const v1::Plan& plan) { return is_proposed(plan) && refusal(plan) != nullptr; });
  print("Approved plans that wait: ", [&](const v1::Plan& plan) {
    return !is_proposed(plan) && (obstacle(plan) != nullptr || !plan.waits_for().empty());
  });
}

}  // namespace

std::string not_ready_text(const v1::Status& status) {
  if (status.ready()) return {};
  const std::string why = printable(status.not_ready());
  return "Not ready: " + (why.empty() ? "a fabric has not been read completely yet" : why) + ".\n";
}

std::string not_ready_text(const Session& session) {
  return not_ready_text(
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest()));
}

void print_unstored(std::ostream& out, const v1::Status& status) {
  if (status.store_ok()) return;
  out << "Not all data is stored: " << printable(status.store_status())
      << "\nPlans are shown as they were last stored; their changes since wait until they can be stored.\n";
}

void print_unstored(const Session& session) {
  if (session.json) return;
  print_unstored(session.out, session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus,
                                                  v1::GetStatusRequest()));
}

Exit show_status(const Session& session) {
  const v1::Status status =
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
  bool good = status.ready();
  for (const v1::Fabric& fabric : status.fabrics()) good = good && fabric.watching();
  for (const v1::Status::Shard& shard : status.shards()) good = good && (shard.answers() || shard.never_led());
  if (status.has_leadership()) good = good && !cannot_act(status.leadership());
  if (session.json) {
    session.out << json_text(status, false) << '\n';
    return good ? Exit::kGood : Exit::kBadNews;
  }
  // What holds automation back comes first: whoever looks at a fabric in trouble must not overlook it.
  const v1::RemedyStatus remedies =
      session.client.call(session.client.remedies, &v1::RemedyService::Stub::GetStatus, v1::GetRemedyStatusRequest());
  print_stops(session.out, remedies, brake_since(session, remedies));
  // No subnet, no words of one.
  const bool is_ethernet = std::ranges::all_of(status.fabrics(), [](const v1::Fabric& fabric) {
    return fabric.link_layer() == to_string(LinkLayer::kEthernet);
  });
  Table table({"FABRIC", story("STATUS"), spare(number("SWITCHES")),
               spare(number(is_ethernet ? "INTERFACES" : "ADAPTERS")), number("LINKS UP"),
               age(is_ethernet ? "LAST READ" : "LAST SWEEP")});
  for (const v1::Fabric& fabric : status.fabrics())
    table.add({fabric.name(), fabric.status(), std::to_string(fabric.switches()), std::to_string(fabric.adapters()),
               std::to_string(fabric.links_up()) + " of " + std::to_string(fabric.links()) +
                   (fabric.links_unknown() > 0 ? ", " + std::to_string(fabric.links_unknown()) + " not read" : ""),
               age_text(fabric.has_last_sweep(), fabric.last_sweep().finished(), session.now)});
  if (table.empty()) {
    std::string why = printable(status.not_ready());
    if (why.empty()) why = "no fabric is monitored yet";
    why.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(why.front())));
    session.out << why << ".\n";
  } else {
    table.print(session.sheet());
  }
  const v1::Status::Incidents& open = status.open_incidents();
  session.out << "\nOpen incidents: " << counts_text(open) << (open.info() > 0 ? " (planned work counts as info)" : "")
              << '\n';
  print_switches(session, status);
  print_waiting_plans(session);
  print_modes(session.out, remedies);
  print_held(session.out, remedies);
  if (!status.ready() && !table.empty()) session.out << not_ready_text(status);
  if (status.has_leadership()) print_leadership(session, status.leadership());
  print_shards(session, status);
  // What the lists above found out since.
  good = good && session.client.missing().empty();
  print_unstored(session.out, status);
  return good ? Exit::kGood : Exit::kBadNews;
}

}  // namespace weft::ctl
