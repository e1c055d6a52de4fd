// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/upgrade_check.hpp"

#include <algorithm>

namespace weft::daemon {

void tell_upgrade(std::ostream& out, std::span<const store::DatabaseVersion> databases, const std::string& version) {
  bool migrates = false, has_log = false;
  for (const store::DatabaseVersion& database : databases) {
    out << database.name << ": ";
    has_log = has_log || database.has_log;
    if (database.found == 0) {
      out << "is made at the first start, with schema version " << database.known << ".\n";
    } else if (database.found == database.known) {
      out << "has schema version " << database.found << ", which weftd " << version << " uses: nothing to migrate.\n";
    } else {
      migrates = true;
      const std::uint32_t steps = database.known - database.found;
      out << "has schema version " << database.found << "; the first start of weftd " << version << " brings it to "
          << database.known << " in " << steps << (steps == 1 ? " step" : " steps") << ".\n";
    }
  }
  if (has_log)
    out << "A weftd uses its files, or was killed: whether they are damaged was not looked at. A start does so.\n";
  if (migrates)
    out << "An older weftd refuses what was migrated: to be able to go back, make a backup first.\n";
  else
    out << "An older weftd that uses these versions could still use them afterwards.\n";
}

}  // namespace weft::daemon
