// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/management_key.hpp"

#include "daemon/adapters/port_report/report_line.hpp"
#include "daemon/platform/net/secret.hpp"

namespace weft::daemon {

Result<std::uint64_t> read_management_key(const std::filesystem::path& file) {
  if (file.empty()) return 0;
  const auto text = net::read_secret(file);
  if (!text) return fail(text.error().code, "infiniband.management_key_file: " + text.error().message);
  const auto key = port::parse_management_key(*text);
  if (!key)
    return fail(key.error().code, "infiniband.management_key_file: " + file.string() + ": " + key.error().message);
  return *key;
}

}  // namespace weft::daemon
