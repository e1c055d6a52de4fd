// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/clock_table.hpp"

namespace weft::store {

void write_clock(Database& database, const ClockMemory& memory) {
  Statement(database, "DELETE FROM clock_seen").run();
  Statement(database, "INSERT INTO clock_seen VALUES (1, ?, ?, ?)")
      .run(memory.until, static_cast<std::int64_t>(memory.steady.count()), memory.boot);
  Statement(database, "DELETE FROM clock_step").run();
  Statement step(database, "INSERT INTO clock_step VALUES (?, ?, ?)");
  std::int64_t position = 0;
  for (const ClockStep& each : memory.steps) step.run(position++, each.at, static_cast<std::int64_t>(each.by.count()));
}

ClockMemory read_clock(Database& database) {
  ClockMemory memory;
  Statement seen(database, "SELECT until, steady, boot FROM clock_seen");
  seen.query();
  if (seen.next()) {
    memory.until = seen.time(0);
    memory.steady = Duration(seen.integer(1));
    memory.boot = seen.text(2);
  }
  seen.next();
  Statement steps(database, "SELECT at, by FROM clock_step ORDER BY position");
  steps.query();
  while (steps.next()) memory.steps.push_back({steps.time(0), Duration(steps.integer(1))});
  return memory;
}

}  // namespace weft::store
