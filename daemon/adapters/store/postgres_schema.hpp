// SPDX-License-Identifier: Apache-2.0
#pragma once
// The careful opening of a database of PostgreSQL that may be anything.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/start_waits.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "fabric/standby_view.hpp"

namespace weft::store {

/// What open_postgres() does besides.
enum class Opening : std::uint8_t {
  kTake,    ///< takes the database: what another weftd begins to write afterwards fails
  kFollow,  ///< only reads it until Connection::lead(). Where its tables must be changed, nobody has it afterwards; it
            ///< is free at once if nobody had it before
  kCopy,    ///< of a copy: only looks until take_for_copy()
};

/// kFailedPrecondition while a weftd leads on `url`, which is looked at for some seconds; else as look_at_postgres().
/// What no weftd has ever had, and what a copy was broken off on, is nobody's at once.
Result<void> refuse_led(const std::string& url, const Schema& schema);
/// Takes what was opened with kCopy: what a weftd begins to write afterwards fails. True: it was nobody's, or another
/// copy's.
Result<bool> take_for_copy(Database& database);
/// What take_for_copy() took is nobody's again, once the transaction around it is committed: a weftd leads as soon as
/// it starts.
void give_back(Database& database);

/// Connects to `url` (see postgres_address.hpp) and brings the tables in the role's own schema to the newest version,
/// or makes them. Refuses, and leaves as it is, a schema with tables of another program (kCorrupt), one that a newer
/// version of ours wrote and a server that does not keep texts as UTF-8 (kFailedPrecondition).
/// Where others use tables that must be changed, as a backup does, it waits a minute for them, and nobody waits behind
/// it; `tell` hears who they are.
Result<Database> open_postgres(const std::string& url, const Schema& schema, Opening opening = Opening::kTake,
                               const TellWait& tell = {});

/// For port history in the database of `url`, whose state open_postgres() has opened: reads until Connection::lead().
/// Its tables may be missing: see make_history_tables().
Result<Database> open_postgres_history(const std::string& url);
/// Makes the tables of port history there, or brings them to the newest version. Fails for those of a newer weftd.
Result<void> make_history_tables(Database& history);

/// Notes a failure where the server is older than Weft needs, or does not keep texts as UTF-8.
void require_server(Database& database);

/// What a person should know of how the database is set up; see StoreStatus::cautions.
std::vector<std::string> cautions_of(Database& database);

/// See Store::standby(); `database` is one of open_postgres().
std::optional<StandbyView> standby_of(Database& database);

/// What open_postgres() would find; fails as it does. Nothing is changed.
Result<PostgresFound> look_at_postgres(const std::string& url, const Schema& schema);

}  // namespace weft::store
