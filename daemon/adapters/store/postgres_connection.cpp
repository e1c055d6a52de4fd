// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/postgres_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <string_view>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

/// Between attempts: doubled each time.
constexpr auto kShortestPause = 500ms, kLongestPause = 5000ms, kLongestPauseOfLease = 1000ms;

/// What libpq says, in one line.
std::string one_line(const char* message) {
  std::string text;
  std::string_view rest = message;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty() || line.front() == '\t') continue;  // advice for people at a terminal
    text += (text.empty() ? "" : "; ") + std::string(line);
  }
  return text;
}

/// By the class of SQLSTATE (PostgreSQL 15 documentation, appendix A).
ErrorCode of_sqlstate(std::string_view state) {
  if (state == "57014" || state == "55P03") return ErrorCode::kTimeout;
  if (state.starts_with("53")) return ErrorCode::kResourceExhausted;
  if (state.starts_with("XX00") && state != "XX000") return ErrorCode::kCorrupt;
  if (state == "42501" || state.starts_with("28")) return ErrorCode::kPermissionDenied;
  if (state.starts_with("08") || state.starts_with("57") || state.starts_with("58") || state.starts_with("40") ||
      state.starts_with("25"))
    return ErrorCode::kUnavailable;
  return ErrorCode::kInternal;
}

std::string random_mark() {
  std::random_device random;
  std::string mark;
  for (int i = 0; i < 4; ++i) mark += std::to_string(random()) + (i < 3 ? "." : "");
  return mark;
}

template <typename Number>
Number number(const char* text) {
  Number value{};
  const std::string_view view(text);
  std::from_chars(view.data(), view.data() + view.size(), value);
  return value;
}

}  // namespace

/// A statement, sent anew with each start().
class PostgresCursor final : public Cursor {
 public:
  PostgresCursor(PostgresConnection& connection, std::string_view sql)
      : connection_(connection), sql_(postgres::statement(sql)) {}

  Result<void> start(std::span<const Value> values) override {
    const auto parameters = texts_of(values);
    auto rows = connection_.execute_anywhere(sql_.c_str(), &parameters);
    if (!rows) return tl::unexpected<Error>(rows.error());
    rows_ = std::move(*rows);
    row_ = -1;
    return {};
  }
  Result<void> run(std::span<const Value> values) override {
    if (connection_.open_) return connection_.queue(sql_.c_str(), texts_of(values));
    return Cursor::run(values);
  }
  Result<bool> next() override {
    if (rows_ && ++row_ < PQntuples(rows_.get())) return true;
    rows_.reset();
    return false;
  }
  bool null(int column) const override { return PQgetisnull(rows_.get(), row_, column) != 0; }
  std::int64_t integer(int column) const override {
    return number<std::int64_t>(PQgetvalue(rows_.get(), row_, column));
  }
  double real(int column) const override { return number<double>(PQgetvalue(rows_.get(), row_, column)); }
  std::string text(int column) const override { return postgres::from_text(PQgetvalue(rows_.get(), row_, column)); }
  /// "\x" and two digits for each byte (PostgreSQL 15 documentation, 8.4.1, bytea_output).
  std::span<const std::byte> blob(int column) const override {
    const std::string_view text(PQgetvalue(rows_.get(), row_, column));
    bytes_.clear();
    for (std::size_t i = 2; text.starts_with("\\x") && i + 1 < text.size(); i += 2) {
      unsigned value = 0;
      std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
      bytes_.push_back(static_cast<std::byte>(value));
    }
    return bytes_;
  }

 private:
  static PostgresConnection::Parameters texts_of(std::span<const Value> values) {
    PostgresConnection::Parameters parameters;
    for (const Value& value : values)
      parameters.push_back(std::visit([](const auto& each) { return text_of(each); }, value));
    return parameters;
  }
  static std::optional<std::string> text_of(std::int64_t value) { return std::to_string(value); }
  static std::optional<std::string> text_of(double value) {
    if (std::isnan(value)) return std::nullopt;
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  static std::optional<std::string> text_of(std::string_view value) { return postgres::to_text(value); }
  static std::optional<std::string> text_of(std::span<const std::byte> bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text = "\\x";
    for (const std::byte each : bytes) {
      text += kDigits[std::to_integer<unsigned>(each) >> 4];
      text += kDigits[std::to_integer<unsigned>(each) & 15];
    }
    return text;
  }

  PostgresConnection& connection_;
  std::string sql_;
  PostgresConnection::Rows rows_;
  mutable std::vector<std::byte> bytes_;  ///< of the last blob()
  int row_ = -1;
};

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const PostgresAddress& address) {
  auto connection = make(address);
  if (auto connected = connection->connect(); !connected) return tl::unexpected<Error>(connected.error());
  return connection;
}

tl::unexpected<Error> PostgresConnection::lose(const std::string& why) {
  handle_.reset();
  queued_ = 0;
  return fail(ErrorCode::kUnavailable, name() + ": the connection to the database was lost: " + why);
}

tl::unexpected<Error> PostgresConnection::hold_off(std::string why) {
  pause_ = std::clamp<std::chrono::milliseconds>(pause_ * 2, kShortestPause,
                                                 use_ == Use::kLease ? kLongestPauseOfLease : kLongestPause);
  retry_ = Steady::now() + pause_;
  refusal_ = std::move(why);
  return fail(ErrorCode::kUnavailable, refusal_);
}

Result<void> PostgresConnection::connect() {
  if (!refusal_.empty() && Steady::now() < retry_) return fail(ErrorCode::kUnavailable, refusal_);
  const bool waits_for_standby = use_ != Use::kFollow && !is_history_;
  const bool is_time = !waits_for_standby && Steady::now() - looked_ > kLooksAround;
  if (handle_ && (is_doubtful_ || is_time)) look_around();
  if (handle_) return {};
  std::string failed;
  handle_ = connect_to_any(address_.options, failed);
  if (PQstatus(handle_.get()) == CONNECTION_OK) {
    handle_ = newest_server(std::move(handle_), address_.options);
    failed = handle_ ? PQerrorMessage(handle_.get()) : "";
  }
  if (PQstatus(handle_.get()) != CONNECTION_OK) {
    const std::string said = failed.empty() ? "the server does not answer" : one_line(failed.c_str());
    const std::string why = connection_failure(handle_.get(), said, address_.options);
    handle_.reset();
    return hold_off(name() + ": " + why);
  }
  adopt(std::move(handle_));
  if (unsettled_.empty()) {
    refusal_.clear();
    pause_ = {};
  }
  return {};
}

void PostgresConnection::look_around() {
  looked_ = Steady::now();
  is_doubtful_ = false;
  if (!handle_) return;
  const PGconn* const before = handle_.get();
  auto newest = newest_server(std::move(handle_), address_.options);
  if (newest.get() == before)
    handle_ = std::move(newest);
  else if (newest)
    adopt(std::move(newest));
}

void PostgresConnection::adopt(ConnectionHandle handle) {
  handle_ = std::move(handle);
  is_new_ = true;
  looked_ = Steady::now();
  PQsetnonblocking(handle_.get(), 1);
  PQsetNoticeReceiver(
      handle_.get(),
      [](void* self, const PGresult* notice) {
        const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
        if (severity != nullptr && std::string_view(severity) == "WARNING")
          static_cast<PostgresConnection*>(self)->warning_ = text == nullptr ? "?" : text;
      },
      this);
}

bool PostgresConnection::wait(bool for_room, Steady::time_point deadline) const {
  pollfd socket{PQsocket(handle_.get()), static_cast<short>(for_room ? POLLIN | POLLOUT : POLLIN), 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
  // Interrupted: the caller looks again.
  return left > 0 && ::poll(&socket, 1, static_cast<int>(left)) != 0;
}

PostgresConnection::Steady::time_point PostgresConnection::deadline() const {
  return Steady::now() + (use_ == Use::kSetUp   ? kLongestAtFirst
                          : use_ == Use::kLease ? kLongestOfLease
                                                : kLongestAnswer);
}

int PostgresConnection::send(const char* sql, const Parameters* parameters) {
  if (parameters == nullptr) return PQsendQuery(handle_.get(), sql);
  std::vector<const char*> texts;
  for (const auto& each : *parameters) texts.push_back(each ? each->c_str() : nullptr);
  return PQsendQueryParams(handle_.get(), sql, static_cast<int>(texts.size()), nullptr, texts.data(), nullptr, nullptr,
                           0);
}

Result<void> PostgresConnection::flush(Steady::time_point until) {
  while (true) {
    const int left = PQflush(handle_.get());
    if (left == 0) return {};
    if (left > 0 && !wait(true, until)) return lose("the server takes nothing");
    if (left < 0 || PQconsumeInput(handle_.get()) == 0) return lose(one_line(PQerrorMessage(handle_.get())));
  }
}

Result<PostgresConnection::Rows> PostgresConnection::execute(const char* sql, const Parameters* parameters) {
  if (auto before = collect(); !before) return tl::unexpected<Error>(before.error());
  if (!handle_) return lose("it must be made anew");
  warning_.clear();
  if (send(sql, parameters) != 1) return lose(one_line(PQerrorMessage(handle_.get())));
  const auto until = deadline();
  if (auto flushed = flush(until); !flushed) return tl::unexpected<Error>(flushed.error());
  return receive(until);
}

Result<void> PostgresConnection::queue(const char* sql, const Parameters& parameters) {
  if (!handle_) return lose("it must be made anew");
  if ((queued_ == 0 && PQenterPipelineMode(handle_.get()) != 1) || send(sql, &parameters) != 1)
    return lose(one_line(PQerrorMessage(handle_.get())));
  return ++queued_ < kMostQueued ? Result<void>{} : collect();
}

Result<void> PostgresConnection::collect(Rows* last) {
  std::optional<Error> error;
  bool gone = false;
  if (std::exchange(queued_, 0) > 0 && handle_) {
    const auto until = deadline();
    if (PQpipelineSync(handle_.get()) != 1) return lose(one_line(PQerrorMessage(handle_.get())));
    if (auto flushed = flush(until); !flushed) return flushed;
    for (bool is_end = false; !is_end;) {
      auto answer = next_answer(until);
      if (!answer) return tl::unexpected<Error>(answer.error());
      if (PQstatus(handle_.get()) != CONNECTION_OK) return lose(one_line(PQerrorMessage(handle_.get())));
      const ExecStatusType status = PQresultStatus(answer->get());
      if (*answer && status == PGRES_FATAL_ERROR && !error) error = failure(answer->get(), gone);
      if (*answer && (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK))
        changes_ = number<std::int64_t>(PQcmdTuples(answer->get()));
      is_end = *answer && status == PGRES_PIPELINE_SYNC;
      if (*answer && !is_end && last != nullptr) *last = std::move(*answer);
    }
    if (gone || PQexitPipelineMode(handle_.get()) != 1)
      return lose(error ? error->message : one_line(PQerrorMessage(handle_.get())));
  }
  if (error) return tl::unexpected<Error>(std::move(*error));
  return {};
}

Result<std::int64_t> PostgresConnection::changes() {
  return collect().map([this] { return changes_; });
}

Result<PostgresConnection::Rows> PostgresConnection::next_answer(Steady::time_point until) {
  while (PQisBusy(handle_.get()) != 0) {
    if (!wait(false, until)) {
      const auto other = is_committing_ ? beside(kLongestBesideCommit) : nullptr;
      const std::string awaited = other ? other->awaited_standby() : "";
      ask_last(handle_.get(), address_.options);
      const auto lost = lose("the server does not answer");
      return awaited.empty() ? lost : fail(ErrorCode::kUnavailable, name() + ": " + awaited);
    }
    if (PQconsumeInput(handle_.get()) == 0) return lose(one_line(PQerrorMessage(handle_.get())));
  }
  return Rows(PQgetResult(handle_.get()));
}

Error PostgresConnection::failure(const PGresult* answer, bool& gone) {
  const char* state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  const char* text = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
  if (text == nullptr) text = PQresultErrorMessage(answer);
  // 25006: it has become a standby. Another takes writes.
  gone = state != nullptr && std::string_view(state) == "25006";
  const std::string said = one_line(text);
  const bool is_locked_out = state != nullptr && std::string_view(state) == "55P03";
  if (is_locked_out) {
    is_doubtful_ = true;
    ask_last(handle_.get(), address_.options);
    return in_the_way(said, PQresultErrorField(answer, PG_DIAG_CONTEXT));
  }
  return Error{of_sqlstate(state == nullptr ? "08000" : state), name() + ": " + said};
}

Result<PostgresConnection::Rows> PostgresConnection::receive(Steady::time_point until) {
  Rows last;
  std::optional<Error> error;
  bool gone = false;
  while (true) {
    auto rows = next_answer(until);
    if (!rows) return tl::unexpected<Error>(rows.error());
    if (!*rows) break;
    if (PQresultStatus(rows->get()) == PGRES_FATAL_ERROR && !error) error = failure(rows->get(), gone);
    last = std::move(*rows);
  }
  if (gone || PQstatus(handle_.get()) != CONNECTION_OK)
    return lose(error ? error->message : one_line(PQerrorMessage(handle_.get())));
  if (error) return tl::unexpected<Error>(std::move(*error));
  changes_ = last ? number<std::int64_t>(PQcmdTuples(last.get())) : 0;
  return last;
}

Result<PostgresConnection::Rows> PostgresConnection::execute_anywhere(const char* sql, const Parameters* parameters) {
  if (open_) return execute(sql, parameters);
  const bool is_old = handle_ != nullptr;
  if (auto connected = connect(); !connected) return tl::unexpected<Error>(connected.error());
  auto rows = execute_alone(sql, parameters);
  if (rows || handle_ || !is_old) return rows;
  if (auto connected = connect(); !connected) return tl::unexpected<Error>(connected.error());
  return execute_alone(sql, parameters);
}

const char* PostgresConnection::bounds() const {
  return use_ == Use::kSetUp   ? postgres::kBoundSetUp
         : use_ == Use::kLease ? postgres::kBoundOfLease
                               : postgres::kBoundAlone;
}

// Statements up to the next sync of a pipeline are one transaction, as those of one message are (PostgreSQL 15
// documentation, 55.2.4 and 55.2.2.1).
Result<PostgresConnection::Rows> PostgresConnection::execute_alone(const char* sql, const Parameters* parameters) {
  if (parameters == nullptr) return execute((std::string(bounds()) + "; " + sql).c_str(), nullptr);
  auto sent = queue(bounds(), {});
  if (sent) sent = queue(sql, *parameters);
  Rows rows;
  if (sent) sent = collect(&rows);
  if (!sent) return tl::unexpected<Error>(sent.error());
  return rows;
}

Result<std::unique_ptr<Cursor>> PostgresConnection::prepare(std::string_view sql) {
  return std::make_unique<PostgresCursor>(*this, sql);
}

Result<void> PostgresConnection::run(const char* sql) {
  return execute_anywhere(sql, nullptr).map([](const Rows&) {});
}

Result<void> PostgresConnection::begin() {
  if (use_ == Use::kFollow)
    return fail(ErrorCode::kFailedPrecondition, name() + ": another weftd has this database: this one only reads it");
  const bool is_old = handle_ != nullptr;
  if (auto connected = connect(); !connected) return connected;
  Result<void> begun = begin_connected();
  if (!begun && !handle_ && is_old) {
    if (auto connected = connect(); !connected) return connected;
    begun = begin_connected();
  }
  if (!begun) roll_back();
  return begun;
}

Result<void> PostgresConnection::begin_connected() {
  if (!unsettled_.empty())
    if (auto settled = settle(); !settled) return settled;
  if (is_new_ && use_ == Use::kLead && !is_history_)
    if (auto found = find_committed(); !found) return found;
  open_ = true;
  std::string begin = use_ == Use::kSetUp ? postgres::kBeginSetUp : postgres::kBegin;
  if (use_ == Use::kLease) begin += "; " + std::string(postgres::kBoundOfLease);
  if (use_ == Use::kLead && is_history_) {
    begin += "; " + std::string(postgres::kBeginHistory) + std::to_string(epoch_);
  } else if (use_ == Use::kLead) {
    mark_ = random_mark();
    begin += "; " + postgres::mark(mark_, epoch_);
  }
  const auto begun = execute(begin.c_str(), nullptr);
  if (!begun) return tl::unexpected<Error>(begun.error());
  if (use_ != Use::kLead || (is_history_ ? PQntuples(begun->get()) : changes_) == 1) return {};
  const auto holder = execute(postgres::kHolder, nullptr);
  const bool is_known = holder && PQntuples(holder->get()) == 1;
  return fail(ErrorCode::kFailedPrecondition,
              name() + ": another weftd has taken this database" +
                  (is_known ? " (" + postgres::from_text(PQgetvalue(holder->get(), 0, 0)) + ")" : "") +
                  ": this one writes no more");
}

// The row of the mark is held by a transaction until its end is known to everybody. So reading it under a lock of its
// own tells what became of ours, also while its COMMIT waits for a standby. Where that is not told the server is left:
// its standby may have taken over.
Result<void> PostgresConnection::settle() {
  const auto not_yet = [this](const std::string& why) -> Result<void> {
    roll_back();
    static_cast<void>(lose(why));
    return hold_off(why + "; it is not known yet whether the last write stayed");
  };
  open_ = true;
  if (auto begun = execute(postgres::kBegin, nullptr); !begun) return not_yet(begun.error().message);
  const auto row = execute(postgres::kLastMark, nullptr);
  if (!row) return not_yet(row.error().message);
  const bool stayed = PQntuples(row->get()) == 1 && PQgetvalue(row->get(), 0, 0) == unsettled_;
  if (auto done = end(); !done) return not_yet(done.error().message);
  if (!warning_.empty()) return not_yet(name() + ": " + warning_);
  open_ = false;
  if (stayed) committed_ = unsettled_;
  unsettled_.clear();
  refusal_.clear();
  pause_ = {};
  settled_ = stayed;
  return {};
}

// Of another epoch the mark is another weftd's, and this one writes no more.
Result<void> PostgresConnection::find_committed() {
  const auto row = execute_alone((std::string(postgres::kMarkOfEpoch) + std::to_string(epoch_)).c_str(), nullptr);
  if (!row) return tl::unexpected<Error>(row.error());
  is_new_ = false;
  if (PQntuples(row->get()) != 1) return {};
  const std::string mark = PQgetvalue(row->get(), 0, 0);
  is_lost_ = is_lost_ || (!committed_.empty() && mark != committed_);
  committed_ = mark;
  return {};
}

// With a warning it stayed on this server and may not have reached its standby.
Result<PostgresConnection::Rows> PostgresConnection::end() {
  is_committing_ = true;
  auto done = execute("COMMIT", nullptr);
  is_committing_ = false;
  if (!done || warning_.empty()) return done;
  const std::string said = warning_;
  const std::string awaited = awaited_standby(true);
  warning_ = awaited.empty() ? said : awaited + " (" + said + ")";
  return done;
}

Result<void> PostgresConnection::commit() {
  // COMMIT is not sent then: nothing stays, and that is known.
  if (auto before = collect(); !before) return before;
  const auto done = end();
  open_ = false;
  const std::string mark = std::exchange(mark_, {});
  if (done && std::string_view(PQcmdStatus(done->get())) != "COMMIT")
    return fail(ErrorCode::kInternal, name() + ": the transaction was rolled back");
  if (done && warning_.empty()) {
    committed_ = mark;
    return {};
  }
  unsettled_ = mark;
  if (done) static_cast<void>(lose(warning_));
  const std::string why = done ? name() + ": " + warning_ : done.error().message;
  // What the lease writes is not written again.
  return fail(ErrorCode::kUnavailable,
              use_ == Use::kLease ? why : why + "; it is not known yet whether the last write stayed");
}

void PostgresConnection::roll_back() {
  if (!std::exchange(open_, false)) return;
  mark_.clear();
  static_cast<void>(collect());
  if (handle_ && PQtransactionStatus(handle_.get()) != PQTRANS_IDLE && !execute("ROLLBACK", nullptr)) handle_.reset();
}

}  // namespace weft::store
