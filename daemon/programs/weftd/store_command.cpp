// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/store_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "daemon/adapters/store/backup.hpp"
#include "daemon/adapters/store/copy.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "fabric/clock.hpp"

namespace weft::daemon {
namespace {

/// Says on a terminal how far it is, in the place of what was said before.
void say_progress(const std::string& text) {
  if (::isatty(STDERR_FILENO) == 1) std::cerr << "\r\033[K" << text << std::flush;
}

std::string rows_text(const store::Copied& copied) {
  const std::string all = std::to_string(copied.rows);
  if (copied.added == 0) return "All " + all + " rows were there already, and are verified: nothing was copied.";
  if (copied.added == copied.rows) return all + " rows were copied and verified.";
  return std::to_string(copied.added) + " rows were copied, " + std::to_string(copied.rows - copied.added) +
         " were there already; all are verified.";
}

std::string counted(std::uint64_t number, const std::string& what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

std::string things_text(const store::Copied& copied) {
  return counted(copied.incidents, "incident") + ", " + counted(copied.plans, "plan") + " and " +
         counted(copied.windows, "maintenance window") + " are among them.";
}

std::string trail_text(const store::AuditProof& trail) {
  if (trail.records == 0) return "The audit trail is empty.";
  return "Audit trail: " + std::to_string(trail.records) + " records, last hash " + trail.last_hash + '.';
}

/// What is left to do before a weftd uses the copy.
std::string next_step(const std::string& to) {
  if (!store::is_url(to)) return "remove store.url from weftd.toml, set state_dir to that directory, and start weftd";
  const auto address = store::parse_postgres_address(to);
  const std::string shard = address ? store::shard_of_schema(address->schema) : std::string();
  if (shard.empty()) return "set store.url of weftd.toml to that database, and start weftd";
  return "set site.shard = \"" + shard +
         "\" in weftd.toml, and store.url to that database, without options=: weftd finds the schema by the shard's "
         "name. Then start it";
}

int copy(const std::string& from, const std::string& to) {
  std::error_code unknown;
  if (from == to || std::filesystem::equivalent(from, to, unknown)) {
    std::cerr << "weftd store copy: FROM and TO are the same store\n";
    return 2;
  }
  const auto copied = store::copy_store(from, to, [](const store::CopyProgress& progress) {
    say_progress(progress.table + ": " + std::to_string(progress.rows) + " of " + std::to_string(progress.of) +
                 " rows");
  });
  say_progress("");
  if (!copied) {
    std::cerr << "weftd store copy: " << copied.error().message << '\n';
    return 1;
  }
  std::cout << rows_text(*copied) << '\n'
            << things_text(*copied) << ' ' << trail_text(copied->audit) << '\n'
            << "Next: " << next_step(to) << ".\n";
  return 0;
}

int restore(const std::string& backup, const std::string& state_dir) {
  if (store::is_url(state_dir)) {
    std::cerr << "weftd store restore: a backup of a state directory goes back into one. A database goes back with "
                 "pg_restore: see the guide, database.md\n";
    return 2;
  }
  const auto restored = store::restore_backup(backup, state_dir, SystemClock().now(),
                                              [](std::string_view what) { say_progress(std::string(what)); });
  say_progress("");
  if (!restored) {
    std::cerr << "weftd store restore: " << restored.error().message << '\n';
    return 1;
  }
  std::cout << "Restored from " << backup << ". " << trail_text(restored->audit) << '\n';
  if (!restored->kept.empty()) std::cout << "What was there is " << restored->kept.string() << ".\n";
  if (restored->revoked_tokens > 0)
    std::cout << "Enrollment tokens of the backup that were taken back, because they may have been used or revoked "
                 "since: "
              << restored->revoked_tokens << ". Make new ones: weftctl enroll.\n";
  std::cout << "Automation is stopped: after the start look at what is out of service, then weftctl hands-off off "
               "--reason WHY.\n";
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
  std::string backup, state_dir;
  CLI::App* back = app.add_subcommand("restore", "Put a backup of weftctl backup in the place of weft.db");
  back->add_option("FILE", backup, "the backup")->required();
  back->add_option("STATE_DIR", state_dir, "the state directory, /var/lib/weft as a rule")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return command->parsed() ? copy(from, to) : restore(backup, state_dir);
}

}  // namespace weft::daemon
