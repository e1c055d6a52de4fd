// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/name_completion.hpp"

#include <map>

namespace weft::ctl {
namespace {

/// Calls `take` with each page of a list.
template <typename Stub, typename Request, typename Response, typename Take>
void each_page(const Client& client, Stub& stub,
               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), Request request,
               Take take) {
  do {
    const Response page = client.call(stub, method, request);
    take(page);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
}

std::vector<Candidate> nodes(Client& client, const std::string& fabric) {
  v1::ListNodesRequest request;
  request.set_fabric(fabric);
  std::map<std::string, std::string> hosts;
  each_page(client, client.fabric, &v1::FabricService::Stub::ListNodes, request, [&](const auto& page) {
    for (const v1::Node& node : page.nodes()) hosts[node.host()] = node.type() == v1::Node::SWITCH ? "switch" : "host";
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

std::vector<Candidate> plans(Client& client, bool all) {
  v1::ListPlansRequest request;
  if (!all)
    for (int state = v1::Plan::PROPOSED; state < v1::Plan::COMMITTED; ++state)
      request.add_states(static_cast<v1::Plan::State>(state));
  std::vector<Candidate> names;
  each_page(client, client.remedies, &v1::RemedyService::Stub::ListPlans, request, [&](const auto& page) {
    for (const v1::Plan& plan : page.plans())
      names.push_back({plan.id(), v1::Plan::Action_Name(plan.action()) + ", " + plan.target().label()});
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

}  // namespace

std::vector<Candidate> ask_names(Client client, Names names, const std::string& fabric) {
  client.until = std::chrono::system_clock::now() + kCompletionTime;
  switch (names) {
    case Names::kNodes:
      return nodes(client, fabric);
    case Names::kCollectors:
      return collectors(client);
    case Names::kIncidents:
      return incidents(client);
    case Names::kPlans:
    case Names::kAllPlans:
      return plans(client, names == Names::kAllPlans);
    case Names::kJobs:
      return jobs(client);
    case Names::kWindows:
      return windows(client);
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
