// SPDX-License-Identifier: Apache-2.0
#pragma once
// TLS for HTTP, from the files in force.

#include <memory>

#include "api/access/tls.hpp"

namespace boost::asio::ssl {
class context;
}

namespace weft::api {

/// What OpenSSL makes of the files in force. Not for several threads.
class TlsContext {
 public:
  /// Made anew when the files have changed. The last good one when OpenSSL does not take them (they were checked
  /// before: no memory); null when there is none.
  std::shared_ptr<boost::asio::ssl::context> current(const access::TlsKeys& keys);

 private:
  std::shared_ptr<const access::TlsFiles> files_;  ///< those that were tried last
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace weft::api
