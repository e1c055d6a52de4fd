// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of several servers of a database is asked, where more than one takes writes: a standby was promoted, and its
// old primary goes on. The old one is on an older timeline, and confirms nothing while it waits for a standby.

#include <libpq-fe.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace weft::store {

/// Frees a connection of libpq.
struct FinishConnection {
  /// Frees it.
  void operator()(PGconn* handle) const { PQfinish(handle); }
};
/// A connection of libpq.
using ConnectionHandle = std::unique_ptr<PGconn, FinishConnection>;

/// A connection to the first server of these options (keywords of libpq) that is fit, else a handle that failed or
/// null. libpq goes on to the next server by itself where one refuses, or says nothing for connect_timeout; where one
/// answers what is not PostgreSQL's protocol, or refuses the role, those behind it are asked here. None is asked twice,
/// and in the lists of `options` those that failed are the last from then on: the next connection need not wait for
/// them. `said`: what libpq says of those that failed, a line each. Blocks.
ConnectionHandle connect_to_any(std::map<std::string, std::string>& options, std::string& said);

/// Of `chosen`, which libpq found by `options` (keywords of libpq) and which has nothing to do, and the other servers
/// in the list of hosts: the one that takes writes, is of the same database, and is on the newest timeline. The others
/// have half a second to answer, so one that is silent is left out. Blocks. `chosen` itself where it is the only host,
/// or does not say its timeline. A handle whose status is not CONNECTION_OK, or null: it was lost meanwhile, or was
/// silent for two seconds.
ConnectionHandle newest_server(ConnectionHandle chosen, const std::map<std::string, std::string>& options);

/// A connection by `options`; null when there is none within that time. Blocks.
ConnectionHandle connect_within(std::chrono::milliseconds time, const std::map<std::string, std::string>& options);

/// Puts the server of `silent` behind the others in the lists of `options`: the next connection need not wait for it.
void ask_last(const PGconn* silent, std::map<std::string, std::string>& options);

/// Why there is no connection, in a sentence: that no server is reachable, or that one refused it, with libpq's words
/// (`said`) and, where a password is missing, what is wrong with the file that `options` names for it. `handle`: null,
/// or one that failed.
std::string connection_failure(const PGconn* handle, const std::string& said,
                               const std::map<std::string, std::string>& options);

}  // namespace weft::store
