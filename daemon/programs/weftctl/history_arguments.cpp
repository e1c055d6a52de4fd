// SPDX-License-Identifier: Apache-2.0
// The verbs about the past, and those that write files.

#include <optional>
#include <string>
#include <utility>

#include "daemon/programs/weftctl/arguments.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

/// From --from and --to, or --last, which is `last`.
std::pair<TimePoint, TimePoint> wanted_span(const Arguments& given, const std::string& last_text, TimePoint now) {
  const TimePoint to = past_time("--to", given.to, now).value_or(now);
  if (const auto from = past_time("--from", given.from, now)) return {*from, to};
  const auto last = parse_duration(last_text);
  if (!last || *last <= Duration::zero())
    throw Failure(Exit::kWrongUsage, "--last needs a duration such as 1h, 24h or 30d, ten years at most");
  return {to - *last, to};
}

/// Adds --last, whose value goes to `last_text`, --from and --to.
CLI::Option* add_span(CLI::App& verb, Arguments& given, std::string& last_text) {
  CLI::Option* last = verb.add_option("--last", last_text, "Duration: 1h, 24h, 30d")->capture_default_str();
  verb.add_option("--from", given.from, "\"2026-01-31 14:00\", in UTC, or 2h for two hours ago")->excludes(last);
  verb.add_option("--to", given.to, "The same; default: now");
  return last;
}

void add_history_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* history = app.add_subcommand("history", "What a port counted over hours, days and weeks, as bars");
  history->add_option("NODE", given.node, "A node, for all its ports, or one port, in the same forms as for ports")
      ->required();
  add_span(*history, given, given.last);
  history->add_option("--counter", given.counter_names,
                      "Only this one: sends, receives, stalled, \"optical in\", \"optical out\", \"laser bias\", "
                      "temperature, or a name of \"weftctl ports "
                      "--counters\"; may be repeated");
  history->add_option("--fabric", given.fabric, "Only this fabric");
  history->callback([&] {
    chosen = [&](const Session& session) {
      const auto [from, to] = wanted_span(given, given.last, session.now);
      return show_history(
          session,
          {.what = given.node, .fabric = given.fabric, .from = from, .to = to, .counters = given.counter_names});
    };
  });
}

void add_worst_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* worst = app.add_subcommand(
      "worst",
      "What did the most harm over a time, by its incidents: cables, modules, hosts or switches, the worst first");
  worst->add_option("OF", given.worst_of, "cables, modules, hosts or switches")
      ->capture_default_str()
      ->check(CLI::IsMember({"cables", "modules", "hosts", "switches"}));
  add_span(*worst, given, given.worst_last);
  worst->add_option("--by", given.worst_by, "Order: harm, jobs hurt, time in CRITICAL, or times that trouble began")
      ->capture_default_str()
      ->check(CLI::IsMember({"harm", "jobs", "critical", "times"}));
  worst->add_option("--top", given.top, "Number of entries")->capture_default_str()->check(CLI::Range(1, 1000));
  worst->add_option("--fabric", given.fabric, "Only incidents of this fabric");
  worst->callback([&] {
    chosen = [&](const Session& session) {
      const auto [from, to] = wanted_span(given, given.worst_last, session.now);
      return show_worst(session, {.of = given.worst_of,
                                  .by = given.worst_by,
                                  .fabric = given.fabric,
                                  .from = from,
                                  .to = given.to.empty() ? std::nullopt : std::optional(to),
                                  .limit = given.top});
    };
  });
}

void add_evidence_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* evidence = app.add_subcommand(
      "evidence",
      "What Weft knows about an incident, node or port in one HTML file: for a return of parts or a ticket");
  evidence->add_option("ABOUT", given.id, "INC-17 or 17; or a node, or one port, in the same forms as for ports")
      ->required();
  CLI::Option* port =
      evidence->add_option("PORT", given.port, "The port, where ABOUT is its node: 12, on Ethernet swp12");
  evidence->add_option("-o,--output", given.folder, "Folder of the two files; made if it is not there")
      ->type_name("DIR")
      ->capture_default_str();
  CLI::Option* last = add_span(*evidence, given, given.last);
  evidence->add_option("--fabric", given.fabric, "Only this fabric");
  evidence->add_flag("--force", given.force, "Replace the two files where they are there already");
  evidence->add_flag("--with-jobs", given.with_jobs,
                     "Also names of jobs and of people, and what people wrote: not for a vendor");
  evidence->callback([&, port, last] {
    chosen = [&, port, last](const Session& session) {
      const auto [from, to] = wanted_span(given, given.last, session.now);
      const bool has_time = last->count() > 0 || !given.from.empty() || !given.to.empty() || !given.fabric.empty();
      return write_evidence(session, {.what = given.id + (port->count() > 0 ? ":" + given.port : ""),
                                      .is_thing = port->count() > 0,
                                      .fabric = given.fabric,
                                      .from = from,
                                      .to = given.to.empty() ? std::nullopt : std::optional(to),
                                      .has_time = has_time,
                                      .folder = given.folder,
                                      .with_jobs = given.with_jobs,
                                      .force = given.force});
    };
  });
}

void add_backup_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* backup = app.add_subcommand(
      "backup",
      "Copy incidents, plans and the audit trail to a file here: while weftd runs, for an admin (on "
      "weftd's host root, or sudo). The way back, with weftd stopped there: weftd store restore FILE "
      "STATE_DIR");
  backup->add_option("FILE", given.word, "A new file")->required();
  backup->callback([&] { chosen = [&](const Session& session) { return back_up(session, given.word); }; });
}

}  // namespace

void add_history_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  add_history_verb(app, given, chosen);
  add_worst_verb(app, given, chosen);
  add_evidence_verb(app, given, chosen);
  add_backup_verb(app, given, chosen);
}

std::optional<TimePoint> past_time(const char* option, const std::string& text, TimePoint now) {
  if (text.empty()) return std::nullopt;
  if (const auto ago = parse_duration(text)) return now - *ago;
  const auto parsed = parse_time(text, now);
  if (!parsed)
    throw Failure(Exit::kWrongUsage, std::string(option) + " needs a time such as \"2026-01-31 14:00\" (UTC)");
  return parsed;
}

}  // namespace weft::ctl
