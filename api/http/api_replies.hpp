// SPDX-License-Identifier: Apache-2.0
#pragma once
// What /api/v1/ answers to a GET.

#include <memory>
#include <string>

#include "api/http/router.hpp"
#include "api/request/target.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// One GET request below /api/v1/.
struct ApiQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  TimePoint now;
  HttpTarget target;  ///< its path begins with "api", "v1"
};

/// The answer, or the error as JSON.
HttpReply api_reply(ApiQuestion question);

/// A reply with status 200 and this JSON.
HttpReply json_reply(std::string json);

/// A reply with an HTML document that a browser keeps as a file of that name; it may load and run nothing.
HttpReply document_reply(std::string html, const std::string& file_name);

}  // namespace weft::api
