// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

bool has_differences(const v1::CablingDifferences& fabric) {
  return fabric.missing_count() + fabric.down_count() + fabric.unplanned_count() + fabric.misled_count() +
             fabric.absent_node_count() + fabric.ignored_count() + fabric.unclear_count() + fabric.old_count() >
         0;
}

void print_counts(std::ostream& out, const v1::CablingDifferences& fabric) {
  out << printable(fabric.fabric()) << (fabric.shard().empty() ? "" : " of shard " + printable(fabric.shard())) << ": ";
  // An older weftd does not say that there is a plan, and tells of nothing else.
  const bool is_planned = fabric.is_planned() || !fabric.is_found();
  if (is_planned) out << counted(fabric.planned_links(), "link is", "links are") << " planned";
  if (fabric.is_found())
    out << (is_planned ? ", " : "") << counted(fabric.found_links(), "cable was", "cables were") << " found";
  out << '\n';
  const auto line = [&out](std::uint32_t count, const char* one, const char* many) {
    if (count > 0) out << "  " << counted(count, one, many) << '\n';
  };
  line(fabric.missing_count(), "planned link is not there", "planned links are not there");
  line(fabric.down_count(), "planned link is down", "planned links are down");
  line(fabric.misled_count(), "cable leads elsewhere", "cables lead elsewhere");
  line(fabric.unplanned_count(), "link is not planned", "links are not planned");
  line(fabric.absent_node_count(), "planned node is not in the fabric", "planned nodes are not in the fabric");
  line(fabric.ignored_count(), "cable of the plan is not used", "cables of the plan are not used");
  line(fabric.unclear_count(), "LLDP neighbour is not clear", "LLDP neighbours are not clear");
  line(fabric.old_count(), "cable is not reported by LLDP now", "cables are not reported by LLDP now");
  if (!has_differences(fabric)) out << "  no differences\n";
}

std::string expected_text(bool is_planned, const v1::PortReference& port) {
  return is_planned ? end_text(port) : "nothing";
}

/// Names of the switches and hosts of a fabric; true for a switch.
using KnownNames = std::map<std::string, bool>;

KnownNames known_names(const Session& session, const v1::CablingDifferences& fabric) {
  v1::ListNodesRequest request;
  request.set_fabric(fabric.fabric());
  KnownNames names;
  const auto all = session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListNodes, request);
  for (const v1::Node& node : all.nodes()) {
    if (node.shard() != fabric.shard()) continue;  // two shards of a site may have fabrics of the same name
    const bool is_switch = node.type() == v1::Node::SWITCH;
    names[is_switch ? node.name() : node.host()] = is_switch;
  }
  return names;
}

/// What of an absent node is not there. A port that is no number is an adapter of its node in the plan: of a switch
/// that is there, "leaf-1 abc" is a port that it does not have.
const char* absence_of(const std::string& node, const KnownNames& known) {
  const std::size_t blank = node.rfind(' ');
  const auto found = blank == std::string::npos ? known.end() : known.find(node.substr(0, blank));
  if (found == known.end()) return "no such node";
  return found->second ? "no such port" : "no such adapter";
}

void print_list(const Session& session, const v1::CablingDifferences& fabric) {
  Table table({"DIFFERENCE", key("ONE END"), key("OTHER END"), "ONE END EXPECTS", "OTHER END EXPECTS"});
  for (const v1::CablingDifferences::Ends& link : fabric.missing())
    table.add({"not there", end_text(link.a()), end_text(link.b()), "-", "-"});
  for (const v1::CablingDifferences::Ends& link : fabric.down())
    table.add({"down", end_text(link.a()), end_text(link.b()), "-", "-"});
  for (const v1::CablingDifferences::Misled& link : fabric.misled())
    table.add({"leads elsewhere", end_text(link.a()), end_text(link.b()),
               expected_text(link.has_a_expects(), link.a_expects()),
               expected_text(link.has_b_expects(), link.b_expects())});
  for (const v1::CablingDifferences::Ends& link : fabric.unplanned())
    table.add({"not planned", end_text(link.a()), end_text(link.b()), "nothing", "nothing"});
  const KnownNames known = fabric.absent_nodes().empty() ? KnownNames{} : known_names(session, fabric);
  for (const std::string& node : fabric.absent_nodes()) table.add({absence_of(node, known), node, "-", "-", "-"});
  if (!table.empty()) {
    session.out << '\n';
    table.print(session.sheet());
  }
  if (!fabric.ignored().empty()) session.out << "\nnot used:\n";
  for (const v1::CablingDifferences::Ignored& cable : fabric.ignored())
    session.out << "  " << (cable.line() == 0 ? "" : "line " + std::to_string(cable.line()) + ": ")
                << printable(cable.cable()) << ": " << printable(cable.why()) << '\n';
  if (!fabric.unclear().empty()) session.out << "\nnot clear:\n";
  for (const v1::CablingDifferences::Unclear& one : fabric.unclear())
    session.out << "  " << printable(one.where()) << (one.told().empty() ? "" : ", hears " + printable(one.told()))
                << ": " << printable(one.why()) << '\n';
  if (!fabric.old().empty()) session.out << "\nnot reported by LLDP now:\n";
  for (const v1::CablingDifferences::Old& cable : fabric.old())
    session.out << "  " << printable(cable.a()) << " -- " << printable(cable.b()) << ": "
                << (cable.has_told() ? "last reported " + age_text(true, cable.told(), session.now) + " ago"
                                     : "not since weftd was started")
                << '\n';
  const auto left_out = [](std::uint32_t count, int listed) { return count - static_cast<std::uint32_t>(listed); };
  if (const std::uint32_t more =
          left_out(fabric.missing_count(), fabric.missing_size()) + left_out(fabric.down_count(), fabric.down_size()) +
          left_out(fabric.ignored_count(), fabric.ignored_size()) +
          left_out(fabric.misled_count(), fabric.misled_size()) +
          left_out(fabric.unplanned_count(), fabric.unplanned_size()) +
          left_out(fabric.unclear_count(), fabric.unclear_size()) + left_out(fabric.old_count(), fabric.old_size()) +
          left_out(fabric.absent_node_count(), fabric.absent_nodes_size());
      more > 0)
    session.out << "and " << more << " more\n";
}

}  // namespace

Exit show_cabling_differences(const Session& session, const std::string& fabric) {
  v1::GetCablingDifferencesRequest request;
  request.set_fabric(fabric);
  const auto response =
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetCablingDifferences, request);
  Exit exit = response.missing_shards().empty() ? Exit::kGood : Exit::kUnreachable;
  for (const v1::CablingDifferences& each : response.fabrics())
    if (has_differences(each)) exit = Exit::kBadNews;
  if (session.json) {
    session.out << json_text(response, false) << '\n';
    return exit;
  }
  if (response.fabrics().empty())
    session.out << "No expected topology is configured (infiniband.expected_topology, ethernet.cabling)"
                << where_asked(response) << ".\n";
  for (int i = 0; i < response.fabrics_size(); ++i) {
    if (i > 0) session.out << '\n';
    print_counts(session.out, response.fabrics(i));
    print_list(session, response.fabrics(i));
  }
  return exit;
}

}  // namespace weft::ctl
