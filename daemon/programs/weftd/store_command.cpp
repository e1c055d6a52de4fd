// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/store_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "daemon/adapters/store/copy.hpp"

namespace weft::daemon {
namespace {

int copy(const std::string& from, const std::string& to) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  const auto clear = [is_terminal] {
    if (is_terminal) std::cerr << "\r\033[K" << std::flush;
  };
  const auto copied = store::copy_store(from, to, [&](const store::CopyProgress& progress) {
    clear();
    if (is_terminal)
      std::cerr << progress.table << ": " << progress.rows << " of " << progress.of << " rows" << std::flush;
  });
  clear();
  if (!copied) {
    std::cerr << "weftd store copy: " << copied.error().message << '\n';
    return 1;
  }
  std::cout << copied->rows << " rows were copied and verified. Audit trail: " << copied->audit.records
            << " records, last hash " << copied->audit.last_hash << ".\n";
  return 0;
}

}  // namespace

int run_store_command(int argc, char** argv) {
  CLI::App app{"What is done with a store while no weftd uses it.", "weftd store"};
  app.require_subcommand(1);
  std::string from, to;
  CLI::App* command = app.add_subcommand(
      "copy", "Copy incidents, plans and the audit trail. A copy that was broken off goes on with the same command");
  const char* place = "state directory, or postgresql://user@host/database";
  command->add_option("FROM", from, place)->required();
  command->add_option("TO", to, std::string("empty: ") + place)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return copy(from, to);
}

}  // namespace weft::daemon
