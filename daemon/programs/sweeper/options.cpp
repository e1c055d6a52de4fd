// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/sweeper/options.hpp"

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::sweeper {

Result<void> Options::check() const {
  using runtime::check_bounds, runtime::check_milliseconds;
  for (auto& checked : {
           check_bounds("window", sweep.engine.window, 1, 4096),
           check_bounds("per-node", sweep.engine.per_node_outstanding, 1, 255),
           check_milliseconds("timeout", sweep.engine.timeout, 1, 60'000),
           check_bounds("retries", sweep.engine.retries, 0, 10),
           check_milliseconds("interval", sweep.interval, 10, 3'600'000),
           check_milliseconds("detail-interval", sweep.detail_interval, 10, 86'400'000),
           check_bounds("service-level", sweep.service_level.value_or(0), 0, 15),
       })
    if (!checked) return checked;
  return {};
}

}  // namespace weft::sweeper
