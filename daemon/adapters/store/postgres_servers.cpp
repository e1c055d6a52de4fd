// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/postgres_servers.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "fabric/result.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kOfOthers = 500ms;
constexpr auto kOfChosen = 2000ms;

/// A server on its way to say which database it has, and on which timeline.
struct Candidate {
  ConnectionHandle handle;
  PostgresPollingStatusType waits_for = PGRES_POLLING_WRITING;  ///< while it connects
  bool is_asked = false;                                        ///< it is connected, and the question was sent
  bool is_over = false;                                         ///< it answered, or failed
  std::string identity{}, timeline{};                           ///< as it says; empty: it does not
};

void ask(Candidate& candidate) {
  candidate.is_asked = true;
  candidate.is_over = PQsendQuery(candidate.handle.get(), postgres::kTimeline) != 1;
}

void go_on(Candidate& candidate) {
  PGconn* handle = candidate.handle.get();
  if (!candidate.is_asked) {
    candidate.waits_for = PQconnectPoll(handle);
    candidate.is_over = candidate.waits_for == PGRES_POLLING_FAILED;
    if (candidate.waits_for == PGRES_POLLING_OK) ask(candidate);
    return;
  }
  candidate.is_over = PQconsumeInput(handle) == 0;
  while (!candidate.is_over && PQisBusy(handle) == 0) {
    PGresult* answer = PQgetResult(handle);
    candidate.is_over = answer == nullptr;
    if (PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) == 1) {
      candidate.identity = PQgetvalue(answer, 0, 0);
      candidate.timeline = PQgetvalue(answer, 0, 1);
    }
    PQclear(answer);
  }
}

/// Waits until one of them has something for us, or the time is over.
void wait(const std::vector<Candidate>& candidates, std::vector<pollfd>& sockets, Steady::time_point until) {
  sockets.clear();
  for (const Candidate& each : candidates) {
    const bool writes = !each.is_asked && each.waits_for == PGRES_POLLING_WRITING;
    sockets.push_back({each.is_over ? -1 : PQsocket(each.handle.get()),  // -1: poll(2) leaves it out
                       static_cast<short>(writes ? POLLOUT : POLLIN), 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
  ::poll(sockets.data(), sockets.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
}

using Options = std::map<std::string, std::string>;

/// With PQconnectdbParams or PQconnectStartParams.
ConnectionHandle connect_by(PGconn* (*connect)(const char* const*, const char* const*, int), const Options& options) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  return ConnectionHandle(connect(keys.data(), values.data(), 0));
}

ConnectionHandle start(const Options& options) {
  return connect_by(PQconnectStartParams, options);
}

/// Whether `handle` is of the server of these options.
bool is_of(const PGconn* handle, const Options& server) {
  const auto has = [&server](const char* key, const char* value) {
    const auto found = server.find(key);
    return found == server.end() || found->second.empty() || found->second == value;
  };
  return has(server.contains("host") ? "host" : "hostaddr", PQhost(handle)) && has("port", PQport(handle));
}

/// Makes them, which each_server() has of such options, the lists of `options`.
void list_servers(const std::vector<Options>& servers, Options& options) {
  for (const char* key : {"host", "hostaddr", "port"}) {
    if (servers.empty() || !options.contains(key)) continue;
    std::string list;
    for (const Options& server : servers) list += ',' + server.at(key);
    options[key] = list.substr(1);
  }
}

/// What is wrong with the file of the password. libpq says nothing of it, and goes on without.
std::string password_advice(const std::map<std::string, std::string>& options) {
  const auto named = options.find("passfile");
  if (named == options.end()) return "store.url names no file with a password: passfile=FILE";
  const std::string its = "its passfile " + named->second;
  struct stat found {};
  if (::stat(named->second.c_str(), &found) != 0 || ::access(named->second.c_str(), R_OK) != 0)
    return its + " cannot be read: " + errno_message(errno);
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return its + " is open to others, so libpq does not use it: chmod 600";
  return its + " has no line for that host, port, database and role";
}

}  // namespace

ConnectionHandle connect_to_any(Options& options, std::string& said) {
  said.clear();
  auto left = each_server(options);
  if (left.empty()) left.push_back(options);
  std::vector<Options> failed;
  ConnectionHandle refused;
  while (true) {
    Options asked = options;
    list_servers(left, asked);
    ConnectionHandle handle = connect_by(PQconnectdbParams, asked);
    if (!handle) return handle;
    // It is the last one that libpq asked; those before it failed.
    auto last = std::ranges::find_if(left, [&handle](const Options& server) { return is_of(handle.get(), server); });
    const bool is_connected = PQstatus(handle.get()) == CONNECTION_OK;
    if (last == left.end()) last = is_connected ? left.begin() : left.end() - 1;
    if (!is_connected) ++last;
    failed.insert(failed.end(), left.begin(), last);
    left.erase(left.begin(), last);
    if (!is_connected) said += PQerrorMessage(handle.get());
    if (is_connected || left.empty()) {
      left.insert(left.end(), failed.begin(), failed.end());
      list_servers(left, options);
      return refused && !is_connected ? std::move(refused) : std::move(handle);
    }
    // What is missing there is what a person is to be told.
    if (PQconnectionNeedsPassword(handle.get()) != 0) refused = std::move(handle);
  }
}

ConnectionHandle newest_server(ConnectionHandle chosen, const std::map<std::string, std::string>& options) {
  auto rest = each_server(options);
  std::erase_if(rest, [&chosen](const Options& server) { return is_of(chosen.get(), server); });
  if (rest.empty()) return chosen;
  const auto begin = Steady::now();
  std::vector<Candidate> candidates(1);
  candidates.front().handle = std::move(chosen);
  ask(candidates.front());
  for (const auto& server : rest) {
    candidates.push_back({.handle = start(server)});
    candidates.back().is_over = PQstatus(candidates.back().handle.get()) == CONNECTION_BAD;
  }
  std::vector<pollfd> sockets;
  Candidate& first = candidates.front();
  while (true) {
    const bool all_over = std::ranges::all_of(candidates, &Candidate::is_over);
    const auto until = begin + (first.is_over ? kOfOthers : kOfChosen);
    if (all_over || Steady::now() >= until) break;
    wait(candidates, sockets, until);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (sockets[i].revents != 0) go_on(candidates[i]);
  }
  if (!first.is_over) return nullptr;
  Candidate* newest = &first;
  // Eight digits each.
  for (Candidate& each : candidates)
    if (each.is_over && !first.identity.empty() && each.identity == first.identity && each.timeline > newest->timeline)
      newest = &each;
  return std::move(newest->handle);
}

ConnectionHandle connect_within(std::chrono::milliseconds time, const std::map<std::string, std::string>& options) {
  const auto until = Steady::now() + time;
  ConnectionHandle handle = start(options);
  auto waits_for = PGRES_POLLING_WRITING;
  while (PQstatus(handle.get()) != CONNECTION_BAD && waits_for != PGRES_POLLING_OK) {
    pollfd socket{PQsocket(handle.get()), static_cast<short>(waits_for == PGRES_POLLING_WRITING ? POLLOUT : POLLIN), 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
    if (left <= 0 || ::poll(&socket, 1, static_cast<int>(left)) <= 0) return nullptr;
    waits_for = PQconnectPoll(handle.get());
  }
  return waits_for == PGRES_POLLING_OK ? std::move(handle) : nullptr;
}

void ask_last(const PGconn* silent, std::map<std::string, std::string>& options) {
  auto servers = each_server(options);
  std::stable_partition(servers.begin(), servers.end(),
                        [silent](const Options& server) { return !is_of(silent, server); });
  list_servers(servers, options);
}

std::string connection_failure(const PGconn* handle, const std::string& said,
                               const std::map<std::string, std::string>& options) {
  const bool needs_password = handle != nullptr && PQconnectionNeedsPassword(handle) != 0;
  // The server's own errors have their severity in front (PostgreSQL 15 documentation, 55.8).
  const bool is_refused = needs_password || said.find("FATAL:") != std::string::npos;
  std::string why = is_refused ? "the database refuses the connection: " : "the database is not reachable: ";
  why += said;
  if (needs_password) why += "; " + password_advice(options);
  return why;
}

}  // namespace weft::store
