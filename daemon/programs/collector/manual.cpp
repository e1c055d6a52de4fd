// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/manual.hpp"

namespace weft::collector {
namespace {

constexpr const char* kDescription =
    R"(It runs on every compute node and needs no rights; only the light of optics wants CAP_NET_ADMIN. What weftd(8) does not
take at once waits in its state directory, up to a bound, and is sent when weftd is back. Nothing is sent until analyzer.address is set.

Every key of the configuration file is also a flag, and flags win.)";

constexpr const char* kFiles = R"(/etc/weft/weft-collector.toml: the configuration, if it exists.

/var/lib/weft-collector: what waits to be sent; in certificate/, the key and the certificate that weftd(8) signed.

/etc/weft/collector: keys and tokens that the unit gives it, each FILE as $CREDENTIALS_DIRECTORY/collector_FILE.)";

constexpr const char* kExit = R"(  0   it was stopped
  1   it cannot run
  2   wrong configuration or usage)";

}  // namespace

usage::ManPage manual(const std::string& version) {
  return {.section = 8,
          .version = version,
          .one_line = "read this host's network counters for weftd",
          .describes = kDescription,
          .more = {{"EXIT STATUS", kExit}, {"FILES", kFiles}},
          .see_also = {"weftd(8)", "weftctl(1)"}};
}

}  // namespace weft::collector
