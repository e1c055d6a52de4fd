// SPDX-License-Identifier: Apache-2.0
#pragma once
// A PostgreSQL of the tests' own: on a Unix socket in a directory of its own, as a user that is not root.

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace weft::store {

/// The server of this test program; made when it is first asked for, ended with the program.
class PostgresServer {
 public:
  static PostgresServer& shared();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  /// Why there is none: it is not installed. Empty when it runs.
  const std::string& absence() const { return absence_; }
  /// The address of a schema of that name, which is made when missing. `more` is added: "&keyword=value".
  std::string url(const std::string& schema, const std::string& more = "") const;
  /// The address of a database of that name, which is made when missing, without a schema of its own.
  std::string database_url(const std::string& database) const;
  /// Runs SQL as the owner of everything.
  void run(const std::string& sql) const;
  /// The role "plain", which owns nothing, is there.
  void have_plain_role() const;
  /// From now on a commit waits for a standby. There is none, so that it waits for ever.
  void require_standby() const;
  void require_no_standby() const;
  /// Ends the server and all its processes with kill -9.
  void kill();
  /// Starts it again on the same data, and waits until it answers.
  void start();

 private:
  PostgresServer();
  /// The first column of the first row of what `sql` gives; empty when it gives none.
  std::string value(const std::string& sql) const;

  std::filesystem::path directory_;
  std::string absence_;
  pid_t process_ = -1;
};

}  // namespace weft::store
