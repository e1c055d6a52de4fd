// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/lease.hpp"

#include <unistd.h>

#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/own_host.hpp"

namespace weft::store {

std::string holder_name() {
  const std::string host = runtime::own_host_name();
  return (host.empty() ? "?" : host) + ", process " + std::to_string(::getpid());
}

Result<std::unique_ptr<Lease>> Lease::start(const std::string& url, std::string holder, std::string address,
                                            std::int64_t known) {
  auto parsed = parse_postgres_address(url);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  parsed->options["connect_timeout"] = "2";  // the least that libpq takes
  name_connection(*parsed, "lease");
  auto connection = PostgresConnection::make(*parsed);
  connection->keep_lease();
  std::unique_ptr<Lease> lease(new Lease(std::move(connection), std::move(holder), std::move(address)));
  {
    Statement identity(lease->database_, postgres::kIdentity);
    identity.query();
    while (identity.next()) lease->identity_ = identity.text(0);
    if (auto outcome = lease->database_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  }
  lease->rules_.know(known);
  lease->turn();
  lease->thread_ = std::thread([self = lease.get()] { self->run(); });
  return lease;
}

Lease::Lease(std::unique_ptr<PostgresConnection> connection, std::string holder, std::string address)
    : connection_(*connection),
      database_(std::move(connection)),
      holder_(std::move(holder)),
      address_(std::move(address)) {}

Lease::~Lease() {
  stop();
}

void Lease::stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Lease::run() {
  runtime::name_this_thread("lease");
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBeatEvery, [this] { return stops_; })) {
    lock.unlock();
    turn();
    lock.lock();
  }
}

void Lease::turn() {
  const std::lock_guard asking(asking_);
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    if (view_.is_lost) return;
    leads = rules_.epoch().has_value();
  }
  if (leads)
    beat();
  else
    look();
}

void Lease::keep(const Result<void>& outcome) {
  const std::lock_guard lock(mutex_);
  if (outcome)
    view_.trouble.clear();
  else if (outcome.error().code == ErrorCode::kTimeout)
    view_.trouble = "the row of the lease is locked: " + outcome.error().message;
  else
    view_.trouble = outcome.error().message;
  if (outcome) fit_ = *(answered_ = runtime::boot_time());
}

void Lease::tell_sight(std::span<const FabricSight> fabrics) {
  std::string sees = sight_text(fabrics);
  const std::lock_guard lock(mutex_);
  sees_ = std::move(sees);
}

std::optional<LeaseState> Lease::read() {
  std::optional<LeaseState> state;
  std::string sql = postgres::kLook;
  {
    const std::lock_guard lock(mutex_);
    if (!sees_.empty()) sql.append(postgres::kSees[0]).append(sees_).append(postgres::kSees[1]);
  }
  Statement look(database_, sql);
  look.query();
  while (look.next())
    state = LeaseState{look.integer(0), look.integer(1), look.text(2), look.text(3), look.time(4), look.text(5)};
  if (const auto outcome = database_.outcome(); !outcome) {
    keep(outcome);
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  answered_ = runtime::boot_time();
  return state;
}

bool Lease::beat() {
  const Duration sent = runtime::boot_time();
  std::int64_t epoch = 0, rows = 0;
  TimePoint since = kNever;
  {
    const std::lock_guard lock(mutex_);
    epoch = rules_.epoch().value_or(0);
    since = view_.seen.since;
  }
  Result<void> done;
  {
    Transaction transaction(database_);
    Statement(database_, postgres::kBeat).run(epoch, since);
    rows = database_.changes();
    done = transaction.commit();
  }
  keep(done);
  if (!done) return false;
  if (rows == 1) {
    const std::lock_guard lock(mutex_);
    rules_.beat(sent);
    return true;
  }
  const auto now_has = read();
  const std::lock_guard lock(mutex_);
  rules_.lose();
  view_.is_lost = true;
  if (now_has) view_.seen = *now_has;
  return false;
}

void Lease::look() {
  const auto seen = read();
  if (!seen) return;
  bool is_due = false, is_doubtful = false, is_well = false;
  {
    const Duration now = runtime::boot_time();
    const std::lock_guard lock(mutex_);
    view_.seen = *seen;
    is_due = rules_.is_due(*seen, now);
    is_doubtful = rules_.is_doubtful(now);
    is_well = view_.trouble.empty() || rules_.is_steady();
  }
  // Why it could not be taken before is still true until it can.
  if (is_due) {
    take(*seen);
    return;
  }
  if (is_doubtful) {
    connection_.look_around();
    // A leader whose commits wait in vain does not beat, and this one could commit nothing either.
    const std::string awaited = connection_.awaited_standby();
    if (!awaited.empty()) return keep(fail(ErrorCode::kUnavailable, database_.name() + ": " + awaited));
  }
  if (is_well) keep({});
}

bool Lease::take(const LeaseState& seen) {
  const Duration sent = runtime::boot_time();
  const TimePoint since = SystemClock{}.now();
  std::int64_t epoch = 0, known = 0;
  {
    const std::lock_guard lock(mutex_);
    epoch = rules_.next(seen.epoch);
    known = rules_.known();
  }
  bool is_ours = false;
  Result<void> done;
  {
    Transaction transaction(database_);
    Statement(database_, postgres::kTakeBeatIf).run(epoch, since, address_, seen.epoch, seen.n);
    is_ours = database_.changes() == 1;
    Statement(database_, postgres::kTakeIf).run(epoch, holder_, seen.epoch);
    is_ours = is_ours && database_.changes() == 1;
    if (is_ours) done = transaction.commit();
    // Else another was faster, or its leader beats again: nothing of it stays.
  }
  if (const auto outcome = database_.outcome(); !outcome) done = outcome;
  keep(done);
  if (!is_ours || !done) return false;
  const std::lock_guard lock(mutex_);
  rules_.take(epoch, sent);
  view_.seen = {epoch, seen.n + 1, holder_, address_, since, seen.mark};
  view_.succeeds_unended = !seen.holder.empty();
  view_.went_back_from = known > seen.epoch ? known : 0;
  return true;
}

void Lease::know(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  rules_.hear(epoch);
}

std::optional<std::int64_t> Lease::raise() {
  const std::lock_guard asking(asking_);
  std::int64_t before = 0, epoch = 0, known = 0;
  {
    const std::lock_guard lock(mutex_);
    if (view_.is_lost || !rules_.epoch()) return std::nullopt;
    before = *rules_.epoch();
    if (!rules_.must_rise()) return before;
    epoch = rules_.next(before);
    known = rules_.known();
  }
  const Duration sent = runtime::boot_time();
  bool is_ours = false;
  Result<void> done;
  {
    Transaction transaction(database_);
    Statement(database_, postgres::kRaiseBeatIf).run(epoch, before);
    is_ours = database_.changes() == 1;
    Statement(database_, postgres::kRaiseIf).run(epoch, before);
    is_ours = is_ours && database_.changes() == 1;
    if (is_ours) done = transaction.commit();
    // Else another has taken the lease: the next beat finds that out.
  }
  if (const auto outcome = database_.outcome(); !outcome) done = outcome;
  keep(done);
  if (!is_ours || !done) return std::nullopt;
  const std::lock_guard lock(mutex_);
  rules_.take(epoch, sent);
  view_.seen.epoch = epoch;
  view_.went_back_from = known;
  return epoch;
}

LeaseView Lease::view() const {
  const Duration now = runtime::boot_time();
  const std::lock_guard lock(mutex_);
  LeaseView view = view_;
  view.epoch = rules_.epoch();
  view.is_held = rules_.holds(now);
  view.must_rise = rules_.must_rise();
  if (answered_) view.silence = now - *answered_;
  view.unfit = now - fit_;
  return view;
}

std::optional<ActPermit> Lease::permit() const {
  const Duration now = runtime::boot_time();
  const std::lock_guard lock(mutex_);
  if (!rules_.holds(now) || rules_.must_rise()) return std::nullopt;
  return ActPermit{*rules_.epoch(), rules_.until()};
}

std::optional<ActPermit> Lease::confirm() {
  const std::lock_guard asking(asking_);
  {
    const std::lock_guard lock(mutex_);
    if (view_.is_lost || !rules_.epoch()) return std::nullopt;
  }
  return beat() ? permit() : std::nullopt;
}

void Lease::release() {
  stop();
  const std::lock_guard asking(asking_);
  const auto epoch = rules_.epoch();
  if (!epoch) return;
  {
    const std::lock_guard lock(mutex_);
    rules_.lose();
  }
  Transaction transaction(database_);
  Statement(database_, postgres::kRelease).run(*epoch);
  static_cast<void>(transaction.commit());  // if it fails, another waits until the beat stood still
}

}  // namespace weft::store
