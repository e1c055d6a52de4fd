// SPDX-License-Identifier: Apache-2.0
// How long questions about a month of port history take, beside SQLite reading the same chunks and doing nothing with
// them. A switch of 64 ports that are all busy, among others, with a moment a minute. Processor time: what else runs on
// the machine does not count.
// Usage: history_read FOLDER DAYS
// FOLDER is empty. Prints lines of name, ours, limit, ratio, tab separated; the figures are medians of 9.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_hours.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/bench/history_gauges.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPorts = 1024;
constexpr std::uint16_t kSwitchPorts = 64;
const TimePoint kBegin{std::chrono::hours(24 * 365 * 50)};

void require(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

/// Ports 1 to 64 of node 1 are the switch; the others are node 2's.
void fill(Database& history, int days) {
  {
    Transaction transaction(history);
    Statement port(history, "INSERT INTO port VALUES (?, 'ib0', ?, ?, ?)");
    for (std::size_t slot = 0; slot < kPorts; ++slot)
      port.run(slot, slot < kSwitchPorts ? 1 : 2, slot < kSwitchPorts ? slot + 1 : slot, kBegin);
    require(transaction.commit());
  }
  std::uint64_t seed = 1;
  const auto next = [&seed] { return seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; };
  std::vector<BusyGauges> gauges;
  for (std::size_t chunk = 0; chunk < kPorts / kChunkPorts; ++chunk) gauges.emplace_back(chunk, kChunkPorts);
  for (int hour = 0; hour < 24 * days; ++hour) {
    Transaction transaction(history);
    Statement moment(history, "INSERT INTO moment (fabric, at, span) VALUES ('ib0', ?, ?)");
    Statement insert(history, "INSERT INTO chunk VALUES (?, ?)");
    Statement insert_gauges(history, "INSERT INTO gauge_chunk VALUES (?, ?, ?)");
    for (int minute = 1; minute <= 60; ++minute) {
      moment.run(kBegin + hour * 1h + minute * 1min, Duration(1min));
      const std::int64_t id = history.number("SELECT last_insert_rowid()");
      for (std::size_t chunk = 0; chunk < kPorts / kChunkPorts; ++chunk) {
        std::vector<ChunkPort> ports(kChunkPorts);
        for (ChunkPort& each : ports) {
          each.present = (1U << kHistoryCounters.size()) - 1;
          for (std::size_t counter = 0; counter < kDenseCounters; ++counter) each.increase[counter] = next() >> 20;
          if (next() >> 56 == 0) each.increase[kDenseCounters] = next() >> 60;
        }
        insert.run(id << 24 | static_cast<std::int64_t>(chunk), encode_chunk(ports));
        if (minute % 5 == 0)
          insert_gauges.run(id << 24 | static_cast<std::int64_t>(chunk), Duration(5min),
                            gauges[chunk].next(minute == 5));
      }
    }
    require(transaction.commit());
  }
  while (true) {
    const auto more = add_up_hours(history);
    if (!more) throw std::runtime_error(more.error().message);
    if (!*more) break;
  }
}

double processor_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const double began = processor_ms();
    work();
    times.push_back(processor_ms() - began);
  }
  std::ranges::nth_element(times, times.begin() + 4);
  return times[4];
}

void measure(const std::filesystem::path& folder, int days, std::uint16_t ports, Duration time, Duration step) {
  const TimePoint end = kBegin + days * 24h;
  HistoryQuestion question{"ib0", {}, {}, end - time, end, step};
  for (std::uint16_t port = 1; port <= ports; ++port) question.ports.push_back({NodeGuid{1}, PortNum{port}});
  const double ours = median_ms([&] {
    const auto answer = read_history(folder, question);
    if (!answer) throw std::runtime_error(answer.error().message);
  });
  const bool hours = time > 72h;
  const double limit = median_ms([&] {
    auto database = open_database(folder / "history.db", history_schema());
    if (!database) throw std::runtime_error(database.error().message);
    Statement rows(*database,
                   hours ? "SELECT sums, peaks FROM hour JOIN hour_chunk ON hour_chunk.id = hour.id << 24 WHERE "
                           "fabric = 'ib0' AND at > ? ORDER BY at"
                         : "SELECT data FROM moment JOIN chunk ON chunk.id = moment.id << 24 WHERE fabric = "
                           "'ib0' AND at > ? ORDER BY at");
    rows.query(end - time);
    std::size_t bytes = 0;
    while (rows.next()) bytes += rows.blob(0).size();
    if (bytes == 0) throw std::runtime_error("no rows");
  });
  std::printf("%d port%s, %lld h\t%.1f ms\t%.1f ms\t%.1f\n", ports, ports == 1 ? "" : "s",
              static_cast<long long>(time / 1h), ours, limit, ours / limit);
}

int run(const std::filesystem::path& folder, int days) {
  {
    auto history = open_database(folder / "history.db", history_schema());
    if (!history) throw std::runtime_error(history.error().message);
    fill(*history, days);
  }
  std::fprintf(stderr, "%d ports, %d days: %.0f MB\n", static_cast<int>(kPorts), days,
               static_cast<double>(std::filesystem::file_size(folder / "history.db")) / 1e6);
  for (const std::uint16_t ports : {std::uint16_t{1}, kSwitchPorts}) {
    measure(folder, days, ports, 1h, 1min);
    measure(folder, days, ports, 24h, 10min);
    measure(folder, days, ports, days * 24h, 3h);
  }
  return 0;
}

}  // namespace
}  // namespace weft::store

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: history_read FOLDER DAYS\n");
    return 2;
  }
  try {
    return weft::store::run(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "history_read: %s\n", error.what());
    return 1;
  }
}
