// SPDX-License-Identifier: Apache-2.0
#pragma once
// A database of PostgreSQL, as an engine of the store. A connection that is lost is made anew when it is next needed; a
// server that is silent costs at most some seconds, and after a failed attempt there is none for a while.
//
// Each transaction that writes first leaves a random mark in the table weft_store, in a row that only one transaction
// at a time can change. When the connection is lost within COMMIT, the next transaction looks for that mark: reading it
// waits for a COMMIT that still goes on, and after a fail-over it is there exactly when what was written is there. (A
// number of a transaction, as for pg_xact_status(), may be another's on a server that took over.)
// On each new connection the mark of the last transaction that stayed is looked for, too: a server that took over
// without having been a synchronous standby may never have had it. No feature of a session is used, so that a pooler of
// transactions may stand between.
//
// Statements of a transaction whose rows do not matter are sent without waiting for each other's answers (PostgreSQL 15
// documentation, 34.5, pipeline mode). The answers are read before anything else is asked.

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/store/connection.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_servers.hpp"

namespace weft::store {

/// See Connection for what its members promise.
class PostgresConnection final : public Connection {
 public:
  /// Frees a result of libpq.
  struct Clear {
    /// Frees it.
    void operator()(PGresult* result) const { PQclear(result); }
  };
  /// Rows, or the number of rows changed.
  using Rows = std::unique_ptr<PGresult, Clear>;

  /// Connects. kUnavailable with libpq's reason when that fails.
  static Result<std::unique_ptr<PostgresConnection>> open(const PostgresAddress& address);
  /// A connection that is made when it is first needed.
  static std::unique_ptr<PostgresConnection> make(const PostgresAddress& address) {
    return std::unique_ptr<PostgresConnection>(new PostgresConnection(address));
  }

  const std::string& name() const override { return address_.name; }
  Result<std::unique_ptr<Cursor>> prepare(std::string_view sql) override;
  Result<void> run(const char* sql) override;
  Result<void> begin() override;
  Result<void> commit() override;
  void roll_back() override;
  Result<std::int64_t> changes() override;
  Result<void> check_place() override { return {}; }
  bool unsettled() const override { return !unsettled_.empty(); }
  std::optional<bool> take_settled() override { return std::exchange(settled_, std::nullopt); }
  bool take_loss() override { return std::exchange(is_lost_, false); }

  /// From now on each transaction leaves its mark, and fails when another weftd has taken the database since `epoch`.
  void lead(std::int64_t epoch) override {
    epoch_ = epoch;
    use_ = Use::kLead;
    committed_.clear();
    is_doubtful_ = true;
  }
  /// From now on it reads alone.
  void follow() { use_ = Use::kFollow; }
  /// It is of port history: transactions leave no mark, and a commit whose end is not known is taken for none.
  void keep_history() { is_history_ = true; }
  /// Outside of transactions: goes over to a server that took over, if one did; see newest_server().
  void look_around();
  /// Outside of transactions: what commits of this database wait for, in words, while they do and the server is asked;
  /// see kAwaitedStandby. Empty: they do not, or it is not known. `is_known`: that one did is.
  std::string awaited_standby(bool is_known = false);
  /// From now on it is the lease's: transactions leave no mark, and nothing takes longer than a lease can wait.
  void keep_lease() { use_ = Use::kLease; }

 private:
  friend class PostgresCursor;
  using Steady = std::chrono::steady_clock;
  /// In the order of the parameters; none: NULL.
  using Parameters = std::vector<std::optional<std::string>>;

  /// What the connection is for.
  enum class Use : std::uint8_t { kSetUp, kFollow, kLead, kLease };

  /// Of an answer once the database is opened: whoever is paged waits for it. The server gives up before (see kBegin
  /// and kBoundAlone), and says who was in the way.
  static constexpr std::chrono::seconds kLongestAnswer{6};
  /// Before: tables are made, or changed.
  static constexpr std::chrono::seconds kLongestAtFirst{60};
  /// Statements whose answers may be outstanding: what is queued stands in memory.
  static constexpr std::size_t kMostQueued = 500;
  /// A connection that waits for no standby does not notice that another server took over: it looks so often.
  static constexpr std::chrono::seconds kLooksAround{30};
  /// Of what the lease asks. It is lost after 3 s.
  static constexpr std::chrono::seconds kLongestOfLease{2};
  /// Of a connection that is made to ask who is in the way, and of one to ask what a commit waits for: the server may
  /// hang, and another one may have taken over.
  static constexpr std::chrono::milliseconds kLongestBeside{2000}, kLongestBesideCommit{1000};

  explicit PostgresConnection(PostgresAddress address) : address_(std::move(address)) {}
  /// Makes a connection where there is none.
  Result<void> connect();
  /// Takes a connection that is new.
  void adopt(ConnectionHandle handle);
  Result<void> begin_connected();
  Result<void> settle();
  /// On a new connection: whether the last transaction that stayed is there.
  Result<void> find_committed();
  /// Sends a statement (or several, without parameters) and waits for its end.
  Result<Rows> execute(const char* sql, const Parameters* parameters);
  /// The same; where no transaction is open, over a new connection if the present one is lost.
  Result<Rows> execute_anywhere(const char* sql, const Parameters* parameters);
  /// The same over the present connection, where no transaction is open: bounded by the server, see kBoundAlone.
  Result<Rows> execute_alone(const char* sql, const Parameters* parameters);
  const char* bounds() const;
  Result<Rows> receive(Steady::time_point deadline);
  /// Sends a statement of the transaction that is open; its answer is read by collect().
  Result<void> queue(const char* sql, const Parameters& parameters);
  /// Reads the answers to what was queued; the first failure among them. `last`: gets the last one.
  Result<void> collect(Rows* last = nullptr);
  /// 1: libpq took it.
  int send(const char* sql, const Parameters* parameters);
  Result<void> flush(Steady::time_point deadline);
  /// The next answer, when it is there; null at the end of those to one statement.
  Result<Rows> next_answer(Steady::time_point deadline);
  /// What an answer says that is a failure. `gone`: the server takes no writes any more.
  Error failure(const PGresult* answer, bool& gone);
  /// Another connection to the same server, for a question about this one; null when there is none within that time.
  std::unique_ptr<PostgresConnection> beside(std::chrono::milliseconds within) const;
  /// COMMIT.
  Result<Rows> end();
  /// Who holds the lock that this connection waited for in vain, or what those wait for, asked of the same server over
  /// another connection: a transaction that failed answers nothing. `said`: by the server. `context`: the same, it
  /// names the table where a row was waited for; may be null. kTimeout; kUnavailable where commits wait for a standby,
  /// but of a start, which waits for that.
  Error in_the_way(const std::string& said, const char* context) const;
  Steady::time_point deadline() const;
  /// Waits for the socket. False: the time is over.
  bool wait(bool for_room, Steady::time_point deadline) const;
  tl::unexpected<Error> lose(const std::string& why);
  /// No attempt for a while.
  tl::unexpected<Error> hold_off(std::string why);

  PostgresAddress address_;
  ConnectionHandle handle_;
  Steady::time_point looked_{};  ///< when it was last the newest server's
  Use use_ = Use::kSetUp;
  bool is_history_ = false;
  /// Another server may have taken over: a lock was not given, which a commit of ours may hold that waits for a standby
  /// in vain; or the lease was taken over a connection of its own.
  bool is_doubtful_ = false;
  std::int64_t epoch_ = 0;  ///< of kLead
  std::int64_t changes_ = 0;
  std::size_t queued_ = 0;  ///< statements whose answers are not read
  bool is_committing_ = false;
  bool open_ = false;      ///< a transaction was begun and not ended, whatever became of the connection
  std::string warning_;    ///< sent with the last statement
  std::string mark_;       ///< of the transaction that is open
  std::string unsettled_;  ///< the mark of a transaction of which we do not know whether it stayed
  std::optional<bool> settled_;
  std::string committed_;       ///< the mark of the last transaction that stayed, of this epoch
  bool is_new_ = false;         ///< the connection was made, and find_committed() was not called
  bool is_lost_ = false;        ///< see take_loss()
  std::string refusal_;         ///< why nothing could be begun the last time
  Steady::time_point retry_{};  ///< not before then
  std::chrono::milliseconds pause_{};
};

}  // namespace weft::store
