// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/lease_rules.hpp"

#include <algorithm>

namespace weft::store {

bool LeaseRules::is_due(const LeaseState& seen, Duration now) {
  const bool has_grown = seen_ && seen_->epoch == seen.epoch && seen_->n < seen.n && now - seen_->last <= kLongestGap;
  grown_ = has_grown ? std::min(grown_ + 1, 2) : 0;
  const bool is_same = seen_ && seen_->epoch == seen.epoch && seen_->n == seen.n && now - seen_->last <= kLongestGap;
  if (!is_same) seen_ = Seen{seen.epoch, seen.n, now, now};
  seen_->last = now;
  know(seen.epoch);
  return seen.holder.empty() || now - seen_->first >= kStillness;
}

void LeaseRules::know(std::int64_t epoch) {
  if (epoch > kGreatestEpoch) return;
  known_ = std::max(known_, epoch);
  sure_ = std::max(sure_, epoch);
}

void LeaseRules::hear(std::int64_t epoch) {
  if (epoch - std::max(sure_, epoch_.value_or(0)) <= kFarthestMark && epoch <= kGreatestEpoch)
    known_ = std::max(known_, epoch);
}

void LeaseRules::take(std::int64_t epoch, Duration sent) {
  epoch_ = epoch;
  sent_ = sent;
  seen_.reset();
}

void LeaseRules::beat(Duration sent) {
  sent_ = std::max(sent_, sent);
}

}  // namespace weft::store
