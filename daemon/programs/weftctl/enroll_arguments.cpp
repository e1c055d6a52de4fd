// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/duration.hpp"
#include "daemon/programs/weftctl/arguments.hpp"

namespace weft::ctl {
namespace {

EnrollWanted wanted_tokens(const Arguments& given, const std::string& how_long) {
  EnrollWanted wanted{
      .nodes = given.nodes, .file = given.file, .folder = given.word, .validity = std::nullopt, .who = given.who};
  if (!how_long.empty()) {
    const auto validity = usage::parse_duration(how_long);
    if (!validity) throw Failure(Exit::kWrongUsage, "--for: \"" + how_long + "\" " + validity.error());
    wanted.validity = *validity;
  }
  if (wanted.nodes.empty() && wanted.file.empty())
    throw Failure(Exit::kWrongUsage, "name the nodes, or a file with their names (--file)");
  return wanted;
}

}  // namespace

void add_enroll_verb(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* enroll = app.add_subcommand(
      "enroll", "Make one-time tokens: with one the collector of a node gets a certificate from weftd");
  enroll->add_option("NODE", given.nodes, "node_name of each collector, by default its host name");
  enroll->add_option("--file", given.file, "File with more names, one per line; - for standard input")
      ->type_name("FILE");
  // given.how_long has the default of another verb.
  CLI::Option* how_long = enroll->add_option("--for", given.timeout, "Validity of the tokens: 1h, 7d; default: 24h");
  CLI::Option* folder = enroll
                            ->add_option("--output", given.word,
                                         "Directory for a file NODE.token each, mode 0600; default: standard output, "
                                         "one per line")
                            ->type_name("DIRECTORY");
  enroll->add_option("--who", given.who, kForWhom);
  CLI::Option* list = enroll->add_flag("--list", given.list, "Tokens that have not expired, without their secrets");
  enroll->add_flag("--revoke", given.revoke, "Take back the unused tokens of these nodes; certificates stay valid")
      ->excludes(list)
      ->excludes(how_long)
      ->excludes(folder);
  list->excludes("NODE")->excludes("--file")->excludes(how_long)->excludes(folder);
  enroll->callback([&given, &chosen, how_long] {
    if (given.list) {
      chosen = show_enroll_tokens;
      return;
    }
    const std::string validity = how_long->count() > 0 ? given.timeout : "";
    chosen = [&given, validity](const Session& session) {
      const EnrollWanted wanted = wanted_tokens(given, validity);
      return given.revoke ? revoke_enroll_tokens(session, wanted) : make_enroll_tokens(session, wanted);
    };
  });
}

}  // namespace weft::ctl
