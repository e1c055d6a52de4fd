// weftctl: what weftd knows, for people and scripts.

#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "daemon/ctl/completion.hpp"
#include "daemon/ctl/text.hpp"
#include "daemon/ctl/verbs.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kFooter = R"(
Examples:
  weftctl status                       how the watching goes
  weftctl incidents                    what is wrong now
  weftctl incident INC-17              cause, who waits for it, evidence
  weftctl ports leaf-1                 states, rates and errors of a switch's ports
  weftctl path dgx-04 dgx-17           the cables between two hosts, and what is wrong on them
  weftctl links --down                 cables that are not up
  weftctl health dgx-04 && srun ...    may a job run there
  weftctl --json nodes | jq '.nodes[].name'
  weftctl silence INC-17 --for 2h

Exit status: 0 good; 1 the answer is bad news (a node that is not healthy, a way that does not arrive);
2 wrong usage; 3 weftd cannot be reached; 4 refused.
Environment: WEFT_SERVER is the default of --server.)";

/// What the command line gave.
struct Arguments {
  std::string server = "127.0.0.1:9641";
  bool json = false;
  bool plain = false;
  std::string fabric;
  std::string node;
  std::string from;
  std::string to;
  std::string id;
  std::string who;
  std::string how_long;
  std::string shell;
  std::vector<std::string> nodes;
  bool all = false;
  bool ids = false;
  bool names = false;
  bool counters = false;
  bool down = false;
};

using Verb = std::function<Exit(const Session&)>;

std::string user_name() {
  const char* user = std::getenv("USER");
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return std::string(user ? user : "uid " + std::to_string(getuid())) + '@' + host;
}

/// Does the environment say that text is UTF-8? The process's own locale stays as it is.
bool takes_utf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return utf8;
}

void add_fabric_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* status = app.add_subcommand("status", "How the watching goes: fabrics, sweeps, open incidents");
  status->callback([&] { chosen = show_status; });
  CLI::App* nodes = app.add_subcommand("nodes", "Adapters, switches and routers");
  nodes->add_option("--fabric", given.fabric, "Only this subnet");
  nodes->add_flag("--names", given.names, "Names of hosts and switches only, one a line");
  nodes->callback(
      [&] { chosen = [&](const Session& session) { return show_nodes(session, given.fabric, given.names); }; });
  CLI::App* ports = app.add_subcommand("ports", "States, rates and errors of ports");
  ports->add_option("NODE", given.node, "Host name, node name or GUID; without it all ports");
  ports->add_option("--fabric", given.fabric, "Only this subnet");
  ports->add_flag("--counters", given.counters, "Every counter on a line of its own");
  ports->callback([&] {
    chosen = [&](const Session& session) { return show_ports(session, given.fabric, given.node, given.counters); };
  });
  CLI::App* links = app.add_subcommand("links", "Cables and both their ends");
  links->add_option("--fabric", given.fabric, "Only this subnet");
  links->add_flag("--down", given.down, "Only those that are not up");
  links->callback(
      [&] { chosen = [&](const Session& session) { return show_links(session, given.fabric, given.down); }; });
  CLI::App* path = app.add_subcommand(
      "path", "The way from one port to another, cable by cable. Exit status 1 if it does not arrive");
  path->add_option("FROM", given.from, "Host name, node name, GUID, \"leaf-1 port 12\" or \"lid 17\"")->required();
  path->add_option("TO", given.to, "The same")->required();
  path->add_option("--fabric", given.fabric, "Only this subnet");
  path->callback(
      [&] { chosen = [&](const Session& session) { return show_path(session, given.fabric, given.from, given.to); }; });
  CLI::App* topology = app.add_subcommand("topology", "What is plugged in where");
  topology->add_option("--fabric", given.fabric, "Only this subnet");
  topology->callback([&] { chosen = [&](const Session& session) { return show_topology(session, given.fabric); }; });
}

void add_incident_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* incidents = app.add_subcommand("incidents", "What is wrong now");
  incidents->add_flag("--all", given.all, "Resolved ones too");
  incidents->add_flag("--ids", given.ids, "Ids only, one a line");
  incidents->callback(
      [&] { chosen = [&](const Session& session) { return show_incidents(session, given.all, given.ids); }; });
  CLI::App* incident =
      app.add_subcommand("incident", "All of one incident: cause, who waits for it, victims, evidence");
  incident->add_option("ID", given.id, "INC-17 or 17")->required();
  incident->callback([&] { chosen = [&](const Session& session) { return show_incident(session, given.id); }; });
  CLI::App* health = app.add_subcommand("health", "May a job run on these hosts? Exit status 1 if not on all");
  health->add_option("NODE", given.nodes, "Host names, node names or GUIDs; without any: all that are not healthy");
  health->callback([&] { chosen = [&](const Session& session) { return show_health(session, given.nodes); }; });
  CLI::App* collectors = app.add_subcommand("collectors", "Hosts that report for themselves, and what was lost");
  collectors->add_option("HOST", given.nodes, "Host names; without any: all");
  collectors->callback([&] { chosen = [&](const Session& session) { return show_collectors(session, given.nodes); }; });
  CLI::App* live = app.add_subcommand("watch", "Incidents as they come; one a line when not on a terminal");
  live->callback([&] { chosen = watch; });
  CLI::App* seen = app.add_subcommand("acknowledge", "Say that somebody looks after an incident");
  seen->add_option("ID", given.id, "INC-17 or 17")->required();
  seen->add_option("--who", given.who, "Name for the record; yours and this host's without it");
  seen->callback([&] { chosen = [&](const Session& session) { return acknowledge(session, given.id, given.who); }; });
  CLI::App* quiet = app.add_subcommand("silence", "Do not page for an incident for a while");
  quiet->add_option("ID", given.id, "INC-17 or 17")->required();
  quiet->add_option("--for", given.how_long, "How long: 30m, 2h, 1d")->required();
  quiet->add_option("--who", given.who, "Name for the record; yours and this host's without it");
  quiet->callback([&] {
    chosen = [&](const Session& session) {
      const auto how_long = parse_duration(given.how_long);
      if (!how_long || *how_long <= Duration::zero())
        throw Failure(Exit::kWrongUsage, "--for wants a time such as 30m, 2h or 1d");
      return silence(session, given.id, *how_long, given.who);
    };
  });
}

Exit run(const Arguments& given, const Verb& verb) {
  Client client(given.server);
  const Session session{
      client, std::cout, given.json, given.plain || !takes_utf8(), isatty(STDOUT_FILENO) != 0, SystemClock().now()};
  const Exit exit = verb(session);
  if (!std::cout.flush()) throw Failure(Exit::kBadNews, "the answer could not be written out whole");
  return exit;
}

Exit command(int argc, char** argv) {
  CLI::App app("weftctl: what weftd knows of the fabric", "weftctl");
  Arguments given;
  given.who = user_name();
  Verb chosen;
  app.set_version_flag("--version", "weftctl " WEFT_VERSION);
  app.add_option("--server", given.server, "Where weftd serves gRPC")
      ->envname("WEFT_SERVER")
      ->capture_default_str()
      ->check([](const std::string& server) {
        const std::size_t colon = server.rfind(':');
        const bool whole = colon != std::string::npos && colon > 0 && colon + 1 < server.size();
        return whole ? std::string() : "\"" + server + "\" is not HOST:PORT";
      });
  app.add_flag("--json", given.json, "For programs: the API's own JSON");
  app.add_flag("--plain", given.plain, "Drawings in ASCII, as where the locale is not UTF-8");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  add_fabric_verbs(app, given, chosen);
  add_incident_verbs(app, given, chosen);
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->add_option("SHELL", given.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const auto words = app.remaining(); app.get_subcommands().empty() && !words.empty())
      throw Failure(Exit::kWrongUsage, "there is no verb \"" + words.front() + "\"; weftctl --help lists all");
    return app.exit(error) == 0 ? Exit::kGood : Exit::kWrongUsage;
  }
  if (completion->parsed()) {
    std::cout << completion_script(given.shell).value_or("");
    return Exit::kGood;
  }
  return run(given, chosen);
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
    std::cerr << "weftctl: " << weft::ctl::printable(failure.what()) << '\n';
    return static_cast<int>(failure.exit);
  } catch (const std::exception& error) {
    std::cerr << "weftctl: " << weft::ctl::printable(error.what()) << '\n';
    return static_cast<int>(weft::ctl::Exit::kBadNews);
  }
}
