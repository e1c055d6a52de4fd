// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

constexpr std::size_t kMostOfStage = 8;  ///< cables in good order that are shown of one stage; all are in the JSON

std::string incidents_text(const v1::PathHop& hop) {
  std::string text;
  for (const std::string& id : hop.incident_ids()) text += (text.empty() ? "" : " ") + id;
  return text.empty() ? "-" : text;
}

const char* state_text(const v1::PathHop& hop) {
  return hop.up() ? "up" : hop.state_unknown() ? "not read" : "not up";
}

std::string busy_text(const v1::PathHop& hop) {
  return hop.has_utilization_ratio() ? percent_text(hop.utilization_ratio()) : "-";
}

std::string stalled_text(const v1::PathHop& hop) {
  return hop.has_stall_ratio() ? percent_text(hop.stall_ratio()) : "-";
}

/// "all", "1/4", "37.5 %", "none".
std::string share_text(double share) {
  if (!(share > 0)) return "none";
  if (share >= 1) return "all";
  const double parts = std::round(1 / share);
  return std::abs(1 / share - parts) < 1e-6 ? "1/" + std::to_string(std::lround(parts)) : percent_text(share);
}

void print_routed(const Session& session, const v1::Path& path) {
  session.out << printable(end_text(path.from())) << " to " << printable(end_text(path.to())) << " (LID "
              << path.to_lid() << ")\n";
  Table table({number_key("HOP"), key("SENDS"), key("RECEIVES"), judged("STATE"), spare("LINK"), spare(rate("BUSY")),
               rate("STALLED"), "INCIDENTS"});
  int number = 0;
  for (const v1::PathHop& hop : path.hops())
    table.add({std::to_string(++number), end_text(hop.from()), end_text(hop.to()), state_text(hop),
               link_text(hop.width(), hop.speed(), 0), busy_text(hop), stalled_text(hop), incidents_text(hop)});
  if (!table.empty()) table.print(session.sheet());
  if (path.end() != v1::Path::ARRIVED || path.hops().empty()) session.out << printable(path.description()) << '\n';
}

/// A switch's end has no port's name.
std::string place_text(const v1::PortReference& end) {
  return end.name().empty() ? end.node() : end_text(end);
}

/// All ECMP paths at once, stage by stage in the order of travel.
void print_equal_cost(const Session& session, const v1::Path& path) {
  session.out << printable(place_text(path.from())) << " to " << printable(place_text(path.to())) << ": "
              << printable(path.description()) << '\n';
  Table table({number_key("STAGE"), "SHARE", key("SENDS"), key("RECEIVES"), judged("STATE"), spare("RATE"),
               spare(rate("BUSY")), rate("STALLED"), "INCIDENTS"});
  std::map<std::uint32_t, std::size_t> shown, left_out;
  for (const v1::PathHop& hop : path.hops()) {
    const bool notable = !hop.incident_ids().empty() || (!hop.up() && !hop.state_unknown());
    if (!notable && ++shown[hop.stage()] > kMostOfStage) {
      ++left_out[hop.stage()];
      continue;
    }
    table.add({std::to_string(hop.stage()), share_text(hop.share()), end_text(hop.from()), end_text(hop.to()),
               state_text(hop), link_text({}, {}, hop.rate_bits_per_second()), busy_text(hop), stalled_text(hop),
               incidents_text(hop)});
  }
  if (!table.empty()) table.print(session.sheet());
  for (const auto& [stage, count] : left_out)
    session.out << "and " << count << " more cables of stage " << stage
                << ", none down or with an incident; --json lists all\n";
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
    if (!path.shard().empty()) session.out << "Shard " << printable(path.shard()) << ": ";
    // LIDs are InfiniBand's.
    (path.to_lid() != 0 ? print_routed : print_equal_cost)(session, path);
  }
  if (answer.paths_left_out() > 0)
    session.out << "\nand " << answer.paths_left_out() << " more: name nodes or ports to select them\n";
  return exit;
}

}  // namespace weft::ctl
