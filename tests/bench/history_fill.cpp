// SPDX-License-Identifier: Apache-2.0
// Puts a past into the history that a weftd has begun: for each of its ports the sums of each hour of DAYS days until
// now, and the minutes of the last day, all busy. weftd must not run.
// Usage: history_fill STATE_DIR DAYS

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "tests/bench/history_gauges.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr int kVariants = 64;

/// What the counters of all ports of a chunk grew by in so many seconds: chunks that differ as those of a busy fabric
/// do.
std::vector<std::vector<std::byte>> busy_chunks(std::uint64_t seconds) {
  std::uint64_t seed = seconds;
  const auto next = [&seed] { return seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; };
  std::vector<std::vector<std::byte>> chunks;
  for (int i = 0; i < kVariants; ++i) {
    std::vector<ChunkPort> ports(kChunkPorts);
    for (ChunkPort& port : ports) {
      port.present = (1U << kHistoryCounters.size()) - 1;
      for (std::size_t counter = 0; counter < kDenseCounters; ++counter)
        port.increase[counter] = seconds * (next() >> 40);
      if (next() >> 56 == 0) port.increase[kDenseCounters] = next() >> 60;
    }
    chunks.push_back(encode_chunk(ports));
  }
  return chunks;
}

/// Five minutes each, the first of twelve whole.
std::vector<std::vector<std::byte>> gauge_chunks(bool all_whole) {
  BusyGauges gauges(1, kChunkPorts);
  std::vector<std::vector<std::byte>> chunks;
  for (int i = 0; i < 12; ++i) chunks.push_back(gauges.next(all_whole || i == 0));
  return chunks;
}

void require(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

int run(const std::filesystem::path& folder, int days) {
  auto history = open_database(folder / "history.db", history_schema());
  if (!history) throw std::runtime_error(history.error().message);
  const std::int64_t chunks =
      history->number("SELECT max(slot) FROM port") / static_cast<std::int64_t>(kChunkPorts) + 1;
  std::string fabric;
  {
    Statement first(*history, "SELECT fabric FROM port LIMIT 1");
    first.query();
    if (!first.next()) throw std::runtime_error("weftd has stored nothing yet");
    fabric = first.text(0);
  }
  const TimePoint first_moment(Duration(history->number("SELECT min(at) FROM moment")));
  const TimePoint end(first_moment.time_since_epoch() / 1h * 1h);  // the present hour is weftd's
  const auto sums = busy_chunks(3600);
  const auto minutes = busy_chunks(60);
  const auto hour_gauges = gauge_chunks(true);
  const auto gauges = gauge_chunks(false);
  for (int hour = 24 * days; hour > 0; --hour) {
    Transaction transaction(*history);
    const TimePoint at = end - (hour - 1) * 1h;
    Statement add(*history, "INSERT INTO hour (fabric, at, span) VALUES (?, ?, ?)");
    add.run(fabric, at, Duration(1h));
    const std::int64_t id = history->number("SELECT last_insert_rowid()");
    Statement chunk(*history, "INSERT INTO hour_chunk VALUES (?, ?, ?)");
    Statement gauge(*history, "INSERT INTO hour_gauge VALUES (?, ?)");
    for (std::int64_t i = 0; i < chunks; ++i) {
      chunk.run(id << kChunkBits | i, sums[static_cast<std::size_t>(i + hour) % kVariants],
                sums[static_cast<std::size_t>(i + hour + 1) % kVariants]);
      gauge.run(id << kChunkBits | i, hour_gauges[static_cast<std::size_t>(i + hour) % hour_gauges.size()]);
    }
    if (hour <= 24) {
      Statement moment(*history, "INSERT INTO moment (fabric, at, span) VALUES (?, ?, ?)");
      Statement data(*history, "INSERT INTO chunk VALUES (?, ?)");
      Statement five(*history, "INSERT INTO gauge_chunk VALUES (?, ?, ?)");
      for (int minute = 59; minute >= 0; --minute) {
        moment.run(fabric, at - minute * 1min, Duration(1min));
        const std::int64_t of = history->number("SELECT last_insert_rowid()");
        for (std::int64_t i = 0; i < chunks; ++i)
          data.run(of << kChunkBits | i, minutes[static_cast<std::size_t>(i + minute) % kVariants]);
        for (std::int64_t i = 0; i < chunks && minute % 5 == 0; ++i)
          five.run(of << kChunkBits | i, Duration(5min), gauges[static_cast<std::size_t>(59 - minute) / 5]);
      }
    }
    require(transaction.commit());
  }
  const auto megabytes = [&](const char* sql) { return static_cast<double>(history->number(sql)) / 1e6; };
  std::printf(
      "%lld chunks a moment, %d days: %.0f MB. A day of minutes: counters %.1f MB, gauges of all ports %.1f MB; %d "
      "days of "
      "hours: %.1f MB, %.1f MB\n",
      static_cast<long long>(chunks), days,
      static_cast<double>(std::filesystem::file_size(folder / "history.db")) / 1e6,
      megabytes("SELECT sum(length(data)) FROM chunk"), megabytes("SELECT sum(length(data)) FROM gauge_chunk"), days,
      megabytes("SELECT sum(length(sums) + length(peaks)) FROM hour_chunk"),
      megabytes("SELECT sum(length(data)) FROM hour_gauge"));
  return 0;
}

}  // namespace
}  // namespace weft::store

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: history_fill STATE_DIR DAYS\n");
    return 2;
  }
  try {
    return weft::store::run(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "history_fill: %s\n", error.what());
    return 1;
  }
}
