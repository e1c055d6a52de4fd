// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/options.hpp"

#include <string_view>

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::uplink {

Result<void> Options::check() const {
  if (spool.empty() || analyzers.empty() || node_name.empty())
    return fail(ErrorCode::kInvalidArgument, "the spool, the address of weftd and the name of the node are required");
  if (auto checked = runtime::check_milliseconds("interval", interval, 1, 3'600'000); !checked) return checked;
  return runtime::check_milliseconds("reconnect-limit", reconnect_limit, 1, 3'600'000);
}

std::string place_of_token(const std::filesystem::path& token_file, const char* credentials) {
  constexpr std::string_view kPrefix = "collector_";
  const std::string name = token_file.filename().string();
  if (credentials == nullptr || token_file.parent_path() != std::filesystem::path(credentials))
    return token_file.string();
  const std::string place = name.starts_with(kPrefix) ? "/etc/weft/collector/" + name.substr(kPrefix.size())
                                                      : "the file that the unit's LoadCredential= names for " + name;
  return place + ", then restart weft-collector";
}

std::string with_tls_hint(const std::string& why, const Options& options) {
  // A weftd with TLS ends a connection in clear text without a word.
  const bool is_plain = options.authorities.empty() && options.enroll_token_file.empty();
  if (!is_plain || !why.ends_with("Socket closed")) return why;
  return why + " (if weftd there has TLS, set analyzer.enroll_token_file, or analyzer.authorities)";
}

}  // namespace weft::uplink
