// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/document.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "api/convert/times.hpp"
#include "api/evidence/charts.hpp"
#include "api/evidence/html_parts.hpp"
#include "api/evidence/port_tables.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {

using namespace html_parts;

namespace {

constexpr int kMostShownAffected = 64;

std::string severity(v1::Incident::Severity of) {
  const std::string name = v1::Incident::Severity_Name(of);
  return "<b class=\"" + name + "\">" + name + "</b>";
}

std::string confidence_text(double confidence) {
  return share_text(confidence) + " (0: a guess, 100: certain)";
}

std::string what_happened(const v1::Incident& incident) {
  std::string rows = row("Incident", html_text(incident.id()));
  rows += row("Kind", html_text(v1::Incident::Kind_Name(incident.kind())));
  rows += row("Severity", severity(incident.severity()) + (incident.worst_severity() > incident.severity()
                                                               ? ", at its worst " + severity(incident.worst_severity())
                                                               : ""));
  rows += row("State", html_text(v1::Incident::State_Name(incident.state())));
  rows += row("Cause", known(incident.cause().label()));
  rows += row("Confidence in the cause", confidence_text(incident.confidence()));
  rows += row("Fabric", known(incident.cause().fabric()));
  rows += row("Opened", incident.has_opened() ? when(incident.opened()) : kNotKnown);
  if (incident.has_updated()) rows += row("Last change", when(incident.updated()));
  rows += row("Resolved", incident.has_resolved() ? when(incident.resolved()) : "no, it is open");
  if (incident.occurrences() > 1) rows += row("Times opened", count_text(incident.occurrences()));
  if (incident.beginnings_size() > 1) {
    std::string times;
    for (const auto& each : incident.beginnings()) times += (times.empty() ? "" : "<br>") + when(each);
    rows += row("Trouble of this kind here began", times);
  }
  if (!incident.headline().empty() && incident.headline() != incident.summary())
    rows += row("When it began", html_text(incident.headline()));
  if (!incident.acknowledged_by().empty()) rows += row("Acknowledged by", html_text(incident.acknowledged_by()));
  std::string jobs;
  for (const std::string& job : incident.jobs()) jobs += (jobs.empty() ? "" : ", ") + html_text(job);
  rows += row("Jobs", jobs.empty() ? "none known" : jobs);
  std::string affected;
  for (int i = 0; i < std::min(incident.affected_size(), kMostShownAffected); ++i)
    affected += (i > 0 ? "<br>" : "") + html_text(incident.affected(i).label());
  if (incident.affected_size() > kMostShownAffected)
    affected +=
        "<br>and " + count_text(static_cast<std::uint64_t>(incident.affected_size() - kMostShownAffected)) + " more";
  if (!affected.empty()) rows += row("Affected", affected);
  return section("incident", "What happened",
                 "<p class=\"summary\">" + html_text(incident.summary()) + "</p>\n" + table(rows));
}

std::string evidence_of(const v1::Incident& incident) {
  if (incident.evidence().empty()) return section("evidence", "Evidence", "<p>None is kept.</p>\n");
  std::string rows = head({"Signal", "What was seen", "Value", "Threshold", "Where", "When"});
  for (const v1::Evidence& fact : incident.evidence())
    rows += cells({html_text(fact.signal()), html_text(fact.description()),
                   html_text(quantity_text(fact.value(), fact.unit())) +
                       (fact.has_window() ? " in " + quantity_text(seconds(from_duration(fact.window())), "s") : ""),
                   fact.has_threshold() ? html_text(quantity_text(fact.threshold(), fact.unit())) : "none applies",
                   known(fact.where().label()), fact.has_observed() ? when(fact.observed()) : kNotKnown});
  return section("evidence", "Evidence", table(rows));
}

/// "The cable", "Host gpu-1 mlx5_0 port 1".
std::string suspect_of(const v1::Advice::Suspect& suspect) {
  switch (suspect.part()) {
    case v1::Advice::HOST:
      return "Host " + suspect.where().label();
    case v1::Advice::MODULE:
      return "The module at " + suspect.where().label();
    case v1::Advice::SWITCH:
      return "Switch " + suspect.where().label();
    default:
      return "The cable";
  }
}

std::string advice_of(const v1::Incident& incident) {
  if (!incident.has_advice()) return {};
  const v1::Advice& advice = incident.advice();
  std::string rows = row("First", html_text(advice.first()));
  rows += row("Clear", advice.is_clear() ? "yes" : "no: what was read leaves parts even");
  for (const v1::Advice::Suspect& suspect : advice.suspects())
    rows += row(suspect_of(suspect), share_text(suspect.share()));
  std::string reasons;
  for (const std::string& reason : advice.reasons()) reasons += "<li>" + html_text(reason) + "</li>";
  return section("advice", "Host, cable or switch", table(rows) + "<ul>" + reasons + "</ul>\n");
}

std::string still_counters(const v1::PortHistory& history) {
  std::string names;
  for (const v1::CounterHistory& counter : history.counters())
    if (counter.bucket().empty()) names += (names.empty() ? "" : ", ") + html_text(counter_title(counter.counter()));
  return names.empty() ? "" : "<p>Read, and did not move: " + names + ".</p>\n";
}

std::string charts_section(const v1::EvidencePack& pack) {
  int left = kMostEvidenceCharts;
  std::string html;
  for (const v1::EvidencePort& port : pack.ports()) {
    if (!port.has_history()) continue;
    const std::string charts = charts_of(pack, port, left);
    if (charts.empty() && pack.ports_size() > kMostBeside) continue;
    html += "<h3>" + html_text(port.label()) + "</h3>\n" + charts + still_counters(port.history());
  }
  if (html.empty())
    return section("charts", "Charts",
                   pack.has_charts_step()
                       ? "<p>No history is known of that time, or nothing moved.</p>\n"
                       : "<p>There are none: <a href=\"#unknown\">What could not be told</a> has the reason.</p>\n");
  if (left < 0)
    html +=
        "<p>" + count_text(static_cast<std::uint64_t>(-left)) + " more charts are not drawn: ask for one port.</p>\n";
  return section(
      "charts", "Charts",
      "<p class=\"legend\">All times are UTC. <span><i class=\"gap\"></i>nothing was read</span> "
      "<span><i class=\"critical\"></i>critical incident</span> <span><i class=\"warning\"></i>warning</span> "
      "<span><i class=\"info\"></i>info</span> <span><i class=\"plan\"></i>repair by Weft</span> "
      "<span><i class=\"maintenance\"></i>maintenance</span></p>\n" +
          html);
}

std::string marks_of_charts(const v1::EvidencePack& pack) {
  if (pack.marks().empty())
    return section("marks", "What happened here in that time", "<p>Nothing that Weft knows.</p>\n");
  std::string rows = head({"From", "Until", "What", ""});
  for (const v1::HistoryMark& mark : pack.marks())
    rows += cells(
        {when(mark.from()), mark.has_until() ? when(mark.until()) : "not over", html_text(mark.id()),
         (mark.kind() == v1::HistoryMark::INCIDENT ? severity(mark.severity()) + ' ' : "") + html_text(mark.text())});
  return section("marks", "What happened here in that time", table(rows));
}

std::string plan_text(const v1::Plan& plan) {
  std::string rows = row("Action", html_text(v1::Plan::Action_Name(plan.action())));
  rows += row("Target", known(plan.target().label()));
  if (!plan.end().empty()) rows += row("End that is set", html_text(plan.end()));
  rows += row("State", html_text(v1::Plan::State_Name(plan.state())) + (plan.in_force() ? ", in force" : "") +
                           (plan.unresolved() ? ", unknown whether it is in force" : ""));
  if (!plan.reason().empty()) rows += row("Reason", html_text(plan.reason()));
  rows += row("Requested by", known(plan.requested_by()));
  rows += row("Approved by", plan.approved_by().empty() ? "nobody" : html_text(plan.approved_by()));
  if (!plan.outcome().empty()) rows += row("Outcome", html_text(plan.outcome()));
  std::string html = "<h3>" + html_text(plan.id()) + "</h3>\n" + table(rows);
  if (!plan.steps().empty()) {
    std::string steps = head({"When", "State after it", "By", "What"});
    for (const v1::PlanStep& step : plan.steps())
      steps += cells(
          {when(step.at()), html_text(v1::Plan::State_Name(step.state())), known(step.who()), html_text(step.what())});
    html += table(steps);
  }
  std::string guards;
  for (const v1::GuardVerdict& guard : plan.guards())
    if (guard.result() == v1::GuardVerdict::REFUSED || guard.result() == v1::GuardVerdict::NEEDS_PERSON)
      guards += "<li><b>" + html_text(v1::GuardVerdict::Guard_Name(guard.guard())) + "</b> " +
                html_text(guard.explanation()) + "</li>";
  if (!guards.empty()) html += "<p>Guards that refused it, or asked for a person:</p><ul>" + guards + "</ul>\n";
  return html;
}

std::string tried(const v1::EvidencePack& pack) {
  std::string html;
  for (const v1::Plan& plan : pack.plans()) html += plan_text(plan);
  if (html.empty()) html = "<p>Weft knows of no repair by itself or through it.</p>\n";
  if (!pack.maintenance().empty()) {
    std::string rows = head({"Maintenance", "Of", "From", "Until", "Reason", "By"});
    for (const v1::MaintenanceWindow& window : pack.maintenance())
      rows += cells({html_text(window.id()), known(window.entity().label()), when(window.from()),
                     when(window.has_ended() ? window.ended() : window.until()), known(window.reason()),
                     known(window.added_by())});
    html += table(rows);
  }
  return section("tried", "What was tried", html);
}

std::string timeline_of(const v1::IncidentTimeline& timeline) {
  if (timeline.events().empty()) return section("timeline", "Timeline", "<p>None is kept.</p>\n");
  std::string rows = head({"When", "What", "By", ""});
  for (const v1::TimelineEvent& event : timeline.events()) {
    if (event.left_out() > 0)
      rows += cells({"", html_text(count_text(event.left_out()) + " entries are not kept"), "", ""});
    std::string what = event.plan_id().empty() ? event.maintenance_id() : event.plan_id();
    what += (what.empty() ? "" : " ") + event.what();
    rows += cells({when(event.at()), html_text(what), html_text(event.who()),
                   html_text(event.text()) + (event.has_numbers_at() ? " <span class=\"muted\">numbers of " +
                                                                           when(event.numbers_at()) + "</span>"
                                                                     : "")});
  }
  return section("timeline", "Timeline", table(rows));
}

std::string rules_of(const v1::EvidencePack& pack) {
  if (pack.thresholds().empty())
    return section("thresholds", "Thresholds", "<p>No number of the configuration decides about this kind.</p>\n");
  std::string rows = head({"Key of weftd's configuration", "Value", "Where it comes from"});
  for (const v1::Threshold& each : pack.thresholds())
    rows += cells({"<code>" + breakable(each.key()) + "</code>",
                   "<code>" + html_text(each.value()) + "</code>" +
                       (each.value() == each.default_value()
                            ? " (the default)"
                            : " (set here; the default is <code>" + html_text(each.default_value()) + "</code>)"),
                   html_text(each.source())});
  return section("thresholds", "Thresholds by which it was judged", table(rows));
}

std::string not_told(const v1::EvidencePack& pack) {
  std::string html = "<ul>";
  for (const std::string& each : pack.unknown()) html += "<li>" + html_text(each) + "</li>\n";
  if (!pack.with_jobs())
    html += "<li>Names of jobs and of people, and what people wrote, were left out on purpose.</li>\n";
  return section("unknown", "What could not be told",
                 html +
                     "<li>Repairs and maintenance that were over for longer than weftd keeps them "
                     "(incidents.retention).</li>\n</ul>\n");
}

}  // namespace

std::string evidence_document(const v1::EvidencePack& pack) {
  const bool has_incident = pack.has_incident();
  const std::string title = pack.title() +
                            (has_incident ? ": " + v1::Incident::Kind_Name(pack.incident().kind()) : "") +
                            " - evidence by Weft";
  std::string html = document_head(title) + "<h1>" + html_text(pack.title()) +
                     (has_incident ? " <span>" + v1::Incident::Kind_Name(pack.incident().kind()) + "</span>" : "") +
                     "</h1>\n<p class=\"muted\">Made " + (pack.has_made() ? when(pack.made()) : kNotKnown) +
                     " by weftd " + known(pack.weftd_version()) + " on " + known(pack.weftd_host()) +
                     (pack.shard().empty() ? "" : ", shard " + html_text(pack.shard())) + ". ";
  std::set<std::string> fabrics;
  for (const v1::EvidencePort& port : pack.ports())
    if (!port.port().fabric().empty()) fabrics.insert(port.port().fabric());
  for (const std::string& fabric : fabrics) html += "Fabric " + html_text(fabric) + ". ";
  html += "<a href=\"#unknown\">What could not be told</a> stands at the end.</p>\n";
  if (has_incident) html += what_happened(pack.incident()) + advice_of(pack.incident()) + evidence_of(pack.incident());
  html += differences_of(pack) + ends_of(pack) + settings_of(pack) + charts_section(pack) + marks_of_charts(pack) +
          counters_of(pack) + tried(pack);
  if (has_incident) {
    html += timeline_of(pack.timeline()) + rules_of(pack);
    if (!pack.runbook_steps().empty()) html += section("runbook", "What the runbook says", pack.runbook_steps());
  }
  return html + not_told(pack) + "</main></body></html>\n";
}

}  // namespace weft::api
