// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one place where a call is let in or not, whatever door it came to.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api/access/access.hpp"
#include "api/access/identity.hpp"
#include "api/access/rate_limits.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api::access {

/// For the log.
struct Refusal {
  std::string what;  ///< method or route
  std::string peer;  ///< address, or the shard that it calls itself; empty where neither is known
  std::string who;   ///< empty: he did not say
  Error why;
};

/// Refused calls since the process started.
struct GateFigures {
  std::uint64_t unauthenticated = 0;
  std::uint64_t denied = 0;
  std::uint64_t too_fast = 0;
};

/// May be used from any thread.
class Gate {
 public:
  /// An open gate, for tests and benchmarks: everybody is an admin without a name, and nothing is refused but what has
  /// no line in the table.
  Gate() = default;
  /// A guarded one, without rules at first: nobody gets in. `on_refusal` is called on the thread of the call. `clock`
  /// must outlive the gate.
  Gate(const Clock& clock, std::function<void(const Refusal&)> on_refusal)
      : clock_(&clock), on_refusal_(std::move(on_refusal)) {}

  /// Everybody is let in: there are no rules.
  bool is_open() const { return clock_ == nullptr; }
  /// From the next call on. Of a guarded gate.
  void change(Rules rules);
  /// Headers of requests are needed: see Shown::fields.
  bool trusts_proxies() const { return !is_open() && rules()->proxies.is_set(); }
  /// Who gets in, and as whom. `permission`: the line of the table, null when there is none. kUnauthenticated,
  /// kPermissionDenied, kResourceExhausted when he asks too fast.
  Result<Principal> admit(const Permission* permission, std::string_view what, const Shown& shown);
  /// Who that is; a principal without a name when it is not known. Refuses and counts nothing.
  Principal who(const Shown& shown) const;
  /// To be counted and told, of a refusal that was decided elsewhere.
  void refuse(Refusal refusal);
  /// Refused calls so far.
  GateFigures figures() const;

 private:
  std::shared_ptr<const Rules> rules() const;
  bool is_slow_enough(const std::string& whose, double rate);

  const Clock* clock_ = nullptr;
  std::function<void(const Refusal&)> on_refusal_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Rules> rules_ = std::make_shared<const Rules>();
  RateLimits buckets_{32'768};  ///< by principal
  std::atomic<std::uint64_t> unauthenticated_{0}, denied_{0}, too_fast_{0};
};

}  // namespace weft::api::access
