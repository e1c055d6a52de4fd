// SPDX-License-Identifier: Apache-2.0
// weftctl: what weftd knows, for people and scripts.

#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "api/publication/utf8.hpp"
#include "daemon/platform/cli/from_app.hpp"
#include "daemon/platform/cli/help_page.hpp"
#include "daemon/platform/cli/standard_places.hpp"
#include "daemon/programs/weftctl/arguments.hpp"
#include "daemon/programs/weftctl/completion.hpp"
#include "daemon/programs/weftctl/live.hpp"
#include "daemon/programs/weftctl/manual.hpp"
#include "daemon/programs/weftctl/name_completion.hpp"
#include "daemon/programs/weftctl/plan_hints.hpp"
#include "daemon/programs/weftctl/usage_errors.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/list_text.hpp"

namespace weft::ctl {
namespace {

// Verbs that only show, and so may be asked again and again.
constexpr std::array kShow{"status",    "nodes",    "ports",   "links",      "topology", "path",
                           "incidents", "incident", "health",  "collectors", "drift",    "plans",
                           "plan",      "audit",    "history", "timeline",   "worst"};

Client connect(const Arguments& given) {
  return Client(given.server.empty() ? standard_server(given.security) : given.server, given.security);
}

/// Does the environment say that text is UTF-8? The process's own locale stays as it is.
bool takes_utf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return utf8;
}

void add_node_choice(CLI::App& verb, Arguments& given) {
  verb.add_option("NODE", given.node, "Only this one: host name, node name or GUID");
  verb.add_option("--fabric", given.fabric, "Only this fabric");
  verb.add_option("--contains", given.contains, "Only nodes with this in their name, their host's name or their GUID");
  verb.add_option("--type", given.type, "Only nodes of this type")
      ->check(CLI::IsMember({"adapter", "switch", "router"}));
}

NodeChoice node_choice(const Arguments& given) {
  return {.fabric = given.fabric,
          .node = given.node,
          .contains = given.contains,
          .type = given.type,
          .down_only = given.down,
          .names_only = given.names};
}

void add_fabric_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* status = app.add_subcommand("status", "Monitoring status: fabrics, sweeps, open incidents");
  status->callback([&] { chosen = show_status; });
  CLI::App* nodes = app.add_subcommand("nodes", "Adapters, switches and routers");
  add_node_choice(*nodes, given);
  nodes->add_flag("--down", given.down, "Only nodes that are not reached");
  nodes->add_flag("--names", given.names, "Only the names of hosts and switches, one per line");
  nodes->callback([&] { chosen = [&](const Session& session) { return show_nodes(session, node_choice(given)); }; });
  CLI::App* ports = app.add_subcommand("ports", "States, rates and errors of ports");
  ports->add_option(
      "NODE", given.node,
      "Host name, node name or GUID, or one port: \"leaf-1:12\", on Ethernet \"leaf01 swp12\"; default: all "
      "ports");
  ports->add_option("--fabric", given.fabric, "Only this fabric");
  ports->add_flag("--counters", given.counters, "One line per counter");
  ports->callback([&] {
    chosen = [&](const Session& session) { return show_ports(session, given.fabric, given.node, given.counters); };
  });
  CLI::App* links = app.add_subcommand("links", "Cables and both their ends");
  links->add_option("NODE", given.node, "Only cables of this node or port, in the same forms as for ports");
  links->add_option("--fabric", given.fabric, "Only this fabric");
  links->add_option(
      "--contains", given.contains,
      "Only cables with this in the name of an end: \"leaf-1\"; at a port: \"leaf-1:12\"; between two nodes: "
      "\"leaf-0 spine-3\"");
  links->add_flag("--down", given.down, "Only links that are not up");
  CLI::Option* worst = links
                           ->add_option("--worst", given.worst,
                                        "Only the worst links, by errors per bit, times down, or stalled senders")
                           ->check(CLI::IsMember({"errors", "flaps", "stall"}));
  links->add_option("--top", given.top, "With --worst: number of links")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000))
      ->needs(worst);
  worst->excludes("NODE")->excludes("--contains")->excludes("--down");
  links->callback([&] {
    chosen = [&](const Session& session) {
      return given.worst.empty() ? show_links(session, {given.fabric, given.node, given.contains, given.down})
                                 : show_worst_links(session, given.fabric, given.worst, given.top);
    };
  });
  CLI::App* path = app.add_subcommand(
      "path",
      "Path from one port to another, cable by cable; on Ethernet all ECMP paths, and each cable's share of the flows. "
      "Exit status 1 if a path is incomplete");
  path->add_option("FROM", given.from,
                   "Host name, node name, GUID, \"leaf-1 port 12\", on Ethernet \"leaf01 swp12\", or \"lid 17\"")
      ->required();
  path->add_option("TO", given.to, "Same forms as FROM")->required();
  path->add_option("--fabric", given.fabric, "Only this fabric");
  path->callback(
      [&] { chosen = [&](const Session& session) { return show_path(session, given.fabric, given.from, given.to); }; });
  CLI::App* topology = app.add_subcommand("topology", "Nodes and the peer of each port");
  add_node_choice(*topology, given);
  topology
      ->add_flag("--differences", given.differences,
                 "What differs from the expected topology. Exit status 1 if anything does")
      ->excludes("NODE")
      ->excludes("--contains")
      ->excludes("--type");
  topology->callback([&] {
    chosen = [&](const Session& session) {
      return given.differences ? show_cabling_differences(session, given.fabric)
                               : show_topology(session, node_choice(given));
    };
  });
}

Duration wanted_time(const std::string& text) {
  const auto how_long = parse_duration(text);
  if (!how_long || *how_long <= Duration::zero())
    throw Failure(Exit::kWrongUsage, "--for needs a duration above 0 and up to 3650d, such as 30m, 2h or 1d");
  return *how_long;
}

void add_incident_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* incidents = app.add_subcommand("incidents", "Open incidents");
  incidents->add_flag("--all", given.all, "Include resolved incidents and planned work");
  incidents->add_flag("--ids", given.ids, "Only the IDs, one per line");
  incidents->add_option("--kind", given.kinds, "Only this kind, such as LINK_FLAP; may be repeated")->take_all();
  incidents->add_option("--severity", given.severities, "Only INFO, WARNING or CRITICAL; may be repeated")->take_all();
  incidents->add_option("--entity", given.link,
                        "Only those of this host, switch, port or link, whole words of its name");
  incidents->add_option("--job", given.job, "Only those that hurt this job: slurm:1234 or 1234");
  incidents->add_option("--from", given.from,
                        "Only those open after \"2026-01-31 14:00\" (UTC), or 2h for two hours ago, resolved ones too");
  incidents->add_option("--to", given.to, "Only those open before that time, resolved ones too");
  incidents->callback([&] {
    chosen = [&](const Session& session) {
      return show_incidents(session, {.all = given.all,
                                      .ids_only = given.ids,
                                      .kinds = given.kinds,
                                      .severities = given.severities,
                                      .entity = given.link,
                                      .job = given.job,
                                      .from = past_time("--from", given.from, session.now),
                                      .to = past_time("--to", given.to, session.now)});
    };
  });
  CLI::App* incident =
      app.add_subcommand("incident", "One incident in full: cause, affected, waiting links, evidence, timeline");
  incident->add_option("ID", given.id, "INC-17 or 17")->required();
  incident->callback([&] { chosen = [&](const Session& session) { return show_incident(session, given.id); }; });
  CLI::App* timeline =
      app.add_subcommand("timeline", "What Weft did about an incident and what people did, in one order");
  timeline->add_option("ID", given.id, "INC-17 or 17")->required();
  timeline->callback([&] { chosen = [&](const Session& session) { return show_timeline(session, given.id); }; });
  CLI::App* runbook =
      app.add_subcommand("runbook", "What to do about a kind of incident; without a name: all runbooks");
  runbook->add_option("RUNBOOK", given.id,
                      "Kind of incident, INC-17, or another name: weft-itself, remedies, maintenance");
  runbook->callback([&] { chosen = [&](const Session& session) { return show_runbook(session, given.id); }; });
  CLI::App* health = app.add_subcommand(
      "health",
      "Whether hosts can run a job. Exit status 0 only if each host is HEALTHY and its recommended action is NONE or "
      "WATCH; without a host or job: only if all are healthy");
  health->add_option("NODE", given.nodes, "Host names, node names or GUIDs; default: all unhealthy nodes");
  health->add_option("--job", given.job, "Nodes of this job and the links between them: slurm:1234 or 1234");
  health->callback([&] {
    chosen = [&](const Session& session) {
      return given.job.empty() ? show_health(session, given.nodes) : show_job_health(session, given.job, given.nodes);
    };
  });
  CLI::App* collectors =
      app.add_subcommand("collectors", "Collectors: connection state, lost batches, failing sources");
  collectors->add_option("HOST", given.nodes, "Host names, with all that their sources say; default: all");
  CLI::App* drift = app.add_subcommand("drift",
                                       "Settings that differ: among ports of one make, or between the ends of a link. "
                                       "Exit status 1 if one is an incident");
  drift->add_option("FACT", given.fact, "Only this setting, by its name: firmware, mtu; default: all");
  drift->callback([&] { chosen = [&](const Session& session) { return show_drift(session, given.fact); }; });
  collectors->callback([&] { chosen = [&](const Session& session) { return show_collectors(session, given.nodes); }; });
  CLI::App* live = app.add_subcommand("watch", "Follow incidents; one line per change if not on a terminal");
  live->callback([&] { chosen = watch; });
  CLI::App* seen = app.add_subcommand("acknowledge", "Acknowledge an incident: no more paging for it");
  seen->add_option("ID", given.id, "INC-17 or 17")->required();
  seen->add_option("--who", given.who, kForWhom);
  seen->callback([&] { chosen = [&](const Session& session) { return acknowledge(session, given.id, given.who); }; });
  CLI::App* quiet = app.add_subcommand("silence", "Suppress paging for an incident for some time");
  quiet->add_option("ID", given.id, "INC-17 or 17")->required();
  quiet->add_option("--for", given.how_long, "Duration: 30m, 2h, 1d")->required();
  quiet->add_option("--who", given.who, kForWhom);
  quiet->callback([&] {
    chosen = [&](const Session& session) { return silence(session, given.id, wanted_time(given.how_long), given.who); };
  });
}

Exit add_window(const Session& session, const Arguments& given) {
  NewMaintenance wanted{.what = {},
                        .fabric = given.fabric,
                        .from = {},
                        .length = wanted_time(given.how_long),
                        .reason = given.reason,
                        .who = given.who};
  for (const std::string& word : given.words) wanted.what += (wanted.what.empty() ? "" : " ") + word;
  if (!given.begin.empty()) {
    wanted.from = parse_time(given.begin, session.now);
    if (!wanted.from)
      throw Failure(Exit::kWrongUsage,
                    "--from needs \"2026-01-31 14:00\" (UTC), or a delay from now such as 30m or 2h");
  }
  return add_maintenance(session, wanted);
}

void add_maintenance_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* windows = app.add_subcommand("maintenance", "Maintenance windows, which suppress paging: list, add, end");
  windows->add_flag("--all", given.all, "Include finished ones");
  windows->add_subcommand("list", "Active and planned windows (the default)");
  CLI::App* add = windows->add_subcommand("add", "Add a window for a host, switch, port, link or a whole fabric");
  add->add_option(
         "WHAT", given.words,
         "Host, switch or adapter by name or GUID; \"leaf-1 port 12\", on Ethernet \"leaf01 swp12\"; a link as "
         "incidents name it, \"leaf-1 port 12 - dgx-04 mlx5_0 port 1\"; a fabric by name; or \"fabric\" for all, in a "
         "site those of one shard")
      ->required();
  add->add_option("--from", given.begin,
                  "Begin: \"2026-01-31 14:00\" (UTC), or 30m for 30 minutes from now; default: now");
  given.how_long = "2h";
  add->add_option("--for", given.how_long, "Duration: 30m, 2h, 1d")->capture_default_str();
  add->add_option("--reason", given.reason, "Reason, shown with the window")->required();
  add->add_option("--fabric", given.fabric, "With \"fabric\": only this fabric");
  add->add_option("--who", given.who, kForWhom);
  CLI::App* end = windows->add_subcommand("end", "End a window early, or cancel it");
  end->add_option("ID", given.id, "MW-3 or 3")->required();
  end->add_option("--who", given.who, kForWhom);
  windows->require_subcommand(0, 1);
  windows->callback([&given, &chosen, add, end] {
    if (add->parsed()) {
      chosen = [&given](const Session& session) { return add_window(session, given); };
    } else if (end->parsed()) {
      chosen = [&given](const Session& session) { return end_maintenance(session, given.id, given.who); };
    } else {
      chosen = [&given](const Session& session) { return show_maintenance(session, given.all); };
    }
  });
}

/// Why it failed, in lines that fit a terminal; else in one.
void say_failure(const std::string& why) {
  const std::size_t columns = usage::terminal_columns(STDERR_FILENO);
  for (const std::string& line : wrapped("weftctl: " + printable(why), columns > 0 ? columns : std::string::npos))
    std::cerr << line << '\n';
}

Exit run(const Arguments& given, const Verb& verb, bool plans, const std::string& command) {
  const bool again = !given.every.empty();
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  // weftd streams the changes of plans: a reader of single lines misses none.
  const bool is_stream = plans && again && !given.ids && !given.in_force && (!terminal || given.json);
  std::optional<HeldSignals> held;
  if (again && !is_stream) held.emplace();
  Client client = connect(given);
  // A page that is drawn again and again names the server itself.
  if (!again || !terminal || given.json) client.notes = &std::cerr;
  const Session session{.client = client,
                        .out = std::cout,
                        .json = given.json,
                        .plain = given.plain || !takes_utf8(),
                        .terminal = terminal,
                        .now = SystemClock().now(),
                        .colour = takes_colour(given.color, terminal),
                        .columns = usage::terminal_columns(STDOUT_FILENO),
                        .answers = terminal && !given.json && isatty(STDIN_FILENO) != 0 ? &std::cin : nullptr};
  if (is_stream) return watch_plans(session, given.all);
  if (again) return watch_live(session, verb, {wanted_interval(given.every), command});
  const Exit exit = verb(session);
  if (!std::cout.flush()) throw Failure(Exit::kBadNews, "writing to standard output failed");
  return exit;
}

void add_all(CLI::App& app, Arguments& given, Verb& chosen) {
  app.set_version_flag("--version", "weftctl " WEFT_VERSION);
  app.add_option("--server", given.server,
                 "Address of weftd's gRPC server, or several separated by commas: the next one is asked when one does "
                 "not answer or is on standby; default: unix:" +
                     std::string(usage::kStandardSocket) + " if weftd listens there and --ca is not given, else " +
                     std::string(usage::kStandardServer))
      ->envname("WEFT_SERVER")
      ->type_name("HOST:PORT|unix:PATH")
      ->check([](const std::string& servers) {
        for (const std::string& server : split_list(servers)) {
          const std::size_t colon = server.rfind(':');
          const bool whole = colon != std::string::npos && colon > 0 && colon + 1 < server.size();
          if (!whole) return "\"" + server + "\" is not HOST:PORT or unix:PATH";
        }
        return std::string();
      });
  app.add_option("--ca", given.security.authorities, "CA of weftd's certificate (PEM); without it no TLS")
      ->envname("WEFT_CA")
      ->type_name("FILE");
  app.add_option("--cert", given.security.certificate, "Client certificate (PEM)")
      ->envname("WEFT_CERT")
      ->type_name("FILE");
  app.add_option("--key", given.security.key, "Private key of --cert (PEM)")->envname("WEFT_KEY")->type_name("FILE");
  app.add_option("--token-file", given.security.token_file, "File with a bearer token")
      ->envname("WEFT_TOKEN_FILE")
      ->type_name("FILE");
  // Never a flag: other users read those in the list of processes.
  if (const char* token = std::getenv("WEFT_TOKEN")) given.security.token = token;
  app.add_flag("--json", given.json, "Output as JSON (the API's messages)");
  app.add_flag("--plain", given.plain, "Draw in ASCII; the default if the locale is not UTF-8");
  app.add_option("--color", given.color, "Colours: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  app.formatter_fn([](const CLI::App* of, const std::string& name, CLI::AppFormatMode mode) {
    const bool is_whole = of->get_parent() != nullptr || mode == CLI::AppFormatMode::All;
    if (is_whole) return CLI::Formatter().make_help(of, name, CLI::AppFormatMode::Normal);
    const std::size_t columns = usage::terminal_columns(STDOUT_FILENO);
    return usage::overview_page(usage::describe(*of), kOverviewFooter, columns == 0 ? 80 : columns);
  });
  add_fabric_verbs(app, given, chosen);
  add_history_verbs(app, given, chosen);
  add_incident_verbs(app, given, chosen);
  add_maintenance_verbs(app, given, chosen);
  add_accept_verb(app, given, chosen);
  add_plan_verbs(app, given, chosen);
  add_remedy_verbs(app, given, chosen);
  add_enroll_verb(app, given, chosen);
  app.add_subcommand("completion", "Print a completion script for a shell")
      ->add_option("SHELL", given.shell, "Shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  // After the verbs, which would take it over.
  app.set_help_all_flag("--help-all", "Print the verbs, options, exit status and environment, and exit");
  const auto add_watch = [&given](CLI::App* verb) {
    verb->add_option("--watch", given.every, "Repeat every SECONDS (default 2), until Ctrl-C")->type_name("[SECONDS]");
  };
  for (const char* name : kShow) add_watch(app.get_subcommand(name));
  add_watch(app.get_subcommand("maintenance")->get_subcommand("list"));
  for (const char* part : {"list", "show"}) add_watch(app.get_subcommand("accept")->get_subcommand(part));
  for (CLI::App* verb : app.get_subcommands(nullptr)) {
    verb->footer(examples_of(verb->get_name()));
    for (CLI::App* part : verb->get_subcommands(nullptr))
      part->footer(examples_of(verb->get_name() + ' ' + part->get_name()));
  }
}

/// For completion scripts: weftctl __complete SHELL LINE-OR-WORDS... Never says anything but candidates.
Exit print_candidates(const std::vector<std::string>& words) {
  if (words.empty()) return Exit::kWrongUsage;
  const std::string& shell = words.front();
  std::vector<std::string> line(words.begin() + 1, words.end());
  if (shell == "bash") {
    line = words_of(line.empty() ? "" : line.front());
    line.erase(line.begin());  // the program's name
  }
  CLI::App app("Show the fabric's state and incidents, and control remedies.", "weftctl");
  Arguments given;
  Verb chosen;
  add_all(app, given, chosen);
  const usage::Command program = usage::describe(app);
  try {  // the words include the connection flags; missing arguments do not matter here
    app.allow_extras();
    std::vector<std::string> backwards(line.rbegin() + (line.empty() ? 0 : 1), line.rend());
    app.parse(std::move(backwards));
  } catch (const CLI::Error&) {
  }
  const std::string word = line.empty() ? "" : line.back();
  const Candidates found =
      complete(program, line, [&given](Names names, const std::string& begun) -> std::vector<Candidate> {
        try {
          Client client = connect(given);
          return ask_names(client, names, given.fabric, begun);
        } catch (const Failure&) {
          return {};
        }
      });
  std::cout << completion_text(shell, found, word);
  return Exit::kGood;
}

/// "weftctl help path" is "weftctl path --help".
std::vector<std::string> with_help(std::vector<std::string> words) {
  if (words.size() < 2 || words[1] != "help") return words;
  words.erase(words.begin() + 1);
  words.emplace_back("--help");
  return words;
}

Exit command(int argc, char** argv) {
  const std::vector<std::string> words = with_help(with_interval({argv, argv + argc}));
  for (std::size_t at = 1; at < words.size(); ++at)
    if (api::valid_utf8(words[at]) != words[at])
      throw Failure(Exit::kWrongUsage,
                    "argument " + std::to_string(at) + " is not UTF-8: '" + api::valid_utf8(words[at]) + "'");
  if (words.size() > 1 && words[1] == "__complete") return print_candidates({words.begin() + 2, words.end()});
  CLI::App app("Show the fabric's state and incidents, and control remedies.", "weftctl");
  Arguments given;
  if (const char* user = std::getenv("SUDO_USER")) given.who = user;
  Verb chosen;
  add_all(app, given, chosen);
  if (words.size() == 2 && words[1] == "--manual") {
    app.footer("");
    std::cout << usage::man_page(usage::describe(app), manual(WEFT_VERSION));
    return Exit::kGood;
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return Exit::kGood;
    }
    std::vector<std::string> verbs;
    std::string name = "weftctl";
    for (const CLI::App* verb = &app; !verb->get_subcommands().empty(); name += ' ' + verbs.back()) {
      verb = verb->get_subcommands().front();
      verbs.push_back(verb->get_name());
    }
    const std::string why = complaint(usage::describe(app), verbs, app.remaining(true));
    throw Failure(Exit::kWrongUsage, why.empty() ? error.what() + ("; " + name + " --help has details") : why);
  }
  if (app.got_subcommand("completion")) {
    std::cout << completion_script(given.shell).value_or("");
    return Exit::kGood;
  }
  return run(given, chosen, app.got_subcommand("plans"), command_text(words));
}

}  // namespace

}  // namespace weft::ctl

int main(int argc, char** argv) {
  // What gRPC has to say about a server that is away, weftctl says in one line.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  try {
    return static_cast<int>(weft::ctl::command(argc, argv));
  } catch (const weft::ctl::Failure& failure) {
    std::cout.flush();
    const bool is_refused = failure.exit == weft::ctl::Exit::kRefused;
    weft::ctl::say_failure(failure.what() + (is_refused ? weft::ctl::next_step(failure.what()) : std::string()));
    return static_cast<int>(failure.exit);
  } catch (const std::exception& error) {
    weft::ctl::say_failure(error.what());
    return static_cast<int>(weft::ctl::Exit::kBadNews);
  }
}
