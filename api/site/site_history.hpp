// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/convert/history.hpp"
#include "api/publication/history_desk.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {

/// Answers a question that the own shard understands. A node that is gone from its fabrics may be in those of another
/// shard of the `site`, which is then asked first; null: there is no site. `done` is called once, from any thread.
void answer_port_history(HistoryDesk& desk, const SiteQueries* site, PortHistoryQuestion asked,
                         const v1::GetPortHistoryRequest& request, SiteQueries::Done<v1::GetPortHistoryResponse> done);

}  // namespace weft::api
