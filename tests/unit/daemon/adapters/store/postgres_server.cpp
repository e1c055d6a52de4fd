// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/daemon/adapters/store/postgres_server.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

namespace weft::store {
namespace {

const std::filesystem::path kPrograms = "/usr/lib/postgresql/15/bin";

/// PostgreSQL refuses to run as root.
void become_ordinary() {
  if (::geteuid() != 0) return;
  const passwd* nobody = ::getpwnam("nobody");
  if (nobody == nullptr || ::setgid(nobody->pw_gid) != 0 || ::setuid(nobody->pw_uid) != 0) ::_exit(126);
}

/// State and parent, as in /proc/PID/stat (proc(5)); '-' and -1 when there is no such process.
std::pair<char, pid_t> stat_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  char state = '-';
  pid_t parent = -1;
  rest >> state >> parent;
  return {state, parent};
}

/// The processes that `parent` made.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos && stat_of(name).second == parent)
      children.push_back(std::stoi(name));
  }
  return children;
}

/// It runs no more, though nobody may have asked for its exit status yet.
bool is_over(pid_t process) {
  const char state = stat_of(std::to_string(process)).first;
  return state == '-' || state == 'Z' || state == 'X';
}

/// Runs a program of PostgreSQL as an ordinary user, with what it says in `log`; it ends when we do.
pid_t spawn(std::vector<std::string> words, const std::filesystem::path& log) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  become_ordinary();
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after setuid, which forgets it
  if (::getppid() != parent) ::_exit(126);
  if (::freopen(log.c_str(), "a", stdout) == nullptr || ::dup2(1, 2) < 0) ::_exit(126);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(raw.front(), raw.data());
  ::_exit(127);
}

bool succeeds(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  if (!std::filesystem::exists(kPrograms / "postgres")) {
    absence_ = "PostgreSQL 15 is not installed (Debian: postgresql-15)";
    return;
  }
  std::string name = (std::filesystem::temp_directory_path() / "weft-postgres-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    absence_ = "there is no temporary directory";
    return;
  }
  directory_ = name;
  if (::geteuid() == 0)
    if (const passwd* nobody = ::getpwnam("nobody");
        nobody == nullptr || ::chown(name.c_str(), nobody->pw_uid, nobody->pw_gid) != 0)
      ADD_FAILURE() << "no ordinary user";
  if (!succeeds(spawn({kPrograms / "initdb", "-D", directory_ / "data", "-A", "trust", "-U", "weft", "-E", "UTF8",
                       "--locale=C.UTF-8", "--no-sync"},
                      directory_ / "log"))) {
    ADD_FAILURE() << "initdb failed: see " << directory_;
    absence_ = "initdb failed";
    return;
  }
  start();
}

PostgresServer::~PostgresServer() {
  if (process_ > 0) {
    ::kill(process_, SIGQUIT);
    ::waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  if (!directory_.empty() && absence_.empty()) std::filesystem::remove_all(directory_, ignored);
}

void PostgresServer::start() {
  const std::string where = "host=" + directory_.string() + " user=weft dbname=postgres connect_timeout=2";
  // What is on the disk outlives the server without fsync: the machine goes on.
  const std::vector<std::string> words{
      kPrograms / "postgres",       "-D", directory_ / "data",  "-k", directory_,           "-c",
      "listen_addresses=",          "-c", "shared_buffers=8MB", "-c", "max_connections=20", "-c",
      "max_wal_senders=2",          "-c", "autovacuum=off",     "-c", "fsync=off",          "-c",
      "max_prepared_transactions=2"};
  const auto ready = [&where] { return PQping(where.c_str()) == PQPING_OK; };
  for (int attempt = 0; attempt < 600 && (process_ < 0 || !ready()); ++attempt) {
    // It refuses while processes of one that was killed are still there.
    if (process_ < 0 || ::waitpid(process_, nullptr, WNOHANG) == process_) process_ = spawn(words, directory_ / "log");
    ::usleep(50'000);
  }
  if (!ready()) ADD_FAILURE() << "PostgreSQL does not answer: see " << directory_ / "log";
}

// Left alone, a connection's process may answer once more before it notices that the server is gone.
void PostgresServer::kill() {
  ::kill(process_, SIGSTOP);  // it makes no more
  const std::vector<pid_t> children = children_of(process_);
  EXPECT_FALSE(children.empty());
  ::kill(process_, SIGKILL);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  for (const pid_t child : children)
    while (!is_over(child)) ::usleep(1'000);
  process_ = -1;
}

std::string PostgresServer::value(const std::string& sql) const {
  const std::string where = "host=" + directory_.string() + " user=weft dbname=postgres";
  PGconn* connection = PQconnectdb(where.c_str());
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  PGresult* result = PQexec(connection, sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) ADD_FAILURE() << PQerrorMessage(connection) << sql;
  std::string text = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
  PQclear(result);
  PQfinish(connection);
  return text;
}

void PostgresServer::run(const std::string& sql) const {
  value(sql);
}

void PostgresServer::have_plain_role() const {
  run("DO $$ BEGIN CREATE ROLE plain LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
}

// Its checkpointer reads the setting when it comes to it. So a commit is tried until one waits.
void PostgresServer::require_standby() const {
  run("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'");
  run("SELECT pg_reload_conf()");
  const std::string where = "host=" + directory_.string() + " user=weft dbname=postgres application_name=probe";
  bool waits = false;
  for (int attempt = 0; attempt < 600 && !waits; ++attempt) {
    PGconn* connection = PQconnectdb(where.c_str());
    PQsendQuery(connection, "SELECT pg_logical_emit_message(true, 'probe', '')");
    while (!waits && PQconsumeInput(connection) == 1 && PQisBusy(connection) == 1) {
      waits =
          value("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'probe' AND wait_event = 'SyncRep'") ==
          "1";
      ::usleep(10'000);
    }
    if (waits) run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'probe'");
    PQfinish(connection);
  }
  EXPECT_TRUE(waits) << "no commit waits for a standby";
}

void PostgresServer::require_no_standby() const {
  run("ALTER SYSTEM RESET synchronous_standby_names");
  run("SELECT pg_reload_conf()");
}

std::string PostgresServer::url(const std::string& schema, const std::string& more) const {
  run("CREATE SCHEMA IF NOT EXISTS \"" + schema + "\"");
  return "postgresql:///postgres?host=" + directory_.string() + "&user=weft&options=-csearch_path%3D%22" + schema +
         "%22" + more;
}

std::string PostgresServer::database_url(const std::string& database) const {
  if (value("SELECT 1 FROM pg_database WHERE datname = '" + database + "'").empty())
    run("CREATE DATABASE \"" + database + "\"");
  return "postgresql:///" + database + "?host=" + directory_.string() + "&user=weft";
}

}  // namespace weft::store
