// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/switch_port/messages.hpp"

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::switch_port {

Result<void> Question::check() const {
  using runtime::check_bounds, runtime::check_milliseconds;
  if (target.empty() || port.empty()) return fail(ErrorCode::kInvalidArgument, "a switch and a port must be named");
  for (auto& checked : {
           check_bounds("wanted", static_cast<int>(wanted), 0, static_cast<int>(Wanted::kCount) - 1),
           check_milliseconds("timeout", timeout, 100, 60'000),
           check_bounds("max-message-bytes", static_cast<std::int64_t>(max_message_bytes), 1 << 10, 1 << 28),
           check_bounds("max-targets", max_targets, 1, 10'000),
       })
    if (!checked) return checked;
  return {};
}

Result<void> Answer::check() const {
  return runtime::check_bounds("outcome", static_cast<int>(outcome), 0, static_cast<int>(Outcome::kCount) - 1);
}

}  // namespace weft::switch_port
