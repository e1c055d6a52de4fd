// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/options.hpp"

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::switches {

Result<void> Options::check() const {
  using runtime::check_bounds, runtime::check_milliseconds;
  for (auto& checked : {
           check_milliseconds("sample-interval", sample_interval, 100, 3'600'000),
           check_milliseconds("reconnect-limit", reconnect_limit, 100, 3'600'000),
           check_bounds("max-message-bytes", static_cast<std::int64_t>(max_message_bytes), 1 << 10, 1 << 28),
           check_bounds("max-values-per-second", max_values_per_second, 1, 100'000'000),
           check_bounds("max-ports", max_ports, 1, 2'048),
           check_bounds("max-targets", max_targets, 1, 10'000),
       })
    if (!checked) return checked;
  return {};
}

}  // namespace weft::switches
