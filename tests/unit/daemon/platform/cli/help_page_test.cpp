// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/help_page.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "daemon/platform/cli/terminal_text.hpp"

namespace weft::usage {
namespace {

Option option(std::vector<std::string> names, std::string value, std::string help, std::string group) {
  Option made;
  made.names = std::move(names);
  made.value = std::move(value);
  made.help = std::move(help);
  made.group = std::move(group);
  return made;
}

Command program() {
  Command command;
  command.name = "weftd";
  command.help = "Watches fabrics.";
  command.footer = "Exit codes: 0 stopped.";
  command.options = {option({"--help", "-h"}, "", "Print this", ""),
                     option({"--http", "--listen-http"}, "address",
                            "Address of the page. It needs a certificate. (default: \"x:1\")", "listen"),
                     option({"--listen-socket"}, "path", "A socket for accounts of this host. Others read.", "listen"),
                     option({"--remedy-mode"}, "word", "What it may do.", "remedy")};
  return command;
}

TEST(HelpPage, TheShortOneHasWhatIsUsedMostAndCountsTheRest) {
  EXPECT_EQ(help_page(program(), 60, HelpLength::kShort),
            "Watches fabrics.\n"
            "\n"
            "Usage: weftd [OPTION]...\n"
            "\n"
            "Options:\n"
            "  -h, --help            Print this\n"
            "  --http, --listen-http address\n"
            "                        Address of the page (default: \"x:1\")\n"
            "\n"
            "More keys of the configuration, each also a flag; --help-all\n"
            "tells them: listen 1, remedy 1.\n"
            "\n"
            "Exit codes: 0 stopped.\n");
}

TEST(HelpPage, TheWholeOneHasAllOfEachOption) {
  const std::string page = help_page(program(), 200, HelpLength::kWhole);
  for (const char* part : {"It needs a certificate. (default: \"x:1\")", "listen:\n", "--listen-socket path",
                           "Others read.", "remedy:\n", "--remedy-mode word", "What it may do."})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("More keys"), std::string::npos);
}

TEST(HelpPage, KeepsToItsColumns) {
  for (const std::size_t columns : {40U, 60U, 80U, 200U}) {
    std::istringstream lines(help_page(program(), columns, HelpLength::kWhole));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), columns) << line;
  }
}

TEST(HelpPage, AnAbbreviationEndsNoSentence) {
  Command command = program();
  command.options = {option({"--a"}, "", "Of a port, e.g. mlx5_0 or vol. 1 of it. The rest", "")};
  const std::string page = help_page(command, 200, HelpLength::kShort);
  EXPECT_NE(page.find("Of a port, e.g. mlx5_0 or vol. 1 of it\n"), std::string::npos) << page;
}

TEST(HelpPage, AnOverviewHasALineForEachVerb) {
  Command tool = program();
  const auto add = [&tool](const char* name, const char* help) {
    Command verb;
    verb.name = name;
    verb.help = help;
    tool.verbs.push_back(verb);
  };
  add("nodes", "Adapters, switches and routers");
  add("path", "Path from one port to another; on Ethernet all of them. Exit status 1 if one is incomplete");
  add("worst", "What did the most harm: cables, modules, hosts or switches");
  add("drain", "No clause of this sentence is short enough to be in one line of it");
  EXPECT_EQ(overview_page(tool, "The rest by: weftd help VERB.", 50),
            "Watches fabrics.\n"
            "Usage: weftd [OPTION]... VERB ...\n"
            "\n"
            "Subcommands:\n"
            "  nodes  Adapters, switches and routers\n"
            "  path   Path from one port to another\n"
            "  worst  What did the most harm\n"
            "  drain  No clause of this sentence is short ...\n"
            "\n"
            "Options, also after a verb; --help-all explains\n"
            "them: --help, --http, --listen-socket,\n"
            "--remedy-mode.\n"
            "The rest by: weftd help VERB.\n");
}

}  // namespace
}  // namespace weft::usage
