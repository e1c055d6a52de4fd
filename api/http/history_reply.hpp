// SPDX-License-Identifier: Apache-2.0
#pragma once
// GET /api/v1/ports/{port}/history: what a port, or all ports of a node, counted. GET /api/v1/switches/stall: how long
// the switches of a fabric waited to send.

#include <memory>
#include <string>
#include <vector>

#include "api/http/router.hpp"
#include "api/publication/history_desk.hpp"
#include "api/request/target.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The path is one of history.
bool is_history(const std::vector<std::string>& path);

/// NODE:PORT of a path /api/v1/ports/NODE/PORT/…; empty where that is not it.
std::string port_in(const std::vector<std::string>& path);

/// `from` and `to`: RFC 3339, or seconds since 1970; `points`; `counters`: names with commas between them; `fabric`;
/// `still=1`: also counters that did not move. The port is NODE:PORT or NODE/PORT; a node stands for all its ports. The
/// answer is GetPortHistoryResponse as JSON, or the error. Of stall: `from`, `to`, `points`, `rows`, `fabric`; the
/// answer is GetStallMapResponse. What the own shard of a `site` does not know, others are asked for; null: there is no
/// site. `done` is called once, from any thread.
void answer_history(HistoryDesk* desk, const SiteQueries* site, std::shared_ptr<const Snapshot> snapshot,
                    const HttpTarget& target, TimePoint now, const Router::Done& done);

}  // namespace weft::api
