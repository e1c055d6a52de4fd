// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of the store share: a directory that goes away, and incidents and sweeps to store.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/adapters/store/sql_store.hpp"
#include "daemon/adapters/store/sqlite_connection.hpp"
#include "daemon/adapters/store/store.hpp"
#include "tests/unit/daemon/adapters/store/postgres_server.hpp"

namespace weft::store {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-store-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

enum class Engine { kSqlite, kPostgres };

/// The engine of the stores that must_open() opens.
inline Engine& engine() {
  static Engine engine = Engine::kSqlite;
  return engine;
}

/// Of the database that goes with a directory: a schema of the same name.
inline std::string url_of(const std::filesystem::path& path) {
  return PostgresServer::shared().url(path.filename().string());
}

/// The same tests on each engine: INSTANTIATE_ON_EACH_ENGINE(Suite), where Suite is OnEachEngine.
class OnEachEngine : public ::testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam() == Engine::kPostgres && !PostgresServer::shared().absence().empty())
      GTEST_SKIP() << PostgresServer::shared().absence();
    engine() = GetParam();
  }
  void TearDown() override { engine() = Engine::kSqlite; }
};

#define INSTANTIATE_ON_EACH_ENGINE(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::Values(Engine::kSqlite, Engine::kPostgres), \
                           [](const auto& each) { return each.param == Engine::kSqlite ? "Sqlite" : "Postgres"; })

inline StoreOptions options_for(const std::filesystem::path& path, StoreOptions options = {}) {
  if (engine() == Engine::kPostgres) options.url = url_of(path);
  return options;
}

/// The database of a store as somebody sees it who has psql or sqlite3, and the right to write.
inline Database by_hand(const std::filesystem::path& path) {
  if (engine() == Engine::kPostgres)
    return Database(std::move(*PostgresConnection::open(*parse_postgres_address(url_of(path)))));
  return Database(std::move(*SqliteConnection::open(path / "weft.db")));
}

inline std::unique_ptr<SqlStore> must_open(const std::filesystem::path& path, const StoreOptions& options = {}) {
  auto store = SqlStore::open(path, options_for(path, options));
  if (!store) {
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  return std::move(*store);
}

inline TimePoint at_second(std::int64_t second) {
  return TimePoint(std::chrono::seconds(1'700'000'000 + second));
}
/// Seconds after at_second(0) at which an hour begins.
inline constexpr int kWholeHour = 2800;
/// Port 2 of the first node: the port of most tests of history.
inline constexpr PortKey kPort{NodeGuid{1}, PortNum{2}};

inline Incident make_incident(std::uint64_t id) {
  Incident incident;
  incident.id = id;
  incident.revision = 1;
  incident.finding.cause = {
      EntityKind::kLink, "compute", {NodeGuid{0xFFFFFFFFFFFFFFF0}, PortNum{12}}, {NodeGuid{2}, PortNum{1}}, "a - b"};
  incident.finding.summary = "link down";
  incident.opened = at_second(1);
  incident.updated = at_second(2);
  return incident;
}

/// A switch (GUID 1) with `ports` external ports, and the readings of a moment: transmit_bytes is `bytes` on each port.
inline Sweep make_sweep(TimePoint when, std::uint64_t bytes, std::uint16_t ports = 4, NodeGuid guid = NodeGuid{1}) {
  Node node;
  node.guid = guid;
  node.type = NodeType::kSwitch;
  node.port_count = ports;
  node.name = "leaf-1";
  std::vector<Port> list(ports + 1U);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].node = 0;
    list[i].number = PortNum{static_cast<std::uint16_t>(i)};
  }
  SampleTable table = SampleTable::of_group(CounterGroup::kEverySweep, list.size());
  for (std::size_t row = 1; row < list.size(); ++row) {
    table.set(row, table.column(CounterId::kTransmitBytes), bytes, false);
    table.set(row, table.column(CounterId::kSymbolErrors), bytes / 100, false);
    table.set_read_at(row, when);
  }
  Sweep sweep;
  sweep.fabric = "compute";
  sweep.started = when - std::chrono::milliseconds(10);
  sweep.finished = when;
  sweep.interval = std::chrono::seconds(1);
  sweep.topology = std::make_shared<const Topology>(1, std::vector{node}, list, std::vector<DuplicateGuid>{});
  sweep.counters = std::make_shared<const SampleTable>(std::move(table));
  return sweep;
}

inline std::shared_ptr<const Sweep> share(Sweep sweep) {
  return std::make_shared<const Sweep>(std::move(sweep));
}

}  // namespace weft::store
