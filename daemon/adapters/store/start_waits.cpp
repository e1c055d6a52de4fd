// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/start_waits.hpp"

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/platform/cli/terminal_text.hpp"

namespace weft::store {

std::string users_of(Database& database, const std::string& schema, bool joins) {
  Statement look(database, postgres::kUsersOfSchema);
  look.query(schema, std::int64_t{joins ? 1 : 0});
  return look.next() ? usage::printable(look.text(0)) : std::string();
}

}  // namespace weft::store
