// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/manual.hpp"

namespace weft::daemon {
namespace {

constexpr const char* kDescription =
    R"(With no file and no flags it watches every active InfiniBand port of this machine, and takes what weft-collector(8)
tells from compute nodes. It judges each sweep, keeps incidents and plans in its state directory, and serves everybody from one picture
that never changes under a reader.

Every key of the configuration file is also a flag, and flags win. Everything that is wrong with a configuration is reported at once, with
its line: weftd --config FILE --check-config. By default remedies are only proposed; nothing of the fabric is changed unless a person
approves it or turned it on.

weftd store restore FILE STATE_DIR puts a backup of weftctl backup in the place of weft.db, while no weftd uses it. The backup is looked
through first, and the weft.db of before is kept beside it. Automation is stopped afterwards; see upkeep.md in the guide.

weftd store copy FROM TO copies incidents, plans and the audit trail from one store to another, while no weftd uses either. FROM and TO are
state directories or postgresql://user@host/database. TO must be empty, or a copy that was broken off: that goes on. Hashes of the audit
trail stay as they are, and are verified in the copy.)";

constexpr const char* kFiles = R"(/etc/weft/weftd.toml: the configuration, if it exists.

/var/lib/weft: the state directory. weft.db holds incidents, plans and the audit trail (unless store.url names a PostgreSQL for them),
history.db the history of ports. weftctl backup copies weft.db while weftd runs; a copy of the directory, made while weftd is
stopped, has the history, too.

/var/lib/weft/store: which PostgreSQL this directory goes with.

/var/lib/weft/hands-off: while this file exists, nothing is done about any trouble.

/run/weft/weftd.sock: the Unix socket for accounts of this host. root, the user that weftd runs as and members of security.operator_group
may act there; all others read.)";

constexpr const char* kExit = R"(  0   it was stopped
  1   it cannot run
  2   wrong configuration or usage)";

}  // namespace

usage::ManPage manual(const std::string& version) {
  return {.section = 8,
          .version = version,
          .one_line = "monitor a fabric, report incidents and plan remedies",
          .describes = kDescription,
          .more = {{"EXIT STATUS", kExit}, {"FILES", kFiles}},
          .see_also = {"weftctl(1)", "weft-collector(8)", "opensm(8)", "ibnetdiscover(8)"}};
}

}  // namespace weft::daemon
