// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/number_text.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kWhatCounts =
    "Harm: an hour for each hour in which an incident was open, and one for each job that it hurt. INFO and "
    "maintenance "
    "do not count.";
/// Incidents that one row names; more are only counted.
constexpr int kMostNamedIncidents = 3;

std::string time_of(const google::protobuf::Duration& time) {
  const Duration length = std::chrono::seconds(time.seconds()) + std::chrono::nanoseconds(time.nanos());
  return length == Duration::zero() ? "-" : short_duration(length);
}

std::string kinds_text(const v1::WorstThing& thing) {
  std::string text;
  for (const int kind : thing.kinds())
    text += (text.empty() ? "" : ", ") + v1::Incident::Kind_Name(static_cast<v1::Incident::Kind>(kind));
  return text;
}

std::string incidents_text(const v1::WorstThing& thing) {
  std::string text;
  const int named = std::min(kMostNamedIncidents, thing.incident_ids_size());
  for (int i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + thing.incident_ids(i);
  if (const auto more = thing.incidents() - static_cast<std::uint32_t>(named); more > 0)
    text += " and " + std::to_string(more) + " more";
  return text + (thing.is_open() ? " (open)" : "");
}

/// "NVIDIA MMA4Z00-NS, serial number MT2318FT00042"; "not told" of a module whose memory was not read.
std::string module_text(const v1::ModuleIdentity& module) {
  std::string text = module.vendor();
  if (!module.part_number().empty()) text += (text.empty() ? "" : " ") + module.part_number();
  if (!module.serial_number().empty())
    text += (text.empty() ? "" : ", ") + std::string("serial number ") + module.serial_number();
  return text.empty() ? "not told" : text;
}

const char* head_of(v1::ListWorstRequest::Of of) {
  switch (of) {
    case v1::ListWorstRequest::HOSTS:
      return "HOST";
    case v1::ListWorstRequest::SWITCHES:
      return "SWITCH";
    case v1::ListWorstRequest::MODULES:
      return "AT";
    default:
      return "CABLE";
  }
}

/// What the list does not tell.
void print_notes(const Session& session, const WorstWish& wanted, const v1::ListWorstResponse& answer) {
  session.out << kWhatCounts << '\n';
  if (wanted.of == "modules")
    session.out << "A module is the one that is at the port now: what one before it did counts for it, too.\n";
  if (answer.has_complete_from())
    session.out << "Incidents that ended before " << time_text(answer.complete_from())
                << " are not kept (incidents.retention): the time before it is incomplete.\n";
  if (answer.elsewhere() > 0)
    session.out << counted(answer.elsewhere(), "incident", "incidents")
                << " of that time had another cause, or none of " << wanted.of << " is known there.\n";
}

}  // namespace

Exit show_worst(const Session& session, const WorstWish& wanted) {
  using Request = v1::ListWorstRequest;
  Request request;
  request.set_of(wanted.of == "modules"    ? Request::MODULES
                 : wanted.of == "hosts"    ? Request::HOSTS
                 : wanted.of == "switches" ? Request::SWITCHES
                                           : Request::CABLES);
  request.set_by(wanted.by == "jobs"       ? Request::JOBS
                 : wanted.by == "critical" ? Request::CRITICAL
                 : wanted.by == "times"    ? Request::TIMES
                                           : Request::HARM);
  request.set_fabric(wanted.fabric);
  request.set_limit(static_cast<std::int32_t>(std::min<std::uint32_t>(wanted.limit, INT32_MAX)));
  set_seconds(*request.mutable_from(), wanted.from);
  if (wanted.to) set_seconds(*request.mutable_to(), *wanted.to);
  const auto worst = session.client.call(session.client.fabric, &v1::FabricService::Stub::ListWorst, request);
  const Exit exit = worst.missing_shards().empty() ? Exit::kGood : Exit::kUnreachable;
  if (session.json) {
    session.out << json_text(worst, false) << '\n';
    return exit;
  }
  session.out << "From " << time_text(worst.from()) << " to " << time_text(worst.to()) << '\n';
  if (worst.things().empty()) {
    session.out << "No harm by " << wanted.of << where_asked(worst) << ".\n";
    print_notes(session, wanted, worst);
    return exit;
  }
  std::vector<Column> columns{number("HARM (H)"), key(head_of(request.of())),
                              number("TROUBLE"),  number("CRITICAL"),
                              number("JOBS"),     number("TIMES"),
                              story("KINDS"),     story("INCIDENTS")};
  const bool of_modules = request.of() == Request::MODULES;
  if (of_modules) columns.push_back(story("MODULE"));
  const bool shards = has_shards(worst.things());
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  for (const v1::WorstThing& each : worst.things()) {
    std::vector<std::string> cells{short_number(each.harm_hours()),
                                   each.what().label(),
                                   time_of(each.trouble()),
                                   time_of(each.critical()),
                                   std::to_string(each.jobs()),
                                   std::to_string(each.times()),
                                   kinds_text(each),
                                   incidents_text(each)};
    if (of_modules) cells.push_back(module_text(each.module()));
    if (shards) cells.push_back(each.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  session.out << '\n';
  print_notes(session, wanted, worst);
  return exit;
}

}  // namespace weft::ctl
