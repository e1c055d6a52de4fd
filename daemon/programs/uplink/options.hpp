// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-collector tells weft-uplink to do, in one message (daemon/platform/runtime, send_options()).

#include <chrono>
#include <filesystem>
#include <string>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::uplink {

/// What to send, to whom, and how. Secrets are in files, of which only the names are here.
struct Options {
  std::filesystem::path spool;                          ///< directory of the spool
  std::string analyzers;                                ///< HOST:PORT of weftd, several separated by commas
  std::string node_name;                                ///< of this host
  Duration interval = std::chrono::seconds(1);          ///< between readings
  Duration reconnect_limit = std::chrono::seconds(30);  ///< longest wait between two connection attempts
  std::string log_level = "info";
  std::filesystem::path authorities;  ///< PEM; of weftd's certificate. Empty: plain text
  std::filesystem::path certificate;  ///< PEM; our own. Empty: none is shown
  std::filesystem::path key;          ///< PEM; of `certificate`
  std::filesystem::path token_file;   ///< holds a bearer token; empty: none is shown
  /// Holds a token of `weftctl enroll`; empty: there are no such. With it the four before are empty.
  std::filesystem::path enroll_token_file;
  std::filesystem::path certificate_folder;  ///< with it: where the certificate is kept

  /// The fields of the message.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit(self.spool, self.analyzers, self.node_name, self.interval, self.reconnect_limit, self.log_level,
          self.authorities, self.certificate, self.key, self.token_file, self.enroll_token_file,
          self.certificate_folder);
  }

  /// kInvalidArgument names the first value that is missing or out of its bounds.
  Result<void> check() const;
};

/// Where a person puts a new token for `token_file`, and what else it takes. `credentials`: $CREDENTIALS_DIRECTORY, or
/// null. A file below it is a copy that systemd made when the unit started, of /etc/weft/collector/FILE for
/// collector_FILE (LoadCredential= in weft-collector.service; systemd.exec(5)).
std::string place_of_token(const std::filesystem::path& token_file, const char* credentials);

/// `why` no connection came about, with what to set where a weftd with TLS may have ended one in clear text.
std::string with_tls_hint(const std::string& why, const Options& options);

}  // namespace weft::uplink
