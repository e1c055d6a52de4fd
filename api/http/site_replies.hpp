// SPDX-License-Identifier: Apache-2.0
#pragma once
// What /api/v1/ answers to a GET for a whole site.

#include "api/http/router.hpp"
#include "api/request/target.hpp"

namespace weft::api {

/// False: it is no question about the whole site, and `done` is not called. Else `done` is called once, at once or
/// later and from any thread.
bool site_reply(const SiteQueries& site, const HttpTarget& target, const Router::Done& done);

}  // namespace weft::api
