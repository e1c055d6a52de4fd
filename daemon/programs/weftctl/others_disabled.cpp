// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/others_disabled.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/plan.hpp"

namespace weft::ctl {
namespace {

constexpr std::size_t kMostDisabled = 20;

/// How the step begins that says that a reading found somebody else in the place of the plan.
constexpr std::string_view kNotInForce = "it is not in force";

/// How the outcome begins of what was to be taken out and was out already.
constexpr std::string_view kNotNeeded = "not needed: already in the wanted state";

/// Whether the plan ended, or let go, in a way that leaves a link down which somebody else disabled.
bool may_leave_disabled(const v1::Plan& plan) {
  if (plan.target().kind() != v1::Entity::LINK || held_by(plan) != v1::Plan::ISOLATE_LINK || holds_its_target(plan))
    return false;
  switch (plan.state()) {
    case v1::Plan::FAILED:
      return true;
    case v1::Plan::EXPIRED:
      return !takes_out(plan) || is_left_to_others(own_words(plan)) || plan.outcome().starts_with(kNotNeeded);
    case v1::Plan::ROLLED_BACK:
      return is_left_to_others(own_words(plan));
    case v1::Plan::COMMITTED:
      return takes_out(plan) && !plan.steps().empty() && plan.steps().rbegin()->what().starts_with(kNotInForce);
    default:
      return false;
  }
}

/// Of each target that no plan holds the last plan that may leave it disabled, by fabric. Plans that came later and
/// sent nothing change nothing.
std::map<std::string, std::vector<const v1::Plan*>> suspects(const v1::ListPlansResponse& all) {
  std::map<std::string, const v1::Plan*> last;
  std::set<std::string> held;
  for (const v1::Plan& plan : all.plans()) {
    const std::string& identity = plan.target().identity();
    if (holds_its_target(plan)) held.insert(identity);
    if (may_leave_disabled(plan)) last[identity] = &plan;
  }
  std::map<std::string, std::vector<const v1::Plan*>> found;
  for (const auto& [identity, plan] : last)
    if (!held.contains(identity)) found[plan->target().fabric()].push_back(plan);
  return found;
}

bool is_target(const v1::Entity& target, const v1::PortReference& a, const v1::PortReference& b) {
  return target.node_guid() == a.node_guid() && target.port() == a.port() && target.peer_guid() == b.node_guid() &&
         target.peer_port() == b.port();
}

/// Somebody disabled an end of it, and no plan did, or may have done.
bool is_disabled_by_others(const v1::Link& link) {
  return link.disabled() && link.plan_id().empty() && !link.has_returning() && !link.has_may_hold();
}

/// "PLAN-3, PLAN-7 and 2 more".
std::string names_of(const std::vector<const v1::Plan*>& plans) {
  std::string names;
  for (const v1::Plan* plan : plans | std::views::take(kMostDisabled))
    names += (names.empty() ? "" : ", ") + plan->id();
  return plans.size() > kMostDisabled ? names + " and " + std::to_string(plans.size() - kMostDisabled) + " more"
                                      : names;
}

/// Of one fabric; none before its first sweep.
v1::ListLinksResponse links_of(const Session& session, const std::string& fabric) {
  v1::ListLinksRequest request;
  request.set_fabric(fabric);
  try {
    return session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListLinks, request);
  } catch (const Failure& failure) {
    if (failure.exit != Exit::kBadNews) throw;
    return {};  // weftd does not know the fabric before it opened its adapter
  }
}

}  // namespace

void print_others_disabled(const Session& session, const v1::ListPlansResponse& all) {
  std::vector<const v1::Plan*> disabled;
  std::map<std::string, std::vector<const v1::Plan*>> unswept;
  for (const auto& [fabric, plans] : suspects(all)) {
    const v1::ListLinksResponse links = links_of(session, fabric);
    if (links.links().empty()) unswept[fabric] = plans;
    for (const v1::Plan* plan : plans)
      if (std::ranges::any_of(links.links(), [plan](const v1::Link& link) {
            return is_disabled_by_others(link) &&
                   (is_target(plan->target(), link.a(), link.b()) || is_target(plan->target(), link.b(), link.a()));
          }))
        disabled.push_back(plan);
  }
  for (const auto& [fabric, plans] : unswept)
    session.out << "\nDisabled by somebody else, and held by no plan: not known before the first sweep of "
                << printable(fabric) << " (last: " << names_of(plans) << ").\n";
  if (disabled.empty()) return;
  session.out << "\nDisabled by somebody else, and held by no plan: enabling is for whoever disabled it.\n";
  for (const v1::Plan* plan : disabled | std::views::take(kMostDisabled))
    session.out << "  " << label_of(plan->target()) << " (last: " << plan->id() << ' '
                << v1::Plan::Action_Name(plan->action()) << ", " << plan_state_text(*plan) << ")\n";
  if (disabled.size() > kMostDisabled) session.out << "  and " << disabled.size() - kMostDisabled << " more\n";
}

LinkNow link_now(const Session& session, const v1::Plan& plan) {
  const v1::Entity& target = plan.target();
  if (target.kind() != v1::Entity::LINK || target.node_guid().empty()) return LinkNow::kUnknown;
  v1::ListLinksRequest request;
  request.set_contains(target.node_guid() + " port " + std::to_string(target.port()));
  v1::ListLinksResponse links;
  try {
    links = session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListLinks, request);
  } catch (const Failure&) {  // what was asked for is told without it
    return LinkNow::kUnknown;
  }
  for (const v1::Link& link : links.links()) {
    if (!is_target(target, link.a(), link.b()) && !is_target(target, link.b(), link.a())) continue;
    if (is_disabled_by_others(link)) return LinkNow::kDisabledByOthers;
    if (link.has_hold() || link.disabled() || link.state_unknown()) return LinkNow::kUnknown;
    return link.up() ? LinkNow::kUp : LinkNow::kDown;
  }
  return LinkNow::kUnknown;
}

}  // namespace weft::ctl
