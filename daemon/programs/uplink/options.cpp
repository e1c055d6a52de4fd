// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/options.hpp"

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::uplink {

Result<void> Options::check() const {
  if (spool.empty() || analyzers.empty() || node_name.empty())
    return fail(ErrorCode::kInvalidArgument, "the spool, the address of weftd and the name of the node are required");
  if (auto checked = runtime::check_milliseconds("interval", interval, 1, 3'600'000); !checked) return checked;
  return runtime::check_milliseconds("reconnect-limit", reconnect_limit, 1, 3'600'000);
}

}  // namespace weft::uplink
