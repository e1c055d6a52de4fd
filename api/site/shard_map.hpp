// SPDX-License-Identifier: Apache-2.0
#pragma once
// The drawing of another shard's fabrics.

#include <functional>
#include <string>

#include "api/site/shard_peers.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::api {

/// Reads what the page draws of the shard, as JSON: what there is or, with `state`, how it is. At most 64 MB, in
/// pieces. `done` is called once, at once or on a thread of gRPC: kUnavailable when the shard does not answer, or
/// changes faster than it is read; kResourceExhausted for more than that. `peers` must outlive the question.
void read_map(ShardPeers& peers, const SitePtr& site, const SiteShard& shard, bool state,
              std::function<void(Result<std::string>)> done);

}  // namespace weft::api
