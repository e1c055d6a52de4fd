// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a command line gives, and the verb that it chooses.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/client/channel.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {

/// What the command line gave.
struct Arguments {
  std::string server;  ///< empty: standard_server()
  api::ClientSecurity security;
  bool json = false;
  bool plain = false;
  std::string color = "auto";
  std::string every;  ///< seconds between two pages; empty: one is enough
  std::string fabric;
  std::string fact;
  std::string node;
  std::string contains;  ///< of links and nodes, see ListLinksRequest.contains and ListNodesRequest.contains
  std::string type;
  std::string from;
  std::string to;
  std::string id;
  std::string who;
  std::string how_long;
  std::string last = "24h";
  std::string link;
  std::string reason;
  std::string word;
  std::uint64_t revision = 0;
  std::uint32_t limit = 50;
  std::string begin;
  std::vector<std::string> words;
  std::string file;
  std::string port;
  std::string folder = ".";
  bool with_jobs = false;
  bool force = false;
  bool list = false;
  bool revoke = false;
  std::string shell;
  std::vector<std::string> nodes;
  std::string job;
  bool all = false;
  bool ids = false;
  bool names = false;
  bool counters = false;
  std::vector<std::string> counter_names;
  std::vector<std::string> kinds;
  std::vector<std::string> severities;
  std::string worst;
  std::string worst_of = "cables";
  std::string worst_by = "harm";
  std::string worst_last = "7d";
  std::uint32_t top = 20;
  bool down = false;
  bool differences = false;
  bool dry_run = false;
  bool yes = false;
  bool leave = false;
  bool in_force = false;
  bool wait = false;
  std::string timeout = "30m";
};

/// What --who says.
inline constexpr const char* kForWhom =
    "Whom you act for; recorded beside your own name, which weftd finds out by itself; default: who called sudo";

/// A time that an option gives, or so long ago; none where it is empty. Throws kWrongUsage for what is no time.
std::optional<TimePoint> past_time(const char* option, const std::string& text, TimePoint now);

/// Carries out what was asked for and returns the exit status.
using Verb = std::function<Exit(const Session&)>;

/// The verbs about plans and the audit trail, and those that want something done. `given` and `chosen` outlive `app`.
void add_plan_verbs(CLI::App& app, Arguments& given, Verb& chosen);
/// Like add_plan_verbs(), for the verbs that ask for an action.
void add_remedy_verbs(CLI::App& app, Arguments& given, Verb& chosen);

/// The verbs about the past, and those that write files: history, worst, evidence, backup.
void add_history_verbs(CLI::App& app, Arguments& given, Verb& chosen);

/// The verb that accepts fabrics, hosts and links.
void add_accept_verb(CLI::App& app, Arguments& given, Verb& chosen);

/// The verb that lets collectors in.
void add_enroll_verb(CLI::App& app, Arguments& given, Verb& chosen);

}  // namespace weft::ctl
