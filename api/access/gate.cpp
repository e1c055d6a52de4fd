// SPDX-License-Identifier: Apache-2.0
#include "api/access/gate.hpp"

#include <utility>

namespace weft::api::access {
namespace {

Principal admin_without_name() {
  Principal principal = anybody();
  principal.role = Role::kAdmin;
  return principal;
}

/// Who that is by these rules; nullopt when nobody without a name is let in.
Result<std::optional<Principal>> find(const Rules& rules, const Shown& shown, TimePoint now) {
  auto found = identify(rules, shown, now);
  if (!found || !rules.anybody_reads) return found;
  if (!*found) return std::optional(anybody());
  (*found)->is_anybody = true;
  return found;
}

}  // namespace

void Gate::change(Rules rules) {
  auto changed = std::make_shared<const Rules>(std::move(rules));
  const std::lock_guard lock(mutex_);
  if (changed->requests_per_second != rules_->requests_per_second) buckets_.clear();
  rules_ = std::move(changed);
}

std::shared_ptr<const Rules> Gate::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

bool Gate::is_slow_enough(const std::string& whose, double rate) {
  const auto now = TokenBucket::Clock::now();
  const std::lock_guard lock(mutex_);
  return buckets_.admits(whose, rate, 2 * rate, now);
}

Principal Gate::who(const Shown& shown) const {
  if (is_open()) return admin_without_name();
  const auto found = find(*rules(), shown, clock_->now());
  return found && *found ? **found : Principal{};
}

Result<Principal> Gate::admit(const Permission* permission, std::string_view what, const Shown& shown) {
  if (is_open()) {
    if (permission == nullptr) return fail(ErrorCode::kPermissionDenied, "permission denied: no role may call this");
    return admin_without_name();
  }
  const auto refuse_him = [&](std::string who, Error why) -> tl::unexpected<Error> {
    refuse({std::string(what), std::string(shown.peer), std::move(who), why});
    return tl::unexpected(std::move(why));
  };
  const auto current = rules();
  auto found = find(*current, shown, clock_->now());
  if (!found) return refuse_him({}, found.error());
  if (!*found) {
    if (permission != nullptr && permission->right == Right::kNone) return Principal{};
    std::string why = "authentication required: present a client certificate or a bearer token";
    if (!shown.certificate_names.empty())
      why = "no role is set for the certificate of " + shown.certificate_names.front();
    return refuse_him({}, {ErrorCode::kUnauthenticated, std::move(why)});
  }
  Principal principal = std::move(**found);
  if (permission == nullptr)
    return refuse_him(principal.name, {ErrorCode::kPermissionDenied, "permission denied: no role may call this"});
  if (const auto allowed = authorize(*permission, principal); !allowed)
    return refuse_him(principal.name, allowed.error());
  if (current->requests_per_second > 0 && !is_slow_enough(principal.name, current->requests_per_second))
    return refuse_him(principal.name, {ErrorCode::kResourceExhausted, "too many requests of " + principal.name});
  return principal;
}

void Gate::refuse(Refusal refusal) {
  if (refusal.why.code == ErrorCode::kPermissionDenied) {
    ++denied_;
  } else if (refusal.why.code == ErrorCode::kResourceExhausted) {
    ++too_fast_;
  } else {
    ++unauthenticated_;
  }
  if (on_refusal_) on_refusal_(refusal);
}

GateFigures Gate::figures() const {
  return {unauthenticated_, denied_, too_fast_};
}

}  // namespace weft::api::access
