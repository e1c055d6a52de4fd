// SPDX-License-Identifier: Apache-2.0
#include "api/http/page.hpp"

#include <algorithm>
#include <vector>

#include "api/publication/age.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/freshness.hpp"
#include "api/publication/html_text.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kMostIncidents = 200;
constexpr std::size_t kMostPlans = 200;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width"><title>Weft</title><style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1c2530;background:#fafafa}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35em .8em .35em 0;border-bottom:1px solid #dde;vertical-align:top}
th{font-weight:600;color:#567}.CRITICAL{color:#b00020;font-weight:600}.WARNING{color:#9a5b00;font-weight:600}
.good{color:#1b6e3a}.dim{color:#678}a{color:#0b57a4}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#dde3ea}th,td{border-color:#2c343d}a{color:#7db7ff}
.CRITICAL{color:#ff6b7d}.WARNING{color:#ffb454}.good{color:#6fce93}}
</style></head><body><h1>Weft</h1>
)";

constexpr const char* kFoot = R"(<h2>For programs</h2><p><a href="/metrics">/metrics</a> &middot;
<a href="/api/v1/status">/api/v1/status</a> &middot; <a href="/api/v1/topology">topology</a> &middot;
<a href="/api/v1/nodes">nodes</a> &middot; <a href="/api/v1/ports">ports</a> &middot; <a href="/api/v1/links">links</a> &middot;
<a href="/api/v1/health">health</a> &middot; <a href="/api/v1/incidents?state=open">open incidents</a> &middot;
<a href="/api/v1/incidents">all incidents</a> &middot; <a href="/api/v1/plans">plans</a> &middot;
<a href="/api/v1/remedy">automation</a> &middot; <a href="/healthz">healthz</a> &middot; <a href="/readyz">readyz</a></p>
</body></html>
)";

std::string cell(const std::string& html) {
  return "<td>" + html + "</td>";
}

void append_fabrics(std::string& page, const Snapshot& snapshot, TimePoint now) {
  const auto is_ethernet = [](const FabricView& fabric) {
    return fabric.sweep && fabric.sweep->topology && fabric.sweep->topology->is_ethernet();
  };
  // No subnet, no words of one.
  const bool all_ethernet = !snapshot.fabrics.empty() && std::ranges::all_of(snapshot.fabrics, is_ethernet);
  page += std::string("<h2>Fabrics</h2><table><tr><th>Fabric<th>Status<th>Switches<th>") +
          (all_ethernet ? "Interfaces" : "Adapters") + "<th>Links up<th>" +
          (all_ethernet ? "Last read" : "Last sweep") + "</tr>";
  for (const FabricView& fabric : snapshot.fabrics) {
    const bool seen = fabric.sweep && fabric.sweep->topology;
    const FabricCounts counts = seen ? count(*fabric.sweep->topology) : FabricCounts{};
    const bool is_good = fabric.watching && count_stale_nodes(fabric, now) == 0;
    page += "<tr>" + cell(html_text(fabric.name)) +
            cell("<span class=\"" + std::string(is_good ? "good" : "WARNING") + "\">" +
                 html_text(fabric.watching ? status_text(fabric, now) : fabric.status) + "</span>");
    if (seen) {
      page += cell(std::to_string(counts.nodes[static_cast<std::size_t>(NodeType::kSwitch)])) +
              cell(std::to_string(counts.nodes[static_cast<std::size_t>(NodeType::kChannelAdapter)])) +
              cell(std::to_string(counts.links_up) + " of " + std::to_string(counts.links)) +
              cell(age_text(now - fabric.sweep->finished));
    } else {
      page += "<td class=\"dim\" colspan=\"4\">no sweep yet</td>";
    }
    page += "</tr>";
  }
  page += "</table>";
}

/// What it was at its worst, where that is not what it is.
std::string worst_of(const Incident& incident) {
  if (incident.worst_severity <= incident.finding.severity) return {};
  return " <span class=\"dim\">worst " + std::string(to_string(incident.worst_severity)) + "</span>";
}

/// When it was opened or last reopened.
TimePoint present_beginning(const Incident& incident) {
  const auto newest =
      std::find_if(incident.timeline.rbegin(), incident.timeline.rend(), [](const TimelineEntry& entry) {
        return entry.change == IncidentChange::kOpened || entry.change == IncidentChange::kReopened;
      });
  return newest == incident.timeline.rend() ? incident.opened : newest->at;
}

void append_incidents(std::string& page, const Snapshot& snapshot, TimePoint now) {
  std::vector<const Incident*> open;
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents)
      if (incident->is_open()) open.push_back(incident.get());
  std::stable_sort(open.begin(), open.end(), [](const Incident* a, const Incident* b) {
    return a->finding.severity != b->finding.severity ? a->finding.severity > b->finding.severity : a->id > b->id;
  });
  page += "<h2>Open incidents: " + std::to_string(open.size()) + "</h2>";
  if (open.empty()) {
    page += is_ready(snapshot) ? "<p class=\"good\">None.</p>"
                               : "<p class=\"dim\">No data: a fabric has not been read completely yet.</p>";
    return;
  }
  page += "<table><tr><th>Id<th>Severity<th>Kind<th>What<th>Opened<th>State</tr>";
  for (std::size_t i = 0; i < open.size() && i < kMostIncidents; ++i) {
    const Incident& incident = *open[i];
    const std::string name = incident_name(incident.id);
    const std::string severity = to_string(incident.finding.severity);
    page += "<tr>" + cell("<a href=\"/api/v1/incidents/" + name + "\">" + name + "</a>") +
            cell("<span class=\"" + severity + "\">" + severity + "</span>" + worst_of(incident)) +
            cell(to_string(incident.finding.kind)) + cell(html_text(incident.finding.summary)) +
            cell(age_text(now - present_beginning(incident))) +
            cell(to_string(incident.state) + silence_text(incident.silenced_until, now)) + "</tr>";
  }
  page += "</table>";
  if (open.size() > kMostIncidents)
    page += "<p class=\"dim\">and " + std::to_string(open.size() - kMostIncidents) + " more</p>";
}

void append_health(std::string& page, const Snapshot& snapshot) {
  if (!snapshot.health) return;
  std::size_t by_verdict[4] = {};
  for (const NodeHealth& entry : *snapshot.health) ++by_verdict[static_cast<std::size_t>(entry.verdict) & 3];
  page += "<h2>Nodes</h2><p>";
  for (const HealthVerdict verdict :
       {HealthVerdict::kUnhealthy, HealthVerdict::kDegraded, HealthVerdict::kUnknown, HealthVerdict::kHealthy})
    page += std::to_string(by_verdict[static_cast<std::size_t>(verdict)]) + ' ' + to_string(verdict) + " &nbsp; ";
  page += "</p>";
}

/// What holds automation back, and what had begun before. Nothing while nothing does.
void append_brakes(std::string& page, const RemedyStatus& remedy, TimePoint now) {
  const auto warn = [&page](const std::string& text) { page += "<p class=\"WARNING\">" + html_text(text) + "</p>"; };
  constexpr const char* kOrders = ", also what persons order: ";
  if (remedy.hands_off)
    warn(std::string("Everything is stopped (hands-off) by a person") + kOrders + remedy.hands_off_reason);
  if (!remedy.file_brake.empty())
    warn(std::string("Everything is stopped by the hands-off file") + kOrders + remedy.file_brake);
  if (remedy.breaker_tripped)
    warn("The circuit breaker is tripped" +
         (remedy.breaker_since == kNever ? std::string() : ", " + age_text(now - remedy.breaker_since)) + ": " +
         remedy.breaker_reason);
  for (const SilentManager& silent : remedy.silent_managers)
    warn("The subnet manager of fabric " + silent.fabric + " does not answer (noticed " + age_text(now - silent.since) +
         "): nothing is routed round a failure, and no link is taken out of service. What to do: weftctl runbook "
         "remedies, \"WeftSubnetManagerSilent\"");
  if (remedy.orders_from > now)
    warn("This weftd has just taken over: plans wait for " +
         std::to_string(std::chrono::ceil<std::chrono::seconds>(remedy.orders_from - now).count()) +
         " s: the last order of the weftd that led before may still come");
  for (const OrderUnderWay& order : remedy.under_way)
    page += "<p>Under way: " + html_text(plan_name(order.plan) + ' ' + to_string(order.action) + ' ' + order.target) +
            ", begun " + age_text(now - order.since) + "</p>";
}

/// "VERIFYING 3/10", "PROPOSED (refused)".
std::string state_text(const Plan& plan) {
  std::string text = to_string(plan.state);
  if (plan.state == PlanState::kVerifying && plan.windows_needed > 0)
    text += ' ' + std::to_string(plan.windows_good) + '/' + std::to_string(plan.windows_needed);
  if (plan.state == PlanState::kProposed && plan.refused()) text += " (refused)";
  if (plan.state == PlanState::kApproved && plan.refused()) text += " (waiting)";
  if (plan.unresolved) text += " (unresolved)";
  return text;
}

std::string plan_link(const Plan& plan) {
  const std::string name = plan_name(plan.id);
  return "<a href=\"/api/v1/plans/" + name + "\">" + name + "</a>";
}

void append_more(std::string& page, std::size_t plans) {
  if (plans > kMostPlans) page += "<p class=\"dim\">and " + std::to_string(plans - kMostPlans) + " more</p>";
}

/// Of plans in the order of `plans`, at most kMostPlans: id, action, state, target, age and text of each row.
void append_plan_table(std::string& page, const std::vector<const Plan*>& plans, TimePoint now) {
  page += "<table><tr><th>Id<th>Action<th>State<th>Target<th>Since<th>Why</tr>";
  for (std::size_t i = 0; i < plans.size() && i < kMostPlans; ++i) {
    const Plan& plan = *plans[i];
    page += "<tr>" + cell(plan_link(plan)) + cell(to_string(plan.action)) + cell(state_text(plan)) +
            cell(html_text(plan.target.label)) +
            cell(age_text(now - (plan.started == kNever ? plan.created : plan.started))) +
            cell(html_text(plan.outcome.empty() ? plan.reason : plan.outcome)) + "</tr>";
  }
  page += "</table>";
  append_more(page, plans.size());
}

/// The same of those that hold their target, as `weftctl plans --in-force` names them: by the plan that took it out,
/// since when it is out, and what went wrong with its return. `all`: the plans that are known.
void append_held_table(std::string& page, const std::vector<const Plan*>& held,
                       const std::vector<std::shared_ptr<const Plan>>& all, TimePoint now) {
  page += "<table><tr><th>Id<th>Action<th>Target<th>Since<th>Why</tr>";
  for (std::size_t i = 0; i < held.size() && i < kMostPlans; ++i) {
    const Plan& plan = *held[i];
    const Plan& first = first_out(plan, all);
    std::string why = first.reason;
    if (&first != &plan)
      why += (why.empty() ? "" : "; ") + plan_name(plan.id) + " did not bring it back" +
             (plan.outcome.empty() ? "" : ": " + plan.outcome);
    if (plan.unresolved) why += "; unknown whether it is in force: check by hand";
    if (plan.only_by_hand) why += "; it comes back only by hand";
    page += "<tr>" + cell(plan_link(first)) + cell(to_string(first.action)) + cell(html_text(plan.target.label)) +
            cell(plan.held_since == kNever ? "-" : age_text(now - plan.held_since)) + cell(html_text(why)) + "</tr>";
  }
  page += "</table>";
  append_more(page, held.size());
}

/// Open plans, and those that are over and hold their target.
void append_plans(std::string& page, const Snapshot& snapshot, TimePoint now) {
  std::vector<const Plan*> open;
  std::vector<const Plan*> held;
  static const std::vector<std::shared_ptr<const Plan>> kNone;
  const auto& all = snapshot.plans ? *snapshot.plans : kNone;
  for (const auto& plan : all) {
    if (!is_over(plan->state))
      open.push_back(plan.get());
    else if (plan->in_force || plan->unresolved)
      held.push_back(plan.get());
  }
  page += "<h2>Open plans of remedies: " + std::to_string(open.size()) + "</h2>";
  if (open.empty())
    page += "<p class=\"dim\">None.</p>";
  else
    append_plan_table(page, open, now);
  if (held.empty()) return;
  page += "<h2>Isolated, avoided or drained by plans that are over: " + std::to_string(held.size()) + "</h2>";
  append_held_table(page, held, all, now);
}

/// The rest of the page is of one shard.
void append_shard(std::string& page, const SitePtr& site) {
  if (!site || site->others().empty()) return;
  std::string others;
  for (const SiteShard& other : site->others()) others += (others.empty() ? "" : ", ") + other.name;
  page += "<p>Of shard " + html_text(site->own) + " alone; other shards of the site: " + html_text(others) +
          ". <a href=\"/\">The web page</a> shows all.</p>";
}

}  // namespace

std::string status_page(const Snapshot& snapshot, TimePoint now) {
  std::string page = kHead;
  if (snapshot.leadership.is_shared) page += "<p>" + html_text(leadership_text(snapshot.leadership)) + "</p>";
  append_shard(page, snapshot.site);
  if (snapshot.fabrics.empty()) {
    std::string why = is_ready(snapshot) ? "no fabric is monitored yet" : not_ready_text(snapshot);
    why.front() = 'N';
    page += "<p class=\"dim\">" + html_text(why) + ".</p>";
  }
  if (!snapshot.figures.store_ok)
    page += "<p class=\"WARNING\">Not all data is stored: " + html_text(snapshot.figures.store_status) + "</p>";
  append_brakes(page, snapshot.remedy, now);
  append_fabrics(page, snapshot, now);
  append_incidents(page, snapshot, now);
  append_plans(page, snapshot, now);
  append_health(page, snapshot);
  return page + kFoot;
}

}  // namespace weft::api
