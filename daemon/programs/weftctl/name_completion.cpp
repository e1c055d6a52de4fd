// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/name_completion.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "api/publication/find_ports.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/runbooks.hpp"

namespace weft::ctl {
namespace {

/// Calls `take` with each page of a list.
template <typename Stub, typename Request, typename Response, typename Take>
void each_page(Client& client, std::optional<Stub>& stub,
               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), Request request,
               Take take) {
  do {
    const Response page = client.call(stub, method, request);
    take(page);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
}

std::vector<Candidate> nodes(Client& client, const std::string& fabric, bool hosts_only) {
  v1::ListNodesRequest request;
  request.set_fabric(fabric);
  std::map<std::string, std::string> hosts;
  each_page(client, client.fabric, &v1::FabricService::Stub::ListNodes, request, [&](const auto& page) {
    for (const v1::Node& node : page.nodes())
      if (!hosts_only || node.type() == v1::Node::CHANNEL_ADAPTER)
        hosts[node.host()] = node.type() == v1::Node::SWITCH ? "switch" : "host";
  });
  std::vector<Candidate> names;
  for (auto& [host, help] : hosts) names.push_back({host, help});
  return names;
}

std::vector<Candidate> incidents(Client& client) {
  v1::ListIncidentsRequest request;
  request.add_states(v1::Incident::OPEN);
  request.add_states(v1::Incident::ACKNOWLEDGED);
  std::vector<Candidate> names;
  each_page(client, client.incidents, &v1::IncidentService::Stub::List, request, [&](const auto& page) {
    for (const v1::Incident& incident : page.incidents())
      names.push_back({incident.id(), v1::Incident::Kind_Name(incident.kind()) + ", " + incident.cause().label()});
  });
  return names;
}

std::vector<Candidate> acceptances(Client& client, bool running) {
  v1::ListAcceptancesRequest request;
  request.set_running(running);
  std::vector<Candidate> names;
  each_page(client, client.acceptance, &v1::AcceptanceService::Stub::List, request, [&](const auto& page) {
    for (const v1::Acceptance& run : page.acceptances()) names.push_back({run.id(), run.what()});
  });
  return names;
}

std::vector<v1::Plan> all_plans(Client& client, const v1::ListPlansRequest& request) {
  std::vector<v1::Plan> plans;
  each_page(client, client.remedies, &v1::RemedyService::Stub::ListPlans, request,
            [&](const auto& page) { plans.insert(plans.end(), page.plans().begin(), page.plans().end()); });
  return plans;
}

std::vector<Candidate> plans(Client& client, Names which) {
  const auto last = which == Names::kApprovable   ? v1::Plan::PROPOSED
                    : which == Names::kRejectable ? v1::Plan::APPROVED
                                                  : v1::Plan::ROLLING_BACK;
  v1::ListPlansRequest request;
  if (which != Names::kAllPlans)
    for (int state = v1::Plan::PROPOSED; state <= last; ++state)
      request.add_states(static_cast<v1::Plan::State>(state));
  std::vector<Candidate> names;
  for (const v1::Plan& plan : all_plans(client, request))
    if (which != Names::kApprovable || refusal(plan) == nullptr)
      names.push_back({plan.id(), v1::Plan::Action_Name(plan.action()) + ", " + plan.target().label()});
  return names;
}

/// Targets of plans that hold them out of service, or avoided.
std::vector<Candidate> held_targets(Client& client, Names which) {
  std::map<std::string, std::string> held;
  for (const v1::Plan& plan : all_plans(client, v1::ListPlansRequest())) {
    if (!holds_its_target(plan)) continue;
    const bool is_host = plan.target().kind() == v1::Entity::HOST;
    if (is_host != (which == Names::kDrainedHosts)) continue;
    if (which == Names::kCostlyLinks && held_by(plan) != v1::Plan::RAISE_LINK_COST) continue;
    held[is_host ? plan.target().host() : api::first_end(plan.target().label())] =
        plan.id() + ", " + v1::Plan::Action_Name(held_by(plan)) + (is_host ? "" : ", " + plan.target().label());
  }
  std::vector<Candidate> names;
  for (auto& [name, help] : held) names.push_back({name, help});
  return names;
}

/// First the switches, each with a colon behind it; then the ports of the one that was typed whose peer is a switch
/// too.
std::vector<Candidate> link_ends(Client& client, const std::string& fabric, const std::string& begun) {
  v1::ListNodesRequest request;
  request.set_fabric(fabric);
  std::map<std::string, std::string> switches;  // GUID, name
  each_page(client, client.fabric, &v1::FabricService::Stub::ListNodes, request, [&](const auto& page) {
    for (const v1::Node& node : page.nodes())
      if (node.type() == v1::Node::SWITCH) switches[node.guid()] = node.name();
  });
  std::vector<Candidate> names;
  const std::size_t colon = begun.find(':');
  if (colon == std::string::npos) {
    std::set<std::string> once;
    for (const auto& [guid, name] : switches)
      if (once.insert(name).second) names.push_back({name + ':', "switch"});
    return names;
  }
  v1::ListPortsRequest of;
  of.set_fabric(fabric);
  of.set_node(begun.substr(0, colon));
  of.set_without_counters(true);
  each_page(client, client.fabric, &v1::FabricService::Stub::ListPorts, of, [&](const auto& page) {
    for (const v1::Port& port : page.ports())
      if (port.has_peer() && switches.contains(port.peer().node_guid()))
        names.push_back({begun.substr(0, colon + 1) + port_text(port), "to " + end_text(port.peer())});
  });
  return names;
}

std::vector<Candidate> windows(Client& client) {
  v1::ListMaintenanceRequest request;
  request.add_states(v1::MaintenanceWindow::PLANNED);
  request.add_states(v1::MaintenanceWindow::ACTIVE);
  std::vector<Candidate> names;
  each_page(client, client.maintenance, &v1::MaintenanceService::Stub::List, request, [&](const auto& page) {
    for (const v1::MaintenanceWindow& window : page.windows())
      names.push_back({window.id(), window.entity().label() + ", " + window.reason()});
  });
  return names;
}

std::vector<Candidate> jobs(Client& client) {
  std::map<std::string, int> hosts;
  each_page(client, client.telemetry, &v1::TelemetryService::Stub::ListCollectors, v1::ListCollectorsRequest(),
            [&](const auto& page) {
              for (const v1::Collector& one : page.collectors())
                for (const std::string& job : one.jobs()) ++hosts[job];
            });
  std::vector<Candidate> names;
  for (const auto& [job, count] : hosts) names.push_back({job, std::to_string(count) + " hosts"});
  return names;
}

std::vector<Candidate> collectors(Client& client) {
  std::vector<Candidate> names;
  each_page(client, client.telemetry, &v1::TelemetryService::Stub::ListCollectors, v1::ListCollectorsRequest(),
            [&](const auto& page) {
              for (const v1::Collector& one : page.collectors())
                names.push_back({one.host(), v1::Collector::State_Name(one.state())});
            });
  return names;
}

std::vector<Candidate> enroll_tokens(Client& client) {
  const auto tokens = client.call(client.enroll, &v1::EnrollService::Stub::ListTokens, v1::ListEnrollTokensRequest());
  std::vector<Candidate> names;
  for (const v1::EnrollToken& token : tokens.tokens())
    if (!token.has_used()) names.push_back({token.node(), "made by " + token.made_by()});
  return names;
}

}  // namespace

std::vector<Candidate> ask_names(Client& client, Names names, const std::string& fabric, const std::string& begun) {
  client.until = std::chrono::system_clock::now() + kCompletionTime;
  switch (names) {
    case Names::kNodes:
    case Names::kHosts:
      return nodes(client, fabric, names == Names::kHosts);
    case Names::kLinkEnds:
      return link_ends(client, fabric, begun);
    case Names::kHeldLinks:
    case Names::kCostlyLinks:
    case Names::kDrainedHosts:
      return held_targets(client, names);
    case Names::kCollectors:
      return collectors(client);
    case Names::kIncidents:
      return incidents(client);
    case Names::kRunbooks: {
      std::vector<Candidate> all;
      for (const Runbook& one : runbooks()) all.push_back({std::string(one.name), std::string(one.title())});
      return all;
    }
    case Names::kPlans:
    case Names::kAllPlans:
    case Names::kApprovable:
    case Names::kRejectable:
      return plans(client, names);
    case Names::kJobs:
      return jobs(client);
    case Names::kWindows:
      return windows(client);
    case Names::kEnrollTokens:
      return enroll_tokens(client);
    case Names::kAcceptances:
    case Names::kRunningAcceptances:
      return acceptances(client, names == Names::kRunningAcceptances);
    case Names::kFabrics: {
      std::vector<Candidate> fabrics;
      const v1::Status status = client.call(client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
      for (const v1::Fabric& one : status.fabrics()) fabrics.push_back({one.name(), one.status()});
      return fabrics;
    }
  }
  return {};
}

}  // namespace weft::ctl
