// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include "daemon/programs/weftctl/arguments.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

/// What this verb alone is given.
struct AcceptGiven {
  AcceptWish wish;
  std::string how_long;
  bool now = false;
  std::vector<std::string> output;  ///< format and file
  std::string host;
  bool running = false;
};

void add_output(CLI::App& verb, AcceptGiven& given) {
  verb.add_option("-o,--output", given.output,
                  "Write the report: html, json or text, and a file, or - for standard output")
      ->expected(2)
      ->type_name("FORMAT FILE");
  verb.add_flag("--force", given.wish.output.force, "Replace the file where it is there already");
}

AcceptOutput output_of(const AcceptGiven& given) {
  AcceptOutput output = given.wish.output;
  if (given.output.empty()) return output;
  output.format = given.output.front();
  output.file = given.output.back();
  constexpr std::array kFormats{"html", "json", "text"};
  if (std::find(kFormats.begin(), kFormats.end(), output.format) == kFormats.end())
    throw Failure(Exit::kWrongUsage,
                  "--output needs a format, html, json or text, and a file: --output html report.html");
  return output;
}

AcceptWish wish_of(const AcceptGiven& given, const std::string& fabric, const std::string& who) {
  AcceptWish wish = given.wish;
  wish.fabric = fabric;
  wish.who = who;
  wish.output = output_of(given);
  if (given.now) return wish;
  if (given.how_long.empty())
    throw Failure(Exit::kWrongUsage,
                  "say how long it is to be watched (--for 2h), or that it is judged by what is known now (--now)");
  wish.length = parse_duration(given.how_long);
  if (!wish.length || *wish.length <= Duration::zero())
    throw Failure(Exit::kWrongUsage, "--for needs a duration of a second to 30d, such as 30m, 2h or 1d");
  return wish;
}

}  // namespace

void add_accept_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  const auto own = std::make_shared<AcceptGiven>();
  CLI::App* accept = app.add_subcommand(
      "accept",
      "Pass or fail for a new or repaired fabric, rack or link: after it was watched for some time. Exit status 0 only "
      "for PASS, 1 for FAIL, 5 while something that must be measured is not");
  accept->add_option("--hosts", own->wish.hosts, "Hosts by name, with all their adapters, separated by commas")
      ->delimiter(',');
  accept->add_option("--switches", own->wish.switches, "Switches by name or GUID, with all their ports")
      ->delimiter(',');
  accept
      ->add_option("--links", own->wish.links,
                   "Links by a port at one end: \"leaf-1:12\", on Ethernet \"leaf01 swp12\"; of each both ends")
      ->delimiter(',');
  accept->add_option("--fabric", given.fabric, "Only this fabric; without targets: all of it");
  CLI::Option* how_long = accept->add_option("--for", own->how_long, "Watch it for so long: 30m, 2h, 1d");
  CLI::Option* now = accept->add_flag("--now", own->now, "Judge it by what weftd has read so far; nothing is kept");
  now->excludes(how_long);
  accept
      ->add_option("--ber-limit", own->wish.ber_limit,
                   "Errors per bit that each link must stay under, such as 1e-14; default: by its generation")
      ->type_name("RATE");
  accept->add_flag("--wait", own->wish.wait, "Follow it until it is over, and print the report")->excludes(now);
  add_output(*accept, *own);
  accept->add_option("--who", given.who, kForWhom);
  CLI::App* list = accept->add_subcommand("list", "Runs that are under way, and the last ones that are over");
  list->add_flag("--running", own->running, "Only those that are under way");
  list->add_option("--host", own->host, "Only those of which this host is a target");
  CLI::App* show = accept->add_subcommand("show", "One run with its report");
  show->add_option("ID", given.id, "ACC-3 or 3")->required();
  add_output(*show, *own);
  CLI::App* end = accept->add_subcommand("end", "End a run before its time; it is judged as it is");
  end->add_option("ID", given.id, "ACC-3 or 3")->required();
  end->add_option("--who", given.who, kForWhom);
  accept->require_subcommand(0, 1);
  accept->callback([&given, &chosen, own, list, show, end] {
    if (list->parsed())
      chosen = [own](const Session& session) { return show_acceptances(session, own->running, own->host); };
    else if (show->parsed())
      chosen = [&given, own](const Session& session) { return show_acceptance(session, given.id, output_of(*own)); };
    else if (end->parsed())
      chosen = [&given](const Session& session) { return end_acceptance(session, given.id, given.who); };
    else
      chosen = [&given, own](const Session& session) {
        return weft::ctl::accept(session, wish_of(*own, given.fabric, given.who));
      };
  });
}

}  // namespace weft::ctl
