// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/acceptance_document.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "api/convert/times.hpp"
#include "api/evidence/html_parts.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {

using namespace html_parts;

namespace {

using Run = v1::Acceptance;

/// Targets that are named; more are counted.
constexpr int kMostShownTargets = 64;
constexpr std::size_t kLongestWhole = 32;

/// "NOT YET": for people.
std::string words_of(Run::Verdict verdict) {
  std::string name = verdict == Run::VERDICT_UNSPECIFIED ? "not judged yet" : Run::Verdict_Name(verdict);
  for (char& c : name)
    if (c == '_') c = ' ';
  return name;
}

std::string mark(Run::Verdict verdict) {
  return "<b class=\"whole " + html_text(Run::Verdict_Name(verdict)) + "\">" + words_of(verdict) + "</b>";
}

/// A name that is not broken into two lines, unless it is long.
std::string whole(const std::string& name) {
  const std::string html = html_text(name);
  return name.size() > kLongestWhole ? html : "<span class=\"whole\">" + html + "</span>";
}

/// What the verdict of the whole means, in one sentence.
const char* meaning_of(const Run& run) {
  switch (run.verdict()) {
    case Run::PASS:
      return "Everything that must be measured was, and all of it is within its limit.";
    case Run::FAIL:
      return "Something is beyond its limit: each port is named below.";
    case Run::NOT_YET:
      return run.has_ended() ? "Nothing failed, and it was not watched for long enough: this is no pass."
                             : "It is being watched. What was measured so far did not fail: this is no pass.";
    case Run::INCOMPLETE:
      return "Nothing failed, and something that must be measured cannot be: this is no pass.";
    default:
      return "It is not judged yet.";
  }
}

std::string what_it_is(const Run& run) {
  std::string rows = row("Result", mark(run.verdict()) + ". " + meaning_of(run));
  std::string targets;
  for (int i = 0; i < std::min(run.targets_size(), kMostShownTargets); ++i)
    targets += (i > 0 ? ", " : "") + html_text(run.targets(i).name());
  if (run.targets_size() > kMostShownTargets)
    targets += " and " + count_text(static_cast<std::uint64_t>(run.targets_size() - kMostShownTargets)) + " more";
  rows += row("About", targets.empty() ? html_text(run.what()) : targets);
  if (!run.fabric().empty()) rows += row("Fabric", html_text(run.fabric()));
  if (!run.id().empty()) {
    rows += row("Started", when(run.started()) + ", by " + known(run.who()));
    rows += row("Watched for", html_text(short_duration(from_duration(run.length()))) + " without a break");
    if (run.watched_since().seconds() > run.started().seconds() + 1)
      rows += row("Readings began anew", when(run.watched_since()) + ", after a restart of weftd");
    if (!run.has_ended()) rows += row("Ends", when(run.until()));
    if (run.has_ended())
      rows += row("Ended", when(run.ended()) + (run.ended_by().empty() ? ", when its time was over"
                                                                       : ", by " + html_text(run.ended_by())));
  }
  if (run.has_report()) {
    rows += row("Ports", count_text(run.report().ports()));
    if (run.report().has_watched_since()) rows += row("First reading", when(run.report().watched_since()));
  }
  return section("result", "Result", table(rows));
}

std::string count(std::uint32_t of) {
  return of == 0 ? "<span class=\"muted\">0</span>" : count_text(of);
}

std::string checks_of(const v1::AcceptanceReport& report) {
  std::string rows = head({"Check", "Result", "Passed", "Failed", "Not yet", "Not measured"});
  for (const v1::AcceptanceCheck& check : report.checks())
    rows += cells({html_text(check.name()) + (check.required() ? "" : " <span class=\"muted\">(not required)</span>"),
                   mark(check.verdict()), count(check.passed()), count(check.failed()), count(check.unfinished()),
                   count(check.unmeasured())});
  return section("checks", "Checks", table(rows));
}

std::string limits_of(const v1::AcceptanceReport& report) {
  std::string rows = head({"Check", "Limit", "Where it is from"});
  for (const v1::AcceptanceCheck& check : report.checks())
    rows += cells({html_text(check.name()), breakable(check.limit()), breakable(check.source())});
  return section("limits", "Limits", table(rows));
}

std::uint32_t count_of(const v1::AcceptanceCheck& check, Run::Verdict verdict) {
  if (verdict == Run::FAIL) return check.failed();
  return verdict == Run::NOT_YET ? check.unfinished() : check.unmeasured();
}

/// Each port of that verdict, check by check.
std::string ports_of(const v1::AcceptanceReport& report, Run::Verdict verdict) {
  std::string html;
  for (const v1::AcceptanceCheck& check : report.checks()) {
    std::string rows;
    std::uint32_t shown = 0;
    for (const v1::AcceptancePort& port : check.ports()) {
      if (port.verdict() != verdict) continue;
      ++shown;
      std::vector<std::string> row{whole(port.port()),
                                   port.host().empty() ? "<span class=\"muted\">-</span>" : whole(port.host()),
                                   html_text(port.told())};
      if (verdict == Run::NOT_YET) row.push_back(port.has_judged_at() ? whole(when(port.judged_at())) : kNotKnown);
      rows += cells(row);
    }
    const std::uint32_t all = count_of(check, verdict);
    if (all == 0 && !(check.verdict() == verdict && verdict != Run::FAIL)) continue;
    html += "<h3>" + html_text(check.name()) + "</h3>\n";
    if (verdict == Run::FAIL)
      html += "<p>Limit: " + breakable(check.limit()) + " <span class=\"muted\">(" + breakable(check.source()) +
              ")</span></p>\n";
    if (rows.empty()) {
      html += "<p>" + html_text(check.told()) + ".</p>\n";
      continue;
    }
    std::vector<std::string> heads{"Port", "Host", verdict == Run::FAIL ? "What was found" : "Why"};
    if (verdict == Run::NOT_YET) heads.emplace_back("Can be judged from");
    html += table(head(heads) + rows);
    if (all > shown) html += "<p>And " + count_text(all - shown) + " more.</p>\n";
  }
  return html;
}

std::string hosts_of(const v1::AcceptanceReport& report) {
  if (report.hosts().empty()) return {};
  std::map<Run::Verdict, std::vector<std::string>> hosts;
  for (const v1::AcceptanceHost& host : report.hosts()) hosts[host.verdict()].push_back(host.name());
  std::string rows = head({"Result", "Number", "Names"});
  for (const Run::Verdict verdict : std::array{Run::FAIL, Run::NOT_YET, Run::INCOMPLETE, Run::PASS}) {
    const auto found = hosts.find(verdict);
    if (found == hosts.end()) continue;
    std::string names;
    for (const std::string& name : found->second) names += (names.empty() ? "" : ", ") + html_text(name);
    rows += cells({mark(verdict), count_text(found->second.size()), names});
  }
  return section("hosts", "Hosts, each by all that is its own", table(rows));
}

std::string part(const char* id, const char* title, const std::string& html) {
  return html.empty() ? "" : section(id, title, html);
}

}  // namespace

std::string acceptance_file_name(const Run& run) {
  return run.id().empty() ? "weft-acceptance" : "weft-" + run.id();
}

std::string acceptance_document(const Run& run, const EvidenceSource& source) {
  const std::string name = run.id().empty() ? "Acceptance" : run.id();
  std::string html = document_head(name + ": " + words_of(run.verdict()) + " - acceptance by Weft") + "<h1>" +
                     html_text(name) + " <span>" + (run.id().empty() ? "" : "acceptance of ") + html_text(run.what()) +
                     "</span></h1>\n<p class=\"muted\">Made " +
                     (run.has_report() ? when(run.report().made()) : kNotKnown) + " by weftd " + known(source.version) +
                     " on " + known(source.host) + (run.shard().empty() ? "" : ", shard " + html_text(run.shard())) +
                     ".</p>\n";
  html += what_it_is(run);
  if (run.has_report()) {
    const v1::AcceptanceReport& report = run.report();
    html += part("failed", "What failed", ports_of(report, Run::FAIL)) + checks_of(report) + hosts_of(report) +
            part("unfinished", "What could not be judged yet", ports_of(report, Run::NOT_YET)) +
            part("unmeasured", "What was not measured", ports_of(report, Run::NOT_MEASURED)) + limits_of(report);
  }
  return html + "</main></body></html>\n";
}

}  // namespace weft::api
