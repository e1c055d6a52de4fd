// SPDX-License-Identifier: Apache-2.0
// Incidents and marks of collectors that the store commits in a second, beside the bare library with the same
// statements in the same tables: sqlite3 with the same pragmas, or libpq, with prepared statements; libpq also with
// the statements of a transaction in one pipeline. Each in turn, in several rounds.
// Usage: store_commits NAME SECONDS FOLDER [URL BARE_URL]
// FOLDER is empty. Without URLs it is SQLite in FOLDER, else two empty schemas of PostgreSQL. SECONDS are those of one
// round. Prints lines of name, ours, peer, ratio, tab separated; the figures are medians (lowest to highest).

#include <libpq-fe.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {
namespace {

constexpr int kRounds = 5;
const TimePoint kNow{std::chrono::hours(24 * 365 * 50)};

using BareValue = std::variant<std::int64_t, double, std::string>;
using BareValues = std::vector<BareValue>;

/// What an incident, an event and a mark are written with (incident_table.cpp, collector_table.cpp).
enum BareStatement : std::uint8_t {
  kPrevious,
  kIncident,
  kEntity,
  kEvidence,
  kBeginning,
  kTimeline,
  kNextId,
  kOpened,
  kEvent,
  kCollector,
  kStatements
};
constexpr const char* kSql[kStatements] = {
    "SELECT occurrences FROM incident WHERE id = ?",
    "INSERT INTO incident (id, revision, kind, severity, state, confidence, summary, opened, updated, resolved, "
    "occurrences, acknowledged_by, silenced_until, waiting_total, maintenance, worst_severity, headline) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO beginning VALUES (?, ?) ON CONFLICT DO NOTHING",
    "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "UPDATE number SET value = ?1 WHERE name = 'next_incident' AND value < ?1",
    "INSERT INTO opened VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET count = opened.count + excluded.count",
    "INSERT INTO event (at, incident, what, who, detail) VALUES (?, ?, ?, ?, ?)",
    "INSERT INTO collector (host, spool, sequence, batches, late, lost, first_seen, last_seen, adapters) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (host) DO UPDATE SET spool = excluded.spool, "
    "sequence = excluded.sequence, batches = excluded.batches, late = excluded.late, "
    "lost = excluded.lost, last_seen = excluded.last_seen, adapters = excluded.adapters"};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// A library without the store above it.
class Bare {
 public:
  virtual ~Bare() = default;
  virtual void begin() = 0;
  virtual void run(BareStatement statement, const BareValues& values) = 0;
  virtual void commit() = 0;
};

class BareSqlite final : public Bare {
 public:
  explicit BareSqlite(const std::string& path) {
    sqlite3* raw = nullptr;
    require(sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK,
            path);
    handle_.reset(raw);
    // As state_schema() has them; the journal's mode is in the file.
    execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216");
    for (const char* sql : kSql) {
      sqlite3_stmt* statement = nullptr;
      require(sqlite3_prepare_v2(raw, sql, -1, &statement, nullptr) == SQLITE_OK, sqlite3_errmsg(raw));
      statements_.emplace_back(statement);
    }
  }
  void begin() override { execute("BEGIN IMMEDIATE"); }
  void commit() override { execute("COMMIT"); }
  void run(BareStatement statement, const BareValues& values) override {
    sqlite3_stmt* handle = statements_[statement].get();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int at = static_cast<int>(i) + 1;
      if (const auto* number = std::get_if<std::int64_t>(&values[i])) sqlite3_bind_int64(handle, at, *number);
      if (const auto* real = std::get_if<double>(&values[i])) sqlite3_bind_double(handle, at, *real);
      if (const auto* text = std::get_if<std::string>(&values[i]))
        sqlite3_bind_text(handle, at, text->c_str(), static_cast<int>(text->size()), SQLITE_STATIC);
    }
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW) code = sqlite3_step(handle);
    sqlite3_reset(handle);
    require(code == SQLITE_DONE, sqlite3_errmsg(handle_.get()));
  }

 private:
  void execute(const char* sql) {
    require(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  }
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::vector<std::unique_ptr<sqlite3_stmt, Close>> statements_;
};

class BarePostgres final : public Bare {
 public:
  BarePostgres(const std::string& url, bool pipelined) : handle_(PQconnectdb(url.c_str())), pipelined_(pipelined) {
    require(PQstatus(handle_.get()) == CONNECTION_OK, PQerrorMessage(handle_.get()));
    for (int i = 0; i < kStatements; ++i) prepare(std::to_string(i), kSql[i]);
    prepare("mark", "UPDATE weft_store SET mark = ? WHERE epoch = ?");
    prepare("begin", "BEGIN");
    prepare("commit", "COMMIT");
    const Rows epoch(PQexec(handle_.get(), "SELECT epoch FROM weft_store"));
    require(PQntuples(epoch.get()) == 1, PQerrorMessage(handle_.get()));
    epoch_ = std::stoll(PQgetvalue(epoch.get(), 0, 0));
    require(!pipelined || PQenterPipelineMode(handle_.get()) == 1, "no pipeline");
  }
  // A pipeline takes one statement at a time: there the bounds of kBegin are left out.
  void begin() override {
    if (pipelined_)
      send("begin", {});
    else
      require(ends_well(Rows(PQexec(handle_.get(), postgres::kBegin))), PQerrorMessage(handle_.get()));
    send("mark", {std::string("4294967295.4294967295.4294967295.4294967295"), epoch_});
  }
  void run(BareStatement statement, const BareValues& values) override { send(std::to_string(statement), values); }
  void commit() override {
    send("commit", {});
    if (!pipelined_) return;
    require(PQpipelineSync(handle_.get()) == 1, PQerrorMessage(handle_.get()));
    receive();
  }

 private:
  struct Free {
    void operator()(PGconn* handle) const { PQfinish(handle); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Rows = std::unique_ptr<PGresult, Free>;
  /// So much at a time that neither side waits for the other to read.
  static constexpr int kMostOutstanding = 500;

  static bool ends_well(const Rows& rows) {
    const ExecStatusType status = PQresultStatus(rows.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  }
  void prepare(const std::string& name, const char* sql) {
    const Rows done(PQprepare(handle_.get(), name.c_str(), postgres::statement(sql).c_str(), 0, nullptr));
    require(ends_well(done), PQerrorMessage(handle_.get()));
  }
  void send(const std::string& name, const BareValues& values) {
    std::vector<std::string> texts;
    for (const BareValue& value : values) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) texts.push_back(std::to_string(*number));
      if (const auto* real = std::get_if<double>(&value)) texts.push_back(std::to_string(*real));
      if (const auto* text = std::get_if<std::string>(&value)) texts.push_back(*text);
    }
    std::vector<const char*> raw;
    for (const std::string& text : texts) raw.push_back(text.c_str());
    const int count = static_cast<int>(raw.size());
    if (!pipelined_)
      return require(
          ends_well(Rows(PQexecPrepared(handle_.get(), name.c_str(), count, raw.data(), nullptr, nullptr, 0))),
          PQerrorMessage(handle_.get()));
    require(PQsendQueryPrepared(handle_.get(), name.c_str(), count, raw.data(), nullptr, nullptr, 0) == 1,
            PQerrorMessage(handle_.get()));
    if (++outstanding_ < kMostOutstanding) return;
    require(PQsendFlushRequest(handle_.get()) == 1 && PQflush(handle_.get()) == 0, PQerrorMessage(handle_.get()));
    for (; outstanding_ > 0; --outstanding_) {
      require(ends_well(Rows(PQgetResult(handle_.get()))), PQerrorMessage(handle_.get()));
      const Rows end(PQgetResult(handle_.get()));
    }
  }
  void receive() {
    for (; outstanding_ > 0; --outstanding_) {
      require(ends_well(Rows(PQgetResult(handle_.get()))), PQerrorMessage(handle_.get()));
      const Rows end(PQgetResult(handle_.get()));
    }
    require(PQresultStatus(Rows(PQgetResult(handle_.get())).get()) == PGRES_PIPELINE_SYNC, "no end of the pipeline");
  }

  std::unique_ptr<PGconn, Free> handle_;
  bool pipelined_;
  int outstanding_ = 0;
  std::int64_t epoch_ = 0;
};

Incident make_incident(std::uint64_t id) {
  Incident incident;
  incident.id = id;
  incident.revision = 1;
  incident.finding.confidence = 0.9;
  incident.finding.summary = "Link down: switch 17 port 3 - switch 40 port 12";
  incident.headline = incident.finding.summary;
  incident.finding.cause = {.kind = EntityKind::kLink, .fabric = "compute", .port = {}, .peer = {}, .label = "a link"};
  Evidence evidence;
  evidence.signal = "port_state";
  evidence.description = "the port is down";
  evidence.where = incident.finding.cause;
  evidence.observed = kNow;
  incident.finding.evidence.push_back(evidence);
  incident.opened = incident.updated = kNow;
  incident.beginnings = {kNow};
  incident.timeline.push_back({.at = kNow, .text = incident.finding.summary});
  return incident;
}

void write_bare(Bare& bare, std::int64_t id) {
  const std::int64_t now = kNow.time_since_epoch().count(), none = 0;
  const std::string summary = "Link down: switch 17 port 3 - switch 40 port 12", empty;
  const auto entity = [&](const char* role) {
    bare.run(kEntity, {id, std::string(role), none, std::string("LINK"), std::string("compute"), none, none, none, none,
                       std::string("a link"), empty, empty});
  };
  const std::string kind = "LINK_DOWN", severity = "WARNING";
  bare.run(kPrevious, {id});
  bare.run(kIncident, {id, std::int64_t{1}, kind, severity, std::string("OPEN"), 0.9, summary, now, now, none,
                       std::int64_t{1}, empty, none, none, none, severity, summary});
  entity("cause");
  bare.run(kEvidence,
           {id, none, std::string("port_state"), std::string("the port is down"), 0.0, 0.0, empty, now, none});
  entity("evidence");
  bare.run(kBeginning, {id, now});
  bare.run(kTimeline, {id, none, now, std::string("OPENED"), severity, summary, empty, none, none});
}

/// What is done a second in each round.
struct Rates {
  std::vector<double> all;

  /// Does `work`, which is `count` things, for some seconds: at least twice.
  void measure(double seconds, std::size_t count, const std::function<void()>& work) {
    using Steady = std::chrono::steady_clock;
    const auto began = Steady::now();
    const auto spent = [&] { return std::chrono::duration<double>(Steady::now() - began).count(); };
    std::size_t done = 0;
    for (int times = 0; times < 2 || spent() < seconds; ++times, done += count) work();
    all.push_back(static_cast<double>(done) / spent());
  }
  double median() const {
    std::vector<double> sorted = all;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  std::string text() const {
    char words[96];
    std::snprintf(words, sizeof words, "%.0f (%.0f to %.0f)", median(), *std::ranges::min_element(all),
                  *std::ranges::max_element(all));
    return words;
  }
};

struct Peer {
  std::string name;
  std::unique_ptr<Bare> bare;
};

void report(const std::string& what, const Rates& ours, const std::string& peer, const Rates& theirs) {
  std::printf("%s\t%s\t%s %s\t%.2f\n", what.c_str(), ours.text().c_str(), peer.c_str(), theirs.text().c_str(),
              ours.median() / theirs.median());
  std::fflush(stdout);
}

void compare(const std::string& what, double seconds, std::size_t count, const std::function<void()>& ours,
             const std::vector<Peer>& peers, const std::function<void(Bare&)>& theirs) {
  Rates rates;
  std::vector<Rates> of_peers(peers.size());
  for (int round = 0; round < kRounds; ++round) {
    rates.measure(seconds, count, ours);
    for (std::size_t i = 0; i < peers.size(); ++i) of_peers[i].measure(seconds, count, [&] { theirs(*peers[i].bare); });
  }
  for (std::size_t i = 0; i < peers.size(); ++i) report(what, rates, peers[i].name, of_peers[i]);
}

void measure(const std::string& name, double seconds, Store& store, const std::vector<Peer>& peers) {
  std::uint64_t next = 1;
  std::int64_t next_bare = 1;
  for (const std::size_t count : {1, 64, 1'000}) {
    std::vector<Incident> incidents(count);
    const std::string batch = count == 1 ? "one" : std::to_string(count);
    compare(
        name + ": incidents/s, " + batch + " with an event each a transaction", seconds, count,
        [&] {
          std::vector<Event> events;
          for (Incident& incident : incidents) {
            incident = make_incident(next++);
            events.push_back({kNow, incident.id, "opened", "", "a link"});
          }
          const auto done = store.save_incidents(incidents, events);
          require(done.has_value(), done ? "" : done.error().message);
        },
        peers,
        [&](Bare& bare) {
          bare.begin();
          const std::int64_t first = next_bare;
          for (; next_bare < first + static_cast<std::int64_t>(count); ++next_bare) write_bare(bare, next_bare);
          bare.run(kNextId, {next_bare});
          bare.run(kOpened, {std::string("LINK_DOWN"), static_cast<std::int64_t>(count)});
          for (std::int64_t id = first; id < next_bare; ++id)
            bare.run(kEvent, {kNow.time_since_epoch().count(), id, std::string("opened"), std::string(),
                              std::string("a link")});
          bare.commit();
        });
  }
  for (const std::size_t count : {1, 100, 10'000}) {
    std::vector<CollectorMark> marks(count);
    for (std::size_t i = 0; i < count; ++i)
      marks[i] = {.host = "host" + std::to_string(i), .spool = 1, .first_seen = kNow, .last_seen = kNow, .flaps = {}};
    std::ranges::sort(marks, {}, &CollectorMark::host);
    compare(
        name + ": batches of collectors acknowledged/s, " + std::to_string(count) + " a transaction", seconds, count,
        [&] {
          for (CollectorMark& mark : marks) ++mark.sequence, ++mark.batches;
          const auto done = store.save_collectors(marks, {});
          require(done.has_value(), done ? "" : done.error().message);
        },
        peers,
        [&](Bare& bare) {
          bare.begin();
          for (CollectorMark& mark : marks) {
            const auto sequence = static_cast<std::int64_t>(++mark.sequence);
            bare.run(kCollector, {mark.host, std::int64_t{1}, sequence, sequence, std::int64_t{0}, std::int64_t{0},
                                  kNow.time_since_epoch().count(), kNow.time_since_epoch().count(), std::int64_t{0}});
          }
          bare.commit();
        });
  }
}

std::unique_ptr<Store> open(const std::filesystem::path& folder, const std::string& url) {
  std::filesystem::create_directory(folder);
  StoreOptions options;
  options.url = url;
  auto store = open_store(folder, options);
  require(store.has_value(), store ? "" : store.error().message);
  return std::move(*store);
}

}  // namespace
}  // namespace weft::store

int main(int count, char** words) {
  using namespace weft::store;
  if (count != 4 && count != 6) {
    std::fprintf(stderr, "usage: store_commits NAME SECONDS FOLDER [URL BARE_URL]\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = words[3];
    const std::string url = count == 6 ? words[4] : "", bare_url = count == 6 ? words[5] : "";
    const auto store = open(folder / "ours", url);
    open(folder / "bare", bare_url).reset();  // makes the tables
    std::vector<Peer> peers;
    if (bare_url.empty()) {
      peers.push_back({"sqlite3", std::make_unique<BareSqlite>(folder / "bare" / "weft.db")});
    } else {
      peers.push_back({"libpq", std::make_unique<BarePostgres>(bare_url, false)});
      peers.push_back({"libpq, pipelined", std::make_unique<BarePostgres>(bare_url, true)});
    }
    measure(words[1], std::strtod(words[2], nullptr), *store, peers);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_commits: %s\n", error.what());
    return 1;
  }
}
