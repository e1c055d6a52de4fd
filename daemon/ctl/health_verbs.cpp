#include "daemon/ctl/table.hpp"
#include "daemon/ctl/text.hpp"
#include "daemon/ctl/verbs.hpp"

namespace weft::ctl {
namespace {

v1::ListHealthResponse not_healthy(const Session& session) {
  v1::ListHealthRequest request;
  for (const auto verdict : {v1::NodeHealth::UNKNOWN, v1::NodeHealth::DEGRADED, v1::NodeHealth::UNHEALTHY})
    request.add_verdicts(verdict);
  v1::ListHealthResponse all;
  do {
    const auto page = session.client.call(session.client.health, &v1::HealthService::Stub::List, request);
    all.mutable_nodes()->MergeFrom(page.nodes());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return all;
}

}  // namespace

Exit show_health(const Session& session, const std::vector<std::string>& nodes) {
  v1::ListHealthResponse answer;
  if (nodes.empty()) answer = not_healthy(session);
  for (const std::string& node : nodes) {
    v1::GetHealthRequest request;
    request.set_node(node);
    *answer.add_nodes() = session.client.call(session.client.health, &v1::HealthService::Stub::Get, request);
  }
  // An empty list of what is not healthy is good news only from one who has looked at every fabric.
  bool good =
      !nodes.empty() ||
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest()).ready();
  for (const v1::NodeHealth& health : answer.nodes()) good = good && health.verdict() == v1::NodeHealth::HEALTHY;
  const Exit result = good ? Exit::kGood : Exit::kBadNews;
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return result;
  }
  if (answer.nodes().empty()) {
    session.out << (result == Exit::kGood ? "All nodes are healthy.\n"
                                          : "Not known: weftd has no complete picture yet.\n");
    return result;
  }
  Table table({"NODE", judged("VERDICT"), judged("DO"), story("WHY")});
  for (const v1::NodeHealth& health : answer.nodes()) {
    std::string why;
    for (const v1::HealthReason& reason : health.reasons())
      why += (why.empty() ? "" : "; ") + (reason.incident_id().empty() ? "" : reason.incident_id() + " ") +
             reason.message();
    table.add({health.node(), v1::NodeHealth::Verdict_Name(health.verdict()),
               v1::NodeHealth::RecommendedAction_Name(health.recommended_action()), why});
  }
  table.print(session.sheet());
  return result;
}

}  // namespace weft::ctl
