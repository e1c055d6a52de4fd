// SPDX-License-Identifier: Apache-2.0
// weftd: reads its configuration, then runs.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "daemon/adapters/store/store.hpp"
#include "daemon/config/command_line.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/application.hpp"
#include "daemon/programs/weftd/counter_reference.hpp"
#include "daemon/programs/weftd/manual.hpp"
#include "daemon/programs/weftd/named_files.hpp"
#include "daemon/programs/weftd/store_command.hpp"
#include "daemon/programs/weftd/upgrade_check.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

/// gRPC 1.51 stops listening for good when accept() finds no free descriptor, and a shell's usual 1024 are soon gone.
void allow_many_descriptors() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(kEnough, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);  // what is refused stays as it was
}

int check_upgrade(const weft::config::WeftdConfig& config) {
  const auto found = weft::store::database_versions(config.state_dir, weft::daemon::store_options(config));
  if (!found) {
    std::cerr << "weftd: " << found.error().message << '\n';
    return 1;
  }
  weft::daemon::tell_upgrade(std::cout, *found, WEFT_VERSION);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  allow_many_descriptors();
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // what goes wrong with a listener is said by us, once
  CLI::App app{
      "weftd monitors InfiniBand and Ethernet fabrics: it finds failed, flapping and degrading links, and serves "
      "gRPC, Prometheus, JSON and a web page."};
  if (argc > 1 && std::string_view(argv[1]) == "store") return weft::daemon::run_store_command(argc - 1, argv + 1);
  app.set_version_flag("--version", WEFT_VERSION);
  app.footer(
      "Every key of the configuration file is also a flag. Without a file and flags weftd monitors every active "
      "InfiniBand port of this machine. \"weftd store restore FILE STATE_DIR\" puts a backup of weftctl backup back, "
      "\"weftd store copy FROM TO\" moves "
      "incidents, plans and the audit trail to PostgreSQL or back. Exit codes: 0 stopped, 1 cannot run, 2 wrong "
      "configuration or usage.");
  app.add_flag_callback(
      "--counter-reference",
      [] {
        std::cout << weft::daemon::counter_reference();
        throw CLI::Success();
      },
      "Print every counter and its metric as Markdown and exit");
  bool upgrade = false;
  app.add_flag("--check-upgrade", upgrade,
               "Tell what a start of this version would migrate in the databases, and exit");
  const weft::SystemClock clock;
  const auto command = weft::config::read_command_line<weft::config::WeftdConfig>(
      app, argc, argv, weft::daemon::manual(WEFT_VERSION),
      [&clock](const weft::config::WeftdConfig& config, const weft::config::Doubts& doubts) {
        weft::daemon::warn_of_account(config, std::cerr);
        return weft::daemon::check_named_files(config, doubts, clock);
      },
      &upgrade);
  if (command.exit && !(upgrade && command.is_valid)) return *command.exit;
  if (upgrade) return check_upgrade(command.config);
  weft::daemon::set_log_level(command.config.log_level);
  const auto ended = weft::daemon::run(command.config);
  if (ended) return 0;
  std::cerr << "weftd: " << ended.error().message << '\n';
  return ended.error().code == weft::ErrorCode::kInvalidArgument ? 2 : 1;
}
